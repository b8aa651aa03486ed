//! The records of a registry in a folder.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use offshoot_mxp::{AgentCard, AgentMessage, MessageFlags, MessageKind};
use serde::{Deserialize, Serialize};

use crate::error::AgentRegistryError;
use crate::state::RegistryRecord;

/// Shorter logs are not written anew.
const COMPACT: u64 = 1 << 20;

/// A log so many times as long as what lives is written anew.
const FACTOR: u64 = 4;

/// More than a registry with the largest limits writes before it writes the log anew.
const LONGEST: u64 = 4 << 30;

#[derive(Serialize, Deserialize)]
struct RegisteredRecord {
    card: AgentCard,
    until: u64,
}

#[derive(Serialize, Deserialize)]
struct LeaseRecord {
    agent_id: String,
    #[serde(default)]
    until: u64,
}

/// The log in a folder, which one process has.
#[derive(Debug)]
pub struct RegistryLog {
    folder: PathBuf,
    file: Arc<File>,
    /// Keeps other processes out.
    lock: File,
    length: u64,
    live: u64,
    next: u64,
    broken: bool,
    cut: u64,
}

impl RegistryLog {
    /// Opens the log of a folder, which is made if it is not there, and gives its records to `apply`.
    pub fn open(
        folder: &Path,
        mut apply: impl FnMut(&RegistryRecord),
    ) -> Result<Self, AgentRegistryError> {
        fs::create_dir_all(folder).map_err(failed("make", folder))?;
        let lock_path = folder.join("registry.lock");
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let lock = options.open(&lock_path).map_err(failed("open", &lock_path))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(AgentRegistryError::Busy(folder.to_owned()));
            }
            Err(TryLockError::Error(error)) => return Err(failed("lock", &lock_path)(error)),
        }
        let path = folder.join("registry.log");
        let mut file = options.open(&path).map_err(failed("open", &path))?;
        let found = file.metadata().map_err(failed("read", &path))?.len();
        if found > LONGEST {
            return Err(AgentRegistryError::TooLong { path, found, most: LONGEST });
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed("read", &path))?;
        let mut next = 1;
        let mut rest = bytes.as_slice();
        while let Some((record, behind)) = read(rest, next) {
            apply(&record);
            rest = behind;
            next += 1;
        }
        let cut = rest.len() as u64;
        let length = bytes.len() as u64 - cut;
        if cut > 0 {
            file.set_len(length).map_err(failed("cut", &path))?;
        }
        file.seek(SeekFrom::Start(length)).map_err(failed("read", &path))?;
        if found == 0 {
            sync_folder(folder)?;
        }
        let folder = folder.to_owned();
        // What lives is not known yet; a long log is written anew with the next change.
        let (file, live) = (Arc::new(file), 0);
        Ok(Self { folder, file, lock, length, live, next, broken: false, cut })
    }

    /// How many bytes at the end were no whole record when the log was opened.
    pub fn cut(&self) -> u64 {
        self.cut
    }

    /// How long the log is.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Appends a record. It is in the file then, and on the disk after [`Self::file`] was synchronised.
    pub fn append(&mut self, record: &RegistryRecord) -> Result<(), AgentRegistryError> {
        if self.broken {
            return Err(AgentRegistryError::Broken);
        }
        let bytes = written(record, self.next)?;
        let mut file = &*self.file;
        if let Err(error) = file.write_all(&bytes) {
            let back = self.file.set_len(self.length);
            let back = back.and_then(|()| file.seek(SeekFrom::Start(self.length)));
            self.broken = back.is_err();
            return Err(failed("write", &self.path())(error));
        }
        self.length += bytes.len() as u64;
        self.next += 1;
        Ok(())
    }

    /// The file, to be synchronised while others append.
    pub fn file(&self) -> Arc<File> {
        Arc::clone(&self.file)
    }

    /// Whether it is worth writing the log anew.
    pub fn is_long(&self) -> bool {
        self.length > COMPACT && self.length > FACTOR.saturating_mul(self.live)
    }

    /// Writes the log anew, with these records alone.
    pub fn compact(
        &mut self,
        records: impl Iterator<Item = RegistryRecord>,
    ) -> Result<(), AgentRegistryError> {
        let (path, new) = (self.path(), self.folder.join("registry.new"));
        let mut bytes = Vec::new();
        let mut next = 1;
        for record in records {
            bytes.extend(written(&record, next)?);
            next += 1;
        }
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(true);
        let mut file = options.open(&new).map_err(failed("make", &new))?;
        let write = file.write_all(&bytes).and_then(|()| file.sync_all());
        write.map_err(failed("write", &new))?;
        fs::rename(&new, &path).map_err(failed("replace", &path))?;
        // From here on, the new file is the log, whatever happens.
        self.file = Arc::new(file);
        self.length = bytes.len() as u64;
        (self.live, self.next, self.broken) = (self.length, next, false);
        sync_folder(&self.folder)
    }

    fn path(&self) -> PathBuf {
        self.folder.join("registry.log")
    }
}

impl Drop for RegistryLog {
    /// A process that is just being started may have a copy of the descriptor; closing this one would not let go of the lock.
    fn drop(&mut self) {
        // If that fails, the lock goes with the last copy.
        drop(self.lock.unlock());
    }
}

/// The first record of some bytes, if it is whole, right and the next one.
fn read(bytes: &[u8], next: u64) -> Option<(RegistryRecord, &[u8])> {
    let (message, rest) = AgentMessage::parse_prefix(bytes).ok()?;
    if message.id != next {
        return None;
    }
    let is_last = message.flags.has(MessageFlags::FINAL);
    let record = match message.kind {
        MessageKind::AgentRegister => {
            let RegisteredRecord { card, until } = message.json().ok()?;
            RegistryRecord::Registered { card, until }
        }
        MessageKind::AgentHeartbeat => {
            let LeaseRecord { agent_id, until } = message.json().ok()?;
            match is_last {
                true => RegistryRecord::Removed { agent_id },
                false => RegistryRecord::Renewed { agent_id, until },
            }
        }
        _ => return None,
    };
    Some((record, rest))
}

fn written(record: &RegistryRecord, number: u64) -> Result<Vec<u8>, AgentRegistryError> {
    let unwritable = |error: &dyn std::fmt::Display| AgentRegistryError::Record(error.to_string());
    let json = match record {
        RegistryRecord::Registered { card, until } => {
            serde_json::to_vec(&RegisteredRecord { card: card.clone(), until: *until })
        }
        RegistryRecord::Renewed { agent_id, until } => {
            serde_json::to_vec(&LeaseRecord { agent_id: agent_id.clone(), until: *until })
        }
        RegistryRecord::Removed { agent_id } => {
            serde_json::to_vec(&LeaseRecord { agent_id: agent_id.clone(), until: 0 })
        }
    };
    let json = json.map_err(|error| unwritable(&error))?;
    let (kind, flags) = match record {
        RegistryRecord::Registered { .. } => (MessageKind::AgentRegister, MessageFlags::NONE),
        RegistryRecord::Renewed { .. } => (MessageKind::AgentHeartbeat, MessageFlags::NONE),
        RegistryRecord::Removed { .. } => (MessageKind::AgentHeartbeat, MessageFlags::FINAL),
    };
    let message = AgentMessage::new(kind, number, 0, &json).with(flags);
    message.to_bytes().map_err(|error| unwritable(&error))
}

fn sync_folder(folder: &Path) -> Result<(), AgentRegistryError> {
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    synced.map_err(failed("write", folder))
}

fn failed<'a>(
    action: &'static str,
    path: &'a Path,
) -> impl FnOnce(io::Error) -> AgentRegistryError + 'a {
    move |error| AgentRegistryError::Io { action, path: path.to_owned(), error }
}
