//! What each side did to each file and directory.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::inputs::MergeOptions;
use super::merged::Rename;
use super::{directories, renames};
use crate::diff::change::Change;
use crate::diff::compare::compare_nodes;
use crate::entry::Entry;
use crate::entry::record::Version;
use crate::error::Result;
use crate::hash::RootId;
use crate::objects::nodes::Nodes;
use crate::path::VaultPath;

/// What a side did to something.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum State {
    /// Nothing: it is as in the base, or is not there either.
    #[default]
    Same,
    /// Deleted it.
    Gone,
    /// Changed, moved or added it.
    Here(Box<Version>),
}

/// One file or directory with all that was done to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) base: Option<Version>,
    /// By side.
    pub(super) states: Vec<State>,
}

impl Item {
    fn new(base: Option<Version>, sides: usize) -> Self {
        Self { base, states: vec![State::Same; sides] }
    }

    /// What a side has of it.
    pub(super) fn version(&self, side: usize) -> Option<&Version> {
        match &self.states[side] {
            State::Same => self.base.as_ref(),
            State::Gone => None,
            State::Here(version) => Some(version),
        }
    }

    /// What every side has of it.
    pub(super) fn versions(&self) -> Vec<Option<Version>> {
        (0..self.states.len()).map(|side| self.version(side).cloned()).collect()
    }

    /// The sides that have something of their own, with it.
    pub(super) fn here(&self) -> impl Iterator<Item = (usize, &Version)> {
        self.states.iter().enumerate().filter_map(|(side, state)| match state {
            State::Here(version) => Some((side, &**version)),
            _ => None,
        })
    }

    pub(super) fn is_deleted(&self) -> bool {
        self.states.contains(&State::Gone)
    }
}

/// Items by path.
pub(super) type Items = BTreeMap<VaultPath, Item>;

/// All that the sides did.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    /// Files, links and pipes of the base that some side changed, by their path in the base.
    pub(super) known: Items,
    /// New ones, by where they belong.
    pub(super) fresh: Items,
    /// Directories that came, went or changed themselves.
    pub(super) folders: Items,
    /// What was moved.
    pub(super) renames: Vec<Rename>,
    /// What is new in a directory that was moved, and cannot follow: the side and the path.
    pub(super) unclear: Vec<(usize, VaultPath)>,
    /// How many paths each side changed.
    pub(super) changes: Vec<usize>,
}

/// What one side did, before files are put together over the sides.
#[derive(Debug, Default)]
pub(super) struct Additions {
    pub(super) leaves: BTreeMap<VaultPath, Entry>,
    pub(super) folders: BTreeMap<VaultPath, Entry>,
    /// Files that were moved, by their path in the base.
    pub(super) moved: BTreeMap<VaultPath, Version>,
}

/// Compares every side with the base and follows what was moved.
pub(super) fn gather(
    nodes: &Nodes<'_>,
    base: &RootId,
    sides: &[RootId],
    options: &MergeOptions,
) -> Result<Gathered> {
    let objects = nodes.objects();
    let changes: Vec<Vec<Change>> =
        sides.iter().map(|side| difference(nodes, base, side)).collect::<Result<_>>()?;
    let mut gathered =
        Gathered { changes: changes.iter().map(Vec::len).collect(), ..Gathered::default() };
    let mut additions: Vec<Additions> = Vec::new();
    for (side, changes) in changes.iter().enumerate() {
        additions.push(gathered.take_in(side, sides.len(), changes));
    }
    if options.renames {
        let moves = renames::find(objects, &changes, options)?;
        for (side, moves) in moves.iter().enumerate() {
            additions[side].follow(side, moves, &mut gathered.renames);
        }
        if options.directory_renames {
            let roots = directories::Roots { objects, base, sides };
            directories::relocate(&roots, &changes, &moves, &mut additions, &mut gathered)?;
        }
    }
    for (side, additions) in additions.into_iter().enumerate() {
        gathered.add(side, sides.len(), additions);
    }
    gathered.renames.sort();
    Ok(gathered)
}

impl Gathered {
    /// Notes what a side did to what the base has, and gives what it added.
    fn take_in(&mut self, side: usize, sides: usize, changes: &[Change]) -> Additions {
        let mut additions = Additions::default();
        for Change { path, before, after, .. } in changes {
            let is_folder = |entry: &Option<Arc<Entry>>| {
                entry.as_ref().is_some_and(|entry| entry.directory().is_some())
            };
            let version = |entry: &Entry| Version { path: path.clone(), entry: entry.clone() };
            if let Some(before_entry) = before {
                let items = if is_folder(before) { &mut self.folders } else { &mut self.known };
                let new = || Item::new(Some(version(before_entry)), sides);
                let item = items.entry(path.clone()).or_insert_with(new);
                item.states[side] = match after {
                    Some(entry) if is_folder(before) == is_folder(after) => {
                        State::Here(Box::new(version(entry)))
                    }
                    _ => State::Gone,
                };
            }
            if let Some(entry) = after
                && (before.is_none() || is_folder(before) != is_folder(after))
            {
                let added =
                    if is_folder(after) { &mut additions.folders } else { &mut additions.leaves };
                added.insert(path.clone(), Entry::clone(entry));
            }
        }
        additions
    }

    /// Puts what a side added and moved together with what the others did.
    fn add(&mut self, side: usize, sides: usize, additions: Additions) {
        for (from, version) in additions.moved {
            if let Some(item) = self.known.get_mut(&from) {
                item.states[side] = State::Here(Box::new(version));
            }
        }
        let both = [(&mut self.fresh, additions.leaves), (&mut self.folders, additions.folders)];
        for (items, added) in both {
            for (path, entry) in added {
                let item = items.entry(path.clone()).or_insert_with(|| Item::new(None, sides));
                item.states[side] = State::Here(Box::new(Version { path, entry }));
            }
        }
    }
}

impl Additions {
    /// Takes moved files out of what was added.
    fn follow(&mut self, side: usize, moves: &[renames::Move], renames: &mut Vec<Rename>) {
        for renames::Move { from, to, similarity } in moves {
            if let Some(entry) = self.leaves.remove(to) {
                self.moved.insert(from.clone(), Version { path: to.clone(), entry });
                let (from, to, similarity) = (from.clone(), to.clone(), Some(*similarity));
                renames.push(Rename { side, from, to, similarity });
            }
        }
    }
}

fn difference(nodes: &Nodes<'_>, base: &RootId, side: &RootId) -> Result<Vec<Change>> {
    nodes.objects().difference(base, side, || compare_nodes(nodes, base, side))
}
