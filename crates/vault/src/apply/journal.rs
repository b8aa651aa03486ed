//! What is being done to a folder, written down so that somebody else can finish it.

use std::fs::{self, File};
use std::io::BufWriter;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use offshoot_host::disk::join;
use offshoot_host::{Mtime, Xattr, disk};
use offshoot_store::Id;
use offshoot_tree::{Meta, RootId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ground::staging_name;
use super::stamp::Stamp;
use crate::error::{Result, VaultError, io_error};

/// The directory of a vault with one directory for each apply.
pub(super) const APPLIES: &str = "applies";
/// The name of the document in the directory of an apply.
pub(super) const JOURNAL: &str = "journal";
/// The same document before there are any steps: where things are staged.
pub(super) const PLACES: &str = "places";
/// The journal while it is being written.
const HIDDEN: &str = ".journal";
/// There once the folder has its new state for good, and only cleaning up is left.
pub(super) const DONE: &str = "done";
/// The same where it has its old state again.
pub(super) const BACK: &str = "back";
const FORMAT: u32 = 1;

/// Everything about one apply.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Journal {
    format: u32,
    pub(super) id: Id,
    #[serde(with = "root_text")]
    pub(super) before: RootId,
    #[serde(with = "root_text")]
    pub(super) after: RootId,
    /// Files get their recorded owners.
    pub(super) owners: bool,
    pub(super) folders: Vec<FolderRecord>,
    pub(super) stagings: Vec<StagingRecord>,
    /// Everything is staged, and this is what is to be done; the first step first.
    pub(super) steps: Option<Vec<Step>>,
    /// What the caller wants to know when it is settled.
    pub(super) note: Value,
}

/// A folder that is changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FolderRecord {
    pub(super) path: Bytes,
    pub(super) device: u64,
    pub(super) inode: u64,
}

impl FolderRecord {
    pub(super) fn path(&self) -> &Path {
        disk::bytes_path(&self.path.0)
    }
}

fn bytes_of(path: &Path) -> Bytes {
    Bytes(path.as_os_str().as_encoded_bytes().to_vec())
}

/// A directory with what comes into the folder and what came out of it, by the numbers of steps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StagingRecord {
    pub(super) folder: usize,
    /// The directory in the folder that it is in.
    pub(super) directory: Bytes,
    /// What time that directory had.
    pub(super) mtime: (i64, u32),
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Step {
    pub(super) folder: usize,
    /// Below the folder.
    pub(super) path: Bytes,
    pub(super) staging: usize,
    /// What is put there stays when the rest is taken back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) stays: bool,
    #[serde(flatten)]
    pub(super) action: Action,
}

/// What is done at a path. What is seldom there is boxed: there may be hundreds of thousands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase")]
pub(super) enum Action {
    /// Something new, where nothing is. A directory is empty at first.
    Put { new: Stamp },
    /// Something else than there was.
    Replace { old: Stamp, new: Box<Stamp> },
    /// Nothing any more. A directory must be empty.
    Remove { old: Stamp },
    /// The same file with other metadata.
    Retouch { old: Stamp, before: Box<Attributes>, after: Box<Attributes> },
    /// The metadata of a directory, after everything in it; nothing where it is not there on that side.
    Settle { before: Option<Box<Attributes>>, after: Option<Box<Attributes>> },
}

/// Metadata.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Attributes {
    pub(super) mode: u16,
    pub(super) uid: u32,
    pub(super) gid: u32,
    mtime: (i64, u32),
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    xattrs: Vec<(Bytes, Bytes)>,
}

impl Attributes {
    pub(super) fn new(meta: &Meta) -> Self {
        let xattrs = meta.xattrs.iter();
        let xattrs = xattrs.map(|(name, value)| (Bytes(name.clone()), Bytes(value.clone())));
        let mtime = (meta.mtime.seconds, meta.mtime.nanoseconds);
        Self { mode: meta.mode, uid: meta.uid, gid: meta.gid, mtime, xattrs: xattrs.collect() }
    }

    pub(super) fn mtime(&self) -> Mtime {
        Mtime { seconds: self.mtime.0, nanoseconds: self.mtime.1 }
    }

    pub(super) fn xattrs(&self) -> Vec<Xattr> {
        self.xattrs.iter().map(|(name, value)| (name.0.clone(), value.0.clone())).collect()
    }
}

/// Bytes that are text most of the time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Stored", into = "Stored")]
pub(super) struct Bytes(pub(super) Vec<u8>);

#[derive(Clone, Serialize, Deserialize)]
#[serde(untagged)]
enum Stored {
    Text(String),
    Bytes { bytes: Vec<u8> },
}

impl From<Stored> for Bytes {
    fn from(stored: Stored) -> Self {
        match stored {
            Stored::Text(text) => Self(text.into_bytes()),
            Stored::Bytes { bytes } => Self(bytes),
        }
    }
}

impl From<Bytes> for Stored {
    fn from(bytes: Bytes) -> Self {
        String::from_utf8(bytes.0)
            .map_or_else(|error| Self::Bytes { bytes: error.into_bytes() }, Self::Text)
    }
}

mod root_text {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    use offshoot_tree::RootId;

    pub(super) fn serialize<S: Serializer>(root: &RootId, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(&root.to_string())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<RootId, D::Error> {
        let text = String::deserialize(input)?;
        let hash = blake3::Hash::from_hex(&text).map_err(D::Error::custom)?;
        Ok(RootId(*hash.as_bytes()))
    }
}

impl Journal {
    pub(super) fn new(id: Id, before: RootId, after: RootId, owners: bool, note: Value) -> Self {
        let (folders, stagings, steps) = (Vec::new(), Vec::new(), None);
        Self { format: FORMAT, id, before, after, owners, folders, stagings, steps, note }
    }

    /// The states that the caller wants to record: they are in its note, as `roots`.
    pub(super) fn noted_roots(&self) -> Vec<RootId> {
        let listed = self.note.get("roots").and_then(Value::as_array).into_iter().flatten();
        listed.filter_map(|root| root_text::deserialize(root).ok()).collect()
    }

    /// Where the staging directories are.
    pub(super) fn staging_directories(&self) -> impl Iterator<Item = PathBuf> {
        self.stagings.iter().map(|staging| self.staging_in(staging, &self.folders[staging.folder]))
    }

    fn staging_in(&self, staging: &StagingRecord, folder: &FolderRecord) -> PathBuf {
        let below = join(&staging.directory.0, &staging_name(&self.id));
        folder.path().join(disk::bytes_path(&below))
    }

    /// Takes note of folders that were moved: one that is not where it was may be one of these now. Its inode tells, and what is staged
    /// in it.
    pub(super) fn follow(&mut self, folders: &[PathBuf]) {
        for number in 0..self.folders.len() {
            let record = self.folders[number].clone();
            let is_it = |path: &Path| {
                let found = fs::symlink_metadata(path);
                found.is_ok_and(|found| found.is_dir() && found.ino() == record.inode)
            };
            if is_it(record.path()) {
                continue;
            }
            let is_staged = |path: &Path| {
                let moved = FolderRecord { path: bytes_of(path), ..record.clone() };
                let mut own = self.stagings.iter().filter(|staging| staging.folder == number);
                own.any(|staging| self.staging_in(staging, &moved).is_dir())
            };
            if let Some(path) = folders.iter().find(|path| is_it(path) && is_staged(path)) {
                self.folders[number].path = bytes_of(path);
            }
        }
    }

    /// Writes down, durably, where things are going to be staged.
    pub(super) fn write_places(&self, directory: &Path) -> Result<()> {
        let file = self.write(&directory.join(PLACES))?;
        let synced = file.sync_all().and_then(|()| disk::sync_dir(directory));
        synced.map_err(io_error("sync", directory))
    }

    /// Writes everything where nobody looks for it yet, and syncs nothing.
    pub(super) fn prepare(&self, directory: &Path) -> Result<File> {
        self.write(&directory.join(HIDDEN))
    }

    /// Makes what was prepared the journal, durably. `is_synced` says that its bytes are durable already.
    pub(super) fn publish(prepared: &File, directory: &Path, is_synced: bool) -> Result<()> {
        let path = directory.join(JOURNAL);
        let publish = || -> std::io::Result<()> {
            if !is_synced {
                prepared.sync_all()?;
            }
            fs::rename(directory.join(HIDDEN), &path)?;
            disk::sync_dir(directory)
        };
        publish().map_err(io_error("write", &path))
    }

    fn write(&self, path: &Path) -> Result<File> {
        let write = || -> std::io::Result<File> {
            let mut out = BufWriter::new(File::create(path)?);
            serde_json::to_writer(&mut out, self)?;
            out.into_inner().map_err(std::io::IntoInnerError::into_error)
        };
        write().map_err(io_error("write", path))
    }

    /// Reads it; nothing where the writer did not come so far.
    pub(super) fn read(directory: &Path) -> Result<Option<Self>> {
        if let Some(journal) = Self::read_file(&directory.join(JOURNAL))? {
            return Ok(Some(journal));
        }
        match Self::read_file(&directory.join(PLACES)) {
            // Cut short by a power cut: nothing is made at these places before they are durable.
            Err(VaultError::BadRecord { source, .. }) if source.is_eof() || source.is_syntax() => {
                Ok(None)
            }
            other => other,
        }
    }

    fn read_file(path: &Path) -> Result<Option<Self>> {
        let bytes = match fs::read(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            other => other.map_err(io_error("read", path))?,
        };
        let bad = |source| VaultError::BadRecord { what: path.display().to_string(), source };
        let journal: Self = serde_json::from_slice(&bytes).map_err(bad)?;
        if journal.format != FORMAT {
            let text = "it was written by a newer version";
            return Err(bad(serde::de::Error::custom(text)));
        }
        Ok(Some(journal))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_that_were_cut_short_count_for_nothing_and_a_damaged_journal_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let directory = folder.path();
        let root = RootId([7; 32]);
        let mut journal = Journal::new(Id::random(), root, root, false, Value::Null);
        journal.write_places(directory).unwrap();
        let read = Journal::read(directory).unwrap().expect("the places are there");
        assert!(read.id == journal.id && read.steps.is_none());
        let whole = fs::read(directory.join(PLACES)).unwrap();
        for cut in [0, 1, whole.len() / 2, whole.len() - 1] {
            fs::write(directory.join(PLACES), &whole[..cut]).unwrap();
            assert!(Journal::read(directory).unwrap().is_none(), "cut after {cut} bytes");
        }
        journal.steps = Some(Vec::new());
        let prepared = journal.prepare(directory).unwrap();
        assert!(Journal::read(directory).unwrap().is_none(), "nobody looks at it yet");
        Journal::publish(&prepared, directory, false).unwrap();
        assert!(Journal::read(directory).unwrap().is_some_and(|read| read.steps.is_some()));
        fs::write(directory.join(JOURNAL), &whole[..1]).unwrap();
        assert!(Journal::read(directory).is_err());
    }

    #[test]
    fn bytes_that_are_no_text_round_trip() {
        for bytes in [&b""[..], b"plain", b"a\xffb"] {
            let text = serde_json::to_string(&Bytes(bytes.to_vec())).unwrap();
            assert_eq!(serde_json::from_str::<Bytes>(&text).unwrap().0, bytes);
        }
    }
}
