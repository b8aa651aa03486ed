//! The symbolic links of the folders and of a workspace, and what is reached through them.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Bound;

use offshoot_tree::diff::Change;
use offshoot_tree::{Body, VaultPath};
use offshoot_vault::Symlinks;

use super::places::Places;
use crate::git::git_directory;

/// The kernel follows no more links on the way to a file.
const MOST_LINKS: usize = 40;
/// Links that lead into themselves give ever more paths.
const MOST_PATHS: usize = 10_000;

/// All links by their paths.
#[derive(Debug)]
pub(super) struct Links<'l> {
    links: BTreeMap<&'l VaultPath, Link<'l>>,
    places: &'l Places,
}

/// What a link says in one state or another, and where that is: most links are of no interest to anybody, so it is found out when somebody
/// asks.
#[derive(Debug, Default)]
struct Link<'l> {
    texts: Vec<&'l [u8]>,
    targets: OnceCell<Vec<VaultPath>>,
}

impl<'l> Links<'l> {
    /// Those of the main line, and those that are new in a workspace.
    pub(super) fn of(main: &'l Symlinks, changes: &'l [Change], places: &'l Places) -> Self {
        let mut links: BTreeMap<&VaultPath, Link<'_>> = BTreeMap::new();
        let is_stored = |path: &VaultPath| path.parent().is_some_and(|folder| is_store(&folder));
        for (path, text) in main.iter().filter(|(path, _)| !is_stored(path)) {
            links.entry(path).or_default().texts.push(text);
        }
        for change in changes {
            if let Some(Body::Symlink { target }) = change.after.as_ref().map(|e| &e.body) {
                links.entry(&change.path).or_default().texts.push(target);
            }
        }
        Self { links, places }
    }

    pub(super) fn paths(&self) -> impl Iterator<Item = &'l VaultPath> {
        self.links.keys().copied()
    }

    /// What the link at a path leads to; nothing where there is none, or where it leads out of the folders.
    pub(super) fn targets(&self, path: &VaultPath) -> &[VaultPath] {
        let Some(link) = self.links.get(path) else { return &[] };
        link.targets.get_or_init(|| {
            let from = path.parent().unwrap_or_else(VaultPath::top);
            link.texts.iter().filter_map(|text| self.places.of_link(&from, text)).collect()
        })
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
                for target in self.targets(&at) {
                    next.push(rest.iter().fold(target.clone(), |path, name| path.join(name)));
                }
            }
            let below =
                self.links.range::<VaultPath, _>((Bound::Excluded(&path), Bound::Unbounded));
            let below = below.take_while(|(link, _)| link.is_within(&path));
            next.extend(below.flat_map(|(link, _)| self.targets(link).iter().cloned()));
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
