//! Steps that are a system call, or a few on one descriptor.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixListener;
use std::path::Path;

use rustix::fs::{self, AtFlags, CWD, FallocateFlags, FileType, Mode, OFlags, RenameFlags};
use rustix::fs::{XattrFlags, utimensat};

use super::{Outcome, Run, number, octal};
use crate::oracle::tree::{content, os, times};

/// Never to wait for the other end of a pipe, nor to hand a descriptor to a child.
const ALWAYS: OFlags = OFlags::NONBLOCK.union(OFlags::CLOEXEC);

type Done = Result<(), Outcome>;

pub(super) fn step(run: &mut Run, verb: &[u8], words: &[&[u8]]) -> Done {
    match (verb, words) {
        (b"create", [path, size, seed]) => {
            let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY;
            Ok(open(path, flags, 0o666)?.write_all(&bytes(size, seed)?)?)
        }
        (b"write", [path, size, seed, mode]) => {
            let flags = OFlags::CREATE | OFlags::TRUNC | OFlags::WRONLY;
            let mode = octal(mode)?.as_raw_mode();
            Ok(open(path, flags, mode)?.write_all(&bytes(size, seed)?)?)
        }
        (b"append", [path, size, seed]) => {
            let flags = OFlags::CREATE | OFlags::APPEND | OFlags::WRONLY;
            Ok(open(path, flags, 0o644)?.write_all(&bytes(size, seed)?)?)
        }
        (b"patch", [path, offset, size, seed]) => {
            let file = open(path, OFlags::RDWR, 0)?;
            Ok(file.write_all_at(&bytes(size, seed)?, number(offset)?)?)
        }
        (b"open", [path]) => open(path, OFlags::RDWR, 0).map(drop),
        (b"truncate", [path, size]) => {
            let file = open(path, OFlags::WRONLY, 0)?;
            Ok(fs::ftruncate(&file, number(size)?)?)
        }
        (b"ghost", [path, size, seed]) => {
            let file = open(path, OFlags::CREATE | OFlags::RDWR, 0o644)?;
            fs::unlinkat(CWD, *path, AtFlags::empty())?;
            Ok(file.write_all_at(&bytes(size, seed)?, 0)?)
        }
        (b"punch" | b"allocate", [path, offset, length]) => {
            let file = open(path, OFlags::RDWR, 0)?;
            let mut flags = FallocateFlags::empty();
            if verb == b"punch" {
                flags |= FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
            }
            Ok(fs::fallocate(&file, flags, number(offset)?, number(length)?)?)
        }
        (b"copy", [from, to]) => copy(from, to),
        (b"tmpfile", [directory, path, size, seed]) => {
            let file = open(directory, OFlags::TMPFILE | OFlags::WRONLY, 0o640)?;
            file.set_len(number(size)?)?;
            file.write_all_at(&bytes(b"50", seed)?, 0)?;
            let own = format!("/proc/self/fd/{}", file.as_raw_fd());
            Ok(fs::linkat(CWD, own, CWD, *path, AtFlags::SYMLINK_FOLLOW)?)
        }
        (b"behind", [path, size, seed]) => behind(path, &bytes(size, seed)?),
        (b"inode", [path]) => inode(path),
        (b"stat", [path]) => stat(path),
        (b"read", [path]) => read(path),
        (b"list", [path]) => list(path),
        _ => names(run, verb, words),
    }
}

/// Steps that open nothing.
fn names(run: &mut Run, verb: &[u8], words: &[&[u8]]) -> Done {
    match (verb, words) {
        (b"mkdir", [path, mode]) => {
            fs::mkdirat(CWD, *path, octal(mode)?)?;
            run.made(path);
            Ok(())
        }
        (b"unlink", [path]) => Ok(fs::unlinkat(CWD, *path, AtFlags::empty())?),
        (b"rmdir", [path]) => Ok(fs::unlinkat(CWD, *path, AtFlags::REMOVEDIR)?),
        (b"rename", [from, to, how]) => {
            run.may_move(from)?;
            run.may_replace(to)?;
            let flags = match *how {
                b"plain" => RenameFlags::empty(),
                b"noreplace" => RenameFlags::NOREPLACE,
                b"exchange" => {
                    run.may_move(to)?;
                    RenameFlags::EXCHANGE
                }
                _ => return Err(Outcome::Nonsense),
            };
            Ok(fs::renameat_with(CWD, *from, CWD, *to, flags)?)
        }
        (b"link", [from, to]) => {
            fs::linkat(CWD, *from, CWD, *to, AtFlags::empty())?;
            run.linked();
            Ok(())
        }
        (b"symlink", [target, path]) => Ok(fs::symlinkat(*target, CWD, *path)?),
        (b"fifo", [path, mode]) => Ok(fs::mknodat(CWD, *path, FileType::Fifo, octal(mode)?, 0)?),
        (b"socket", [path]) => Ok(UnixListener::bind(Path::new(os(path))).map(drop)?),
        (b"chmod", [path, mode]) => Ok(fs::chmodat(CWD, *path, octal(mode)?, AtFlags::empty())?),
        (b"chown", [path]) => {
            let (uid, gid) = (rustix::process::getuid(), rustix::process::getgid());
            let flags = AtFlags::SYMLINK_NOFOLLOW;
            Ok(fs::chownat(CWD, *path, Some(uid), Some(gid), flags)?)
        }
        (b"times", [path, seconds, nanoseconds]) => {
            let times = times((number(seconds)?, number(nanoseconds)?));
            Ok(utimensat(CWD, *path, &times, AtFlags::SYMLINK_NOFOLLOW)?)
        }
        (b"setxattr", [path, name, value]) => {
            Ok(fs::lsetxattr(*path, *name, value, XattrFlags::empty())?)
        }
        (b"removexattr", [path, name]) => Ok(fs::lremovexattr(*path, *name)?),
        (b"getxattr", [path, name]) => {
            let mut value = [0; 4096];
            let length = fs::lgetxattr(*path, *name, &mut value)?;
            Err(Outcome::Said(value[..length].escape_ascii().to_string()))
        }
        (b"deep", [path, depth, seed]) => deep(path, number(depth)?, seed),
        _ => Err(Outcome::Nonsense),
    }
}

fn open(path: &[u8], flags: OFlags, mode: u32) -> Result<File, Outcome> {
    let fd = fs::openat(CWD, path, flags | ALWAYS, Mode::from_raw_mode(mode))?;
    // A pipe has no other end to hear, and a write would depend on what its buffer holds.
    if FileType::from_raw_mode(fs::fstat(&fd)?.st_mode) == FileType::Fifo {
        return Err(Outcome::Said("a pipe".to_owned()));
    }
    Ok(File::from(fd))
}

fn bytes(size: &[u8], seed: &[u8]) -> Result<Vec<u8>, Outcome> {
    Ok(content(number(seed)?, number(size)?))
}

fn copy(from: &[u8], to: &[u8]) -> Done {
    let source = open(from, OFlags::RDONLY, 0)?;
    let sink = open(to, OFlags::CREATE | OFlags::WRONLY, 0o644)?;
    let (mut offset_in, mut offset_out) = (0, 0);
    let mut total = 0;
    loop {
        let count =
            fs::copy_file_range(&source, Some(&mut offset_in), &sink, Some(&mut offset_out), 5000)?;
        total += count;
        // A file that is copied into itself would have no end.
        if count == 0 || total > 1 << 20 {
            return Err(Outcome::Said(format!("{total} bytes")));
        }
    }
}

/// Reads through a descriptor that is older than what is written behind its back.
fn behind(path: &[u8], bytes: &[u8]) -> Done {
    let mut reader = open(path, OFlags::RDONLY, 0)?;
    open(path, OFlags::WRONLY | OFlags::APPEND, 0)?.write_all(bytes)?;
    let mut found = Vec::new();
    reader.read_to_end(&mut found)?;
    Err(Outcome::Said(blake3::hash(&found).to_hex().to_string()))
}

/// Whether a file stays the same one when it is opened for writing.
fn inode(path: &[u8]) -> Done {
    let number = || fs::statat(CWD, path, AtFlags::empty()).map(|stat| stat.st_ino);
    let before = number()?;
    drop(open(path, OFlags::RDWR, 0)?);
    Err(Outcome::Said(format!("the same: {}", before == number()?)))
}

fn stat(path: &[u8]) -> Done {
    let stat = fs::statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW)?;
    let (mode, uid, gid) = (stat.st_mode, stat.st_uid, stat.st_gid);
    let mut text = format!("{mode:o} {uid} {gid}");
    // What a directory counts and how large it is depends on the file system.
    if FileType::from_raw_mode(mode) != FileType::Directory {
        text.push_str(&format!(" {} {}", stat.st_nlink, stat.st_size));
    }
    Err(Outcome::Said(text))
}

fn read(path: &[u8]) -> Done {
    let mut bytes = Vec::new();
    open(path, OFlags::RDONLY, 0)?.read_to_end(&mut bytes)?;
    Err(Outcome::Said(blake3::hash(&bytes).to_hex().to_string()))
}

fn list(path: &[u8]) -> Done {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(os(path))? {
        let entry = entry?;
        names.push(format!("{:?} {:?}", entry.file_name(), entry.file_type()?));
    }
    names.sort();
    Err(Outcome::Said(names.join(", ")))
}

/// A chain of directories, each made from within the one before, as only that leads further than a path can.
fn deep(path: &[u8], depth: usize, seed: &[u8]) -> Done {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let enter = |at: &OwnedFd, name: &[u8]| fs::openat(at, name, flags, Mode::empty());
    fs::mkdirat(CWD, path, Mode::from_raw_mode(0o755))?;
    let mut here = fs::openat(CWD, path, flags, Mode::empty())?;
    let name = b"d".repeat(200);
    for _ in 0..depth {
        fs::mkdirat(&here, name.as_slice(), Mode::from_raw_mode(0o755))?;
        here = enter(&here, &name)?;
    }
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
    let bottom = fs::openat(&here, "bottom", flags, Mode::from_raw_mode(0o640))?;
    Ok(File::from(bottom).write_all(&bytes(b"100", seed)?)?)
}
