//! The stat cache: which files need not be read again.
//!
//! A [cache file](crate::cache_file) of which an entry counts only if device, inode, size and both times of a file are still
//! the same. A file changed in the same tick of the clock in which it was read would look unchanged, so files that young are
//! not entered.

use std::collections::HashMap;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use foldhash::fast::RandomState;
use offshoot_host::disk::split_last;
use offshoot_host::{Mtime, Xattr};
use offshoot_tree::codec::{Decoder, FormatError, put_bytes, put_varint, put_zigzag};
use offshoot_tree::{BlobId, RootId};
use rustix::fs::Stat;

use super::content::FileContent;
use crate::cache_file::{self, CacheKind};

/// Longer than a tick of any kernel's clock.
const TICK_NS: i128 = 20_000_000;
/// For file systems that keep whole seconds only.
const COARSE_TICK_NS: i128 = 2_100_000_000;

/// Opening a file to read it takes as long as writing about so many rows of a cache.
const ROWS_A_FILE: u64 = 40;
/// Reading so many bytes takes as long as writing about one.
const BYTES_A_ROW: u64 = 1024;

/// What identifies the state of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct State {
    device: u64,
    inode: u64,
    size: u64,
    mtime: Mtime,
    ctime: Mtime,
}

impl State {
    fn of(stat: &Stat) -> Self {
        Self {
            device: stat.st_dev,
            inode: stat.st_ino,
            size: stat.st_size as u64,
            mtime: Mtime { seconds: stat.st_mtime, nanoseconds: stat.st_mtime_nsec as u32 },
            ctime: Mtime { seconds: stat.st_ctime, nanoseconds: stat.st_ctime_nsec as u32 },
        }
    }

    /// Whether a change after `started` would be sure to show.
    fn is_settled(&self, started: Mtime) -> bool {
        nanoseconds(self.ctime) + self.tick() <= nanoseconds(started)
    }

    fn tick(&self) -> i128 {
        if self.ctime.nanoseconds == 0 { COARSE_TICK_NS } else { TICK_NS }
    }
}

/// How long until a change to a file that `stat` saw is sure to show in its times; `None` where it is already. The clock
/// of another machine may be ahead: then there is nothing to wait for.
pub fn unsettled_for(stat: &Stat) -> Option<Duration> {
    let state = State::of(stat);
    let age = nanoseconds(Mtime::now()) - nanoseconds(state.ctime);
    let left = (0..state.tick()).contains(&age).then(|| state.tick() - age)?;
    Some(Duration::from_nanos(u64::try_from(left).unwrap_or(0)))
}

fn nanoseconds(time: Mtime) -> i128 {
    i128::from(time.seconds) * 1_000_000_000 + i128::from(time.nanoseconds)
}

/// The files of a directory that are remembered, by name.
pub(crate) type KnownFolder<'a> = Vec<(&'a [u8], Known)>;

/// Files that are remembered, by directory: all of one are looked for at once, in the order in which they are here.
#[derive(Default)]
pub(crate) struct KnownFiles<'a> {
    folders: HashMap<&'a [u8], KnownFolder<'a>, RandomState>,
    files: u64,
}

impl<'a> KnownFiles<'a> {
    /// How many they are.
    pub(crate) fn len(&self) -> u64 {
        self.files
    }

    /// Those of one directory, sorted by name.
    pub(crate) fn folder(&self, path: &[u8]) -> &[(&'a [u8], Known)] {
        self.folders.get(path).map_or(&[], Vec::as_slice)
    }
}

/// A file that is remembered.
pub(crate) struct Known {
    state: State,
    blob: BlobId,
    /// The permissions of its mode that are recorded: fewer than it shows where it has an access list.
    permissions: u32,
    xattrs: Vec<Xattr>,
}

/// Files to remember, as a cache file has them.
#[derive(Default)]
pub(crate) struct Rows {
    bytes: Vec<u8>,
    files: u64,
}

impl Rows {
    /// Adds a file of an import that began at `started`, unless it may still change without a trace. Files of one directory
    /// come one after the other, sorted by name.
    pub(crate) fn add(&mut self, path: &[u8], content: &FileContent, started: Mtime) {
        let state = State::of(&content.stat);
        if !state.is_settled(started) {
            return;
        }
        let out = &mut self.bytes;
        put_bytes(out, path);
        for number in [state.device, state.inode, state.size] {
            put_varint(out, number);
        }
        for time in [state.mtime, state.ctime] {
            put_zigzag(out, time.seconds);
            put_varint(out, u64::from(time.nanoseconds));
        }
        out.extend_from_slice(&content.blob.0);
        put_varint(out, u64::from(content.stat.st_mode & 0o777));
        put_varint(out, content.xattrs.len() as u64);
        for (name, value) in &content.xattrs {
            put_bytes(out, name);
            put_bytes(out, value);
        }
        self.files += 1;
    }

    pub(crate) fn append(&mut self, other: &Self) {
        self.bytes.extend_from_slice(&other.bytes);
        self.files += other.files;
    }
}

/// Whether a cache is worth being written that would spare the next import so many files and bytes, out of `files` that there
/// are: it is always written whole, and a few files are read sooner than many are written down. `known` is how many it has
/// now.
pub(crate) fn is_worth_writing(known: u64, files: u64, (read, bytes): (u64, u64)) -> bool {
    let spared = read.saturating_mul(ROWS_A_FILE).saturating_add(bytes / BYTES_A_ROW);
    (read > 0 && spared >= files) || known > files.saturating_mul(2)
}

impl Known {
    pub(crate) fn matches(&self, stat: &Stat) -> bool {
        self.state == State::of(stat)
    }

    pub(crate) fn content(&self, mut stat: Stat) -> FileContent {
        stat.st_mode &= !0o777 | self.permissions;
        let (blob, size, xattrs) = (self.blob, self.state.size, self.xattrs.clone());
        FileContent { stat, blob, size, xattrs, cached: true }
    }
}

/// The cache file of a source directory.
pub(crate) fn file_for(vault: &Path, source: &Path) -> PathBuf {
    let hash = blake3::hash(source.as_os_str().as_bytes());
    vault.join("cache").join(format!("stat-{}", &hash.to_hex()[..32]))
}

/// What a cache file remembers, by path. It counts only if the vault still has the root that it was written with: the
/// cache may survive a crash that the objects did not.
pub(crate) fn parse(bytes: &[u8], has_root: impl FnOnce(&RootId) -> bool) -> KnownFiles<'_> {
    parse_all(bytes, has_root).unwrap_or_default()
}

fn parse_all(
    bytes: &[u8],
    has_root: impl FnOnce(&RootId) -> bool,
) -> Result<KnownFiles<'_>, FormatError> {
    let (root, body) =
        cache_file::split(bytes, CacheKind::Stat).ok_or(FormatError("another version"))?;
    if !has_root(&root) {
        return Err(FormatError("of a state that is gone"));
    }
    let mut input = Decoder::new(body);
    let count = input.varint()?;
    let mut known = KnownFiles { files: count, ..KnownFiles::default() };
    let (mut folder, mut files): (&[u8], KnownFolder<'_>) = (&[], Vec::new());
    for _ in 0..count {
        let (parent, name) = split_last(input.bytes()?);
        if parent != folder {
            let before = std::mem::replace(&mut folder, parent);
            known.folders.insert(before, std::mem::take(&mut files));
        }
        let state = State {
            device: input.varint()?,
            inode: input.varint()?,
            size: input.varint()?,
            mtime: parse_time(&mut input)?,
            ctime: parse_time(&mut input)?,
        };
        let blob = BlobId(input.array()?);
        let permissions = input.varint_u32()?;
        let xattrs: Result<Vec<Xattr>, FormatError> = (0..input.varint()?)
            .map(|_| Ok((input.bytes()?.to_vec(), input.bytes()?.to_vec())))
            .collect();
        files.push((name, Known { state, blob, permissions, xattrs: xattrs? }));
    }
    known.folders.insert(folder, files);
    Ok(known)
}

fn parse_time(input: &mut Decoder<'_>) -> Result<Mtime, FormatError> {
    Ok(Mtime { seconds: input.zigzag()?, nanoseconds: input.varint_u32()? })
}

/// Writes a cache file.
pub(crate) fn save(file: &Path, root: &RootId, rows: &Rows) {
    let mut body = Vec::with_capacity(rows.bytes.len() + 128);
    put_varint(&mut body, rows.files);
    body.extend_from_slice(&rows.bytes);
    cache_file::save(file, CacheKind::Stat, root, &body);
}

/// Makes a cache file count for as long as the vault has this root, which keeps everything that the file speaks of.
pub(crate) fn keep_by(file: &Path, root: &RootId) {
    if cache_file::root_of(file).is_none_or(|now| now == *root) {
        return;
    }
    let bytes = cache_file::load(file);
    if let Some((_, body)) = cache_file::split(&bytes, CacheKind::Stat) {
        cache_file::save(file, CacheKind::Stat, root, body);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn content(folder: &Path, text: &str) -> FileContent {
        let file = folder.join("file");
        fs::write(&file, text).unwrap();
        let stat = rustix::fs::stat(&file).unwrap();
        let (blob, size) = (BlobId::of(text.as_bytes()), text.len() as u64);
        FileContent { stat, blob, size, xattrs: Vec::new(), cached: false }
    }

    #[test]
    fn files_are_found_by_their_directories() {
        let folder = tempfile::tempdir().unwrap();
        let content = content(folder.path(), "text");
        let later = Mtime { seconds: i64::from(u32::MAX), nanoseconds: 0 };
        let mut rows = Rows::default();
        for path in ["a/b/x", "a/b/y", "a/z", "top"] {
            rows.add(path.as_bytes(), &content, later);
        }
        let before = Mtime { seconds: 0, nanoseconds: 0 };
        rows.add(b"young", &content, before);
        let (file, root) = (folder.path().join("cache/stat"), RootId([1; 32]));
        save(&file, &root, &rows);
        let bytes = cache_file::load(&file);
        let known = parse(&bytes, |found| *found == root);
        assert_eq!(known.len(), 4);
        let names = |path: &str| -> Vec<&[u8]> {
            known.folder(path.as_bytes()).iter().map(|(name, _)| *name).collect()
        };
        assert_eq!(names("a/b"), [b"x", b"y"]);
        assert_eq!(names("a"), [b"z"]);
        assert_eq!(names(""), [b"top"]);
        assert_eq!(names("b"), [] as [&[u8]; 0]);
        assert!(known.folder(b"a").iter().all(|(_, known)| known.matches(&content.stat)));
        assert_eq!(parse(&bytes, |_| false).len(), 0);
    }

    #[test]
    fn a_large_cache_is_not_written_for_a_few_files() {
        let cases = [
            // Known, files, files read, bytes read, whether it is written.
            (0, 1, 1, 10, true),
            (100_000, 100_000, 0, 0, false),
            (100_000, 100_000, 10, 10_000, false),
            (100_000, 100_000, 2_500, 0, true),
            (100_000, 100_000, 1, 200 << 20, true),
            (40, 40, 1, 10, true),
            (1_000, 10, 0, 0, true),
        ];
        for (known, files, read, bytes, wanted) in cases {
            let found = is_worth_writing(known, files, (read, bytes));
            assert_eq!(found, wanted, "{read} of {files} files, {bytes} bytes");
        }
    }
}
