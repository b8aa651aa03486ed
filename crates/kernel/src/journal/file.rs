//! A journal in a directory.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use futures::FutureExt;
use futures::future::BoxFuture;

use super::frame::{
    Found, FrameKind, MAGIC, MOST, START, VERSION, decode, decode_batch, encode, encode_batch,
};
use super::{JournalContents, JournalError, KernelJournal};

/// A journal in a directory of its own. One process at a time has it open.
///
/// ```
/// use offshoot_kernel::{FileJournal, KernelJournal};
///
/// # let directory = tempfile::tempdir().unwrap();
/// # let directory = directory.path();
/// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
/// # runtime.block_on(async {
/// let journal = FileJournal::open(directory)?;
/// journal.append(1, vec![b"first".to_vec()]).await?;
/// assert!(FileJournal::open(directory).is_err());
/// drop(journal);
/// assert_eq!(FileJournal::open(directory)?.read().await?.records, [b"first"]);
/// # Ok::<(), offshoot_kernel::JournalError>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct FileJournal {
    open: Arc<Mutex<OpenJournal>>,
}

#[derive(Debug)]
struct OpenJournal {
    directory: PathBuf,
    file: File,
    /// Where the next frame goes.
    end: u64,
    /// The number of the next record.
    next: u64,
    /// Whether a write failed, so that what is durable is not known.
    broken: bool,
    /// Held as long as the journal is open.
    _lock: File,
}

impl FileJournal {
    /// Opens the journal in a directory, or makes both. A torn end is cut off.
    pub fn open(directory: &Path) -> Result<Self, JournalError> {
        fs::create_dir_all(directory).map_err(storage)?;
        let lock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(directory.join("lock"))
            .map_err(storage)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(JournalError::Locked { path: directory.to_owned() });
            }
            Err(TryLockError::Error(error)) => return Err(storage(error)),
        }
        match fs::remove_file(directory.join("journal.tmp")) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(storage(error));
            }
            _ => {}
        }
        let path = directory.join("journal");
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(&path).map_err(storage)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(storage)?;
        let (contents, end) = if bytes.len() < START && is_torn_start(&bytes) {
            file.set_len(0).map_err(storage)?;
            file.rewind().map_err(storage)?;
            file.write_all(&start()).map_err(storage)?;
            (JournalContents::default(), START)
        } else {
            parse(&path, &bytes)?
        };
        file.set_len(end as u64).map_err(storage)?;
        file.sync_all().map_err(storage)?;
        // The names of new files are durable only when their directory is.
        sync_directory(directory)?;
        let directory = directory.to_owned();
        let (end, next) = (end as u64, contents.next());
        let open = OpenJournal { directory, file, end, next, broken: false, _lock: lock };
        Ok(Self { open: Arc::new(Mutex::new(open)) })
    }

    /// Does something with the files where it blocks nobody.
    fn with<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut OpenJournal) -> Result<T, JournalError> + Send + 'static,
    ) -> BoxFuture<'static, Result<T, JournalError>> {
        let open = Arc::clone(&self.open);
        let work = move || work(&mut open.lock().unwrap_or_else(PoisonError::into_inner));
        async {
            let done = tokio::task::spawn_blocking(work).await;
            done.unwrap_or_else(|error| Err(JournalError::Storage(error.to_string())))
        }
        .boxed()
    }
}

impl KernelJournal for FileJournal {
    fn append(&self, first: u64, records: Vec<Vec<u8>>) -> BoxFuture<'_, Result<(), JournalError>> {
        self.with(move |open| open.append(first, &records))
    }

    fn read(&self) -> BoxFuture<'_, Result<JournalContents, JournalError>> {
        self.with(|open| open.read())
    }

    fn compact(&self, last: u64, snapshot: Vec<u8>) -> BoxFuture<'_, Result<(), JournalError>> {
        self.with(move |open| open.compact(last, &snapshot))
    }
}

impl OpenJournal {
    fn path(&self) -> PathBuf {
        self.directory.join("journal")
    }

    fn append(&mut self, first: u64, records: &[Vec<u8>]) -> Result<(), JournalError> {
        self.check(first)?;
        if records.is_empty() {
            return Ok(());
        }
        let payload = encode_batch(records);
        check_size(payload.len())?;
        let mut bytes = Vec::with_capacity(payload.len() + 32);
        encode(FrameKind::Batch, first, &payload, &mut bytes);
        self.broken = true;
        self.file.seek(SeekFrom::Start(self.end)).map_err(storage)?;
        self.file.write_all(&bytes).map_err(storage)?;
        self.file.sync_data().map_err(storage)?;
        self.broken = false;
        self.end += bytes.len() as u64;
        self.next += records.len() as u64;
        Ok(())
    }

    fn check(&self, given: u64) -> Result<(), JournalError> {
        if self.broken {
            return Err(JournalError::Broken);
        }
        if given != self.next {
            return Err(JournalError::Moved { given, next: self.next });
        }
        Ok(())
    }

    fn read(&mut self) -> Result<JournalContents, JournalError> {
        if self.broken {
            return Err(JournalError::Broken);
        }
        let mut bytes = Vec::new();
        self.file.rewind().map_err(storage)?;
        (&self.file).take(self.end).read_to_end(&mut bytes).map_err(storage)?;
        Ok(parse(&self.path(), &bytes)?.0)
    }

    fn compact(&mut self, last: u64, snapshot: &[u8]) -> Result<(), JournalError> {
        let contents = self.read()?;
        let first = contents.first();
        if last + 1 < first || last >= self.next {
            return Err(JournalError::Moved { given: last, next: self.next });
        }
        check_size(snapshot.len())?;
        let behind = usize::try_from(last + 1 - first).unwrap_or(usize::MAX);
        let records = contents.records.get(behind..).unwrap_or_default();
        let mut bytes = start().to_vec();
        encode(FrameKind::Snapshot, last, snapshot, &mut bytes);
        if !records.is_empty() {
            encode(FrameKind::Batch, last + 1, &encode_batch(records), &mut bytes);
        }
        let temporary = self.directory.join("journal.tmp");
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(true);
        let mut file = options.open(&temporary).map_err(storage)?;
        file.write_all(&bytes).map_err(storage)?;
        file.sync_all().map_err(storage)?;
        // From here on it is not known which of the two has the name.
        self.broken = true;
        fs::rename(&temporary, self.path()).map_err(storage)?;
        sync_directory(&self.directory)?;
        self.broken = false;
        self.file = file;
        self.end = bytes.len() as u64;
        Ok(())
    }
}

/// Reads a whole file, and says where its last whole frame ends.
fn parse(path: &Path, bytes: &[u8]) -> Result<(JournalContents, usize), JournalError> {
    let damaged = |offset: usize, why: &str| JournalError::Damaged {
        path: path.to_owned(),
        offset: offset as u64,
        why: why.to_owned(),
    };
    match bytes.get(..START) {
        Some([magic @ .., version]) if magic == MAGIC => {
            if *version != VERSION {
                let (path, version) = (path.to_owned(), *version);
                return Err(JournalError::Version { path, version, known: VERSION });
            }
        }
        _ => return Err(damaged(0, "it does not begin like a journal")),
    }
    let mut contents = JournalContents::default();
    let mut at = START;
    loop {
        match decode(bytes, at) {
            Found::End | Found::Torn => return Ok((contents, at)),
            Found::Damage(why) => return Err(damaged(at, why)),
            Found::Frame(frame, end) => {
                match frame.kind {
                    FrameKind::Snapshot if at == START && frame.number < u64::MAX => {
                        contents.snapshot = Some((frame.number, frame.payload.to_vec()));
                    }
                    FrameKind::Snapshot => {
                        return Err(damaged(at, "a snapshot is behind the first frame"));
                    }
                    FrameKind::Batch if frame.number != contents.next() => {
                        return Err(damaged(at, "the numbers of records have a gap"));
                    }
                    FrameKind::Batch => {
                        let records = decode_batch(frame.payload)
                            .ok_or_else(|| damaged(at, "a batch cannot be read"))?;
                        contents.records.extend(records);
                    }
                }
                at = end;
            }
        }
    }
}

/// Whether a file is the beginning of an empty journal, as a crash leaves it.
fn is_torn_start(bytes: &[u8]) -> bool {
    start().starts_with(bytes) || bytes.iter().all(|byte| *byte == 0)
}

fn start() -> [u8; START] {
    let mut start = [VERSION; START];
    start[..MAGIC.len()].copy_from_slice(MAGIC);
    start
}

fn check_size(bytes: usize) -> Result<(), JournalError> {
    if bytes > MOST {
        return Err(JournalError::TooLarge { bytes, limit: MOST });
    }
    Ok(())
}

fn sync_directory(directory: &Path) -> Result<(), JournalError> {
    File::open(directory).and_then(|directory| directory.sync_all()).map_err(storage)
}

fn storage(error: std::io::Error) -> JournalError {
    JournalError::Storage(error.to_string())
}
