//! One repository, several checkouts: what of a git directory belongs to which.

use std::collections::BTreeSet;

use offshoot_tree::diff::Change;
use offshoot_tree::{Objects, Tree, VaultPath};

use super::names::{is_git_directory, is_name};
use super::repository::{State, common};
use crate::error::Result;

/// The names in a git directory that all checkouts share, as git itself has them. Everything else belongs to one checkout.
const SHARED: &[&str] = &[
    "branches",
    "common",
    "config",
    "gc.log",
    "gc.pid",
    "hooks",
    "info",
    "logs",
    "lost-found",
    "objects",
    "packed-refs",
    "refs",
    "reftable",
    "remotes",
    "rr-cache",
    "shallow",
    "svn",
];

/// Below the shared names, what belongs to one checkout all the same.
const OWN: &[&[&str]] = &[
    &["info", "sparse-checkout"],
    &["logs", "HEAD"],
    &["logs", "refs", "bisect"],
    &["logs", "refs", "rewritten"],
    &["logs", "refs", "worktree"],
    &["refs", "bisect"],
    &["refs", "rewritten"],
    &["refs", "worktree"],
];

/// The checkouts of the first folder's repository, where its git directory is a further folder of the vault.
#[derive(Clone, Debug)]
pub(crate) struct Checkouts {
    /// The repository of the first folder's own checkout.
    own: VaultPath,
    /// What its checkouts share.
    shared: VaultPath,
    /// Branches that other checkouts have and the workspace moved.
    moved: BTreeSet<VaultPath>,
}

impl Checkouts {
    /// As they are in the main line: what a workspace says about them does not count. `sides` are the workspace's base and its state.
    pub(crate) fn of(objects: &Objects, main: &Tree<'_>, sides: [&Tree<'_>; 2]) -> Result<Self> {
        let state = State { objects, tree: main };
        let own = state.repository_at(&VaultPath::top())?;
        let shared = common(&own);
        let mut checkouts = Self { own, shared, moved: BTreeSet::new() };
        if !checkouts.is_outside() {
            return Ok(checkouts);
        }
        let taken = checkouts.taken(&state)?;
        let [before, after] = sides.map(|tree| State { objects, tree }.refs(&checkouts.shared));
        let (before, after) = (before?, after?);
        for branch in taken.iter().filter(|branch| before.get(*branch) != after.get(*branch)) {
            let names = branch.split(|byte| *byte == b'/');
            let path = names.fold(checkouts.shared.clone(), |path, name| path.join(name));
            checkouts.moved.insert(path);
        }
        Ok(checkouts)
    }

    /// Where what all checkouts share is: the git directory.
    pub(crate) fn shared(&self) -> &VaultPath {
        &self.shared
    }

    /// Whether the git directory is outside of the first folder.
    fn is_outside(&self) -> bool {
        is_git_directory(&self.shared) && self.shared.names().len() > 1
    }

    /// The branches that other checkouts have, or rebase.
    fn taken(&self, state: &State<'_>) -> Result<Vec<Vec<u8>>> {
        let mut all = vec![self.shared.clone()];
        let linked = self.shared.join(b"worktrees");
        let entry = state.tree.get(&linked)?;
        if let Some(directory) = entry.as_ref().and_then(|entry| entry.directory()) {
            let listed = state.tree.list(directory)?;
            all.extend(listed.iter().map(|entry| linked.join(&entry.name)));
        }
        let mut branches = Vec::new();
        for checkout in all.into_iter().filter(|checkout| *checkout != self.own) {
            branches.extend(state.in_use(&checkout)?.into_keys());
        }
        Ok(branches)
    }

    /// Whether a change is to what belongs to another checkout of the first folder's repository.
    pub(crate) fn belongs_to_another(&self, change: &Change) -> bool {
        let path = &change.path;
        if !self.is_outside() || !path.is_within(&self.shared) || stays_directory(change) {
            return false;
        }
        let is_own_shared = self.own == self.shared;
        match &path.names()[self.shared.names().len()..] {
            [] => false,
            [kind] if is_name(kind, "worktrees") => false,
            [kind, ..] if is_name(kind, "worktrees") => is_own_shared || !path.is_within(&self.own),
            below => self.moved.contains(path) || !(is_own_shared || is_shared(below)),
        }
    }
}

/// Whether a path of a git directory is one that all checkouts share.
fn is_shared(below: &[Vec<u8>]) -> bool {
    let starts_with = |names: &[&str]| {
        below.len() >= names.len() && names.iter().zip(below).all(|(a, b)| is_name(b, a))
    };
    SHARED.iter().any(|name| starts_with(&[name])) && !OWN.iter().any(|names| starts_with(names))
}

fn stays_directory(change: &Change) -> bool {
    let sides = [&change.before, &change.after];
    sides.iter().all(|side| side.as_ref().is_some_and(|entry| entry.directory().is_some()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_checkouts_share_is_what_git_says() {
        let below = |text: &str| text.split('/').map(|n| n.as_bytes().to_vec()).collect::<Vec<_>>();
        for shared in
            ["refs/heads/x", "logs/refs/heads/x", "objects/ab/cd", "packed-refs", "config"]
        {
            assert!(is_shared(&below(shared)), "{shared}");
        }
        for own in
            ["HEAD", "index", "logs/HEAD", "refs/bisect/bad", "ORIG_HEAD", "modules/lib/HEAD"]
        {
            assert!(!is_shared(&below(own)), "{own}");
        }
    }
}
