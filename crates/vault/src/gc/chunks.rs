//! Chunks are reached through the places of contents, which packing changes.

use offshoot_store::ObjectKind;
use offshoot_tree::{BlobId, ObjectLocation, ObjectLocationStart};

use super::Collector;
use super::layers::each_place;
use crate::error::Result;

impl Collector<'_> {
    /// Marks the chunks of every content that is needed.
    pub(super) fn mark_chunks(&mut self) -> Result<()> {
        let mut cut: Vec<BlobId> = Vec::new();
        each_place(self.vault, ObjectKind::Blob, |object, start| {
            let blob = BlobId(object.id);
            // One that is not reached is being stored by somebody, or will go; its chunks stay as long as it does.
            if start == ObjectLocationStart::Chunks
                && (!self.options.dry_run || self.marks.blobs.contains_key(&blob))
            {
                cut.push(blob);
            }
        })?;
        for blob in cut {
            if let Ok(ObjectLocation::Chunks(chunks)) = self.vault.objects()?.place(&blob) {
                self.marks.chunks.extend(chunks.iter().map(|chunk| chunk.id));
            }
        }
        Ok(())
    }
}
