//! A whole vault as one file: history, refs, log, audit chain, commands, and every content in chunks.

use std::fs;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use offshoot_host::disk;
use offshoot_store::{Archive, Hash, Id, ObjectKind, Put};
use offshoot_tree::pack::{
    ChunkRef, PackFile, PackPlace, PackRecord, PackWriter, WHOLE_LIMIT, cut,
};
use offshoot_tree::{Batch, BlobId, NodeId, ObjectLocation, RootId, TreeError};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

use crate::error::{Result, VaultError, io_error};
use crate::gate::COLLECTING;
use crate::gc::layers::each_place;
use crate::refs::APPROVAL;
use crate::vault::Vault;

/// A pack is closed when it is longer than this.
const PACK_LENGTH: u64 = 64 << 20;

/// What was exported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Archived {
    /// The length of the file.
    pub bytes: u64,
    /// Snapshots whose files are in it.
    pub snapshots: u64,
    /// Contents of files.
    pub contents: u64,
    /// Their bytes, before compression.
    pub contents_bytes: u64,
    /// Operations in its log.
    pub operations: u64,
}

impl Vault {
    /// Writes the whole vault, as it is at one moment and called `name`, to a file that must not be there yet. It appears whole
    /// or not at all. Others can go on working meanwhile.
    pub fn export_archive(&self, destination: &Path, name: &str) -> Result<Archived> {
        let exists =
            || VaultError::Tree(TreeError::EntryExists { path: destination.display().to_string() });
        let destination =
            std::path::absolute(destination).map_err(io_error("open", destination))?;
        if fs::symlink_metadata(&destination).is_ok() {
            return Err(exists());
        }
        let parent = destination.parent().unwrap_or(Path::new("/"));
        // Before anything is written: SQLite would only say that it cannot.
        fs::read_dir(parent).map_err(io_error("open", parent))?;
        let staged = parent.join(format!(".offshoot-export-{}", Id::random()));
        let written = self.write_archive(&staged, name).and_then(|archived| {
            match renameat_with(CWD, &staged, CWD, &destination, RenameFlags::NOREPLACE) {
                Err(Errno::EXIST) => Err(exists()),
                other => other.map_err(io_error("create", &destination)),
            }?;
            disk::sync_dir(parent).map_err(io_error("sync", parent))?;
            Ok(archived)
        });
        if written.is_err() {
            // The first error is the one to report.
            drop(fs::remove_file(&staged));
        }
        written
    }

    fn write_archive(&self, staged: &Path, name: &str) -> Result<Archived> {
        // Nobody else may read what only the owner of the vault can.
        let mut options = fs::File::options();
        options.write(true).create_new(true).mode(0o600);
        options.open(staged).map_err(io_error("create", staged))?;
        // Neither is anything collected nor moved while it is read.
        let _alone = match self.is_read_only() {
            true => None,
            false => Some(self.take_alone(COLLECTING)?),
        };
        let _held = self.hold()?;
        let archive = Archive::create(staged, self.catalog(), APPROVAL)?;
        archive.set_meta("name", name.as_bytes())?;
        // What is committed from now on is not in it.
        let roots = archive.roots()?;
        let mut marks = self.mark_roots(roots.iter())?;
        for (content, bytes) in archive.session_contents()? {
            marks.content(BlobId(content), bytes);
        }
        let is_there = |root: &&Hash| marks.roots.contains(&RootId(**root));
        archive.retain(ObjectKind::Root, |id| marks.roots.contains(&RootId(*id)))?;
        archive.retain(ObjectKind::Node, |id| marks.nodes.contains(&NodeId(*id)))?;
        archive.retain(ObjectKind::Blob, |id| marks.blobs.contains_key(&BlobId(*id)))?;
        let mut archived = Archived {
            snapshots: roots.iter().filter(is_there).count() as u64,
            operations: archive.operation_count()?,
            ..Archived::default()
        };
        for id in archive.ids(ObjectKind::Blob)? {
            let blob = BlobId(id);
            let size = marks.blobs.get(&blob).copied().unwrap_or(0);
            archived.contents += 1;
            archived.contents_bytes += size;
            if let Some(chunks) = self.archive_content(&archive, &blob, size)? {
                let value = ObjectLocation::Chunks(chunks).encode();
                archive.replace(&Put { kind: ObjectKind::Blob, id, value })?;
            }
        }
        archive.finish()?;
        archived.bytes = fs::metadata(staged).map_err(io_error("stat", staged))?.len();
        Ok(archived)
    }

    /// Puts the bytes of a content into the archive; nothing where they are in the catalog itself.
    fn archive_content(
        &self,
        archive: &Archive,
        blob: &BlobId,
        size: u64,
    ) -> Result<Option<Vec<ChunkRef>>> {
        let objects = self.objects()?;
        let whole = vec![ChunkRef { id: blob.0, length: size }];
        Ok(Some(match objects.place(blob)? {
            ObjectLocation::Inline(_) => return Ok(None),
            ObjectLocation::Pack(place) => {
                self.archive_record(archive, &blob.0, &place)?;
                whole
            }
            ObjectLocation::Chunks(chunks) => {
                for chunk in &chunks {
                    self.archive_record(archive, &chunk.id, &objects.chunk(chunk)?)?;
                }
                chunks
            }
            ObjectLocation::Layer { .. } if size <= WHOLE_LIMIT => {
                archive_bytes(archive, blob.0, &objects.blob(blob)?)?;
                whole
            }
            ObjectLocation::Layer { .. } => {
                cut(blob, objects.reader(blob)?, |id, data| archive_bytes(archive, id, data))?
            }
        }))
    }

    fn archive_record(&self, archive: &Archive, id: &Hash, place: &PackPlace) -> Result<()> {
        if archive.has_chunk(id)? {
            return Ok(());
        }
        // Verified, so that damage is found here and not by whoever imports.
        self.objects()?.read_record(place, id)?;
        let path = self.objects()?.pack_path(&place.pack);
        let pack =
            PackFile::open(&self.packs_dir(), &place.pack).map_err(io_error("open", &path))?;
        let record = pack.record(place).map_err(io_error("read", &path))?;
        Ok(archive.add_chunk(id, &record)?)
    }

    /// Whether there is an object that no snapshot reaches. Nobody verifies those, and what is stored later would rely on them.
    pub(crate) fn has_strangers(&self) -> Result<bool> {
        let marks = self.mark_all()?;
        let mut strange = false;
        for kind in [ObjectKind::Root, ObjectKind::Node, ObjectKind::Blob] {
            each_place(self, kind, |object, _| {
                strange |= !match kind {
                    ObjectKind::Root => marks.roots.contains(&RootId(object.id)),
                    ObjectKind::Node => marks.nodes.contains(&NodeId(object.id)),
                    _ => marks.blobs.contains_key(&BlobId(object.id)),
                };
            })?;
        }
        Ok(strange)
    }

    /// Fills this new vault from an archive: its rows as they are, its chunks into packs. Fails where the chunks come to more
    /// than `limit` bytes, before they do.
    pub(crate) fn fill(&self, archive: &Archive, limit: u64) -> Result<()> {
        archive.copy_into(self.catalog())?;
        let path = || archive.path().to_owned();
        let mut writer = Filler { vault: self, pack: None, puts: Vec::new() };
        let mut bytes = 0u64;
        archive.chunks(|id, record| {
            let decoded = PackRecord::decode(&record).ok().filter(|record| record.id == id);
            bytes = bytes.saturating_add(decoded.as_ref().map_or(0, |record| record.length));
            if bytes > limit {
                return Err(VaultError::ArchiveExpands { path: path(), bytes, limit });
            }
            if decoded.is_none_or(|record| record.bytes().is_err()) {
                let detail = format!("chunk {} is not what its hash says", BlobId(id));
                return Err(VaultError::BadArchive { path: path(), detail });
            }
            writer.add(id, &record)
        })?;
        writer.seal()
    }
}

fn archive_bytes(archive: &Archive, id: Hash, data: &[u8]) -> Result<()> {
    if archive.has_chunk(&id)? {
        return Ok(());
    }
    Ok(archive.add_chunk(&id, &PackRecord::new(id, data).encode())?)
}

/// Puts records into packs of a new vault.
struct Filler<'v> {
    vault: &'v Vault,
    pack: Option<PackWriter>,
    puts: Vec<(Hash, PackPlace)>,
}

impl Filler<'_> {
    fn add(&mut self, id: Hash, record: &[u8]) -> Result<()> {
        if self.pack.is_none() {
            self.pack = Some(PackWriter::begin(&self.vault.packs_dir())?);
        }
        if let Some(pack) = &mut self.pack {
            self.puts.push((id, pack.add_record(record)?));
        }
        match self.pack.as_ref().is_some_and(|pack| pack.length() >= PACK_LENGTH) {
            true => self.seal(),
            false => Ok(()),
        }
    }

    fn seal(&mut self) -> Result<()> {
        let Some(pack) = self.pack.take() else { return Ok(()) };
        let row = pack.seal()?;
        self.vault.catalog().write(|writer| writer.add_pack(&row))?;
        let objects = self.vault.objects()?;
        let (mut chunks, mut whole) = (Batch::default(), Batch::default());
        for (id, place) in self.puts.drain(..) {
            // A content that is one chunk needs no list of them.
            match objects.place(&BlobId(id)) {
                Ok(ObjectLocation::Chunks(list)) if list.len() == 1 && list[0].id == id => {
                    whole.blob(BlobId(id), &ObjectLocation::Pack(place));
                }
                _ => chunks.chunk(id, place),
            }
        }
        objects.store(&chunks)?;
        Ok(objects.move_to(&whole)?)
    }
}
