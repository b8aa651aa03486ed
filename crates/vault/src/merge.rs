//! Merging states of files: any number of sides that came from one base.
//!
//! Only what differs is looked at: equal nodes are skipped, so the cost goes with what the sides changed and not with the trees.
//! Every file is followed from the base to each side, also where it was moved, and decided once for all sides together; that is why
//! the order of the sides does not matter. The rules are in `docs/design/merge.md`.

mod ancestry;
mod build;
mod combine;
pub mod conflict;
mod directories;
mod fields;
mod gather;
mod place;
mod record;
mod renames;
mod resolve;

use std::collections::BTreeMap;

use crate::entry::{Body, Entry, Meta};
use crate::error::Result;
use crate::hash::{BlobId, RootId};
use crate::objects::{Batch, Nodes, Objects};
use crate::path::VaultPath;
use crate::vault::Vault;
use conflict::Conflict;

/// How to merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MergeOptions {
    /// Follow files that were moved.
    pub renames: bool,
    /// How alike, in percent, a moved file must have stayed.
    pub rename_similarity: u8,
    /// Let what one side adds to a directory follow when another side moved the directory.
    pub directory_renames: bool,
    /// Files longer than this are not merged line by line.
    pub max_text_bytes: u64,
}

impl Default for MergeOptions {
    fn default() -> Self {
        Self {
            renames: true,
            rename_similarity: 50,
            directory_renames: true,
            max_text_bytes: 16 << 20,
        }
    }
}

/// A state to merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Side {
    /// What it is called in conflict markers and in the names of what is put beside.
    pub label: String,
    /// The state.
    pub root: RootId,
}

/// What the sides have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Base {
    /// Nothing: everything was added.
    Nothing,
    /// One state that all sides came from.
    Root(RootId),
    /// Several states that all sides came from, none of them from another: they are merged first.
    Several {
        /// The states.
        roots: Vec<RootId>,
        /// What these have in common.
        base: Box<Base>,
    },
}

impl Base {
    /// All states that it is made of.
    pub(crate) fn roots(&self) -> Vec<RootId> {
        match self {
            Self::Nothing => Vec::new(),
            Self::Root(root) => vec![*root],
            Self::Several { roots, base } => [roots.clone(), base.roots()].concat(),
        }
    }
}

/// What to merge.
#[derive(Clone, Copy, Debug)]
pub struct MergeInputs<'a> {
    /// What the sides have in common.
    pub base: &'a Base,
    /// The sides, the most important one first: where something must be chosen, it is hers.
    pub sides: &'a [Side],
}

/// A file that was followed to another path, or something that followed a directory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rename {
    /// The side that moved it, or that added what followed a directory.
    pub side: usize,
    /// Where it was.
    pub from: VaultPath,
    /// Where it is.
    pub to: VaultPath,
    /// How alike it stayed, in percent; nothing where it followed a directory.
    pub similarity: Option<u8>,
}

/// How much there was to do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MergeStatistics {
    /// How many paths each side changed.
    pub changes: Vec<usize>,
    /// How many files were put together from the lines of several sides.
    pub texts: usize,
}

/// A merged state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merged {
    /// The state. Where there are conflicts it is complete all the same, by the rules of `docs/design/merge.md`.
    pub root: RootId,
    /// What somebody has to decide, by path; empty where all fits.
    pub conflicts: Vec<Conflict>,
    /// What was moved and mattered.
    pub renames: Vec<Rename>,
    /// How much there was to do.
    pub statistics: MergeStatistics,
}

impl Vault {
    /// Merges states and stores the result; a transaction that follows makes it durable with itself.
    pub fn merge(&self, inputs: &MergeInputs<'_>, options: &MergeOptions) -> Result<Merged> {
        let base = self.merged_base(inputs.base, options)?;
        self.merge_sides(&base, inputs.sides, options, Purpose::Result)
    }

    /// The one state to compare the sides with.
    fn merged_base(&self, base: &Base, options: &MergeOptions) -> Result<RootId> {
        match base {
            Base::Nothing => {
                let mut batch = Batch::default();
                let root = empty_root(&mut batch);
                self.store(&batch)?;
                Ok(root)
            }
            Base::Root(root) => Ok(*root),
            Base::Several { roots, base } => {
                let base = self.merged_base(base, options)?;
                // Bases have no order of their own.
                let mut roots = roots.clone();
                roots.sort_unstable();
                roots.dedup();
                let side = |(at, root): (usize, &RootId)| {
                    let label = format!("base {}", at + 1);
                    Side { label, root: *root }
                };
                let sides: Vec<Side> = roots.iter().enumerate().map(side).collect();
                Ok(self.merge_sides(&base, &sides, options, Purpose::Base)?.root)
            }
        }
    }

    fn merge_sides(
        &self,
        base: &RootId,
        sides: &[Side],
        options: &MergeOptions,
        purpose: Purpose,
    ) -> Result<Merged> {
        let keep = |bytes: &[u8]| {
            let name = std::path::Path::new("the merged file");
            Ok(self.add_content(&mut &*bytes, name)?.blob)
        };
        let merger = Merger::new(self.objects()?, &keep, options, sides, purpose);
        let (merged, batch) = merger.run(base)?;
        if !batch.is_empty() {
            self.store(&batch)?;
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
type Keep<'a> = &'a dyn Fn(&[u8]) -> Result<BlobId>;

/// One merge under way.
struct Merger<'a> {
    objects: &'a Objects,
    keep: Keep<'a>,
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

impl<'a> Merger<'a> {
    fn new(
        objects: &'a Objects,
        keep: Keep<'a>,
        options: &'a MergeOptions,
        sides: &'a [Side],
        purpose: Purpose,
    ) -> Self {
        let (batch, conflicts, shown_beside) = (Batch::default(), Vec::new(), BTreeMap::new());
        Self { objects, keep, options, sides, purpose, batch, conflicts, shown_beside, texts: 0 }
    }

    fn run(mut self, base: &RootId) -> Result<(Merged, Batch)> {
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
