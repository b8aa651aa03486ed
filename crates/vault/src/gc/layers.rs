//! Layers: which are needed to show what is worked on, which hold content, and which can go.

use std::collections::{BTreeMap, HashMap, HashSet};

use offshoot_host::disk;
use offshoot_store::{Hash, Id, LayerRow, ListedObject, ObjectKind, Reader, StackRow};
use offshoot_tree::{BlobId, ObjectLocation, ObjectLocationStart, START};

use super::Collector;
use super::pins::Pins;
use crate::error::{Result, VaultError, io_error};
use crate::refs::{WORKSPACE, WorkspaceRecord, head_key, head_snapshot};
use crate::vault::Vault;

/// Contents are looked up in pages of this many.
const PAGE: usize = 8192;
/// A layer that nothing is shown with is emptied where less than one part in so many of it is needed,
const MOSTLY_GARBAGE: u64 = 2;
/// or where its files have fewer bytes than this: its directories and the ends of its blocks take more than those.
const SMALL: u64 = 1 << 20;

/// The content that is at home in one layer and needed.
#[derive(Debug, Default)]
pub(super) struct Living {
    bytes: u64,
    /// It was found when it was too late to move it.
    stays: bool,
    blobs: Vec<BlobId>,
}

/// What is to become of layers.
#[derive(Debug, Default)]
struct Plan {
    /// Those that can go once they hold nothing that is needed.
    doomed: Vec<LayerRow>,
    /// Roots whose stacks are of no use without those.
    stacks: Vec<Hash>,
}

impl Collector<'_> {
    pub(super) fn layers(&mut self) -> Result<()> {
        self.marks.settle();
        let living = self.living()?;
        let pins = Pins::read(self.vault)?;
        let plan = self.vault.read(|reader| self.plan(reader, &pins, &living))?;
        self.empty(&plan, &living)?;
        if self.options.dry_run {
            plan.doomed.iter().for_each(|layer| self.report.layers.add(layer.bytes));
            return Ok(());
        }
        if plan.doomed.is_empty() && plan.stacks.is_empty() {
            return Ok(());
        }
        let candidates: HashSet<Id> = plan.doomed.iter().map(|layer| layer.id).collect();
        let gone = self.closed(|collector, _| collector.forget(&candidates))?;
        for layer in gone {
            let path = self.vault.layers_dir().join(layer.id.to_string());
            disk::remove_tree(&path).or_else(missing).map_err(io_error("remove", &path))?;
            self.report.layers.add(layer.bytes);
        }
        Ok(())
    }

    /// The needed content of every layer.
    fn living(&self) -> Result<BTreeMap<Id, Living>> {
        let mut living: BTreeMap<Id, Living> = BTreeMap::new();
        each_place(self.vault, ObjectKind::Blob, |object, start| {
            let blob = BlobId(object.id);
            if let (ObjectLocationStart::Layer(layer), Some(size)) =
                (start, self.marks.blobs.get(&blob))
            {
                let here = living.entry(layer).or_default();
                here.bytes += size;
                here.blobs.push(blob);
            }
        })?;
        Ok(living)
    }

    fn plan(
        &self,
        reader: &Reader<'_>,
        pins: &Pins,
        living: &BTreeMap<Id, Living>,
    ) -> Result<Plan> {
        let stacks: HashMap<Hash, StackRow> =
            reader.stacks()?.into_iter().map(|stack| (stack.root, stack)).collect();
        let mut needed = pins.layers.clone();
        for root in shown(reader, pins, &stacks)? {
            needed.extend(stacks.get(&root).iter().flat_map(|stack| stack.all_layers()));
        }
        let rows = reader.layers()?;
        let known: HashSet<Id> = rows.iter().map(|layer| layer.id).collect();
        let doomed: Vec<LayerRow> = rows
            .into_iter()
            .filter(|layer| {
                !needed.contains(&layer.id) && self.can_go(layer, living.get(&layer.id))
            })
            .collect();
        let going: HashSet<Id> = doomed.iter().map(|layer| layer.id).collect();
        let useless = |stack: &StackRow| {
            stack.all_layers().any(|layer| going.contains(layer) || !known.contains(layer))
                || !self.marks.roots.contains(&offshoot_tree::RootId(stack.root))
        };
        let stacks = stacks.into_values().filter(|stack| useless(stack)).map(|stack| stack.root);
        Ok(Plan { stacks: stacks.collect(), doomed })
    }

    fn can_go(&self, layer: &LayerRow, living: Option<&Living>) -> bool {
        living.is_none_or(|living| {
            let emptied =
                layer.bytes < SMALL || living.bytes.saturating_mul(MOSTLY_GARBAGE) < layer.bytes;
            self.options.pack && !living.stays && emptied
        })
    }

    /// Moves what is needed of layers that go to packs.
    fn empty(&mut self, plan: &Plan, living: &BTreeMap<Id, Living>) -> Result<()> {
        let mut packer = self.vault.packer()?;
        for blob in
            plan.doomed.iter().filter_map(|layer| living.get(&layer.id)).flat_map(|l| &l.blobs)
        {
            let size = self.marks.blobs.get(blob).copied().unwrap_or(0);
            if !self.options.dry_run {
                packer.add(blob, size)?;
            }
            self.report.packed.add(size);
        }
        Ok(packer.flush()?)
    }

    /// Forgets layers that nothing needs any more, and stacks that need one of them; the gate is closed.
    fn forget(&mut self, candidates: &HashSet<Id>) -> Result<Vec<LayerRow>> {
        let pins = Pins::read(self.vault)?.accounted()?;
        // What was found again since is where it was.
        let mut living: BTreeMap<Id, Living> = BTreeMap::new();
        for blob in self.marks.settle() {
            if let ObjectLocation::Layer { layer, .. } = self.vault.objects()?.place(&blob)? {
                let here = living.entry(layer).or_default();
                here.stays = true;
                here.blobs.push(blob);
            }
        }
        self.vault.catalog().write(|writer| {
            let mut plan = self.plan(writer, &pins, &living)?;
            // What holds content was not emptied unless it is among the candidates.
            plan.doomed.retain(|layer| candidates.contains(&layer.id));
            let going: HashSet<Id> = plan.doomed.iter().map(|layer| layer.id).collect();
            for stack in writer.stacks()? {
                let dead = !self.marks.roots.contains(&offshoot_tree::RootId(stack.root));
                if dead || stack.all_layers().any(|layer| going.contains(layer)) {
                    writer.remove_stack(&stack.root)?;
                }
            }
            for layer in &plan.doomed {
                writer.remove_layer(&layer.id)?;
            }
            Ok::<_, VaultError>(plan.doomed)
        })
    }
}

/// The roots whose layers are kept to show them at once: heads, what they came from, so that undo is as quick, and what
/// running commands build upon. Where a head has no layers yet they are built upon those of what it came from.
pub(crate) fn shown(
    reader: &Reader<'_>,
    pins: &Pins,
    stacks: &HashMap<Hash, StackRow>,
) -> Result<HashSet<Hash>> {
    let mut roots = HashSet::new();
    let root =
        |id: &Id| -> Result<Option<offshoot_store::SnapshotRow>> { Ok(reader.snapshot(id)?) };
    let mut heads: Vec<(Id, Option<Id>)> = pins.snapshots().map(|id| (*id, None)).collect();
    if let Some(head) = reader.get_ref(&head_key())? {
        heads.push((head_snapshot(&head)?, None));
    }
    for (key, row) in reader.refs(WORKSPACE)? {
        let state = WorkspaceRecord::from_row(&key, row)?.state;
        heads.push((state.head, Some(state.base)));
    }
    for (head, base) in heads {
        let Some(row) = root(&head)? else { continue };
        roots.insert(row.root);
        let base = base.filter(|_| !stacks.contains_key(&row.root));
        for id in row.parents.iter().chain(&base) {
            roots.extend(root(id)?.map(|row| row.root));
        }
    }
    Ok(roots)
}

fn missing(error: std::io::Error) -> std::io::Result<()> {
    match error.kind() {
        std::io::ErrorKind::NotFound => Ok(()),
        _ => Err(error),
    }
}

/// Calls `visit` with every object of a kind and what its place tells.
pub(crate) fn each_place(
    vault: &Vault,
    kind: ObjectKind,
    mut visit: impl FnMut(&ListedObject, ObjectLocationStart),
) -> Result<()> {
    let mut after: Option<Hash> = None;
    loop {
        let backend = vault.objects()?.backend();
        let page = backend.list_values(kind, after.as_ref(), PAGE, START)?;
        let Some(last) = page.last() else { return Ok(()) };
        after = Some(last.id);
        page.iter().for_each(|object| visit(object, ObjectLocationStart::of(&object.start)));
    }
}
