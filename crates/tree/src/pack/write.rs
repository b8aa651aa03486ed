//! Writing packs.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use offshoot_host::disk;
use offshoot_store::{Hash, Id, PackRow};

use crate::error::{Result, io_error};
use crate::pack::place::PackPlace;
use crate::pack::record::{MAGIC, PackRecord};

/// A pack being written. Dropped without being sealed, it is removed.
#[derive(Debug)]
pub struct PackWriter {
    id: Id,
    packs: PathBuf,
    staged: PathBuf,
    file: BufWriter<File>,
    length: u64,
    sealed: bool,
}

impl PackWriter {
    /// Starts a pack in the vault's `packs` directory, which is made where it is missing.
    pub fn begin(packs: &Path) -> Result<Self> {
        make_dir(packs)?;
        let id = Id::random();
        let staged = packs.join(format!("{id}.tmp"));
        let mut options = File::options();
        options.write(true).create_new(true).mode(0o600);
        let file = options.open(&staged).map_err(io_error("create", &staged))?;
        let (packs, file) = (packs.to_owned(), BufWriter::with_capacity(1 << 18, file));
        let mut writer = Self { id, packs, staged, file, length: 0, sealed: false };
        writer.append(MAGIC)?;
        Ok(writer)
    }

    /// How long it is so far.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Adds bytes under their id.
    pub fn add(&mut self, id: Hash, bytes: &[u8]) -> Result<PackPlace> {
        self.add_record(&PackRecord::new(id, bytes).encode())
    }

    /// Adds a record of another pack as it is.
    pub fn add_record(&mut self, record: &[u8]) -> Result<PackPlace> {
        let (offset, length) = (self.length, record.len() as u64);
        self.append(record)?;
        Ok(PackPlace { pack: self.id, offset, length })
    }

    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).map_err(io_error("write", &self.staged))?;
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Makes the pack durable and gives it its name; the catalog must record the row before any object names it.
    pub fn seal(mut self) -> Result<PackRow> {
        self.file.flush().map_err(io_error("write", &self.staged))?;
        self.file.get_ref().sync_all().map_err(io_error("sync", &self.staged))?;
        let sealed = self.packs.join(self.id.to_string());
        fs::rename(&self.staged, &sealed).map_err(io_error("rename", &self.staged))?;
        self.sealed = true;
        disk::sync_dir(&self.packs).map_err(io_error("sync", &self.packs))?;
        Ok(PackRow { id: self.id, bytes: self.length, created_ms: self.id.time_ms() })
    }
}

impl Drop for PackWriter {
    fn drop(&mut self) {
        if !self.sealed {
            // What cannot be removed now goes when garbage is collected the next time.
            drop(fs::remove_file(&self.staged));
        }
    }
}

fn make_dir(packs: &Path) -> Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    match fs::DirBuilder::new().mode(0o700).create(packs) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(io_error("create", packs)(error)),
        // The name of the directory must be as durable as what is put into it.
        Ok(()) => match packs.parent() {
            Some(vault) => disk::sync_dir(vault).map_err(io_error("sync", vault)),
            None => Ok(()),
        },
    }
}
