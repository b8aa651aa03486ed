//! A log in a file: a line of JSON for each event.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use futures::FutureExt;
use futures::future::{BoxFuture, ready};

use super::{EventLog, LogError, check_order};
use crate::event::EventRecord;

/// A log in a file, of which one process at a time adds to. A last line that was cut off by a crash does not count, and is overwritten.
#[derive(Clone, Debug)]
pub struct FileLog {
    open: Arc<Mutex<OpenFile>>,
}

#[derive(Debug)]
struct OpenFile {
    file: File,
    /// How many events it has, and where the last one ends.
    events: u64,
    end: u64,
}

impl FileLog {
    /// Opens a log, or makes it.
    pub fn open(path: &Path) -> Result<Self, LogError> {
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        let file = options.open(path).map_err(storage)?;
        let mut open = OpenFile { file, events: 0, end: 0 };
        let records = open.read()?;
        open.events = records.len() as u64;
        if let Some(directory) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            // The name of a new file is durable only when its directory is.
            File::open(directory).and_then(|directory| directory.sync_all()).map_err(storage)?;
        }
        Ok(Self { open: Arc::new(Mutex::new(open)) })
    }
}

impl OpenFile {
    /// All events, and where the last one ends.
    fn read(&mut self) -> Result<Vec<EventRecord>, LogError> {
        self.file.seek(SeekFrom::Start(0)).map_err(storage)?;
        let mut lines = BufReader::new(&self.file);
        let (mut records, mut end) = (Vec::new(), 0);
        let mut line = Vec::new();
        loop {
            line.clear();
            let length = lines.read_until(b'\n', &mut line).map_err(storage)?;
            if !line.ends_with(b"\n") {
                break;
            }
            let number = records.len() as u64 + 1;
            let damaged = |why: String| LogError::Damaged { number, why };
            let record: EventRecord =
                serde_json::from_slice(&line).map_err(|error| damaged(error.to_string()))?;
            if record.number() != number {
                return Err(damaged(format!("it has the number {}", record.number())));
            }
            records.push(record);
            end += length as u64;
        }
        self.end = end;
        Ok(records)
    }

    fn append(&mut self, records: &[EventRecord]) -> Result<(), LogError> {
        check_order(self.events, records)?;
        let mut text = Vec::new();
        for record in records {
            serde_json::to_writer(&mut text, record)
                .map_err(|error| LogError::Storage(error.to_string()))?;
            text.push(b'\n');
        }
        // Whole lines behind the last one are of another writer; what a crash or a write that failed left has no end, and goes.
        let mut behind = Vec::new();
        self.file.seek(SeekFrom::Start(self.end)).map_err(storage)?;
        self.file.read_to_end(&mut behind).map_err(storage)?;
        if behind.contains(&b'\n') {
            let more = behind.iter().filter(|byte| **byte == b'\n').count() as u64;
            let last = self.events + more;
            return Err(LogError::Moved { given: self.events + 1, last });
        }
        self.file.set_len(self.end).map_err(storage)?;
        self.file.seek(SeekFrom::Start(self.end)).map_err(storage)?;
        self.file.write_all(&text).map_err(storage)?;
        self.file.sync_data().map_err(storage)?;
        self.end += text.len() as u64;
        self.events += records.len() as u64;
        Ok(())
    }
}

impl EventLog for FileLog {
    fn append(&self, records: Vec<EventRecord>) -> BoxFuture<'_, Result<(), LogError>> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let appended = open.append(&records);
        ready(appended).boxed()
    }

    fn read(&self, from: u64) -> BoxFuture<'_, Result<Vec<EventRecord>, LogError>> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let before = usize::try_from(from.saturating_sub(1)).unwrap_or(usize::MAX);
        let records = open.read().map(|records| records.into_iter().skip(before).collect());
        ready(records).boxed()
    }
}

fn storage(error: std::io::Error) -> LogError {
    LogError::Storage(error.to_string())
}
