//! Merging states of files: any number of sides that came from one base.
//!
//! Only what differs is looked at: equal nodes are skipped, so the cost goes with what the sides changed and not with the trees.
//! Every file is followed from the base to each side, also where it was moved, and decided once for all sides together; that is why
//! the order of the sides does not matter. The rules are in `docs/design/merge.md`.

mod build;
mod combine;
mod conflict;
mod directories;
mod fields;
mod gather;
mod inputs;
mod merged;
mod place;
mod record;
mod renames;
mod resolve;

pub use conflict::Conflict;
pub use inputs::{Base, MergeInputs, MergeOptions, Side};
pub use merged::{MergeStatistics, Merged, Rename};

use std::collections::BTreeMap;

use crate::entry::{Body, Entry, Meta};
use crate::error::{Result, TreeError};
use crate::hash::{BlobId, RootId};
use crate::objects::nodes::Nodes;
use crate::objects::{Batch, Objects};
use crate::path::VaultPath;

/// Where a merge puts what it makes.
pub trait MergeSink {
    /// What can go wrong in it.
    type Error: From<TreeError>;

    /// Stores content that is too long for a batch.
    fn keep(&self, bytes: &[u8]) -> Result<BlobId, Self::Error>;

    /// Stores a batch.
    fn store(&self, batch: &Batch) -> Result<(), Self::Error>;
}

/// Merges states and stores the result.
pub fn merge<K: MergeSink>(
    objects: &Objects,
    keeper: &K,
    inputs: &MergeInputs<'_>,
    options: &MergeOptions,
) -> Result<Merged, K::Error> {
    let merge = Merge { objects, keeper, options };
    let base = merge.base(inputs.base)?;
    merge.sides(&base, inputs.sides, Purpose::Result)
}

struct Merge<'a, K> {
    objects: &'a Objects,
    keeper: &'a K,
    options: &'a MergeOptions,
}

impl<K: MergeSink> Merge<'_, K> {
    /// The one state to compare the sides with.
    fn base(&self, base: &Base) -> Result<RootId, K::Error> {
        match base {
            Base::Nothing => {
                let mut batch = Batch::default();
                let root = empty_root(&mut batch);
                self.keeper.store(&batch)?;
                Ok(root)
            }
            Base::Root(root) => Ok(*root),
            Base::Several { roots, base } => {
                let base = self.base(base)?;
                // Bases have no order of their own.
                let mut roots = roots.clone();
                roots.sort_unstable();
                roots.dedup();
                let side = |(at, root): (usize, &RootId)| {
                    let label = format!("base {}", at + 1);
                    Side { label, root: *root }
                };
                let sides: Vec<Side> = roots.iter().enumerate().map(side).collect();
                Ok(self.sides(&base, &sides, Purpose::Base)?.root)
            }
        }
    }

    fn sides(&self, base: &RootId, sides: &[Side], purpose: Purpose) -> Result<Merged, K::Error> {
        let keep = |bytes: &[u8]| self.keeper.keep(bytes);
        let merger = Merger::new(self.objects, &keep, self.options, sides, purpose);
        let (merged, batch) = merger.run(base)?;
        if !batch.is_empty() {
            self.keeper.store(&batch)?;
        }
        Ok(merged)
    }
}

fn empty_root(batch: &mut Batch) -> RootId {
    let body = Body::Directory(batch.directory(&[]).into());
    batch.root(&Entry::new(Meta::default(), body))
}

/// What a merged state is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    /// Somebody goes on with it.
    Result,
    /// Only to compare others with it: what is not clear stays as it was, and nothing is put beside.
    Base,
}

/// Stores content that is too long for a batch.
type Keep<'a, E> = &'a dyn Fn(&[u8]) -> Result<BlobId, E>;

/// One merge under way.
struct Merger<'a, E> {
    objects: &'a Objects,
    keep: Keep<'a, E>,
    options: &'a MergeOptions,
    sides: &'a [Side],
    purpose: Purpose,
    /// What has to be stored.
    batch: Batch,
    conflicts: Vec<Conflict>,
    /// Of conflicts whose entry was put beside, where that is; by their place in the list.
    shown_beside: BTreeMap<usize, VaultPath>,
    texts: usize,
}

impl<'a, E: From<TreeError>> Merger<'a, E> {
    fn new(
        objects: &'a Objects,
        keep: Keep<'a, E>,
        options: &'a MergeOptions,
        sides: &'a [Side],
        purpose: Purpose,
    ) -> Self {
        let (batch, conflicts, shown_beside) = (Batch::default(), Vec::new(), BTreeMap::new());
        Self { objects, keep, options, sides, purpose, batch, conflicts, shown_beside, texts: 0 }
    }

    fn run(mut self, base: &RootId) -> Result<(Merged, Batch), E> {
        let roots: Vec<RootId> = self.sides.iter().map(|side| side.root).collect();
        let mut changed = roots.iter().filter(|root| *root != base);
        let first = changed.next().unwrap_or(base);
        if changed.all(|root| root == first) {
            return Ok((self.finished(*first, gather::Gathered::default()), Batch::default()));
        }
        // What the base has is looked at for each side and again for the result.
        let nodes = Nodes::keeping(self.objects);
        let mut gathered = gather::gather(&nodes, base, &roots, self.options)?;
        self.note_unclear(&mut gathered);
        let placed = self.place(base, &gathered)?;
        let root = self.build(&nodes, base, &gathered, placed)?;
        let batch = std::mem::take(&mut self.batch);
        Ok((self.finished(root, gathered), batch))
    }

    fn finished(mut self, root: RootId, gathered: gather::Gathered) -> Merged {
        self.conflicts.sort_by(|a, b| (&a.path, a.kind).cmp(&(&b.path, b.kind)));
        let statistics = MergeStatistics { changes: gathered.changes, texts: self.texts };
        Merged { root, conflicts: self.conflicts, renames: gathered.renames, statistics }
    }
}

#[cfg(test)]
mod tests;
