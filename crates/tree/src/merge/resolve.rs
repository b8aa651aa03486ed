//! Deciding about one file: whether it stays, where, and with what content.

use super::combine::Problem;
use super::conflict::Conflict;
use super::fields::differ_in_substance;
use super::gather::{Gathered, Item};
use super::{Merger, Purpose};
use crate::entry::Entry;
use crate::entry::conflict_kind::ConflictKind;
use crate::entry::record::Version;
use crate::error::{Result, TreeError};
use crate::path::VaultPath;

/// Where something goes in the merged state.
pub(super) struct Resolved {
    pub(super) paths: Vec<VaultPath>,
    pub(super) entry: Entry,
}

impl<E: From<TreeError>> Merger<'_, E> {
    /// Decides about a file, a link or a pipe; nothing where it is deleted.
    pub(super) fn resolve(&mut self, item: &Item) -> Result<Option<Resolved>, E> {
        let here: Vec<(usize, &Version)> = item.here().collect();
        let base = item.base.as_ref();
        if item.is_deleted() {
            let matters = |version: &Version| {
                base.is_none_or(|base| {
                    base.path != version.path || differ_in_substance(&base.entry, &version.entry)
                })
            };
            if !here.iter().any(|(_, version)| matters(version)) {
                return Ok(None);
            }
        }
        let paths = new_paths(item);
        self.note_disagreement(item, &paths);
        if let (Purpose::Base, Some(base), true) =
            (self.purpose, base, item.is_deleted() || paths.len() > 1)
        {
            // What is not clear in a base is as it was.
            return Ok(Some(Resolved {
                paths: vec![base.path.clone()],
                entry: base.entry.clone(),
            }));
        }
        let entries: Vec<(usize, &Entry)> =
            here.iter().map(|(side, version)| (*side, &version.entry)).collect();
        let combined = self.combine(base.map(|base| &base.entry), &entries)?;
        for path in &paths {
            for problem in &combined.problems {
                self.note(path, item, problem);
            }
        }
        Ok(Some(Resolved { paths, entry: combined.entry }))
    }

    /// Notes what sides disagree about beside the content.
    fn note_disagreement(&mut self, item: &Item, paths: &[VaultPath]) {
        let moved = item.base.as_ref().is_some_and(|base| paths != [base.path.clone()]);
        for path in paths {
            if paths.len() > 1 {
                self.note(path, item, &Problem::of(ConflictKind::RenameRename));
            }
            if item.is_deleted() {
                let kind =
                    if moved { ConflictKind::RenameDelete } else { ConflictKind::DeleteModify };
                self.note(path, item, &Problem::of(kind));
            }
        }
    }

    /// Notes a conflict over an item.
    pub(super) fn note(&mut self, path: &VaultPath, item: &Item, problem: &Problem) {
        self.conflicts.push(Conflict {
            path: path.clone(),
            kind: problem.kind,
            base: item.base.clone(),
            sides: item.versions(),
            elsewhere: Vec::new(),
            regions: problem.regions.clone(),
            marker_length: problem.marker_length,
            beside: Vec::new(),
        });
    }

    /// Notes what could not follow a directory that was moved.
    pub(super) fn note_unclear(&mut self, gathered: &mut Gathered) {
        for (side, path) in std::mem::take(&mut gathered.unclear) {
            let of_moved = |item: &&Item| item.version(side).is_some_and(|it| it.path == path);
            let fresh = gathered.fresh.get(&path);
            if let Some(item) = fresh.or_else(|| gathered.known.values().find(of_moved)) {
                self.note(&path, item, &Problem::of(ConflictKind::DirectoryRename));
            }
        }
    }
}

/// Where the sides want something: where they moved it to, or where it was.
fn new_paths(item: &Item) -> Vec<VaultPath> {
    let base = item.base.as_ref().map(|base| &base.path);
    let mut paths: Vec<VaultPath> = item
        .here()
        .map(|(_, version)| &version.path)
        .filter(|path| Some(*path) != base)
        .cloned()
        .collect();
    paths.sort_unstable();
    paths.dedup();
    if paths.is_empty() {
        paths.extend(base.cloned());
    }
    paths
}
