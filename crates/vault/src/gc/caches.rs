//! Caches that count for nothing any more, and what crashes left.

use std::fs;
use std::path::PathBuf;

use offshoot_host::disk;
use offshoot_store::Id;

use super::Collector;
use super::pins::Pins;
use crate::cache_file;
use crate::error::{Result, io_error};
use crate::scratch;
use crate::vault::Vault;

impl Collector<'_> {
    /// A cache counts only while the vault has the root that it was written with.
    pub(super) fn caches(&mut self) -> Result<()> {
        let folder = self.vault.dir().join("cache");
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let bytes = entry.metadata().map_or(0, |metadata| metadata.len());
            let Some(root) = cache_file::root_of(&path) else { continue };
            let objects = self.vault.objects()?;
            let counts = match self.options.dry_run {
                true => self.marks.roots.contains(&root),
                false => objects.has_root(&root)?,
            };
            // One that cannot be removed does no harm.
            if !counts && (self.options.dry_run || fs::remove_file(&path).is_ok()) {
                self.report.caches.add(bytes);
            }
        }
        Ok(())
    }

    /// Layers, packs and scratch directories that no record speaks of. With the gate closed nobody is about to record one.
    pub(super) fn leftovers(&mut self) -> Result<()> {
        let found = match self.options.dry_run {
            true => leftovers(self.vault)?,
            false => self.closed(|collector, _| leftovers(collector.vault))?,
        };
        for path in found {
            let bytes =
                if path.is_dir() { 0 } else { path.metadata().map_or(0, |data| data.len()) };
            if !self.options.dry_run {
                let removed = match path.is_dir() {
                    true => disk::remove_tree(&path),
                    false => fs::remove_file(&path),
                };
                removed.map_err(io_error("remove", &path))?;
            }
            self.report.leftovers.add(bytes);
        }
        Ok(())
    }
}

/// Layers, packs and scratch directories that no record speaks of and that nobody writes.
pub(crate) fn leftovers(vault: &Vault) -> Result<Vec<PathBuf>> {
    let mut found = Pins::read(vault)?.leftovers;
    found.extend(scratch::abandoned(vault));
    let (layers, packs) = vault.read(|reader| Ok((reader.layers()?, reader.packs()?)))?;
    let layers: Vec<Id> = layers.into_iter().map(|layer| layer.id).collect();
    let packs: Vec<Id> = packs.into_iter().map(|pack| pack.id).collect();
    for (folder, known) in [(vault.layers_dir(), layers), (vault.packs_dir(), packs)] {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let stale_pack = folder == vault.packs_dir() && name.ends_with(".tmp");
            let unknown = name.parse().is_ok_and(|id: Id| !known.contains(&id));
            if stale_pack || unknown {
                found.push(entry.path());
            }
        }
    }
    Ok(found)
}
