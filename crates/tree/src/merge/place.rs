//! Finding a place for everything, also where two things want the same.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Bound, Range};

use super::conflict::Conflict;
use super::gather::{Gathered, Item, Items, State};
use super::{Merger, Purpose};
use crate::entry::Entry;
use crate::entry::conflict_kind::ConflictKind;
use crate::entry::record::Version;
use crate::error::{Result, TreeError};
use crate::hash::RootId;
use crate::path::VaultPath;
use crate::tree::Tree;

/// The longest name that a file system takes.
const LONGEST_NAME: usize = 255;

/// What goes where. Everything in the base that a side touched and that is not here is gone.
pub(super) type Places = BTreeMap<VaultPath, Entry>;

/// Something that wants a place.
struct Candidate {
    entry: Entry,
    item: Item,
    /// Its conflicts, by their places in the list.
    noted: Range<usize>,
}

type Wishes = BTreeMap<VaultPath, Vec<Candidate>>;

impl<E: From<TreeError>> Merger<'_, E> {
    /// Decides about every file and gives each a place.
    pub(super) fn place(&mut self, base: &RootId, gathered: &Gathered) -> Result<Places, E> {
        let mut wishes = Wishes::new();
        // What the base has comes first, so that who stays does not depend on the order of the sides.
        for items in [&gathered.known, &gathered.fresh] {
            for item in items.values() {
                let before = self.conflicts.len();
                let Some(resolved) = self.resolve(item)? else { continue };
                let noted = before..self.conflicts.len();
                for path in resolved.paths {
                    let (entry, item) = (resolved.entry.clone(), item.clone());
                    wishes.entry(path).or_default().push(Candidate {
                        entry,
                        item,
                        noted: noted.clone(),
                    });
                }
            }
        }
        let taken: BTreeSet<VaultPath> = wishes.keys().cloned().collect();
        let directories = Directories { wanted: taken.clone(), folders: &gathered.folders };
        let base = Tree::open(self.objects, base)?;
        let mut places = Placing { base, places: Places::new(), taken };
        for (path, candidates) in wishes {
            self.settle(path, candidates, &directories, gathered, &mut places)?;
        }
        Ok(places.places)
    }

    /// Gives a path to one of those who want it, and puts the others beside.
    fn settle(
        &mut self,
        path: VaultPath,
        candidates: Vec<Candidate>,
        directories: &Directories<'_>,
        gathered: &Gathered,
        placing: &mut Placing<'_>,
    ) -> Result<(), E> {
        let is_directory = directories.is_needed(&path);
        let mut candidates = self.unite(&path, candidates)?;
        if !is_directory && candidates.len() == 1 {
            let entry = candidates.swap_remove(0).entry;
            placing.places.insert(path, entry);
            return Ok(());
        }
        let kind = if is_directory { ConflictKind::DirectoryFile } else { ConflictKind::SamePath };
        let sides = (0..self.sides.len())
            .map(|side| self.at_path(&path, side, &candidates, gathered))
            .collect::<Result<_, E>>()?;
        let base = base_at(&path, gathered);
        let mut elsewhere = elsewhere(&path, &candidates);
        if is_directory {
            elsewhere.extend(from_outside(&path, gathered));
        }
        let mut beside = Vec::new();
        for (at, candidate) in candidates.into_iter().enumerate() {
            if at == 0 && !is_directory {
                placing.places.insert(path.clone(), candidate.entry);
            } else if self.purpose == Purpose::Result {
                let other = self.free_name(&path, &candidate.item, gathered, placing)?;
                placing.places.insert(other.clone(), candidate.entry);
                self.put_beside(&path, candidate.noted, &other);
                beside.push(other);
            }
        }
        let (regions, marker_length) = (Vec::new(), None);
        self.conflicts.push(Conflict {
            path,
            kind,
            base,
            sides,
            elsewhere,
            regions,
            marker_length,
            beside,
        });
        Ok(())
    }

    /// What a side has at a path: one of those who want it, or a directory with all that the side has in it.
    fn at_path(
        &self,
        path: &VaultPath,
        side: usize,
        candidates: &[Candidate],
        gathered: &Gathered,
    ) -> Result<Option<Version>, E> {
        let is_here = |version: &&Version| version.path == *path;
        let mut items = candidates.iter().map(|candidate| &candidate.item);
        if let Some(version) = items.find_map(|item| item.version(side).filter(is_here)) {
            return Ok(Some(version.clone()));
        }
        match gathered.folders.get(path) {
            // The directory itself is as it was, and what is in it need not be.
            Some(item) if item.states[side] == State::Same => {
                let entry = Tree::open(self.objects, &self.sides[side].root)?.get(path)?;
                Ok(entry.map(|entry| Version { path: path.clone(), entry }))
            }
            folder => Ok(folder.and_then(|item| item.version(side)).filter(is_here).cloned()),
        }
    }

    /// Conflicts of what was put beside are to be decided there.
    fn put_beside(&mut self, path: &VaultPath, noted: Range<usize>, other: &VaultPath) {
        for at in noted.filter(|at| self.conflicts[*at].path == *path) {
            self.shown_beside.insert(at, other.clone());
        }
    }

    /// Makes one of candidates that are equal but for their metadata.
    fn unite(&mut self, path: &VaultPath, candidates: Vec<Candidate>) -> Result<Vec<Candidate>, E> {
        let mut united: Vec<Candidate> = Vec::new();
        for candidate in candidates {
            let same = |other: &&mut Candidate| other.entry.body == candidate.entry.body;
            match united.iter_mut().find(same) {
                Some(other) => {
                    let both = [(0, &other.entry), (1, &candidate.entry)];
                    let combined = self.combine(None, &both)?;
                    for problem in &combined.problems {
                        self.note(path, &candidate.item, problem);
                    }
                    other.entry = combined.entry;
                }
                None => united.push(candidate),
            }
        }
        Ok(united)
    }

    /// A name beside a path that nothing has: the name, `~` and the label of the side that it comes from.
    fn free_name(
        &self,
        path: &VaultPath,
        item: &Item,
        gathered: &Gathered,
        placing: &mut Placing<'_>,
    ) -> Result<VaultPath, E> {
        let brought = item.here().filter(|(_, version)| version.path == *path);
        let labels = brought.map(|(side, _)| self.sides[side].label.as_str());
        // Of sides that agree the first by name, so that their order does not matter.
        let label = labels.min().unwrap_or("base");
        let name = path.name().unwrap_or_default();
        let parent = path.parent().unwrap_or_default();
        let mut number = 1;
        loop {
            let other = parent.join(&beside_name(name, label, number));
            // What no side touched is only found in the base.
            let is_known = gathered.fresh.contains_key(&other)
                || gathered.folders.contains_key(&other)
                || placing.base.get(&other)?.is_some();
            if !is_known && placing.taken.insert(other.clone()) {
                return Ok(other);
            }
            number += 1;
        }
    }
}

/// What has a place, and which places are promised.
struct Placing<'a> {
    base: Tree<'a>,
    places: Places,
    taken: BTreeSet<VaultPath>,
}

/// Says where directories have to be.
struct Directories<'a> {
    wanted: BTreeSet<VaultPath>,
    folders: &'a Items,
}

impl Directories<'_> {
    /// Whether something new or something that stays is below a path, or a side made a directory there.
    fn is_needed(&self, path: &VaultPath) -> bool {
        let below = (Bound::Excluded(path), Bound::Unbounded);
        let is_added = |(_, item): &(&VaultPath, &Item)| item.base.is_none();
        self.wanted.range(below).next().is_some_and(|next| next.is_within(path))
            || self
                .folders
                .range(path..)
                .take_while(|(folder, _)| folder.is_within(path))
                .any(|folder| is_added(&folder))
    }
}

/// Where sides have those that want a path, if not there.
fn elsewhere(path: &VaultPath, candidates: &[Candidate]) -> Vec<(usize, Version)> {
    let versions = |candidate: &Candidate| {
        candidate.item.versions().into_iter().enumerate().collect::<Vec<_>>()
    };
    let all = candidates.iter().flat_map(versions);
    let all = all.filter_map(|(side, version)| Some((side, version?)));
    all.filter(|(_, version)| version.path != *path).collect()
}

/// What sides have outside of a directory that others moved into it, or that followed others into it: it is lost for who decides against
/// the directory, unless it goes back.
fn from_outside(path: &VaultPath, gathered: &Gathered) -> Vec<(usize, Version)> {
    let is_below = |other: &VaultPath| other.is_within(path) && other != path;
    let mut found = Vec::new();
    for item in gathered.known.values().chain(gathered.fresh.values()) {
        if !item.here().any(|(_, version)| is_below(&version.path)) {
            continue;
        }
        for (side, version) in item.versions().into_iter().enumerate() {
            let Some(version) = version else { continue };
            let followed = gathered.renames.iter().find(|rename| {
                rename.side == side && rename.similarity.is_none() && rename.to == version.path
            });
            let at = followed.map_or(version.path, |rename| rename.from.clone());
            if !at.is_within(path) {
                found.push((side, Version { path: at, entry: version.entry }));
            }
        }
    }
    found
}

fn base_at(path: &VaultPath, gathered: &Gathered) -> Option<Version> {
    let item = gathered.known.get(path).or_else(|| gathered.folders.get(path));
    item.and_then(|item| item.base.clone())
}

fn beside_name(name: &[u8], label: &str, number: usize) -> Vec<u8> {
    let kept = |byte: u8| if byte == b'/' || byte == 0 { b'-' } else { byte };
    let mut end = vec![b'~'];
    end.extend(label.bytes().take(LONGEST_NAME / 3).map(kept));
    if number > 1 {
        end.extend(format!("~{number}").bytes());
    }
    let room = LONGEST_NAME.saturating_sub(end.len());
    [&name[..name.len().min(room)], &end].concat()
}

#[cfg(test)]
mod tests;
