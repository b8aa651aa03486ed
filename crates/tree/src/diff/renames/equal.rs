//! Finding moved files by their bytes. Where several are equal, their paths say which is which.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::nearness::{DirectoryMoves, LONGEST_END};
use super::{Pairs, content_of, is_added, is_deleted};
use crate::diff::change::Change;
use crate::hash::BlobId;
use crate::path::VaultPath;

/// Equal files by what they have in common with where one was moved to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Key<'a> {
    /// The last names of the path.
    End(BlobId, &'a [Vec<u8>]),
    /// The directory.
    Parent(BlobId, &'a [Vec<u8>]),
    Content(BlobId),
}

/// A file that was added or deleted.
#[derive(Clone, Copy)]
struct Leaf<'a> {
    at: usize,
    path: &'a VaultPath,
    blob: BlobId,
}

impl<'a> Leaf<'a> {
    fn ends(self) -> impl DoubleEndedIterator<Item = Key<'a>> {
        let names = self.path.names();
        let longest = names.len().min(LONGEST_END);
        (1..=longest).map(move |length| Key::End(self.blob, &names[names.len() - length..]))
    }

    fn parent(self) -> Key<'a> {
        let names = self.path.names();
        Key::Parent(self.blob, &names[..names.len().saturating_sub(1)])
    }

    fn keys(self) -> impl Iterator<Item = Key<'a>> {
        self.ends().chain([self.parent(), Key::Content(self.blob)])
    }
}

/// Files by the names in their paths, with their places.
type InOrder<'a> = BTreeSet<(&'a [Vec<u8>], usize)>;

/// The deleted files that have not been found yet.
struct Sources<'a> {
    by_key: HashMap<Key<'a>, InOrder<'a>>,
    leaves: HashMap<usize, Leaf<'a>>,
    by_path: HashMap<(&'a VaultPath, BlobId), usize>,
}

impl<'a> Sources<'a> {
    fn new(leaves: &[Leaf<'a>]) -> Self {
        let mut by_key: HashMap<Key<'a>, InOrder<'a>> = HashMap::new();
        for leaf in leaves {
            for key in leaf.keys() {
                by_key.entry(key).or_default().insert((leaf.path.names(), leaf.at));
            }
        }
        let by_path = leaves.iter().map(|leaf| ((leaf.path, leaf.blob), leaf.at)).collect();
        let leaves = leaves.iter().map(|leaf| (leaf.at, *leaf)).collect();
        Self { by_key, leaves, by_path }
    }

    /// The one with this key; nothing where there are several.
    fn only(&self, key: &Key<'a>) -> Option<&'a VaultPath> {
        let found = self.by_key.get(key).filter(|found| found.len() == 1)?;
        let leaf = found.first().and_then(|(_, at)| self.leaves.get(at));
        leaf.map(|leaf| leaf.path)
    }

    /// Of those with this key the first whose path starts with most of the names of another: it is near that in the order of paths.
    fn nearest(&self, key: &Key<'a>, path: &VaultPath) -> Option<usize> {
        let (found, names) = (self.by_key.get(key)?, path.names());
        let neighbours = [found.range(..(names, 0)).next_back(), found.range((names, 0)..).next()];
        let shared = |(other, _): &(&[Vec<u8>], usize)| {
            other.iter().zip(names).take_while(|(a, b)| a == b).count()
        };
        let most = neighbours.into_iter().flatten().map(shared).max()?;
        found.range((&names[..most], 0)..).next().map(|(_, at)| *at)
    }

    fn take(&mut self, at: usize) {
        let Some(leaf) = self.leaves.remove(&at) else { return };
        for key in leaf.keys() {
            if let Some(found) = self.by_key.get_mut(&key) {
                found.remove(&(leaf.path.names(), leaf.at));
            }
        }
        self.by_path.remove(&(leaf.path, leaf.blob));
    }
}

/// Pairs files with the same bytes, and says which directories were moved with what is in them. A file goes, as far as there is such a one, with
/// the file at the same path in a directory that other files show to have been moved, with the one that has most names in common at the
/// end, with one of the same directory, or with one whose path starts with the same names. What is surer comes first, so that nothing is
/// taken for a file that fits another one better.
pub(super) fn pairs(changes: &[Change]) -> (Pairs, DirectoryMoves) {
    let mut targets = leaves(changes, is_added, |_| true);
    let wanted: HashSet<BlobId> = targets.iter().map(|leaf| leaf.blob).collect();
    let mut sources = Sources::new(&leaves(changes, is_deleted, |blob| wanted.contains(&blob)));
    let directories = moved_directories(&sources, &targets);
    let mut pairs = Pairs::default();
    let mut led: Vec<(usize, usize, usize)> = Vec::new();
    for target in &targets {
        for (count, path) in directories.sources(target.path) {
            let found = sources.by_path.get(&(&path, target.blob));
            led.extend(found.map(|from| (count, *from, target.at)));
        }
    }
    led.sort_by(|a, b| (b.0, a.1, a.2).cmp(&(a.0, b.1, b.2)));
    for (_, from, to) in led {
        if pairs.is_free(from, to) {
            sources.take(from);
            pairs.add(from, to, 100);
        }
    }
    for length in (0..LONGEST_END).rev() {
        assign(&mut targets, &mut sources, &mut pairs, |leaf| leaf.ends().nth(length));
    }
    assign(&mut targets, &mut sources, &mut pairs, |leaf| Some(leaf.parent()));
    assign(&mut targets, &mut sources, &mut pairs, |leaf| Some(Key::Content(leaf.blob)));
    (pairs, directories)
}

/// Gives each file that has none yet the nearest of those with the same key.
fn assign<'a>(
    targets: &mut Vec<Leaf<'a>>,
    sources: &mut Sources<'a>,
    pairs: &mut Pairs,
    key: impl Fn(Leaf<'a>) -> Option<Key<'a>>,
) {
    targets.retain(|target| {
        if pairs.by_added.contains_key(&target.at) {
            return false;
        }
        let found = key(*target).and_then(|key| sources.nearest(&key, target.path));
        if let Some(from) = found {
            sources.take(from);
            pairs.add(from, target.at, 100);
        }
        found.is_none()
    });
}

/// The directories that files show to have been moved for which there is only one that they can have been.
fn moved_directories(sources: &Sources<'_>, targets: &[Leaf<'_>]) -> DirectoryMoves {
    let mut directories = DirectoryMoves::default();
    for target in targets {
        let known = |key: &Key<'_>| sources.by_key.contains_key(key);
        let longest = target.ends().rev().find(known);
        if let Some(from) = longest.and_then(|key| sources.only(&key)) {
            directories.count(from, target.path);
        }
    }
    directories
}

/// Files with content that is worth finding again, in the order of their paths.
fn leaves(
    changes: &[Change],
    wanted: fn(&Change) -> bool,
    is_known: impl Fn(BlobId) -> bool,
) -> Vec<Leaf<'_>> {
    let all = changes.iter().enumerate().filter(|(_, change)| wanted(change));
    let leaf = |(at, change): (usize, &'_ Change)| {
        let (blob, _) = content_of(change).filter(|(blob, _)| is_known(*blob))?;
        Some((at, blob))
    };
    let found = all.filter_map(leaf);
    found.map(|(at, blob)| Leaf { at, path: &changes[at].path, blob }).collect()
}
