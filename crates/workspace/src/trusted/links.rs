//! The symbolic links of the folders and of a workspace, and what is reached through them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use offshoot_tree::diff::Change;
use offshoot_tree::{Body, Entry, VaultPath};

use super::places::Places;
use crate::error::Result;
use crate::git::{State, git_directory};

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
    pub(super) fn of(main: State<'_>, changes: &[Change], places: &Places) -> Result<Self> {
        let mut links = Self::default();
        let top = main.tree.get(&VaultPath::top())?;
        let top = top.as_ref().and_then(Entry::directory).copied();
        let mut pending: Vec<_> = top.into_iter().map(|dir| (VaultPath::top(), dir)).collect();
        while let Some((directory, dir)) = pending.pop() {
            for entry in main.tree.list(&dir)? {
                match &entry.body {
                    Body::Symlink { target } => {
                        links.add(&directory.join(&entry.name), target, places);
                    }
                    _ => {
                        let Some(dir) = entry.directory().filter(|dir| dir.entries > 0) else {
                            continue;
                        };
                        let path = directory.join(&entry.name);
                        if !is_store(&path) {
                            pending.push((path, *dir));
                        }
                    }
                }
            }
        }
        for change in changes {
            if let Some(Body::Symlink { target }) = change.after.as_ref().map(|e| &e.body) {
                links.add(&change.path, target, places);
            }
        }
        Ok(links)
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

/// Whether a path is that of a store of git, in which nothing is found by a name that people choose.
fn is_store(path: &VaultPath) -> bool {
    let inside = git_directory(path).map(|git| path.names()[git.names().len()..].to_vec());
    inside.is_some_and(|inside| inside.first().is_some_and(|name| name == b"objects"))
}
