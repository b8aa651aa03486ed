//! Copying the bytes of files with their holes.

use std::fs::File;
use std::io;

use rustix::fs;
use rustix::io::Errno;

/// Whether a file has fewer blocks than its length needs.
pub fn is_sparse(stat: &fs::Stat) -> bool {
    (stat.st_blocks as u64).saturating_mul(512) < stat.st_size as u64
}

/// Which of two files failed while one was copied to the other.
#[derive(Debug)]
pub enum CopyError {
    /// The one that is read.
    Source(io::Error),
    /// The one that is written.
    Target(io::Error),
}

impl From<CopyError> for io::Error {
    fn from(error: CopyError) -> Self {
        match error {
            CopyError::Source(error) | CopyError::Target(error) => error,
        }
    }
}

/// Makes `to` a copy of `from`, sharing blocks where the file system can, else keeping holes.
pub fn copy_contents(from: &File, to: &File, size: u64) -> Result<(), CopyError> {
    if fs::ioctl_ficlone(to, from).is_ok() {
        return Ok(());
    }
    fs::ftruncate(to, size).map_err(|error| CopyError::Target(error.into()))?;
    let mut at = 0u64;
    while at < size {
        let data = match fs::seek(from, fs::SeekFrom::Data(at)) {
            Ok(data) => data,
            Err(Errno::NXIO) => break,
            // No holes on this file system: all is data.
            Err(Errno::INVAL) => at,
            Err(error) => return Err(CopyError::Source(error.into())),
        };
        let hole = fs::seek(from, fs::SeekFrom::Hole(data)).unwrap_or(size).min(size);
        copy_range(from, to, data, hole)?;
        at = hole.max(data + 1);
    }
    Ok(())
}

fn copy_range(from: &File, to: &File, start: u64, end: u64) -> Result<(), CopyError> {
    let (mut read_at, mut write_at) = (start, start);
    while read_at < end {
        let length = usize::try_from(end - read_at).unwrap_or(usize::MAX).min(1 << 30);
        match fs::copy_file_range(from, Some(&mut read_at), to, Some(&mut write_at), length) {
            // The file became shorter; whoever compares sizes or hashes afterwards notices.
            Ok(0) => return Ok(()),
            Ok(_) => {}
            Err(Errno::INTR) => {}
            // Not to be had between these two, or an error that does not say of which: by hand it does.
            Err(_) => return copy_by_hand(from, to, read_at, end),
        }
    }
    Ok(())
}

fn copy_by_hand(from: &File, to: &File, mut at: u64, end: u64) -> Result<(), CopyError> {
    use std::os::unix::fs::FileExt;
    let mut buffer = vec![0u8; 1 << 18];
    while at < end {
        let want = usize::try_from(end - at).unwrap_or(usize::MAX).min(buffer.len());
        let got = from.read_at(&mut buffer[..want], at).map_err(CopyError::Source)?;
        if got == 0 {
            return Ok(());
        }
        to.write_all_at(&buffer[..got], at).map_err(CopyError::Target)?;
        at += got as u64;
    }
    Ok(())
}
