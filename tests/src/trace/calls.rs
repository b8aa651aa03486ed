//! Which system calls change files, and where their paths are.

use std::path::{Path, PathBuf};

use nix::libc::{self, c_long};

use super::Call;
use super::tracee::Entry;

/// Where a call says what it works on; the numbers are arguments, counted from 0.
#[derive(Clone, Copy)]
enum At {
    Nothing,
    Descriptor(usize),
    Path(usize),
    /// A directory's descriptor and a path relative to it, or no path for the descriptor itself.
    Relative(usize, usize),
}
use At::{Descriptor, Nothing, Relative};

struct Kind {
    number: c_long,
    name: &'static str,
    first: At,
    second: At,
    changes: Changes,
}

/// When a call changes something.
enum Changes {
    Always,
    Sync,
    /// With flags in this argument that create or truncate.
    OpenFlags(usize),
    /// With such flags where this argument points to.
    OpenHow(usize),
    /// With one of these requests in argument 1.
    Request(&'static [u64]),
}

const fn one(number: c_long, name: &'static str, first: At) -> Kind {
    two(number, name, first, Nothing)
}

const fn two(number: c_long, name: &'static str, first: At, second: At) -> Kind {
    Kind { number, name, first, second, changes: Changes::Always }
}

const fn sync(number: c_long, name: &'static str, first: At) -> Kind {
    Kind { number, name, first, second: Nothing, changes: Changes::Sync }
}

const fn when(number: c_long, name: &'static str, first: At, changes: Changes) -> Kind {
    Kind { number, name, first, second: Nothing, changes }
}

/// `FICLONE`, `FICLONERANGE`, `FIDEDUPERANGE`, `FS_IOC_SETFLAGS`, `FS_IOC_FSSETXATTR`.
const CHANGING_REQUESTS: &[u64] =
    &[0x4004_9409, 0x4020_940d, 0xc018_9436, 0x4008_6602, 0x401c_5820];
const SYS_SETXATTRAT: c_long = 463;
const SYS_REMOVEXATTRAT: c_long = 466;

#[rustfmt::skip]
const KINDS: &[Kind] = &[
    one(libc::SYS_write, "write", Descriptor(0)),
    one(libc::SYS_pwrite64, "pwrite64", Descriptor(0)),
    one(libc::SYS_writev, "writev", Descriptor(0)),
    one(libc::SYS_pwritev, "pwritev", Descriptor(0)),
    one(libc::SYS_pwritev2, "pwritev2", Descriptor(0)),
    one(libc::SYS_ftruncate, "ftruncate", Descriptor(0)),
    one(libc::SYS_truncate, "truncate", At::Path(0)),
    one(libc::SYS_fallocate, "fallocate", Descriptor(0)),
    one(libc::SYS_sendfile, "sendfile", Descriptor(0)),
    two(libc::SYS_copy_file_range, "copy_file_range", Descriptor(2), Descriptor(0)),
    two(libc::SYS_splice, "splice", Descriptor(2), Descriptor(0)),
    when(libc::SYS_ioctl, "ioctl", Descriptor(0), Changes::Request(CHANGING_REQUESTS)),

    sync(libc::SYS_fsync, "fsync", Descriptor(0)),
    sync(libc::SYS_fdatasync, "fdatasync", Descriptor(0)),
    sync(libc::SYS_syncfs, "syncfs", Descriptor(0)),
    sync(libc::SYS_sync_file_range, "sync_file_range", Descriptor(0)),
    sync(libc::SYS_sync, "sync", Nothing),
    sync(libc::SYS_msync, "msync", Nothing),

    one(libc::SYS_creat, "creat", At::Path(0)),
    when(libc::SYS_open, "open", At::Path(0), Changes::OpenFlags(1)),
    when(libc::SYS_openat, "openat", Relative(0, 1), Changes::OpenFlags(2)),
    when(libc::SYS_openat2, "openat2", Relative(0, 1), Changes::OpenHow(2)),
    two(libc::SYS_rename, "rename", At::Path(0), At::Path(1)),
    two(libc::SYS_renameat, "renameat", Relative(0, 1), Relative(2, 3)),
    two(libc::SYS_renameat2, "renameat2", Relative(0, 1), Relative(2, 3)),
    two(libc::SYS_link, "link", At::Path(0), At::Path(1)),
    two(libc::SYS_linkat, "linkat", Relative(0, 1), Relative(2, 3)),
    one(libc::SYS_symlink, "symlink", At::Path(1)),
    one(libc::SYS_symlinkat, "symlinkat", Relative(1, 2)),
    one(libc::SYS_unlink, "unlink", At::Path(0)),
    one(libc::SYS_unlinkat, "unlinkat", Relative(0, 1)),
    one(libc::SYS_mkdir, "mkdir", At::Path(0)),
    one(libc::SYS_mkdirat, "mkdirat", Relative(0, 1)),
    one(libc::SYS_rmdir, "rmdir", At::Path(0)),
    one(libc::SYS_mknod, "mknod", At::Path(0)),
    one(libc::SYS_mknodat, "mknodat", Relative(0, 1)),

    one(libc::SYS_chmod, "chmod", At::Path(0)),
    one(libc::SYS_fchmod, "fchmod", Descriptor(0)),
    one(libc::SYS_fchmodat, "fchmodat", Relative(0, 1)),
    one(libc::SYS_fchmodat2, "fchmodat2", Relative(0, 1)),
    one(libc::SYS_chown, "chown", At::Path(0)),
    one(libc::SYS_lchown, "lchown", At::Path(0)),
    one(libc::SYS_fchown, "fchown", Descriptor(0)),
    one(libc::SYS_fchownat, "fchownat", Relative(0, 1)),
    one(libc::SYS_utime, "utime", At::Path(0)),
    one(libc::SYS_utimes, "utimes", At::Path(0)),
    one(libc::SYS_futimesat, "futimesat", Relative(0, 1)),
    one(libc::SYS_utimensat, "utimensat", Relative(0, 1)),
    one(libc::SYS_setxattr, "setxattr", At::Path(0)),
    one(libc::SYS_lsetxattr, "lsetxattr", At::Path(0)),
    one(libc::SYS_fsetxattr, "fsetxattr", Descriptor(0)),
    one(SYS_SETXATTRAT, "setxattrat", Relative(0, 1)),
    one(libc::SYS_removexattr, "removexattr", At::Path(0)),
    one(libc::SYS_lremovexattr, "lremovexattr", At::Path(0)),
    one(libc::SYS_fremovexattr, "fremovexattr", Descriptor(0)),
    one(SYS_REMOVEXATTRAT, "removexattrat", Relative(0, 1)),
];

/// What the call that a thread is about to make would change, if anything.
pub(super) fn decode(entry: &Entry) -> Option<Call> {
    let kind = KINDS.iter().find(|kind| kind.number == entry.number)?;
    let sync = match kind.changes {
        Changes::Always => false,
        Changes::Sync => true,
        Changes::OpenFlags(index) if creates(entry.args[index]) => false,
        Changes::OpenHow(index) if creates(entry.number_at(index)?) => false,
        Changes::Request(requests) if requests.contains(&(entry.args[1] & 0xffff_ffff)) => false,
        _ => return None,
    };
    let path = locate(entry, kind.first);
    if path.as_deref().is_some_and(|path| !kept(path)) {
        return None;
    }
    let second = locate(entry, kind.second);
    let thread = entry.pid.as_raw();
    Some(Call { name: kind.name, path, second, sync, thread, result: None })
}

fn creates(flags: u64) -> bool {
    const TEMPORARY: u64 = (libc::O_TMPFILE & !libc::O_DIRECTORY) as u64;
    flags & ((libc::O_CREAT | libc::O_TRUNC) as u64 | TEMPORARY) != 0
}

fn locate(entry: &Entry, at: At) -> Option<PathBuf> {
    match at {
        Nothing => None,
        Descriptor(index) => entry.descriptor(index),
        At::Path(index) => {
            let path = entry.string(index)?;
            Some(std::fs::read_link(format!("/proc/{}/cwd", entry.pid)).ok()?.join(path))
        }
        Relative(directory, index) => match entry.string(index) {
            Some(path) if path.is_absolute() => Some(path),
            Some(path) if !path.as_os_str().is_empty() => {
                Some(entry.descriptor(directory)?.join(path))
            }
            _ => entry.descriptor(directory),
        },
    }
}

/// Whether a path is of a file that is kept: pipes and the like have no path from the top.
fn kept(path: &Path) -> bool {
    let device = path.starts_with("/dev") && !path.starts_with("/dev/shm");
    let memory = path.as_os_str().as_encoded_bytes().starts_with(b"/memfd:");
    path.is_absolute() && !device && !memory && !path.starts_with("/proc")
}
