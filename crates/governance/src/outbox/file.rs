//! An outbox in a file.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::event::GovernanceEvent;
use crate::outbox::line::{Line, VERSION};
use crate::outbox::{GovernanceOutbox, OutboxEntry, OutboxError};

/// How long the file may become, unless something else is said.
pub const OUTBOX_BYTES: u64 = 64 * 1024 * 1024;

/// So much may be of no use before the file is written anew.
const SLACK: u64 = 64 * 1024;

/// An outbox in a file, which one process at a time uses. Its end may be cut off by a crash; what was appended before is there.
///
/// ```
/// # use offshoot_governance::{FileOutbox, GovernanceEvent, GovernanceOutbox, OUTBOX_BYTES};
/// # fn example(path: &std::path::Path, event: &GovernanceEvent) -> Result<(), offshoot_governance::OutboxError> {
/// let outbox = FileOutbox::open(path, OUTBOX_BYTES)?;
/// let number = outbox.append(event)?;
/// drop(outbox);
/// let outbox = FileOutbox::open(path, OUTBOX_BYTES)?;
/// assert_eq!(outbox.next_after(0)?.map(|entry| entry.number), Some(number));
/// outbox.acknowledge(number)?;
/// assert!(outbox.is_empty());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct FileOutbox {
    open: Mutex<OpenFile>,
}

#[derive(Debug)]
struct OpenFile {
    path: PathBuf,
    file: File,
    most: u64,
    /// Where the last whole line ends.
    end: u64,
    /// Something may stand behind that, which a write that failed left.
    is_dirty: bool,
    next: u64,
    /// Where the events are that were not acknowledged, and how long their lines are.
    waiting: BTreeMap<u64, (u64, u64)>,
    /// How many bytes those have.
    used: u64,
}

impl FileOutbox {
    /// Opens an outbox, or makes it.
    pub fn open(path: &Path, max_bytes: u64) -> Result<Self, OutboxError> {
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        let file = options.open(path).map_err(storage)?;
        let mut open = OpenFile {
            path: path.to_owned(),
            file,
            most: max_bytes,
            end: 0,
            is_dirty: false,
            next: 1,
            waiting: BTreeMap::new(),
            used: 0,
        };
        open.read()?;
        if open.end == 0 {
            // The name of a new file is durable only when its directory is.
            let begin = Line::Begin { version: VERSION, next: open.next }.to_bytes()?;
            open.write(&begin, true)?;
            sync_directory(&open.path)?;
        }
        open.renew_if_due()?;
        Ok(Self { open: Mutex::new(open) })
    }

    fn opened(&self) -> MutexGuard<'_, OpenFile> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenFile {
    /// Reads all lines. A last line without its end, or zeros, is what a crash left, and does not count. Whatever else is wrong is damage.
    fn read(&mut self) -> Result<(), OutboxError> {
        let mut bytes = Vec::new();
        self.file.seek(SeekFrom::Start(0)).map_err(storage)?;
        self.file.read_to_end(&mut bytes).map_err(storage)?;
        for (index, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
            let Some(whole) = line.strip_suffix(b"\n") else { break };
            let length = line.len() as u64;
            let parsed = Line::parse(whole).and_then(|line| self.apply(line, self.end, length));
            parsed.map_err(|why| damaged(index, why))?;
            self.end += length;
        }
        let begin = Line::Begin { version: VERSION, next: 1 }.to_bytes()?;
        let was_begun = begin.starts_with(&bytes) || bytes.iter().all(|byte| *byte == 0);
        if self.end == 0 && !was_begun {
            // Whatever it is, a crash did not leave it.
            return Err(damaged(0, "the file is no outbox".to_owned()));
        }
        self.is_dirty = bytes.len() as u64 > self.end;
        Ok(())
    }

    fn apply(&mut self, line: Line, at: u64, length: u64) -> Result<(), String> {
        match line {
            Line::Begin { version, .. } if version != VERSION => {
                return Err(format!("version {version} is not known"));
            }
            Line::Begin { next, .. } if at == 0 => self.next = next,
            Line::Begin { .. } => return Err("a file begins once".to_owned()),
            _ if at == 0 => return Err("the file has no beginning".to_owned()),
            Line::Append { append, .. } if append < self.next => {
                // What was kept when the file was written anew has older numbers, in order.
                let last = self.waiting.last_key_value().map_or(0, |(number, _)| *number);
                if append <= last {
                    return Err(format!("the number {append} comes after {last}"));
                }
                self.keep(append, at, length);
            }
            Line::Append { append, .. } => {
                self.next = append + 1;
                self.keep(append, at, length);
            }
            Line::Acknowledge { acknowledge } => self.forget(acknowledge),
        }
        Ok(())
    }

    fn keep(&mut self, number: u64, at: u64, length: u64) {
        self.waiting.insert(number, (at, length));
        self.used += length;
    }

    fn forget(&mut self, number: u64) {
        if let Some((_, length)) = self.waiting.remove(&number) {
            self.used -= length;
        }
    }

    /// Writes whole lines at the end. If that fails, nothing of them counts.
    fn write(&mut self, bytes: &[u8], durably: bool) -> Result<(), OutboxError> {
        let length = self.file.metadata().map_err(storage)?.len();
        if length != self.end && !self.is_dirty {
            return Err(OutboxError::Moved { expected: self.end, found: length });
        }
        if self.is_dirty {
            self.file.set_len(self.end).map_err(storage)?;
        }
        self.is_dirty = true;
        self.file.seek(SeekFrom::Start(self.end)).map_err(storage)?;
        self.file.write_all(bytes).map_err(storage)?;
        if durably {
            self.file.sync_data().map_err(storage)?;
        }
        self.is_dirty = false;
        self.end += bytes.len() as u64;
        Ok(())
    }

    fn append(&mut self, event: &GovernanceEvent) -> Result<u64, OutboxError> {
        let number = self.next;
        let line = Line::Append { append: number, event: Box::new(event.clone()) }.to_bytes()?;
        let length = line.len() as u64;
        if self.end + length > self.most {
            self.renew()?;
        }
        if self.end + length > self.most {
            return Err(OutboxError::Full { bytes: self.end + length, most: self.most });
        }
        let at = self.end;
        self.write(&line, true)?;
        self.next += 1;
        self.keep(number, at, length);
        Ok(number)
    }

    fn acknowledge(&mut self, number: u64) -> Result<(), OutboxError> {
        if !self.waiting.contains_key(&number) {
            return Ok(());
        }
        // Not beyond the bound: the event would come again after a crash, and only then.
        let line = Line::Acknowledge { acknowledge: number }.to_bytes()?;
        if self.end + line.len() as u64 <= self.most {
            self.write(&line, false)?;
        }
        self.forget(number);
        self.renew_if_due()
    }

    fn entry(&mut self, number: u64, at: u64, length: u64) -> Result<OutboxEntry, OutboxError> {
        let length =
            usize::try_from(length).map_err(|error| OutboxError::Storage(error.to_string()))?;
        let mut bytes = vec![0; length];
        self.file.seek(SeekFrom::Start(at)).map_err(storage)?;
        self.file.read_exact(&mut bytes).map_err(storage)?;
        match Line::parse(bytes.strip_suffix(b"\n").unwrap_or(&bytes)) {
            Ok(Line::Append { append, event }) if append == number => {
                Ok(OutboxEntry { number, event: *event })
            }
            Ok(_) => Err(OutboxError::Storage(format!("the event {number} is not in its place"))),
            Err(why) => Err(OutboxError::Storage(format!("the event {number} is damaged: {why}"))),
        }
    }

    fn renew_if_due(&mut self) -> Result<(), OutboxError> {
        let unused = self.end - self.used;
        if unused > SLACK && unused > self.end / 2 { self.renew() } else { Ok(()) }
    }

    /// Writes what was not acknowledged into a new file, which takes the place of this one.
    fn renew(&mut self) -> Result<(), OutboxError> {
        let beside = beside(&self.path);
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(true);
        let file = options.open(&beside).map_err(storage)?;
        let mut new = Self {
            path: self.path.clone(),
            file,
            most: self.most,
            end: 0,
            is_dirty: false,
            next: self.next,
            waiting: BTreeMap::new(),
            used: 0,
        };
        let mut bytes = Line::Begin { version: VERSION, next: self.next }.to_bytes()?;
        for (number, (at, length)) in self.waiting.clone() {
            let entry = self.entry(number, at, length)?;
            let line = Line::Append { append: number, event: Box::new(entry.event) }.to_bytes()?;
            new.keep(number, bytes.len() as u64, line.len() as u64);
            bytes.extend(line);
        }
        new.write(&bytes, true)?;
        fs::rename(&beside, &self.path).map_err(storage)?;
        // From here on the old file has no name, whatever becomes of the directory.
        *self = new;
        sync_directory(&self.path)
    }
}

impl GovernanceOutbox for FileOutbox {
    fn append(&self, event: &GovernanceEvent) -> Result<u64, OutboxError> {
        self.opened().append(event)
    }

    fn acknowledge(&self, number: u64) -> Result<(), OutboxError> {
        self.opened().acknowledge(number)
    }

    fn next_after(&self, number: u64) -> Result<Option<OutboxEntry>, OutboxError> {
        let mut open = self.opened();
        let mut behind = open.waiting.range((Bound::Excluded(number), Bound::Unbounded));
        let Some((number, (at, length))) = behind.next() else { return Ok(None) };
        let (number, at, length) = (*number, *at, *length);
        open.entry(number, at, length).map(Some)
    }

    fn len(&self) -> usize {
        self.opened().waiting.len()
    }
}

fn damaged(index: usize, why: String) -> OutboxError {
    OutboxError::Damaged { line: index + 1, why }
}

fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    PathBuf::from(name)
}

fn sync_directory(path: &Path) -> Result<(), OutboxError> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let directory = directory.unwrap_or(Path::new("."));
    File::open(directory).and_then(|directory| directory.sync_all()).map_err(storage)
}

fn storage(error: std::io::Error) -> OutboxError {
    OutboxError::Storage(error.to_string())
}
