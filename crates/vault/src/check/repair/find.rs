//! Finding bytes by their hash wherever a vault may still have them.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::os::fd::AsFd;
use std::path::PathBuf;

use offshoot_host::disk;
use offshoot_store::{Hash, Id};
use offshoot_tree::pack::{PackFile, PackPlace};
use offshoot_tree::{BlobId, BlobReader, VaultPath};
use rustix::fs::OFlags;

use crate::error::Result;
use crate::vault::Vault;

/// Where to look.
pub(super) struct Finder<'v> {
    vault: &'v Vault,
    /// Directories that hold files at their paths below a place in the tree: layers and bound folders.
    folders: Vec<(PathBuf, VaultPath)>,
    /// Records of what is looked for.
    records: HashMap<Hash, Vec<PackPlace>>,
}

impl<'v> Finder<'v> {
    pub(super) fn new<'b>(
        vault: &'v Vault,
        wanted: impl Iterator<Item = &'b BlobId>,
    ) -> Result<Self> {
        let wanted: HashSet<Hash> = wanted.map(|blob| blob.0).collect();
        let layers = vault.read(|reader| Ok(reader.layers()?))?;
        let layer = |id: &Id| vault.layers_dir().join(id.to_string()).join("fs");
        let mut folders: Vec<(PathBuf, VaultPath)> =
            layers.iter().map(|row| (layer(&row.id), VaultPath::top())).collect();
        folders.extend(vault.bindings()?.iter().map(|bound| (bound.host_path(), bound.at())));
        let mut records: HashMap<Hash, Vec<PackPlace>> = HashMap::new();
        for pack in vault.read(|reader| Ok(reader.packs()?))? {
            let Ok(file) = PackFile::open(&vault.packs_dir(), &pack.id) else { continue };
            // A pack is looked through up to where it is damaged.
            for (offset, length, id) in file.records().into_iter().flatten().flatten() {
                if wanted.contains(&id) {
                    let place = PackPlace { pack: pack.id, offset, length };
                    records.entry(id).or_default().push(place);
                }
            }
        }
        Ok(Self { vault, folders, records })
    }

    /// The bytes of a content, and where they were found.
    pub(super) fn find(
        &self,
        blob: &BlobId,
        size: u64,
        paths: &[Vec<u8>],
    ) -> Result<Option<(BlobReader, String)>> {
        for place in self.records.get(&blob.0).into_iter().flatten() {
            if let Ok(bytes) = self.vault.objects()?.read_record(place, &blob.0) {
                let from = format!("pack {}", place.pack);
                return Ok(Some((BlobReader::of_bytes(*blob, bytes), from)));
            }
        }
        let hex = blob.to_hex().into_bytes();
        for (folder, at) in &self.folders {
            let place = disk::join(&at.relative(), b"");
            for path in paths.iter().chain([&hex]) {
                let path = path.strip_prefix(place.as_slice()).unwrap_or(path);
                if let Some(file) = open_equal(folder, path, blob, size) {
                    let host = folder.join(disk::bytes_path(path));
                    let from = host.display().to_string();
                    return Ok(Some((BlobReader::of_file(*blob, file, host), from)));
                }
            }
        }
        Ok(None)
    }
}

/// Opens a file below a folder if it holds what is looked for.
fn open_equal(folder: &std::path::Path, path: &[u8], blob: &BlobId, size: u64) -> Option<File> {
    let top = disk::open_dir_path(folder).ok()?;
    let flags = OFlags::RDONLY | OFlags::NONBLOCK;
    let file = File::from(disk::open_below(top.as_fd(), path, flags).ok()?);
    let metadata = file.metadata().ok()?;
    let equal =
        metadata.is_file() && metadata.len() == size && BlobId::of_file(&file).ok()? == *blob;
    equal.then_some(file)
}
