//! Moving all content out of layers, which are then no more than a cache.

use offshoot_store::{Hash, ObjectKind};
use offshoot_tree::{BlobId, ObjectLocationStart, RootId};

use super::layers::each_place;
use super::mark::Marks;
use super::report::Taken;
use super::session_marks;
use crate::actor::Actor;
use crate::error::Result;
use crate::gate::COLLECTING;
use crate::vault::Vault;

/// What packing did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PackReport {
    /// The contents that were moved.
    pub packed: Taken,
    /// The packs that there are now.
    pub packs: Taken,
}

impl Vault {
    /// Moves every content that any snapshot reaches from layers to packs. Afterwards layers can be made again from the rest of
    /// the vault. Others can go on meanwhile; what they store is not moved.
    pub fn pack(&self, actor: &Actor) -> Result<PackReport> {
        self.enter()?;
        let _alone = self.take_alone(COLLECTING)?;
        let marks = self.mark_all()?;
        let mut in_layers = Vec::new();
        each_place(self, ObjectKind::Blob, |object, start| {
            let blob = BlobId(object.id);
            if let (ObjectLocationStart::Layer(_), Some(size)) = (start, marks.blobs.get(&blob)) {
                in_layers.push((blob, *size));
            }
        })?;
        let mut report = PackReport::default();
        let mut packer = self.packer()?;
        for (blob, size) in in_layers {
            packer.add(&blob, size)?;
            report.packed.add(size);
        }
        packer.flush()?;
        if report.packed.count > 0 {
            self.transact("vault pack", actor, |tx| {
                tx.record_always();
                tx.summary(format!("pack the contents of {} files", report.packed.count));
                Ok(())
            })?;
        }
        let packs = self.read(|reader| Ok(reader.packs()?))?;
        packs.iter().for_each(|pack| report.packs.add(pack.bytes));
        Ok(report)
    }

    /// Everything that any snapshot reaches whose files are there, and what sessions keep.
    pub(crate) fn mark_all(&self) -> Result<Marks> {
        let roots = self.read(|reader| Ok(reader.snapshot_roots()?))?;
        let mut marks = self.mark_roots(roots.values())?;
        session_marks::mark_since(self, 0, &mut marks)?;
        Ok(marks)
    }

    /// Everything that these reach, as far as they are there.
    pub(crate) fn mark_roots<'r>(&self, roots: impl Iterator<Item = &'r Hash>) -> Result<Marks> {
        let objects = self.objects()?;
        let mut marks = Marks::default();
        for root in roots.copied().map(RootId) {
            if objects.has_root(&root)? {
                marks.root(objects, &root)?;
            }
        }
        marks.settle();
        Ok(marks)
    }
}
