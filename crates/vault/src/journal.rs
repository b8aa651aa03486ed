//! What is being done to folders, written down so that somebody else can finish it.
//!
//! Here is what the vault itself has to know of it: which states it needs, and where something is staged. What is done step by step only
//! `offshoot-folder` knows.

use std::fs::{self, File};
use std::io::BufWriter;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use offshoot_host::disk;
use offshoot_host::disk::join;
use offshoot_store::Id;
use offshoot_tree::RootId;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Result, VaultError, io_error};

/// The name of the document in the directory of an apply.
pub(crate) const JOURNAL: &str = "journal";
/// The same document before there are any steps: where things are staged.
pub(crate) const PLACES: &str = "places";
/// The journal while it is being written.
const HIDDEN: &str = ".journal";
/// There once the folder has its new state for good, and only cleaning up is left.
const DONE: &str = "done";
/// The same where it has its old state again.
const BACK: &str = "back";
const FORMAT: u32 = 1;
/// How staging directories are called, in front of the id of their apply. Nothing of such a name is ever captured.
pub(crate) const STAGING: &[u8] = b".offshoot-apply-";

/// Whether a name is that of a staging directory, of this vault or of another.
pub fn is_staging(name: &[u8]) -> bool {
    let id = name.strip_prefix(STAGING).and_then(|id| std::str::from_utf8(id).ok());
    id.is_some_and(|id| id.parse::<Id>().is_ok())
}

/// The name of the staging directories of an apply.
pub fn staging_name(id: &Id) -> Vec<u8> {
    [STAGING, id.to_string().as_bytes()].concat()
}

/// Everything about one apply; `S` is what its steps are read as.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Journal<S> {
    format: u32,
    /// Its id.
    pub id: Id,
    /// The state that the folders had.
    #[serde(with = "root_text")]
    pub before: RootId,
    /// The state that they get.
    #[serde(with = "root_text")]
    pub after: RootId,
    /// Files get their recorded owners.
    pub owners: bool,
    /// The folders that are changed.
    pub folders: Vec<FolderRecord>,
    /// Where things are staged.
    pub stagings: Vec<StagingRecord>,
    /// Everything is staged, and this is what is to be done; the first step first.
    pub steps: Option<S>,
    /// What the caller wants to know when it is settled.
    pub note: Value,
}

/// How far an apply came that needs nothing but clearing up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Came {
    /// Not all was staged, and the folders were never changed.
    Staging,
    /// The folders have their new state, and the catalog has recorded it.
    Done,
    /// The folders have their old state again.
    Back,
}

/// A folder that is changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FolderRecord {
    /// Where it is on the host.
    pub path: JournalBytes,
    /// Its device.
    pub device: u64,
    /// Its inode.
    pub inode: u64,
}

impl FolderRecord {
    fn path(&self) -> &Path {
        disk::bytes_path(&self.path.0)
    }
}

fn bytes_of(path: &Path) -> JournalBytes {
    JournalBytes(path.as_os_str().as_encoded_bytes().to_vec())
}

/// A directory with what comes into the folder and what came out of it, by the numbers of steps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StagingRecord {
    /// The number of the folder.
    pub folder: usize,
    /// The directory in the folder that it is in.
    pub directory: JournalBytes,
    /// What time that directory had.
    pub mtime: (i64, u32),
}

/// Bytes that are text most of the time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Stored", into = "Stored")]
pub struct JournalBytes(pub Vec<u8>);

#[derive(Clone, Serialize, Deserialize)]
#[serde(untagged)]
enum Stored {
    Text(String),
    Bytes { bytes: Vec<u8> },
}

impl From<Stored> for JournalBytes {
    fn from(stored: Stored) -> Self {
        match stored {
            Stored::Text(text) => Self(text.into_bytes()),
            Stored::Bytes { bytes } => Self(bytes),
        }
    }
}

impl From<JournalBytes> for Stored {
    fn from(bytes: JournalBytes) -> Self {
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

impl<S> Journal<S> {
    /// One that has nothing staged yet.
    pub fn new(id: Id, before: RootId, after: RootId, owners: bool, note: Value) -> Self {
        let (folders, stagings, steps) = (Vec::new(), Vec::new(), None);
        Self { format: FORMAT, id, before, after, owners, folders, stagings, steps, note }
    }

    /// The states that the caller wants to record: they are in its note, as `roots`.
    pub(crate) fn noted_roots(&self) -> Vec<RootId> {
        let listed = self.note.get("roots").and_then(Value::as_array).into_iter().flatten();
        listed.filter_map(|root| root_text::deserialize(root).ok()).collect()
    }

    /// Where the staging directories are.
    pub(crate) fn staging_directories(&self) -> impl Iterator<Item = PathBuf> {
        self.stagings.iter().map(|staging| self.staging_in(staging, &self.folders[staging.folder]))
    }

    fn staging_in(&self, staging: &StagingRecord, folder: &FolderRecord) -> PathBuf {
        let below = join(&staging.directory.0, &staging_name(&self.id));
        folder.path().join(disk::bytes_path(&below))
    }

    /// Takes note of folders that were moved: one that is not where it was may be one of these now. Its inode tells, and what is staged
    /// in it.
    pub fn follow(&mut self, folders: &[PathBuf]) {
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

    /// How far it came, where nothing but clearing up is left.
    pub fn came(&self, directory: &Path) -> Option<Came> {
        match (&self.steps, directory.join(BACK).exists(), directory.join(DONE).exists()) {
            (None, ..) => Some(Came::Staging),
            (_, true, _) => Some(Came::Back),
            (_, _, true) => Some(Came::Done),
            _ => None,
        }
    }

    /// Says that all is decided, how, and that only cleaning up is left. What is done the catalog has recorded, which tells the same
    /// after a power cut; what was taken back nothing else tells.
    pub fn mark(&self, directory: &Path, back: bool) -> Result<()> {
        let path = directory.join(if back { BACK } else { DONE });
        File::create(&path).map_err(io_error("create", &path))?;
        if back {
            disk::sync_dir(directory).map_err(io_error("sync", directory))?;
        }
        Ok(())
    }
}

impl<S: Serialize> Journal<S> {
    /// Writes down, durably, where things are going to be staged.
    pub fn write_places(&self, directory: &Path) -> Result<()> {
        let file = self.write(&directory.join(PLACES))?;
        let synced = file.sync_all().and_then(|()| disk::sync_dir(directory));
        synced.map_err(io_error("sync", directory))
    }

    /// Writes everything where nobody looks for it yet, and syncs nothing.
    pub fn prepare(&self, directory: &Path) -> Result<File> {
        self.write(&directory.join(HIDDEN))
    }

    /// Makes what was prepared the journal, durably. `is_synced` says that its bytes are durable already.
    pub fn publish(prepared: &File, directory: &Path, is_synced: bool) -> Result<()> {
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
}

impl<S: DeserializeOwned> Journal<S> {
    /// Reads it; nothing where the writer did not come so far, or where it is being cleared up.
    pub fn read(directory: &Path) -> Result<Option<Self>> {
        if is_hidden(directory) {
            return Ok(None);
        }
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

/// Whether it is just being made, or cleared up.
fn is_hidden(directory: &Path) -> bool {
    directory.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
}

#[cfg(test)]
mod tests {
    use serde::de::IgnoredAny;

    use super::*;

    /// With steps that are no more than numbers.
    type Journal = super::Journal<Vec<u8>>;

    #[test]
    fn places_that_were_cut_short_count_for_nothing_and_a_damaged_journal_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let directory = &folder.path().join("apply");
        fs::create_dir(directory).unwrap();
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
        let unread =
            super::Journal::<IgnoredAny>::read(directory).unwrap().expect("the journal is there");
        assert!(unread.id == journal.id && unread.steps.is_some(), "whatever the steps are");
        fs::write(directory.join(JOURNAL), &whole[..1]).unwrap();
        assert!(Journal::read(directory).is_err());
    }

    #[test]
    fn bytes_that_are_no_text_round_trip() {
        for bytes in [&b""[..], b"plain", b"a\xffb"] {
            let text = serde_json::to_string(&JournalBytes(bytes.to_vec())).unwrap();
            assert_eq!(serde_json::from_str::<JournalBytes>(&text).unwrap().0, bytes);
        }
    }
}
