//! Taking away objects, a slice at a time.

use std::time::Duration;

use offshoot_store::{Hash, ListedObject, ObjectKind};
use offshoot_tree::links::LinkRecord;
use offshoot_tree::{BlobId, NodeId, RootId, START};

use super::Collector;
use crate::error::{Result, VaultError};

/// Objects are listed in pages of this many.
pub(super) const PAGE: usize = 8192;
/// A slice starts with so many objects, and gets longer or shorter by how long it takes.
const FIRST_SLICE: usize = 256;
/// Where there is next to no room on the disk, slices have so many at most.
const TIGHT_SLICE: usize = 64;
/// Slices are made to take about this long.
const AIM: Duration = Duration::from_millis(8);
/// A record of hard links that refers to another is no longer than this.
const REFERENCE: u32 = 33;

impl Collector<'_> {
    /// Takes away every object of a kind that was not reached.
    pub(super) fn sweep(&mut self, kind: ObjectKind) -> Result<()> {
        let mut after: Option<Hash> = None;
        let mut slice = self.longest_slice().min(FIRST_SLICE);
        loop {
            let backend = self.vault.objects()?.backend();
            let page = backend.list_values(kind, after.as_ref(), PAGE, START)?;
            let Some(last) = page.last() else { return Ok(()) };
            after = Some(last.id);
            let mut garbage: Vec<ListedObject> =
                page.into_iter().filter(|object| !self.is_marked(kind, &object.id)).collect();
            while !garbage.is_empty() {
                let rest = garbage.split_off(garbage.len().min(slice));
                slice = self.take(kind, garbage, slice)?;
                garbage = rest;
            }
        }
    }

    fn longest_slice(&self) -> usize {
        if self.vault.is_tight() { TIGHT_SLICE } else { PAGE }
    }

    fn is_marked(&self, kind: ObjectKind, id: &Hash) -> bool {
        match kind {
            ObjectKind::Root => self.marks.roots.contains(&RootId(*id)),
            ObjectKind::Node => self.marks.nodes.contains(&NodeId(*id)),
            ObjectKind::Blob => self.marks.blobs.contains_key(&BlobId(*id)),
            ObjectKind::Chunk => self.marks.chunks.contains(id),
        }
    }

    /// Takes one slice; gives the length of the next.
    fn take(
        &mut self,
        kind: ObjectKind,
        mut slice: Vec<ListedObject>,
        length: usize,
    ) -> Result<usize> {
        let mut next = length;
        if !self.options.dry_run {
            slice = self.closed(|collector, closed| {
                slice.retain(|object| !collector.is_marked(kind, &object.id));
                let ids: Vec<Hash> = slice.iter().map(|object| object.id).collect();
                if kind == ObjectKind::Root {
                    collector.forget_roots(&ids)?;
                }
                collector.vault.objects()?.backend().remove(kind, &ids)?;
                next = match closed.elapsed() {
                    took if took > AIM * 2 => (length / 2).max(32),
                    took if took < AIM / 2 => (length * 2).min(collector.longest_slice()),
                    _ => length,
                };
                Ok(slice)
            })?;
        }
        let taken = match kind {
            ObjectKind::Root => &mut self.report.roots,
            ObjectKind::Node => &mut self.report.nodes,
            ObjectKind::Blob => &mut self.report.contents,
            ObjectKind::Chunk => &mut self.report.chunks,
        };
        slice.iter().for_each(|object| taken.add(object.length));
        Ok(next)
    }

    /// Notes that roots are collected, and forgets what the catalog remembers of them.
    fn forget_roots(&mut self, roots: &[Hash]) -> Result<()> {
        let (vault, now_ms) = (self.vault, self.now_ms);
        vault.catalog().write(|writer| {
            let links = writer.link_rows(REFERENCE)?;
            // A list that others refer to stays; it goes when they do.
            let referred: Vec<Hash> = links
                .iter()
                .filter_map(|(_, short)| match LinkRecord::decode(short.as_ref()?) {
                    Some(LinkRecord::SameAs(root)) => Some(root.0),
                    _ => None,
                })
                .collect();
            for root in roots {
                writer.add_collected(root, now_ms)?;
                writer.remove_stack(root)?;
                if !referred.contains(root) {
                    writer.remove_links(root)?;
                }
            }
            Ok::<(), VaultError>(())
        })
    }
}
