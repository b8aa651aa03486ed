//! The symbolic links of the folders and of a workspace, and where they lead.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::ops::Bound;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use offshoot_tree::VaultPath;
use offshoot_vault::Symlinks;

use super::places::{Places, Position};
use crate::git::git_directory;

/// The kernel follows no more links on the way to a file.
const MOST_LINKS: usize = 40;
/// Links that lead into themselves give ever more steps.
const MOST_STEPS: usize = 20_000;

/// All links by their paths, each with what it says in one state or another.
#[derive(Debug)]
pub(super) struct Links<'l> {
    links: BTreeMap<&'l VaultPath, Vec<&'l [u8]>>,
    places: &'l Places,
    /// What links of the host outside the folders say.
    outside: RefCell<HashMap<PathBuf, Option<PathBuf>>>,
}

/// Where a path leads, over links that are there in one state or another.
#[derive(Debug, Default)]
pub(super) struct Way {
    /// What is looked up on the way: whoever puts a link there decides where it leads.
    pub(super) over: BTreeSet<VaultPath>,
    /// Where it ends in the folders.
    pub(super) ends: BTreeSet<VaultPath>,
    /// It may end outside of them.
    pub(super) leaves: bool,
    /// Nobody knows where it ends.
    pub(super) is_endless: bool,
}

/// A part of a way.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Walk {
    at: Position,
    rest: PathBuf,
    links: usize,
}

impl<'l> Links<'l> {
    /// Those of the main line.
    pub(super) fn of(main: &'l Symlinks, places: &'l Places) -> Self {
        let mut links: BTreeMap<&VaultPath, Vec<&[u8]>> = BTreeMap::new();
        let is_stored = |path: &VaultPath| path.parent().is_some_and(|folder| is_store(&folder));
        for (path, text) in main.iter().filter(|(path, _)| !is_stored(path)) {
            links.entry(path).or_default().push(text);
        }
        Self { links, places, outside: RefCell::default() }
    }

    /// With others that are new.
    pub(super) fn with(mut self, new: &'l Symlinks) -> Self {
        for (path, target) in new {
            self.links.entry(path).or_default().push(target);
        }
        self
    }

    pub(super) fn paths(&self) -> impl Iterator<Item = &'l VaultPath> {
        self.links.keys().copied()
    }

    /// Follows a path from a directory on as the kernel does: `..` is what lies above the place that links led to.
    pub(super) fn way(&self, from: &VaultPath, path: &Path) -> Way {
        self.follow(from, path, false)
    }

    /// Where a link leads.
    pub(super) fn way_of(&self, link: &VaultPath, target: &[u8]) -> Way {
        let from = link.parent().unwrap_or_else(VaultPath::top);
        self.way(&from, Path::new(OsStr::from_bytes(target)))
    }

    /// The same, and then all links below where it ends.
    pub(super) fn ways_below(&self, from: &VaultPath, path: &Path) -> Way {
        self.follow(from, path, true)
    }

    fn follow(&self, from: &VaultPath, path: &Path, below: bool) -> Way {
        let (mut way, mut seen) = (Way::default(), HashSet::new());
        let start = Walk { at: Position::Inside(from.clone()), rest: path.to_owned(), links: 0 };
        let mut pending = vec![start];
        while let Some(walk) = pending.pop() {
            if walk.links > MOST_LINKS || !seen.insert(walk.clone()) {
                continue;
            }
            if seen.len() > MOST_STEPS {
                (way.leaves, way.is_endless) = (true, true);
                break;
            }
            let mut parts = walk.rest.components();
            let part = parts.next();
            let rest = parts.as_path().to_owned();
            let go = |at| Walk { at, rest: rest.clone(), links: walk.links };
            let linked = |at: Position, target: &Path| Walk {
                at,
                rest: target.join(&rest),
                links: walk.links + 1,
            };
            match (part, &walk.at) {
                (None, Position::Outside(_)) => way.leaves = true,
                (None, Position::Inside(end)) => {
                    if way.ends.insert(end.clone()) && below {
                        pending.extend(self.below(end, walk.links));
                    }
                }
                (Some(Component::CurDir | Component::Prefix(_)), at) => {
                    pending.push(go(at.clone()))
                }
                (Some(Component::RootDir), _) => {
                    pending.push(go(self.places.position(Path::new("/"))))
                }
                (Some(Component::ParentDir), Position::Inside(at)) => match self.places.above(at) {
                    Some(above) => pending.push(go(above)),
                    None => way.leaves = true,
                },
                (Some(Component::ParentDir), Position::Outside(at)) => {
                    let above = at.parent().unwrap_or(at);
                    pending.push(go(self.places.position(above)));
                }
                (Some(Component::Normal(name)), Position::Inside(at)) => {
                    let to = at.join(name.as_bytes());
                    for text in self.links.get(&to).into_iter().flatten() {
                        pending.push(linked(walk.at.clone(), Path::new(OsStr::from_bytes(text))));
                    }
                    way.over.insert(to.clone());
                    pending.push(go(Position::Inside(to)));
                }
                (Some(Component::Normal(name)), Position::Outside(at)) => {
                    match self.places.position(&at.join(name)) {
                        inside @ Position::Inside(_) => pending.push(go(inside)),
                        Position::Outside(to) => match self.outside(&to) {
                            Some(target) => pending.push(linked(walk.at.clone(), &target)),
                            None => pending.push(go(Position::Outside(to))),
                        },
                    }
                }
            }
        }
        way
    }

    /// What a link of the host says; nothing where there is none.
    fn outside(&self, path: &Path) -> Option<PathBuf> {
        let mut known = self.outside.borrow_mut();
        let read = || fs::read_link(path).ok();
        known.entry(path.to_owned()).or_insert_with(read).clone()
    }

    /// The ways of all links below a directory.
    fn below(&self, end: &VaultPath, links: usize) -> impl Iterator<Item = Walk> {
        let below = self.links.range::<VaultPath, _>((Bound::Excluded(end), Bound::Unbounded));
        let below = below.take_while(move |(link, _)| link.is_within(end));
        below.flat_map(move |(link, texts)| {
            let from = link.parent().unwrap_or_else(VaultPath::top);
            texts.iter().map(move |text| Walk {
                at: Position::Inside(from.clone()),
                rest: PathBuf::from(OsStr::from_bytes(text)),
                links: links + 1,
            })
        })
    }
}

/// Whether a directory is a store of git, or lies in one: nothing is found there by a name that people choose.
fn is_store(path: &VaultPath) -> bool {
    let inside = git_directory(path).map(|git| path.names()[git.names().len()..].to_vec());
    inside.is_some_and(|inside| inside.first().is_some_and(|name| name == b"objects"))
}
