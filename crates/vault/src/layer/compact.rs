//! Merging the layers of a stack, so that it stays low however many commands a workspace has seen.
//!
//! Nothing that is there is changed or removed: a layer is added, and the stacks of roots that commands start from are
//! replaced by ones that show the same. `docs/design/compaction.md` says how and when.

mod flat;
mod groups;
mod plan;

use std::time::{Duration, Instant};

use offshoot_store::{Id, LayerRow, StackRow};
use offshoot_tree::diff::Change;
use offshoot_tree::{Body, RootId, TreeError, diff};

use self::flat::FlatPlan;
use super::rebuild::head_roots;
use super::stage::{LayerKind, LayerStage};
use crate::error::{Result, VaultError};
use crate::materialize::{Materializer, Purpose};
use crate::vault::Vault;

/// What making, filling and syncing one file costs, in bytes that could be copied meanwhile.
const FILE_COST: u64 = 16 * 1024;
/// Below this, nobody looks for something cheaper than copying.
const CHEAP: u64 = 8 << 20;
/// Another way must be so many times cheaper than copying the bytes.
const MUCH_CHEAPER: u64 = 2;

/// When and how to merge.
#[derive(Clone, Copy)]
pub struct CompactOptions<'a> {
    /// Stacks of more layers than this are merged, to half as many at most.
    pub depth: usize,
    /// Says whether the kernel can use layers that only hold bytes; asked when there is a use for them.
    pub data_layers: &'a dyn Fn() -> bool,
    /// The way to take; none for the cheapest.
    pub way: Option<CompactWay>,
}

impl std::fmt::Debug for CompactOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { depth, way, .. } = self;
        f.debug_struct("CompactOptions")
            .field("depth", depth)
            .field("way", way)
            .finish_non_exhaustive()
    }
}

/// How layers are merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompactWay {
    /// Their difference to what lies below is copied into one layer.
    Merge,
    /// One layer describes the whole root and leaves the bytes of large files where they are.
    Flatten,
}

/// What was merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compacted {
    /// The root whose stack it was.
    pub root: RootId,
    /// How.
    pub way: CompactWay,
    /// The layers of the stack before.
    pub layers_before: u64,
    /// The layers of the stack now.
    pub layers_after: u64,
    /// Layers that hold bytes for it now.
    pub data_layers: u64,
    /// Bytes of files that were copied.
    pub bytes_copied: u64,
    /// Stacks that are lower now: this one, and those that stand upon it.
    pub stacks: u64,
    /// How long it took.
    pub elapsed: Duration,
}

/// A layer that replaces the top of a stack.
struct Merged {
    way: CompactWay,
    layer: LayerRow,
    /// What lies below it.
    below: Vec<Id>,
    data: Vec<Id>,
}

impl Vault {
    /// Merges layers of the stack that shows a root, where there are more than `options` allow; nothing where there are not.
    /// Commands can start, run and end meanwhile.
    pub fn compact(
        &self,
        root: &RootId,
        options: &CompactOptions<'_>,
    ) -> Result<Option<Compacted>> {
        let started = Instant::now();
        let _held = self.hold()?;
        let Some(stack) = self.recorded_stack(root)? else { return Ok(None) };
        if stack.layers.len() <= options.depth.max(1) {
            return Ok(None);
        }
        self.enter()?;
        let Some(merged) = self.merge_layers(&stack, options)? else { return Ok(None) };
        let bytes_copied = merged.layer.bytes;
        let layers_after = 1 + merged.below.len() as u64;
        let (way, data_layers) = (merged.way, merged.data.len() as u64);
        let stacks = self.replace(&stack, merged)?;
        Ok((stacks > 0).then(|| Compacted {
            root: *root,
            way,
            layers_before: stack.layers.len() as u64,
            layers_after,
            data_layers,
            bytes_copied,
            stacks,
            elapsed: started.elapsed(),
        }))
    }

    /// Makes the layer, in the way that costs least.
    fn merge_layers(
        &self,
        stack: &StackRow,
        options: &CompactOptions<'_>,
    ) -> Result<Option<Merged>> {
        let root = RootId(stack.root);
        let rows = self.layer_rows(stack)?;
        let sizes: Vec<u64> = rows.iter().map(|row| row.bytes).collect();
        let target = (options.depth / 2).max(2);
        let Some(least) = plan::layers_to_merge(&sizes, target) else { return Ok(None) };
        for (at, row) in rows.iter().enumerate().skip(least) {
            let Some(cut) = row.root.map(RootId) else { continue };
            let changes = match diff::compare(self.objects()?, &cut, &root) {
                // What is not part of any history any more may be gone; a lower layer will do.
                Err(TreeError::MissingObject(_)) => continue,
                changes => changes?,
            };
            if let Some(flat) = self.cheaper_flat(&root, &changes, options)? {
                return self.flatten(&root, flat).map(Some);
            }
            return self.merge_delta(stack, at, &cut, &changes).map(Some);
        }
        let layer = self.build_layer(&root, None)?;
        let (below, data) = (Vec::new(), Vec::new());
        Ok(Some(Merged { way: CompactWay::Merge, layer, below, data }))
    }

    fn layer_rows(&self, stack: &StackRow) -> Result<Vec<LayerRow>> {
        self.read(|reader| {
            let rows = stack.layers.iter().map(|id| {
                let row = reader.layer(id)?;
                row.ok_or_else(|| {
                    VaultError::Tree(TreeError::MissingObject(format!("the record of layer {id}")))
                })
            });
            rows.collect()
        })
    }

    /// A plan to describe the whole root, where that is possible and much cheaper than to copy what changed.
    fn cheaper_flat(
        &self,
        root: &RootId,
        changes: &[Change],
        options: &CompactOptions<'_>,
    ) -> Result<Option<FlatPlan>> {
        let cost = cost_of(changes);
        let worth = match options.way {
            Some(CompactWay::Merge) => return Ok(None),
            Some(CompactWay::Flatten) => u64::MAX,
            None => cost / MUCH_CHEAPER,
        };
        let top = self.objects()?.root(root)?;
        let entries = top.directory().map_or(0, |dir| dir.entries);
        let least = entries.saturating_mul(FILE_COST);
        if least >= worth || (options.way.is_none() && cost < CHEAP) {
            return Ok(None);
        }
        let plan = FlatPlan::new(self, root)?;
        let cheaper = least.saturating_add(plan.copied) < worth;
        Ok((cheaper && (options.data_layers)()).then_some(plan))
    }

    /// Copies what is different from what the layer at `at` and those below it show.
    fn merge_delta(
        &self,
        stack: &StackRow,
        at: usize,
        cut: &RootId,
        changes: &[Change],
    ) -> Result<Merged> {
        let root = RootId(stack.root);
        let objects = self.objects()?;
        let (before, after) = (objects.root(cut)?, objects.root(&root)?);
        let stage = LayerStage::begin(&self.layers_dir(), LayerKind::Delta)?;
        let writer = Materializer::new(objects, &stage.fs_dir(), Purpose::Layer(&stage))?;
        let writer = writer.also(groups::broken_up(self, &root, changes)?);
        writer.difference(Some(&before), &after)?;
        drop(writer);
        let layer = stage.seal(Some(root))?;
        let (below, data) = (stack.layers[at..].to_vec(), stack.data.clone());
        Ok(Merged { way: CompactWay::Merge, layer, below, data })
    }

    /// Describes the whole root.
    fn flatten(&self, root: &RootId, plan: FlatPlan) -> Result<Merged> {
        let objects = self.objects()?;
        let top = objects.root(root)?;
        let stage = LayerStage::begin(&self.layers_dir(), LayerKind::Flat)?;
        let writer = Materializer::new(objects, &stage.fs_dir(), Purpose::Layer(&stage))?;
        let writer = writer.leaving(plan.elsewhere);
        writer.difference(None, &top)?;
        drop(writer);
        let layer = stage.seal(Some(*root))?;
        Ok(Merged { way: CompactWay::Flatten, layer, below: Vec::new(), data: plan.data })
    }

    /// Records the layer and puts it into the stack, and into the stacks in use that stand upon it. Where somebody replaced the
    /// stack meanwhile the layer is of no use.
    fn replace(&self, old: &StackRow, merged: Merged) -> Result<u64> {
        let Merged { layer, below, data, .. } = merged;
        let base = [&[layer.id], below.as_slice()].concat();
        let replaced = self.catalog().write(|writer| {
            let mut replaced = 0;
            if writer.stack(&old.root)?.as_ref() != Some(old) {
                return Ok(replaced);
            }
            writer.add_layer(&layer)?;
            let mut roots = head_roots(writer)?;
            roots.push(old.root);
            for root in roots {
                let Some(stack) = writer.stack(&root)? else { continue };
                let above = stack.layers.strip_suffix(old.layers.as_slice());
                let Some(above) = above.filter(|_| stack.data == old.data) else { continue };
                // A layer cannot be part of a stack twice.
                if above.iter().any(|id| data.contains(id)) {
                    continue;
                }
                let layers = [above, base.as_slice()].concat();
                writer.set_stack(&StackRow { root, layers, data: data.clone() })?;
                replaced += 1;
            }
            Ok::<u64, VaultError>(replaced)
        });
        // Whether a commit that failed is there after all only the next open knows: then the layer must be, too.
        if matches!(replaced, Ok(0)) {
            self.drop_unrecorded(&layer);
        }
        replaced
    }
}

/// What it costs to write all that changed.
pub(super) fn cost_of(changes: &[Change]) -> u64 {
    let cost = |change: &Change| {
        let bytes = match change.after.as_ref().map(|entry| &entry.body) {
            Some(Body::File { size, .. }) => *size,
            _ => 0,
        };
        bytes.saturating_add(FILE_COST)
    };
    changes.iter().map(cost).fold(0, u64::saturating_add)
}
