//! Files of a workspace that a command runs in, as the command sees them: read and written from outside, on its mount and with its
//! rights.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Component, Path};

use rustix::fs::{
    CWD, FileType, Mode, OFlags, ResolveFlags, fstat, ftruncate, mkdirat, openat, openat2, stat,
};
use rustix::io::Errno;

use crate::broker::powers;
use crate::ids::FIRST;

const DIRECTORY: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
/// What has the name may be a pipe that nobody writes to.
const AT_ONCE: OFlags = OFlags::NONBLOCK.union(OFlags::NOCTTY).union(OFlags::CLOEXEC);
/// No link and no mount leads out of the directory.
const STAY: ResolveFlags =
    ResolveFlags::BENEATH.union(ResolveFlags::NO_XDEV).union(ResolveFlags::NO_MAGICLINKS);

/// Reads a file `below` the directory that a process sees as `folder`: `FBIG` where it has more bytes than this, `XDEV` where it lies elsewhere,
/// `INVAL` where it is no file, `NOTSUP` where the process sees the folder of the host itself.
pub fn read_inside(process: u32, folder: &Path, below: &Path, most: u64) -> Result<Vec<u8>, Errno> {
    with_rights(process, folder, |directory| {
        let file = open_file(&directory, below, OFlags::RDONLY)?;
        if fstat(&file)?.st_size.unsigned_abs() > most {
            return Err(Errno::FBIG);
        }
        let mut bytes = Vec::new();
        // It may grow meanwhile.
        File::from(file).take(most + 1).read_to_end(&mut bytes).map_err(errno)?;
        if bytes.len() as u64 > most { Err(Errno::FBIG) } else { Ok(bytes) }
    })
}

/// Writes a file there, which is made with the directories that it lies in where there is none.
pub fn write_inside(process: u32, folder: &Path, below: &Path, bytes: &[u8]) -> Result<(), Errno> {
    with_rights(process, folder, |directory| {
        make_parents(&directory, below)?;
        let file = open_file(&directory, below, OFlags::WRONLY | OFlags::CREATE)?;
        ftruncate(&file, 0)?;
        File::from(file).write_all(bytes).map_err(errno)
    })
}

/// Does something with a directory that a process sees, on a thread with the rights of the command: rights are a thread's own.
fn with_rights<T: Send>(
    process: u32,
    folder: &Path,
    act: impl FnOnce(OwnedFd) -> Result<T, Errno> + Send,
) -> Result<T, Errno> {
    let work = move || {
        let root = openat(CWD, format!("/proc/{process}/root"), DIRECTORY, Mode::empty())?;
        if has_own_ids(process) {
            powers::take_ids()?;
        }
        powers::lay_down();
        let resolve = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
        let directory = openat2(&root, folder, DIRECTORY, Mode::empty(), resolve)?;
        // Without namespaces the command works elsewhere, and this is the host's own.
        let (found, own) = (fstat(&directory)?, stat(folder));
        if own.is_ok_and(|own| (own.st_dev, own.st_ino) == (found.st_dev, found.st_ino)) {
            return Err(Errno::NOTSUP);
        }
        act(directory)
    };
    let thread = std::thread::Builder::new().name("inside-file".to_owned());
    std::thread::scope(|scope| {
        let started = thread.spawn_scoped(scope, work).map_err(errno)?;
        started.join().unwrap_or(Err(Errno::IO))
    })
}

/// Whether the ids in a process's namespace are nobody's outside.
fn has_own_ids(process: u32) -> bool {
    let map = std::fs::read_to_string(format!("/proc/{process}/uid_map")).unwrap_or_default();
    let mut fields = map.split_ascii_whitespace();
    fields.next() == Some("0") && fields.next() == Some(FIRST.to_string().as_str())
}

fn open_file(directory: &OwnedFd, below: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let mode = match flags.contains(OFlags::CREATE) {
        true => Mode::from_raw_mode(0o666),
        false => Mode::empty(),
    };
    let file = openat2(directory, below, flags | AT_ONCE, mode, STAY)?;
    match FileType::from_raw_mode(fstat(&file)?.st_mode) {
        FileType::RegularFile => Ok(file),
        _ => Err(Errno::INVAL),
    }
}

/// Makes the directories that a file lies in, as far as they are missing.
fn make_parents(directory: &OwnedFd, below: &Path) -> Result<(), Errno> {
    let Some(parent) = below.parent().filter(|parent| !parent.as_os_str().is_empty()) else {
        return Ok(());
    };
    let open = |path: &Path| openat2(directory, path, DIRECTORY, Mode::empty(), STAY);
    if open(parent).is_ok() {
        return Ok(());
    }
    let mut reached = std::path::PathBuf::new();
    for part in parent.components() {
        let Component::Normal(name) = part else { return Err(Errno::XDEV) };
        let above = match reached.as_os_str().is_empty() {
            true => open(Path::new("."))?,
            false => open(&reached)?,
        };
        match mkdirat(&above, name, Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(Errno::EXIST) => reached.push(name),
            Err(other) => return Err(other),
        }
    }
    open(parent).map(drop)
}

fn errno(error: std::io::Error) -> Errno {
    Errno::from_io_error(&error).unwrap_or(Errno::IO)
}
