//! Keeping conflicts in the merged tree, and merging those that the sides have already.

use std::collections::BTreeMap;

use super::conflict::Conflict;
use super::fields::{Choice, choose};
use super::{Merger, Purpose};
use crate::entry::Entry;
use crate::entry::record::Version;
use crate::entry::record::{ConflictRecord, RecordedSide};
use crate::error::TreeError;
use crate::path::VaultPath;

/// What an entry keeps of its conflict.
pub(super) type Record = Option<Box<ConflictRecord>>;

impl<E: From<TreeError>> Merger<'_, E> {
    /// What has to be decided, by the path of what shows it. A base keeps nothing: nobody goes on with it.
    pub(super) fn records(&self) -> BTreeMap<VaultPath, ConflictRecord> {
        let mut records: BTreeMap<VaultPath, ConflictRecord> = BTreeMap::new();
        if self.purpose == Purpose::Base {
            return records;
        }
        for (at, conflict) in self.conflicts.iter().enumerate() {
            let path = self.shown_beside.get(&at).unwrap_or(&conflict.path);
            let record = self.record_of(conflict);
            match records.get_mut(path) {
                Some(known) => known.absorb(record),
                None => drop(records.insert(path.clone(), record)),
            }
        }
        records
    }

    fn record_of(&self, conflict: &Conflict) -> ConflictRecord {
        let recorded = |side: usize, version: Option<&Version>| RecordedSide {
            label: self.sides[side].label.clone(),
            version: version.map(plain),
        };
        let sides = conflict.sides.iter().enumerate();
        let sides = sides.map(|(side, version)| recorded(side, version.as_ref()));
        let elsewhere =
            conflict.elsewhere.iter().map(|(side, version)| recorded(*side, Some(version)));
        let mut beside = conflict.beside.clone();
        beside.sort_unstable();
        ConflictRecord {
            kinds: vec![conflict.kind],
            marker_lengths: conflict.marker_length.into_iter().collect(),
            base: conflict.base.as_ref().map(plain),
            sides: sides.chain(elsewhere).collect(),
            beside,
        }
    }
}

/// A version without a conflict of its own: what it kept is in the record of who shows it.
fn plain(version: &Version) -> Version {
    let entry = Entry { conflict: None, ..version.entry.clone() };
    Version { path: version.path.clone(), entry }
}

/// Adds a conflict to what an entry keeps already; the newer one comes first.
pub(super) fn add(kept: &mut Record, mut record: ConflictRecord) {
    if let Some(older) = kept.take() {
        record.absorb(*older);
    }
    *kept = Some(Box::new(record));
}

/// What is still to be decided of versions that have conflicts already: one that a side decided and the others left as it was
/// is decided.
pub(super) fn merge_records(base: Option<&Entry>, sides: &[&Entry]) -> Record {
    let kept = |entry: &Entry| entry.conflict.clone();
    match choose(base.map(kept), sides.iter().map(|entry| kept(entry)))? {
        Choice::One(record) => record,
        Choice::Many(all) => together(all.into_iter().flatten()),
    }
}

/// Every conflict that the versions have, decided or not.
pub(super) fn all_records(base: Option<&Entry>, sides: &[&Entry]) -> Record {
    let all = sides.iter().copied().chain(base);
    together(all.filter_map(|entry| entry.conflict.clone()))
}

fn together(records: impl Iterator<Item = Box<ConflictRecord>>) -> Record {
    records.reduce(|mut all, record| {
        all.absorb(*record);
        all
    })
}
