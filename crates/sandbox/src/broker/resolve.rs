//! From a path in a process to the directory that it leads to, as that process would find it.
//!
//! A path is never followed as text: symbolic links that are absolute start at the process's own root, which need not be
//! the root of this thread.

use std::ffi::CString;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, Stat, fstat, fstatfs, openat, openat2,
    readlinkat,
};
use rustix::io::Errno;

use super::request::Argument;

/// As many symbolic links as the kernel follows.
const MOST_LINKS: usize = 40;
const DIRECTORY: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
const NO_FOLLOW: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// A name in a directory.
pub(super) struct Entry {
    pub(super) directory: OwnedFd,
    pub(super) name: CString,
}

impl Entry {
    /// What has the name; a symbolic link is that itself.
    pub(super) fn stat(&self) -> Result<Stat, Errno> {
        rustix::fs::statat(&self.directory, &self.name, AtFlags::SYMLINK_NOFOLLOW)
    }
}

/// The directory and the name that an argument of a thread means; none where the kernel should say what is wrong.
pub(super) fn entry(thread: u32, argument: &Argument) -> Option<Entry> {
    let (leading, name) = split(&argument.path)?;
    let name = CString::new(name).ok()?;
    let directory = match leading {
        b"" => start(thread, argument.directory)?,
        path if path[0] == b'/' => below_root(thread, path)?,
        path => below(thread, start(thread, argument.directory)?, path)?,
    };
    Some(Entry { directory, name })
}

/// The path to the directory, and the last name without slashes behind it. None for what is no name to rename.
fn split(path: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = path.iter().rposition(|byte| *byte != b'/')? + 1;
    let path = &path[..end];
    let begin = path.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
    let (leading, name) = path.split_at(begin);
    (name != b"." && name != b"..").then_some((leading, name))
}

/// What a relative path is relative to.
fn start(thread: u32, directory: i32) -> Option<OwnedFd> {
    let path = match directory {
        libc::AT_FDCWD => format!("/proc/{thread}/cwd"),
        number => format!("/proc/{thread}/fd/{number}"),
    };
    openat(CWD, path, DIRECTORY, Mode::empty()).ok()
}

fn root(thread: u32) -> Option<OwnedFd> {
    openat(CWD, format!("/proc/{thread}/root"), DIRECTORY, Mode::empty()).ok()
}

fn below_root(thread: u32, path: &[u8]) -> Option<OwnedFd> {
    let root = root(thread)?;
    let resolve = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
    match openat2(&root, path, DIRECTORY, Mode::empty(), resolve) {
        // Something was renamed meanwhile.
        Err(Errno::AGAIN) => walk(&root, root.try_clone().ok()?, path).ok(),
        other => other.ok(),
    }
}

fn below(thread: u32, start: OwnedFd, path: &[u8]) -> Option<OwnedFd> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    match openat2(&start, path, DIRECTORY, Mode::empty(), resolve) {
        // It leads upwards, or to a link that is absolute.
        Err(Errno::XDEV | Errno::AGAIN) => walk(&root(thread)?, start, path).ok(),
        other => other.ok(),
    }
}

/// Goes from name to name.
fn walk(root: &OwnedFd, start: OwnedFd, path: &[u8]) -> Result<OwnedFd, Errno> {
    let mut here = start;
    // The names that are left, the next one last.
    let mut left = names(path);
    let mut links = 0;
    while let Some(name) = left.pop() {
        if name == b".." {
            if !is_same(root.as_fd(), here.as_fd())? {
                here = openat(&here, c"..", DIRECTORY, Mode::empty())?;
            }
            continue;
        }
        let found = openat(&here, name.as_slice(), NO_FOLLOW, Mode::empty())?;
        match FileType::from_raw_mode(fstat(&found)?.st_mode) {
            FileType::Directory => here = found,
            FileType::Symlink => {
                links += 1;
                let target = link_target(&found)?;
                if links > MOST_LINKS || target.is_empty() {
                    return Err(Errno::LOOP);
                }
                if target[0] == b'/' {
                    here = root.try_clone().map_err(|_| Errno::MFILE)?;
                }
                left.extend(names(&target));
            }
            _ => return Err(Errno::NOTDIR),
        }
    }
    Ok(here)
}

/// Links below `/proc` lead where their text does not say.
fn link_target(link: &OwnedFd) -> Result<Vec<u8>, Errno> {
    if fstatfs(link)?.f_type == libc::PROC_SUPER_MAGIC {
        return Err(Errno::LOOP);
    }
    readlinkat(link, c"", Vec::new()).map(CString::into_bytes)
}

/// The names of a path, the first one last.
fn names(path: &[u8]) -> Vec<Vec<u8>> {
    let names = path.split(|byte| *byte == b'/').filter(|name| !name.is_empty() && *name != b".");
    names.rev().map(<[u8]>::to_vec).collect()
}

fn is_same(one: BorrowedFd<'_>, other: BorrowedFd<'_>) -> Result<bool, Errno> {
    let (one_stat, other_stat) = (fstat(one)?, fstat(other)?);
    let same = (one_stat.st_dev, one_stat.st_ino) == (other_stat.st_dev, other_stat.st_ino);
    Ok(same && mount(one)? == mount(other)?)
}

/// The number of the mount that a descriptor lies on.
pub(super) fn mount(fd: BorrowedFd<'_>) -> Result<u64, Errno> {
    let flags = rustix::fs::StatxFlags::MNT_ID;
    rustix::fs::statx(fd, c"", AtFlags::EMPTY_PATH, flags).map(|found| found.stx_mnt_id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_name_is_found() {
        let some =
            |leading: &'static str, name: &'static str| Some((leading.as_bytes(), name.as_bytes()));
        assert_eq!(split(b"a"), some("", "a"));
        assert_eq!(split(b"a//"), some("", "a"));
        assert_eq!(split(b"/a"), some("/", "a"));
        assert_eq!(split(b"a/../b c/"), some("a/../", "b c"));
        for path in ["", "/", "//", ".", "..", "a/.", "a/../", "./"] {
            assert_eq!(split(path.as_bytes()), None, "{path}");
        }
    }

    #[test]
    fn walking_stays_below_the_root() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        std::fs::create_dir_all(path.join("root/a/b")).unwrap();
        std::fs::write(path.join("root/file"), "").unwrap();
        for (target, link) in
            [("/a", "absolute"), ("../../../..", "a/up"), ("loop", "loop"), ("a/b", "relative")]
        {
            std::os::unix::fs::symlink(target, path.join("root").join(link)).unwrap();
        }
        let open = |path: &std::path::Path| openat(CWD, path, DIRECTORY, Mode::empty()).unwrap();
        let root = open(&path.join("root"));
        let leads = |from: &str, text: &str| {
            walk(&root, open(&path.join("root").join(from)), text.as_bytes())
                .map(|fd| fstat(fd).unwrap().st_ino)
        };
        let inode = |name: &str| Ok(fstat(open(&path.join("root").join(name))).unwrap().st_ino);
        assert_eq!(leads("", "a/b"), inode("a/b"));
        assert_eq!(leads("a/b", "../../../../.."), inode(""));
        assert_eq!(leads("a", "../absolute/b/./"), inode("a/b"));
        assert_eq!(leads("a", "up/relative"), inode("a/b"));
        assert_eq!(leads("", "loop"), Err(Errno::LOOP));
        assert_eq!(leads("", "file"), Err(Errno::NOTDIR));
        assert_eq!(leads("", "none/a"), Err(Errno::NOENT));
    }
}
