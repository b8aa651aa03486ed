//! What is at a name: enough to tell whether it is what it was.

use std::os::fd::BorrowedFd;

use offshoot_host::{Mtime, disk};
use offshoot_tree::EntryKind;
use rustix::fs::{self, AtFlags, FileType, Statx, StatxAttributes, StatxFlags, StatxTimestamp};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

/// What identifies something that is there. Of a directory only that it is the same one: what is in it has marks of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stamp {
    kind: Kind,
    pub(crate) inode: u64,
    size: u64,
    mtime: (i64, u32),
    /// Not known of what was made here, nor of what has several names: moving one changes it for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ctime: Option<(i64, u32)>,
}

/// The kinds that a tree can hold, and all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    File,
    Directory,
    Symlink,
    Fifo,
    Other,
}

impl Kind {
    pub(crate) fn of(kind: EntryKind) -> Self {
        match kind {
            EntryKind::File => Self::File,
            EntryKind::Directory => Self::Directory,
            EntryKind::Symlink => Self::Symlink,
            EntryKind::Fifo => Self::Fifo,
        }
    }
}

/// What the kernel says of a name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    pub(crate) kind: Kind,
    pub(crate) inode: u64,
    pub(crate) size: u64,
    pub(crate) mtime: Mtime,
    ctime: Mtime,
    pub(crate) mode: u16,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    pub(crate) links: u32,
    /// The file system and the mount that it is on: names can only be moved within both.
    pub(crate) place: MountedDevice,
    /// Something is mounted on it.
    pub(crate) mounted_on: bool,
    /// Immutable or append-only.
    pub(crate) fixed: bool,
}

/// A file system, and the mount through which it is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct MountedDevice {
    pub(crate) device: u64,
    mount: u64,
}

impl Look {
    fn new(stat: &Statx) -> Self {
        let kind = match FileType::from_raw_mode(stat.stx_mode.into()) {
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Directory,
            FileType::Symlink => Kind::Symlink,
            FileType::Fifo => Kind::Fifo,
            _ => Kind::Other,
        };
        let device = fs::makedev(stat.stx_dev_major, stat.stx_dev_minor);
        let fixed = StatxAttributes::IMMUTABLE | StatxAttributes::APPEND;
        Self {
            kind,
            inode: stat.stx_ino,
            size: stat.stx_size,
            mtime: time(&stat.stx_mtime),
            ctime: time(&stat.stx_ctime),
            mode: stat.stx_mode & 0o7777,
            uid: stat.stx_uid,
            gid: stat.stx_gid,
            links: stat.stx_nlink,
            place: MountedDevice { device, mount: stat.stx_mnt_id },
            mounted_on: stat.stx_attributes.contains(StatxAttributes::MOUNT_ROOT),
            fixed: stat.stx_attributes.intersects(fixed),
        }
    }

    pub(crate) fn is_directory(&self) -> bool {
        self.kind == Kind::Directory
    }
}

fn time(time: &StatxTimestamp) -> Mtime {
    Mtime { seconds: time.tv_sec, nanoseconds: time.tv_nsec }
}

/// Looks at a name in a directory, at a link itself where it is one; nothing where there is none.
pub(crate) fn look(dir: BorrowedFd<'_>, name: &[u8]) -> Result<Option<Look>, Errno> {
    let flags = AtFlags::SYMLINK_NOFOLLOW;
    missing_is_none(statx(dir, name, flags))
}

/// Looks at what is open.
pub(crate) fn look_at(fd: BorrowedFd<'_>) -> Result<Look, Errno> {
    statx(fd, b"", AtFlags::EMPTY_PATH)
}

fn statx(dir: BorrowedFd<'_>, name: &[u8], flags: AtFlags) -> Result<Look, Errno> {
    let wanted = StatxFlags::BASIC_STATS | StatxFlags::MNT_ID;
    fs::statx(dir, disk::bytes_path(name), flags, wanted).map(|stat| Look::new(&stat))
}

/// Nothing is an answer too: also below what is no directory any more.
pub(crate) fn missing_is_none<T>(result: Result<T, Errno>) -> Result<Option<T>, Errno> {
    match result {
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(None),
        other => other.map(Some),
    }
}

impl Stamp {
    /// Of something that was there before.
    pub(crate) fn of(look: &Look) -> Self {
        let several = look.links > 1 && !look.is_directory();
        let ctime = (!several).then_some((look.ctime.seconds, look.ctime.nanoseconds));
        Self { ctime, ..Self::of_new(look) }
    }

    /// Of something that was made here and is going to be moved.
    pub(crate) fn of_new(look: &Look) -> Self {
        let mtime = (look.mtime.seconds, look.mtime.nanoseconds);
        Self { kind: look.kind, inode: look.inode, size: look.size, mtime, ctime: None }
    }

    pub(crate) fn is_directory(&self) -> bool {
        self.kind == Kind::Directory
    }

    pub(crate) fn is_file(&self) -> bool {
        self.kind == Kind::File
    }

    /// Whether this is what it was, wherever it was moved.
    pub(crate) fn is(&self, look: &Look) -> bool {
        let same = self.is_same_inode(look);
        let (seconds, nanoseconds) = self.mtime;
        let mtime = Mtime { seconds, nanoseconds };
        same && (self.is_directory() || (self.size == look.size && mtime == look.mtime))
    }

    /// Whether this is what it was, and nothing at all happened to it.
    pub(crate) fn is_untouched(&self, look: &Look) -> bool {
        let ctime = (look.ctime.seconds, look.ctime.nanoseconds);
        self.is(look) && (self.is_directory() || self.ctime.is_none_or(|known| known == ctime))
    }

    /// Whether it is the same file, changed or not.
    pub(crate) fn is_same_inode(&self, look: &Look) -> bool {
        self.kind == look.kind && self.inode == look.inode
    }

    /// Whether it is the same file with as many bytes.
    pub(crate) fn is_same_size(&self, look: &Look) -> bool {
        self.is_same_inode(look) && self.size == look.size
    }
}
