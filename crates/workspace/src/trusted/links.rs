//! The symbolic links of the folders and of a workspace, and what is reached through them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use offshoot_tree::diff::Change;
use offshoot_tree::{Body, VaultPath};
use offshoot_vault::Symlinks;

use super::places::Places;
use crate::git::git_directory;

/// The kernel follows no more links on the way to a file.
const MOST_LINKS: usize = 40;
/// Links that lead into themselves give ever more paths.
const MOST_PATHS: usize = 10_000;

/// All links by their paths, each with what it leads to in one state or another.
#[derive(Debug, Default)]
pub(super) struct Links {
    targets: BTreeMap<VaultPath, Vec<VaultPath>>,
}

impl Links {
    /// Those of the main line, and those that are new in a workspace. Links that lead out of the folders are left out.
    pub(super) fn of(main: &Symlinks, changes: &[Change], places: &Places) -> Self {
        let mut links = Self::default();
        let is_stored = |path: &VaultPath| path.parent().is_some_and(|folder| is_store(&folder));
        for (path, target) in main.iter().filter(|(path, _)| !is_stored(path)) {
            links.add(path, target, places);
        }
        for change in changes {
            if let Some(Body::Symlink { target }) = change.after.as_ref().map(|e| &e.body) {
                links.add(&change.path, target, places);
            }
        }
        links
    }

    fn add(&mut self, path: &VaultPath, target: &[u8], places: &Places) {
        let from = path.parent().unwrap_or_else(VaultPath::top);
        if let Some(target) = places.of_link(&from, target) {
            let known = self.targets.entry(path.clone()).or_default();
            if !known.contains(&target) {
                known.push(target);
            }
        }
    }

    pub(super) fn paths(&self) -> impl Iterator<Item = &VaultPath> {
        self.targets.keys()
    }

    /// Everything that a path leads to over links: over those on the way to it, at it, and below it.
    pub(super) fn reached(&self, path: &VaultPath) -> BTreeSet<VaultPath> {
        let (mut found, mut pending) = (BTreeSet::new(), VecDeque::from([(path.clone(), 0)]));
        while let Some((path, links)) = pending.pop_front().filter(|_| found.len() < MOST_PATHS) {
            if links == MOST_LINKS {
                continue;
            }
            let mut next: Vec<VaultPath> = Vec::new();
            let mut at = VaultPath::top();
            for (depth, name) in path.names().iter().enumerate() {
                at = at.join(name);
                let rest = &path.names()[depth + 1..];
                for target in self.targets.get(&at).into_iter().flatten() {
                    next.push(rest.iter().fold(target.clone(), |path, name| path.join(name)));
                }
            }
            let below = self.targets.range(&path..).skip_while(|(link, _)| *link == &path);
            let below = below.take_while(|(link, _)| link.is_within(&path));
            next.extend(below.flat_map(|(_, targets)| targets.iter().cloned()));
            let new = next.into_iter().filter(|path| found.insert(path.clone()));
            pending.extend(new.map(|path| (path, links + 1)));
        }
        found
    }
}

/// Whether a directory is a store of git, or lies in one: nothing is found there by a name that people choose.
fn is_store(path: &VaultPath) -> bool {
    let inside = git_directory(path).map(|git| path.names()[git.names().len()..].to_vec());
    inside.is_some_and(|inside| inside.first().is_some_and(|name| name == b"objects"))
}
