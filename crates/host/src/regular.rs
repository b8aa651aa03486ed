//! Files that people write for Offshoot, or that a project brings along, read whole.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags, Stat, fstat, lstat, major, minor, open};
use rustix::io::Errno;

use crate::disk::open_below;

/// Why a file was not read.
#[derive(Debug, thiserror::Error)]
pub enum RegularFileError {
    /// It is a pipe, a device, a socket or a directory.
    #[error("not a regular file")]
    NotRegular,
    /// It is a link where none is followed.
    #[error("a symbolic link, and links are not followed here")]
    Link,
    /// It is a link to something that is not there.
    #[error("a link that leads nowhere")]
    LeadsNowhere,
    /// It has more than was asked for.
    #[error("larger than {limit} bytes")]
    TooLarge {
        /// The most that is read.
        limit: u64,
    },
    /// The system refused.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl RegularFileError {
    /// Whether there is no such file; a file in place of its directory means that too.
    pub fn is_absent(&self) -> bool {
        use io::ErrorKind::{NotADirectory, NotFound};
        matches!(self, Self::Io(error) if matches!(error.kind(), NotFound | NotADirectory))
    }
}

/// All bytes of a regular file, or of the one that a link leads to, where it has no more than `limit`.
///
/// Commands make files of a project too, so a path may turn out to be anything. Nothing waits for the other end of a pipe, and nothing
/// is read that has no end. `/dev/null` counts as an empty file: people name it to mean none.
pub fn read_regular(path: &Path, limit: u64) -> Result<Vec<u8>, RegularFileError> {
    // Most files that are looked for are not there, and this alone says so.
    let named = lstat(path).map_err(refused)?;
    let is_link = FileType::from_raw_mode(named.st_mode) == FileType::Symlink;
    let file = open(path, READ | OFlags::CLOEXEC, Mode::empty()).map_err(|errno| match errno {
        // Whoever made the link meant something by it.
        Errno::NOENT | Errno::NOTDIR | Errno::LOOP if is_link => RegularFileError::LeadsNowhere,
        errno => refused(errno),
    })?;
    let stat = fstat(&file).map_err(io::Error::from)?;
    let device = (major(stat.st_rdev), minor(stat.st_rdev));
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::CharacterDevice if device == NULL_DEVICE => Ok(Vec::new()),
        _ => read_all(file, &stat, limit),
    }
}

/// The same of a file below an open directory, where no link is followed and `/dev/null` is no file either.
pub fn read_regular_below(
    dir: BorrowedFd<'_>,
    path: &[u8],
    limit: u64,
) -> Result<Vec<u8>, RegularFileError> {
    let file = open_below(dir, path, READ).map_err(refused)?;
    let stat = fstat(&file).map_err(io::Error::from)?;
    read_all(file, &stat, limit)
}

/// Waits for nobody, and takes no terminal.
const READ: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY);

fn refused(errno: Errno) -> RegularFileError {
    match errno {
        Errno::LOOP => RegularFileError::Link,
        // Sockets, and devices that nothing stands behind.
        Errno::NXIO | Errno::NODEV => RegularFileError::NotRegular,
        errno => io::Error::from(errno).into(),
    }
}

fn read_all(file: OwnedFd, stat: &Stat, limit: u64) -> Result<Vec<u8>, RegularFileError> {
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(RegularFileError::NotRegular);
    }
    // Room for all of it and one byte more, so that one call reads it and the next one finds the end.
    let size = u64::try_from(stat.st_size).unwrap_or_default().min(limit).min(MOST_AT_ONCE);
    let mut bytes = Vec::with_capacity(size as usize + 1);
    // It may grow while it is read, and files of `/proc` do not say how long they are.
    File::from(file).take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > limit {
        true => Err(RegularFileError::TooLarge { limit }),
        false => Ok(bytes),
    }
}

/// No more room is made before anything was read: a file may be said to be very long, and have holes.
const MOST_AT_ONCE: u64 = 1 << 20;

/// What the kernel calls `/dev/null`, whatever its name is.
const NULL_DEVICE: (u32, u32) = (1, 3);

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::fd::AsFd;
    use std::os::unix::fs::symlink;

    use rustix::fs::{CWD, mknodat};

    use super::*;

    #[test]
    fn files_are_read_up_to_the_limit() {
        let scratch = tempfile::tempdir().unwrap();
        let (file, link) = (scratch.path().join("file"), scratch.path().join("link"));
        fs::write(&file, "four").unwrap();
        symlink("file", &link).unwrap();
        assert_eq!(read_regular(&file, 4).unwrap(), b"four");
        assert_eq!(read_regular(&link, u64::MAX).unwrap(), b"four");
        let error = read_regular(&file, 3).unwrap_err();
        assert!(matches!(error, RegularFileError::TooLarge { limit: 3 }), "{error}");
    }

    #[test]
    fn nothing_but_files_is_read() {
        let scratch = tempfile::tempdir().unwrap();
        let pipe = scratch.path().join("pipe");
        mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        for path in [pipe.as_path(), scratch.path(), Path::new("/dev/zero")] {
            let error = read_regular(path, 1 << 20).unwrap_err();
            assert!(matches!(error, RegularFileError::NotRegular), "{}: {error}", path.display());
        }
        assert_eq!(read_regular(Path::new("/dev/null"), 1).unwrap(), b"");
    }

    #[test]
    fn nothing_below_a_directory_is_read_through_a_link() {
        let scratch = tempfile::tempdir().unwrap();
        let at = |name: &str| scratch.path().join(name);
        fs::write(at("file"), "four").unwrap();
        symlink("file", at("link")).unwrap();
        mknodat(CWD, at("pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        fs::create_dir(at("directory")).unwrap();
        let dir = crate::disk::open_dir(scratch.path()).unwrap();
        let read = |name: &[u8], limit| read_regular_below(dir.as_fd(), name, limit);
        assert_eq!(read(b"file", 4).unwrap(), b"four");
        assert!(matches!(read(b"file", 3).unwrap_err(), RegularFileError::TooLarge { limit: 3 }));
        assert!(matches!(read(b"link", 4).unwrap_err(), RegularFileError::Link));
        for name in [&b"pipe"[..], b"socket", b"directory"] {
            let error = read(name, 4).unwrap_err();
            assert!(matches!(error, RegularFileError::NotRegular), "{error}");
        }
        assert!(read(b"nothing", 4).unwrap_err().is_absent());
        let devices = crate::disk::open_dir(Path::new("/dev")).unwrap();
        let error = read_regular_below(devices.as_fd(), b"null", 4).unwrap_err();
        assert!(matches!(error, RegularFileError::NotRegular), "{error}");
    }

    #[test]
    fn what_is_not_there_is_absent() {
        let scratch = tempfile::tempdir().unwrap();
        let file = scratch.path().join("file");
        assert!(read_regular(&file, 1).unwrap_err().is_absent());
        fs::write(&file, "").unwrap();
        assert!(read_regular(&file.join("below"), 1).unwrap_err().is_absent());
        let link = scratch.path().join("link");
        symlink("nothing", &link).unwrap();
        let error = read_regular(&link, 1).unwrap_err();
        assert!(matches!(error, RegularFileError::LeadsNowhere) && !error.is_absent(), "{error}");
    }
}
