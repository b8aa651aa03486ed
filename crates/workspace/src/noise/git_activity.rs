//! What was done in a git directory, as far as its files tell.

use std::collections::{BTreeMap, BTreeSet};

use offshoot_tree::diff::{Change, ChangeKind};
use offshoot_tree::{Body, Entry, Objects, RootId, Tree, VaultPath};

use super::moved_refs::{MovedRef, MovedRefs};
use crate::git::{self, State};

/// Of more branches that moved at once, histories are not read.
const MOST_READ: usize = 8;
/// A log of a branch that is longer is not read.
const LONGEST_LOG: u64 = 1 << 20;

/// What was done in a git directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitActivity {
    /// The repository is new.
    pub created: bool,
    /// The repository is gone.
    pub deleted: bool,
    /// Branches that commits were made on, and how many.
    pub commits: BTreeMap<Vec<u8>, u64>,
    /// Branches that moved in another way.
    pub moved: BTreeSet<Vec<u8>>,
    /// How many stashes are new.
    pub stashes: u64,
    /// How many branches are new.
    pub new_branches: u64,
    /// How many branches are gone.
    pub deleted_branches: u64,
    /// How many tags are new.
    pub new_tags: u64,
}

impl GitActivity {
    /// Reads it from the changes of a git directory.
    pub(super) fn of<'c>(
        objects: &Objects,
        roots: &[RootId],
        directory: &VaultPath,
        changes: impl Iterator<Item = &'c Change>,
    ) -> Self {
        let changes: Vec<&Change> = changes.collect();
        let mut activity = Self::default();
        // Refs that went into another format, or came from it, are no others by that.
        let tables = directory.join(b"reftable").join(b"tables.list");
        let is_migrated = |change: &&Change| {
            change.path == tables && (change.before.is_none() || change.after.is_none())
        };
        let mut refs = Vec::new();
        if !changes.iter().any(is_migrated) {
            refs = MovedRefs::of(objects, roots, directory, &changes).all();
            refs.iter().for_each(|moved| activity.count(moved));
        }
        let mut merged = BTreeSet::new();
        for change in changes {
            let below = &change.path.names()[directory.names().len()..];
            let below: Vec<&[u8]> = below.iter().map(Vec::as_slice).collect();
            match below.as_slice() {
                [b"HEAD"] => {
                    activity.created |= change.kind() == ChangeKind::Added;
                    activity.deleted |= change.kind() == ChangeKind::Deleted;
                }
                [b"logs", b"refs", b"heads", branch @ ..] => {
                    let branch = branch.join(&b'/');
                    if let Some(number @ 1..) = gained(objects, change, is_commit) {
                        activity.commits.insert(branch.clone(), number);
                    }
                    if let Some(1..) = gained(objects, change, is_merge) {
                        merged.insert(branch);
                    }
                }
                [b"logs", b"refs", b"stash"] => {
                    activity.stashes += gained(objects, change, |_| true).unwrap_or_default();
                }
                [b"modules", inside @ ..] => activity.in_module(objects, inside, change),
                _ => {}
            }
        }
        activity.count_merged(objects, roots, directory, (&refs, &merged));
        let commits = &activity.commits;
        activity.moved.retain(|branch| !commits.contains_key(branch));
        activity
    }

    /// Counts the commits that merges brought to branches: the log has one line for all of them.
    fn count_merged(
        &mut self,
        objects: &Objects,
        roots: &[RootId],
        directory: &VaultPath,
        (refs, merged): (&[MovedRef], &BTreeSet<Vec<u8>>),
    ) {
        for MovedRef { name, before, after } in refs.iter().filter(|_| merged.len() <= MOST_READ) {
            let branch =
                name.strip_prefix(b"refs/heads/").filter(|branch| merged.contains(*branch));
            let (Some(branch), Some(before), Some(after)) = (branch, before, after) else {
                continue;
            };
            let trees = roots.iter().filter_map(|root| Tree::open(objects, root).ok());
            // Only the state that the changes lead to has them. Where none can be read, the log has to do.
            let number = trees.filter_map(|tree| {
                let state = State { objects, tree: &tree };
                git::gained(state, directory, [before, after]).ok().flatten()
            });
            if let Some(number @ 1..) = number.max() {
                self.commits.insert(branch.to_vec(), number);
            }
        }
    }

    fn count(&mut self, moved: &MovedRef) {
        let MovedRef { name, before, after } = moved;
        let branch = name.strip_prefix(b"refs/heads/");
        match (branch, before, after) {
            (Some(_), None, Some(_)) => self.new_branches += 1,
            (Some(_), Some(_), None) => self.deleted_branches += 1,
            (Some(branch), ..) => drop(self.moved.insert(branch.to_vec())),
            (None, None, Some(_)) => self.new_tags += u64::from(name.starts_with(b"refs/tags/")),
            _ => {}
        }
    }

    /// Commits that were made in a submodule, whose name may be a path.
    fn in_module(&mut self, objects: &Objects, inside: &[&[u8]], change: &Change) {
        const BRANCHES: [&[u8]; 3] = [b"logs", b"refs", b"heads"];
        let Some(at) = inside.windows(3).position(|names| names == BRANCHES) else { return };
        let (module, branch) = (inside[..at].join(&b'/'), inside[at + 3..].join(&b'/'));
        if let Some(number @ 1..) = gained(objects, change, is_commit) {
            let name = [&branch, b" of submodule ".as_slice(), &module].concat();
            self.commits.insert(name, number);
        }
    }
}

/// How many lines a log gained that count.
fn gained(objects: &Objects, change: &Change, counts: fn(&[u8]) -> bool) -> Option<u64> {
    let (before, after) =
        (log(objects, change.before.as_deref())?, log(objects, change.after.as_deref())?);
    let gained = after.strip_prefix(before.as_slice())?;
    let lines = gained.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let made = lines.filter(|line| counts(line));
    Some(made.count() as u64)
}

/// The text of a log; `None` where it is too long, or cannot be read, as that of a state that was never sealed.
fn log(objects: &Objects, entry: Option<&Entry>) -> Option<Vec<u8>> {
    match entry.map(|entry| &entry.body) {
        None => Some(Vec::new()),
        Some(Body::File { size, blob }) if *size <= LONGEST_LOG => objects.blob(blob).ok(),
        Some(_) => None,
    }
}

/// What a log says was done: `merge topic: ...`, `pull: ...`, `commit (merge): ...`.
fn is_merge(line: &[u8]) -> bool {
    let done = line.iter().position(|byte| *byte == b'\t').map(|at| &line[at + 1..]);
    let words = [b"merge ".as_slice(), b"pull", b"commit (merge)"];
    done.is_some_and(|done| words.iter().any(|word| done.starts_with(word)))
}

/// Git writes what it did behind a tab: `commit: ...`, `commit (initial): ...`, `commit (merge): ...`.
fn is_commit(line: &[u8]) -> bool {
    let done = line.iter().position(|byte| *byte == b'\t').map(|at| &line[at + 1..]);
    done.is_some_and(|done| {
        done.starts_with(b"commit") && !done.starts_with(b"commit (amend)") && done.contains(&b':')
    })
}

#[cfg(test)]
mod tests {
    use super::is_commit;

    #[test]
    fn only_commits_are_counted() {
        for commit in ["a b n <m> 1 +0000\tcommit: x", "a b n\tcommit (initial): x"] {
            assert!(is_commit(commit.as_bytes()), "{commit}");
        }
        for other in ["a b n\tbranch: Created from main", "a b n\tcommit (amend): x", "commit: x"] {
            assert!(!is_commit(other.as_bytes()), "{other}");
        }
    }
}
