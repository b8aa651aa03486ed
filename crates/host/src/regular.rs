//! Files that people write for Offshoot, or that a project brings along, read whole.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags, fstat, major, minor, open};
use rustix::io::Errno;

/// Why a file was not read.
#[derive(Debug, thiserror::Error)]
pub enum RegularFileError {
    /// It is a pipe, a device, a socket or a directory.
    #[error("not a regular file")]
    NotRegular,
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
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = open(path, flags, Mode::empty()).map_err(|errno| match errno {
        // Whoever made the link meant something by it.
        Errno::NOENT | Errno::NOTDIR if path.is_symlink() => RegularFileError::LeadsNowhere,
        errno => io::Error::from(errno).into(),
    })?;
    let stat = fstat(&file).map_err(io::Error::from)?;
    let device = (major(stat.st_rdev), minor(stat.st_rdev));
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => {}
        FileType::CharacterDevice if device == NULL_DEVICE => return Ok(Vec::new()),
        _ => return Err(RegularFileError::NotRegular),
    }
    let mut bytes = Vec::new();
    // It may grow while it is read, and files of `/proc` do not say how long they are.
    File::from(file).take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > limit {
        true => Err(RegularFileError::TooLarge { limit }),
        false => Ok(bytes),
    }
}

/// What the kernel calls `/dev/null`, whatever its name is.
const NULL_DEVICE: (u32, u32) = (1, 3);

#[cfg(test)]
mod tests {
    use std::fs;
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
