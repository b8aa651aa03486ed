//! What was done in a git directory, as far as its files tell.

use std::collections::{BTreeMap, BTreeSet};

use offshoot_tree::diff::{Change, ChangeKind};
use offshoot_tree::{Body, Entry, Objects, RootId, Tree, VaultPath};

use super::moved_refs::{MovedRef, MovedRefs};
use crate::git::Commits;

/// Of more branches that moved at once, histories are not read.
const MOST_READ: usize = 64;
/// A longer log of stashes is not read.
const LONGEST_LOG: u64 = 1 << 20;

/// What was done in a git directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitActivity {
    /// The repository is new.
    pub created: bool,
    /// The repository is gone.
    pub deleted: bool,
    /// Branches that gained commits, and how many: those that lead to where the branch is now, and not to where it was before.
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
        let trees: Vec<Tree<'_>> =
            roots.iter().filter_map(|root| Tree::open(objects, root).ok()).collect();
        if !changes.iter().any(is_migrated) {
            let refs = MovedRefs::of(objects, roots, directory, &changes);
            let all = refs.all();
            all.iter().for_each(|moved| activity.count(moved));
            let commits = Commits::new(objects, &trees, directory, &changes);
            activity.commits = counted(&commits, &refs, &all);
        }
        for module in modules(directory, &changes) {
            let refs = MovedRefs::of(objects, roots, &module, &changes);
            let commits = Commits::new(objects, &trees, &module, &changes);
            let name = module.names()[directory.names().len() + 1..].join(&b'/');
            for (branch, number) in counted(&commits, &refs, &refs.all()) {
                let name = [&branch, b" of submodule ".as_slice(), &name].concat();
                activity.commits.insert(name, number);
            }
        }
        for change in changes {
            let below = &change.path.names()[directory.names().len()..];
            let below: Vec<&[u8]> = below.iter().map(Vec::as_slice).collect();
            match below.as_slice() {
                [b"HEAD"] => {
                    activity.created |= change.kind() == ChangeKind::Added;
                    activity.deleted |= change.kind() == ChangeKind::Deleted;
                }
                [b"logs", b"refs", b"stash"] => {
                    activity.stashes += new_stashes(objects, change).unwrap_or_default();
                }
                _ => {}
            }
        }
        let commits = &activity.commits;
        activity.moved.retain(|branch| !commits.contains_key(branch));
        activity
    }

    fn count(&mut self, moved: &MovedRef) {
        let MovedRef { name, before, after } = moved;
        match (branch_of(name), before, after) {
            (Some(_), None, Some(_)) => self.new_branches += 1,
            (Some(_), Some(_), None) => self.deleted_branches += 1,
            (Some(branch), ..) => drop(self.moved.insert(branch.to_vec())),
            (None, None, Some(_)) => self.new_tags += u64::from(name.starts_with(b"refs/tags/")),
            _ => {}
        }
    }
}

/// The branches that gained commits, and how many, as far as that can be told.
fn counted(
    commits: &Commits<'_>,
    refs: &MovedRefs<'_>,
    moved: &[MovedRef],
) -> BTreeMap<Vec<u8>, u64> {
    let mut counted = BTreeMap::new();
    let branches = moved.iter().filter_map(|moved| {
        Some((branch_of(&moved.name)?, moved.before.as_deref(), moved.after.as_deref()?))
    });
    let branches: Vec<_> = branches.collect();
    if branches.len() > MOST_READ {
        return counted;
    }
    // What a branch gained that was there before is not told again of a new one.
    let mut told = BTreeSet::new();
    for (branch, before, after) in &branches {
        if let Some(gained) = before.and_then(|before| commits.gained(before, after)) {
            counted.insert(branch.to_vec(), gained.len() as u64);
            told.extend(gained);
        }
    }
    let is_new = |(_, before, _): &&(_, Option<&[u8]>, _)| before.is_none();
    let mut new = branches.iter().filter(is_new).peekable();
    if let Some(refs) = new.peek().and_then(|_| refs.before()) {
        for (branch, _, tip) in new {
            if let Some(own) = commits.beyond(tip, &told, refs.values()) {
                counted.insert(branch.to_vec(), own.len() as u64);
            }
        }
    }
    counted.retain(|_, number| *number > 0);
    counted
}

fn branch_of(name: &[u8]) -> Option<&[u8]> {
    name.strip_prefix(b"refs/heads/")
}

/// The repositories of submodules in which branches changed. The name of one may be a path.
fn modules(directory: &VaultPath, changes: &[&Change]) -> BTreeSet<VaultPath> {
    let start = directory.names().len();
    let found = changes.iter().filter_map(|change| {
        let below = &change.path.names()[start..];
        if below.first()? != b"modules" {
            return None;
        }
        let at = below.windows(2).position(|names| names == [b"refs".as_slice(), b"heads"])?;
        let module = below[..at].iter().fold(directory.clone(), |path, name| path.join(name));
        (at > 1 && module.name() != Some(b"logs")).then_some(module)
    });
    found.collect()
}

/// How many stashes are new. Unlike branches, stashes are where their log says.
fn new_stashes(objects: &Objects, change: &Change) -> Option<u64> {
    let (before, after) =
        (log(objects, change.before.as_deref())?, log(objects, change.after.as_deref())?);
    let gained = after.strip_prefix(before.as_slice())?;
    let lines = gained.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    Some(lines.count() as u64)
}

/// The text of a log; `None` where it is too long, or cannot be read, as that of a state that was never sealed.
fn log(objects: &Objects, entry: Option<&Entry>) -> Option<Vec<u8>> {
    match entry.map(|entry| &entry.body) {
        None => Some(Vec::new()),
        Some(Body::File { size, blob }) if *size <= LONGEST_LOG => objects.blob(blob).ok(),
        Some(_) => None,
    }
}
