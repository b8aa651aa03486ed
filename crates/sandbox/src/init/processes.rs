//! Reading about processes, without an allocation.

use std::ffi::CStr;
use std::io::Write;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::{Mode, OFlags, RawDir};
use rustix::io::Errno;

/// Looks at every process of `/proc`. Those that end meanwhile are left out.
pub(super) fn each_process(
    look: &mut dyn FnMut(BorrowedFd<'_>, &[u8]) -> Option<()>,
) -> Result<(), Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let top = rustix::fs::open(c"/proc", flags, Mode::empty())?;
    let mut space = [MaybeUninit::<u8>::uninit(); 4096];
    let mut entries = RawDir::new(&top, &mut space);
    while let Some(entry) = entries.next() {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name.first().is_some_and(u8::is_ascii_digit) {
            let _has_ended = look(top.as_fd(), name).is_none();
        }
    }
    Ok(())
}

/// What `/proc` says in a line about one process.
pub(super) struct Stat<'s>(&'s [u8]);

impl<'s> Stat<'s> {
    pub(super) fn read(
        proc: BorrowedFd<'_>,
        process: &[u8],
        space: &'s mut [u8; 1024],
    ) -> Option<Self> {
        let text = read(proc, process, b"stat", space)?;
        // Its name stands in brackets and may hold anything, more of them too.
        let end = text.iter().rposition(|byte| *byte == b')')?;
        Some(Self(text[end + 1..].trim_ascii()))
    }

    /// A field by its number in proc(5), from the third on.
    pub(super) fn field(&self, number: usize) -> Option<u64> {
        self.0.split(|byte| *byte == b' ').nth(number - 3).and_then(number_of)
    }
}

pub(super) fn number_of(digits: &[u8]) -> Option<u64> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// The same file of one of its threads that has memory.
pub(super) fn of_a_thread<'s>(
    proc: BorrowedFd<'_>,
    process: &[u8],
    file: &[u8],
    space: &'s mut [u8],
) -> Option<&'s [u8]> {
    let mut path = [0; 64];
    let path = join(process, b"task", &mut path)?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let threads = rustix::fs::openat(proc, path, flags, Mode::empty()).ok()?;
    let mut names = [MaybeUninit::<u8>::uninit(); 1024];
    let mut entries = RawDir::new(&threads, &mut names);
    let mut length = 0;
    while let Some(Ok(entry)) = entries.next() {
        let name = entry.file_name().to_bytes();
        if length == 0 && name.first().is_some_and(u8::is_ascii_digit) {
            let text = read(threads.as_fd(), name, file, space).unwrap_or_default();
            length = if text.starts_with(b"0 0 ") { 0 } else { text.len() };
        }
    }
    space.get(..length)
}

pub(super) fn read<'s>(
    proc: BorrowedFd<'_>,
    process: &[u8],
    file: &[u8],
    space: &'s mut [u8],
) -> Option<&'s [u8]> {
    let mut path = [0; 64];
    read_file(proc, join(process, file, &mut path)?, space)
}

/// As much of a file as there is room for.
pub(super) fn read_file<'s>(
    at: BorrowedFd<'_>,
    path: &CStr,
    space: &'s mut [u8],
) -> Option<&'s [u8]> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let file = rustix::fs::openat(at, path, flags, Mode::empty()).ok()?;
    let mut length = 0;
    while let Ok(got @ 1..) = rustix::io::read(&file, space.get_mut(length..)?) {
        length += got;
    }
    space.get(..length)
}

/// The path of what belongs to a process.
pub(super) fn join<'s>(process: &[u8], name: &[u8], space: &'s mut [u8; 64]) -> Option<&'s CStr> {
    let mut rest = &mut space[..];
    for part in [process, b"/", name, b"\0"] {
        rest.write_all(part).ok()?;
    }
    CStr::from_bytes_until_nul(space).ok()
}
