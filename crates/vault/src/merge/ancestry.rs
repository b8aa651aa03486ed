//! What snapshots have in common, found in their history.

use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use offshoot_store::Id;

use super::Base;
use crate::error::Result;
use crate::hash::RootId;
use crate::vault::Vault;

/// Bases of bases of bases: where histories cross more often than this, the oldest crossings count as having nothing in
/// common.
const MOST_CROSSINGS: usize = 32;

impl Vault {
    /// What several snapshots have in common: the newest snapshots that all of them came from.
    pub fn merge_base(&self, snapshots: &[Id]) -> Result<Base> {
        self.base_of(snapshots, MOST_CROSSINGS)
    }

    /// Whether a snapshot is another one or came from it.
    pub fn came_from(&self, snapshot: &Id, older: &Id) -> Result<bool> {
        Ok(snapshot == older || self.common_ancestors(&[*snapshot, *older])? == [*older])
    }

    fn base_of(&self, snapshots: &[Id], crossings: usize) -> Result<Base> {
        let common = self.common_ancestors(snapshots)?;
        let roots: Vec<RootId> = common
            .iter()
            .map(|id| self.snapshot(id).map(|snapshot| snapshot.root))
            .collect::<Result<_>>()?;
        Ok(match roots.as_slice() {
            [] => Base::Nothing,
            [root, rest @ ..] if rest.iter().all(|other| other == root) => Base::Root(*root),
            _ if crossings == 0 => Base::Several { roots, base: Box::new(Base::Nothing) },
            _ => {
                let base = Box::new(self.base_of(&common, crossings - 1)?);
                Base::Several { roots, base }
            }
        })
    }

    /// The snapshots that all of these came from, without those that others of them came from.
    ///
    /// Ids sort by creation, so a snapshot is looked at after everything that came from it.
    pub fn common_ancestors(&self, snapshots: &[Id]) -> Result<Vec<Id>> {
        let mut pending: BinaryHeap<Id> = BinaryHeap::new();
        let mut reached_by: BTreeMap<Id, BTreeSet<usize>> = BTreeMap::new();
        for (at, id) in snapshots.iter().enumerate() {
            if reached_by.entry(*id).or_default().is_empty() {
                pending.push(*id);
            }
            reached_by.entry(*id).or_default().insert(at);
        }
        let mut covered: BTreeSet<Id> = BTreeSet::new();
        let mut common = Vec::new();
        while let Some(id) = pending.pop() {
            let reached = reached_by.remove(&id).unwrap_or_default();
            let is_covered = covered.remove(&id);
            let is_common = reached.len() == snapshots.len();
            if is_common && !is_covered {
                common.push(id);
            }
            // A parent that is not older comes from a damaged disk, and could lead around in a circle.
            let parents = self.snapshot(&id)?.parents.into_iter().filter(|parent| *parent < id);
            for parent in parents {
                if !reached_by.contains_key(&parent) {
                    pending.push(parent);
                }
                reached_by.entry(parent).or_default().extend(reached.iter().copied());
                if is_common || is_covered {
                    covered.insert(parent);
                }
            }
            // Once everything that is left came from something common, nothing else can be found.
            if pending.iter().all(|id| covered.contains(id)) {
                break;
            }
        }
        Ok(common)
    }
}
