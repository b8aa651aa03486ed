//! Packs that hold little that is needed are written anew, without the rest.

use std::collections::HashMap;

use offshoot_store::{Hash, Id, ObjectKind, PackRow};
use offshoot_tree::ObjectLocationStart;
use offshoot_tree::pack::{PackFile, PackPlace, Packer};

use super::Collector;
use super::layers::each_place;
use crate::error::{Result, VaultError, io_error};

/// A pack is written anew where less than one part in so many of it is needed.
const MOSTLY_GARBAGE: u64 = 2;
/// Every collection may leave a pack. Where there are more than so many of less than [`SMALL`] bytes, they become one.
const MOST_SMALL: usize = 16;
/// A pack of fewer bytes than this is small.
const SMALL: u64 = 8 << 20;

/// The records of one pack that objects name.
#[derive(Debug, Default)]
struct Named {
    bytes: u64,
    records: Vec<(ObjectKind, Hash, PackPlace)>,
}

impl Collector<'_> {
    pub(super) fn packs(&mut self) -> Result<()> {
        let named = self.named_records()?;
        let packs = self.vault.read(|reader| Ok(reader.packs()?))?;
        let many = packs.iter().filter(|pack| pack.bytes < SMALL).count() > MOST_SMALL;
        let goes = |pack: &PackRow| {
            let bytes = named.get(&pack.id).map_or(0, |named| named.bytes);
            match self.vault.is_tight() {
                // Writing another takes room before this one gives any.
                true => bytes == 0,
                false => {
                    bytes.saturating_mul(MOSTLY_GARBAGE) < pack.bytes
                        || (self.options.pack && many && pack.bytes < SMALL)
                }
            }
        };
        let doomed: Vec<PackRow> = packs.into_iter().filter(goes).collect();
        if self.options.dry_run {
            doomed.iter().for_each(|pack| self.report.packs.add(pack.bytes));
            return Ok(());
        }
        let mut packer = self.vault.packer()?;
        for pack in doomed.iter().filter_map(|pack| named.get(&pack.id)) {
            self.copy_records(pack, &mut packer)?;
        }
        packer.flush()?;
        self.forget_packs(&doomed)
    }

    fn named_records(&self) -> Result<HashMap<Id, Named>> {
        let mut named: HashMap<Id, Named> = HashMap::new();
        for kind in [ObjectKind::Blob, ObjectKind::Chunk] {
            each_place(self.vault, kind, |object, start| {
                if let ObjectLocationStart::Pack(place) = start {
                    let pack = named.entry(place.pack).or_default();
                    pack.bytes += place.length;
                    pack.records.push((kind, object.id, place));
                }
            })?;
        }
        Ok(named)
    }

    fn copy_records(&self, named: &Named, packer: &mut Packer<'_>) -> Result<()> {
        for (kind, id, place) in &named.records {
            let path = self.vault.objects()?.pack_path(&place.pack);
            let pack = PackFile::open(&self.vault.packs_dir(), &place.pack);
            let pack = pack.map_err(io_error("open", &path))?;
            // Verified, so that damage is found here and not copied.
            pack.read(place, id).map_err(io_error("read", &path))?;
            let record = pack.record(place).map_err(io_error("read", &path))?;
            packer.add_record(*kind, *id, &record)?;
        }
        Ok(())
    }

    /// Forgets packs that no object names any more, then removes them. Nobody but who is here alone lets objects name packs.
    fn forget_packs(&mut self, doomed: &[PackRow]) -> Result<()> {
        if doomed.is_empty() {
            return Ok(());
        }
        self.vault.catalog().write(|writer| {
            for pack in doomed {
                writer.remove_pack(&pack.id)?;
            }
            Ok::<(), VaultError>(())
        })?;
        for pack in doomed {
            let path = self.vault.objects()?.pack_path(&pack.id);
            std::fs::remove_file(&path).map_err(io_error("remove", &path))?;
            self.report.packs.add(pack.bytes);
        }
        Ok(())
    }
}
