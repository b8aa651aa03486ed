//! Says what is in a directory tree, and how two trees differ.
//!
//! The scan walks by directory descriptors, so the length of a path does not matter, and it never
//! follows a symbolic link or opens a fifo.

use std::collections::{BTreeMap, HashMap};
use std::ffi::{CStr, CString};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{self, AtFlags, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

mod compare;
pub use compare::{CompareOptions, compare, printable};

/// All nodes of a tree by their path relative to its top; the top itself has the empty path.
#[derive(Debug, Clone, Default)]
pub struct Scan(pub BTreeMap<Vec<u8>, Node>);

/// What kind of thing a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names say it all")]
pub enum Kind {
    File,
    Directory,
    Symlink,
    Fifo,
    Socket,
    CharacterDevice,
    BlockDevice,
    Unknown,
}

/// Everything observed about one name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// The kind of the node.
    pub kind: Kind,
    /// The twelve permission bits.
    pub mode: u32,
    /// The owner.
    pub uid: u32,
    /// The group.
    pub gid: u32,
    /// The length of a file or of a symlink's target; 0 for the rest, where it depends on the file system.
    pub size: u64,
    /// The time of the last modification: seconds, then nanoseconds.
    pub mtime: (i64, u32),
    /// BLAKE3 of the bytes of a file.
    pub hash: Option<[u8; 32]>,
    /// The target of a symlink.
    pub target: Option<Vec<u8>>,
    /// The extended attributes in the `user.` namespace.
    pub xattrs: BTreeMap<Vec<u8>, Vec<u8>>,
    /// All paths in this tree that share the inode, sorted; empty unless there are at least two.
    pub links: Vec<Vec<u8>>,
    /// Allocated blocks of 512 bytes. Not compared: it depends on the file system.
    pub blocks: u64,
    /// Why the content could not be read, if so. Then `hash` and `xattrs` are empty.
    pub error: Option<String>,
}

impl Node {
    /// A name that nothing is known about.
    fn unknown() -> Self {
        Self {
            kind: Kind::Unknown,
            mode: 0,
            uid: 0,
            gid: 0,
            size: 0,
            mtime: (0, 0),
            hash: None,
            target: None,
            xattrs: BTreeMap::new(),
            links: Vec::new(),
            blocks: 0,
            error: None,
        }
    }
}

/// Scans the tree below `dir`.
///
/// What cannot be read for lack of permission becomes a node with an `error`; any other failure
/// fails the scan.
pub fn scan(dir: &Path) -> io::Result<Scan> {
    let mut scanner = Scanner { nodes: BTreeMap::new(), inodes: HashMap::new() };
    let top = fs::open(dir, DIRECTORY, Mode::empty())?;
    let stat = fs::fstat(&top)?;
    let mut node = node_from(&stat);
    node.xattrs = user_xattrs(top.as_fd())?;
    scanner.nodes.insert(Vec::new(), node);
    scanner.directory(top, &mut Vec::new())?;
    scanner.finish()
}

const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// Without `NONBLOCK`, a fifo that replaced the file meanwhile would stop the scan for ever.
const FILE: OFlags =
    OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);

struct Scanner {
    nodes: BTreeMap<Vec<u8>, Node>,
    /// The paths of every inode that is not a directory and says it has several links.
    inodes: HashMap<(u64, u64), Vec<Vec<u8>>>,
}

impl Scanner {
    fn directory(&mut self, fd: OwnedFd, path: &mut Vec<u8>) -> io::Result<()> {
        for name in names(fd.as_fd())? {
            let length = path.len();
            if length > 0 {
                path.push(b'/');
            }
            path.extend_from_slice(name.to_bytes());
            self.entry(fd.as_fd(), &name, path).map_err(|error| with_path(error, path))?;
            path.truncate(length);
        }
        Ok(())
    }

    fn entry(&mut self, parent: BorrowedFd, name: &CStr, path: &mut Vec<u8>) -> io::Result<()> {
        let stat = match readable(fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW))? {
            Ok(stat) => stat,
            // The directory may be read but not searched: there is a name, and nothing else is known.
            Err(why) => {
                self.nodes.insert(path.clone(), Node { error: Some(why), ..Node::unknown() });
                return Ok(());
            }
        };
        let mut node = node_from(&stat);
        if stat.st_nlink > 1 && node.kind != Kind::Directory {
            self.inodes.entry((stat.st_dev, stat.st_ino)).or_default().push(path.clone());
        }
        let mut below = None;
        match node.kind {
            Kind::File => match readable(fs::openat(parent, name, FILE, Mode::empty()))? {
                Ok(fd) => {
                    node.xattrs = user_xattrs(fd.as_fd())?;
                    node.hash = Some(hash(fd)?);
                }
                Err(why) => node.error = Some(why),
            },
            Kind::Directory => {
                match readable(fs::openat(parent, name, DIRECTORY, Mode::empty()))? {
                    Ok(fd) => {
                        node.xattrs = user_xattrs(fd.as_fd())?;
                        below = Some(fd);
                    }
                    Err(why) => node.error = Some(why),
                }
            }
            Kind::Symlink => {
                node.target = Some(fs::readlinkat(parent, name, Vec::new())?.into_bytes());
            }
            _ => {}
        }
        self.nodes.insert(path.clone(), node);
        below.map_or(Ok(()), |fd| self.directory(fd, path))
    }

    fn finish(mut self) -> io::Result<Scan> {
        for mut paths in self.inodes.into_values().filter(|paths| paths.len() > 1) {
            paths.sort();
            for path in &paths {
                if let Some(node) = self.nodes.get_mut(path) {
                    node.links.clone_from(&paths);
                }
            }
        }
        Ok(Scan(self.nodes))
    }
}

fn names(fd: BorrowedFd) -> io::Result<Vec<CString>> {
    let mut names = Vec::new();
    // `Dir::read_from` would open `.` anew, which a directory that may not be searched refuses.
    for entry in Dir::new(rustix::io::fcntl_dupfd_cloexec(fd, 0)?)? {
        let entry = entry?;
        let name = entry.file_name();
        if name != c"." && name != c".." {
            names.push(name.to_owned());
        }
    }
    Ok(names)
}

fn node_from(stat: &Stat) -> Node {
    let kind = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Directory,
        FileType::Symlink => Kind::Symlink,
        FileType::Fifo => Kind::Fifo,
        FileType::Socket => Kind::Socket,
        FileType::CharacterDevice => Kind::CharacterDevice,
        FileType::BlockDevice => Kind::BlockDevice,
        FileType::Unknown => Kind::Unknown,
    };
    let sized = matches!(kind, Kind::File | Kind::Symlink);
    Node {
        kind,
        mode: stat.st_mode & 0o7777,
        uid: stat.st_uid,
        gid: stat.st_gid,
        size: if sized { stat.st_size as u64 } else { 0 },
        mtime: (stat.st_mtime, stat.st_mtime_nsec as u32),
        blocks: stat.st_blocks as u64,
        ..Node::unknown()
    }
}

/// Separates a lack of permission, which belongs into the scan, from what ends it.
fn readable<T>(result: Result<T, Errno>) -> io::Result<Result<T, String>> {
    match result {
        Ok(value) => Ok(Ok(value)),
        Err(error @ (Errno::ACCESS | Errno::PERM)) => Ok(Err(error.to_string())),
        Err(error) => Err(error.into()),
    }
}

fn hash(fd: OwnedFd) -> io::Result<[u8; 32]> {
    let mut file = File::from(fd);
    let mut hasher = blake3::Hasher::new();
    let mut buffer = vec![0; 256 << 10];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(*hasher.finalize().as_bytes()),
            length => hasher.update(&buffer[..length]),
        };
    }
}

/// The largest list of names and the largest value that the kernel hands out.
const XATTR_MAX: usize = 64 << 10;

fn user_xattrs(fd: BorrowedFd) -> io::Result<BTreeMap<Vec<u8>, Vec<u8>>> {
    let mut list = vec![0; XATTR_MAX];
    let length = match fs::flistxattr(fd, &mut list[..]) {
        Ok(length) => length,
        Err(Errno::OPNOTSUPP) => 0,
        Err(error) => return Err(error.into()),
    };
    let mut xattrs = BTreeMap::new();
    for name in list[..length].split(|byte| *byte == 0).filter(|name| name.starts_with(b"user.")) {
        let mut value = vec![0; XATTR_MAX];
        let length = fs::fgetxattr(fd, name, &mut value[..])?;
        value.truncate(length);
        xattrs.insert(name.to_vec(), value);
    }
    Ok(xattrs)
}

fn with_path(error: io::Error, path: &[u8]) -> io::Error {
    // The innermost call has the whole path; the ones around it pass its error on.
    if error.get_ref().is_some() {
        return error;
    }
    io::Error::new(error.kind(), format!("{}: {error}", printable(path)))
}
