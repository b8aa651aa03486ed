//! Small random trees. The same plan can be built many times, each time to the nanosecond the same.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, lchown};
use std::path::Path;

use rustix::fs::{self, AtFlags, CWD, FileType, Mode, OFlags, Timespec, Timestamps, XattrFlags};
use rustix::fs::{UTIME_OMIT, symlinkat, utimensat};

use super::step::escape;
use crate::rng::Rng;

/// A tree that can be built.
#[derive(Debug, Clone)]
pub struct Plan {
    nodes: Vec<Planned>,
    top_mode: u32,
    top_mtime: (i64, u32),
}

/// What may be in a tree.
#[derive(Debug, Clone, Copy, Default)]
pub struct PlanOptions {
    /// Some of it belongs to somebody else.
    pub foreign: bool,
    /// Its owner may read all of it, without the rights of root.
    pub readable: bool,
}

#[derive(Debug, Clone)]
struct Planned {
    path: Vec<u8>,
    body: Body,
    mode: u32,
    mtime: (i64, u32),
    xattrs: BTreeMap<&'static str, Vec<u8>>,
    /// Whether it belongs to somebody else than the rest.
    foreign: bool,
}

#[derive(Debug, Clone)]
enum Body {
    Directory,
    File {
        seed: u64,
        size: usize,
        hole: u64,
    },
    Symlink(Vec<u8>),
    Fifo,
    /// Another name of an earlier file.
    Link(Vec<u8>),
}

/// Names for everything, awkward ones among them. No name is so long that a program cannot add to it.
pub const NAMES: [&[u8]; 24] = [
    b"a",
    b"b",
    b"c",
    b"data.txt",
    b"lib.rs",
    b"Makefile",
    b"x y",
    b"line\nbreak",
    b"-rf",
    b"\xff\xfe",
    b"\xc3",
    b"\xf0\x9f\xa6\x80",
    b".wh.a",
    b".wh..wh..opq",
    b"#1",
    b"'q'",
    b"$HOME",
    b"*",
    b"back\\slash",
    b"\x01",
    b"%41",
    b".git",
    b"nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn",
    b"work",
];

/// Attributes for everything, with those by which an overlay file system marks its own.
pub const ATTRIBUTES: [&str; 8] = [
    "user.a",
    "user.long name \n",
    "user.overlay.opaque",
    "user.overlay.x",
    "user.overlay.redirect",
    "user.overlay.metacopy",
    "user.overlay.overlay.opaque",
    "user.empty",
];

/// Sizes at and around the edges of pages.
pub const SIZES: [usize; 11] = [0, 0, 1, 7, 100, 1000, 4095, 4096, 4097, 10_000, 70_000];

/// Modes of files, the usual one most of all.
pub const FILE_MODES: [u32; 16] = [
    0o644, 0o644, 0o644, 0o644, 0o600, 0o755, 0o444, 0o400, 0, 0o200, 0o666, 0o4755, 0o2755,
    0o1644, 0o6711, 0o640,
];

/// Modes of directories, the usual one most of all.
pub const DIRECTORY_MODES: [u32; 12] =
    [0o755, 0o755, 0o755, 0o755, 0o755, 0o700, 0o2775, 0o1777, 0o555, 0o3770, 0o300, 0];

/// A time between 2001 and 2017 or after 2033, never one that a clock shows while tests run.
pub fn some_time(rng: &mut Rng) -> (i64, u32) {
    let seconds = match rng.below(8) {
        0 => 2_000_000_000 + rng.below(1_000_000_000) as i64,
        _ => 1_000_000_000 + rng.below(500_000_000) as i64,
    };
    // Whole seconds are special to tools that know nothing finer.
    (seconds, if rng.one_in(4) { 0 } else { rng.below(1_000_000_000) as u32 })
}

/// The bytes that a seed and a size stand for; often text, which `sed` and the like can work on.
pub fn content(seed: u64, size: usize) -> Vec<u8> {
    let mut rng = Rng::new(seed);
    if rng.one_in(3) {
        return rng.bytes(size);
    }
    let line = |rng: &mut Rng| format!("line {} of some text\n", rng.below(100)).into_bytes();
    let mut bytes = Vec::new();
    while bytes.len() < size {
        bytes.extend(line(&mut rng));
    }
    bytes.truncate(size);
    bytes
}

impl Plan {
    /// A tree that follows from the generator.
    pub fn new(rng: &mut Rng, options: PlanOptions) -> Self {
        let top_mode = *rng.pick(&[0o755, 0o755, 0o700, 0o2755]).expect("there are some");
        let mut plan = Self { nodes: Vec::new(), top_mode, top_mtime: some_time(rng) };
        let mut directories: Vec<Vec<u8>> = vec![Vec::new()];
        let mut files: Vec<Vec<u8>> = Vec::new();
        let count = 6 + rng.below(30);
        for _ in 0..count {
            let parent = rng.pick(&directories).cloned().unwrap_or_default();
            let name = rng.pick(&NAMES).expect("there are names");
            let path = join(&parent, name);
            if plan.nodes.iter().any(|node| node.path == path) {
                continue;
            }
            let body = Self::body(rng, &files);
            match body {
                Body::Directory => directories.push(path.clone()),
                Body::File { .. } => files.push(path.clone()),
                _ => {}
            }
            let node = Planned { path, ..Self::planned(rng, body, options) };
            plan.nodes.push(node);
        }
        plan
    }

    fn body(rng: &mut Rng, files: &[Vec<u8>]) -> Body {
        match rng.below(20) {
            0..=5 => Body::Directory,
            6..=13 => {
                let hole = if rng.one_in(8) { 1 << 20 } else { 0 };
                let size = *rng.pick(&SIZES).expect("there are sizes");
                Body::File { seed: rng.next_u64(), size, hole }
            }
            14..=16 => Body::Symlink(target(rng)),
            17 => Body::Fifo,
            _ => match rng.pick(files) {
                Some(path) => Body::Link(path.clone()),
                None => Body::Directory,
            },
        }
    }

    fn planned(rng: &mut Rng, body: Body, options: PlanOptions) -> Planned {
        let (modes, needed): (&[u32], u32) = match body {
            Body::Directory => (&DIRECTORY_MODES, 0o500),
            _ => (&FILE_MODES, 0o400),
        };
        let mut xattrs = BTreeMap::new();
        let can = matches!(body, Body::Directory | Body::File { .. });
        while can && rng.one_in(4) {
            let name = *rng.pick(&ATTRIBUTES).expect("there are attributes");
            let length = rng.below(20) as usize;
            xattrs.insert(name, rng.bytes(length));
        }
        let mode = *rng.pick(modes).expect("there are modes");
        let mode = if options.readable { mode | needed } else { mode };
        let foreign = options.foreign && rng.one_in(12);
        Planned { path: Vec::new(), body, mode, mtime: some_time(rng), xattrs, foreign }
    }

    /// Builds the tree in `dir`, which must exist and be empty, for an owner.
    pub fn build(&self, dir: &Path, uid: u32, gid: u32) -> io::Result<()> {
        let top = fs::openat(CWD, dir, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        let at = |path: &[u8]| dir.join(os(path));
        for node in &self.nodes {
            let path = node.path.as_slice();
            match &node.body {
                Body::Directory => fs::mkdirat(&top, path, Mode::from_raw_mode(0o700))?,
                Body::File { seed, size, hole } => {
                    let file = File::create_new(at(path))?;
                    file.set_len(*hole + *size as u64)?;
                    file.write_all_at(&content(*seed, *size), *hole)?;
                }
                Body::Symlink(target) => symlinkat(target.as_slice(), &top, path)?,
                Body::Fifo => {
                    let mode = Mode::from_raw_mode(0o600);
                    fs::mknodat(&top, path, FileType::Fifo, mode, 0)?;
                }
                Body::Link(first) => {
                    fs::linkat(&top, first.as_slice(), &top, path, AtFlags::empty())?;
                    continue;
                }
            }
            for (name, value) in &node.xattrs {
                fs::lsetxattr(at(path), *name, value, XattrFlags::CREATE)?;
            }
        }
        // Inner ones first: what comes later would change the times of directories, or be forbidden by their modes.
        for node in self.nodes.iter().rev() {
            if !matches!(node.body, Body::Link(_)) {
                finish(&at(&node.path), node, uid, gid)?;
            }
        }
        lchown(dir, Some(uid), Some(gid))?;
        fs::chmodat(CWD, dir, Mode::from_raw_mode(self.top_mode), AtFlags::empty())?;
        Ok(utimensat(CWD, dir, &times(self.top_mtime), AtFlags::empty())?)
    }
}

/// A line for each node, as a person wants to read it who looks for the cause of a failure.
impl fmt::Display for Plan {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        writeln!(formatter, ". {:o} {:?}", self.top_mode, self.top_mtime)?;
        for Planned { path, body, mode, mtime, xattrs, foreign } in &self.nodes {
            let foreign = if *foreign { " foreign" } else { "" };
            write!(formatter, "{} {mode:o} {mtime:?}{foreign} ", escape(path))?;
            match body {
                Body::Symlink(target) => write!(formatter, "-> {:.40}", escape(target))?,
                Body::Link(first) => write!(formatter, "= {}", escape(first))?,
                other => write!(formatter, "{other:?}")?,
            }
            for (name, value) in xattrs {
                write!(formatter, " {}={}", escape(name.as_bytes()), escape(value))?;
            }
            writeln!(formatter)?;
        }
        Ok(())
    }
}

fn finish(path: &Path, node: &Planned, uid: u32, gid: u32) -> io::Result<()> {
    let (uid, gid) = if node.foreign { (FOREIGN, FOREIGN) } else { (uid, gid) };
    // An owner is set before the mode, since it takes bits of the mode away.
    lchown(path, Some(uid), Some(gid))?;
    if !matches!(node.body, Body::Symlink(_)) {
        fs::chmodat(CWD, path, Mode::from_raw_mode(node.mode), AtFlags::empty())?;
    }
    Ok(utimensat(CWD, path, &times(node.mtime), AtFlags::SYMLINK_NOFOLLOW)?)
}

/// Somebody who is neither root nor any of the users that tests become.
const FOREIGN: u32 = 4321;

/// A target of a symlink. It never leads up and out: what is written through it must stay in the tree.
pub fn target(rng: &mut Rng) -> Vec<u8> {
    match rng.below(5) {
        0 => b"no/such/thing".to_vec(),
        1 => b"/nonexistent/\xff".to_vec(),
        2 => b"x".repeat(3000),
        _ => rng.pick(&NAMES).expect("there are names").to_vec(),
    }
}

/// The path of a name in a directory; the top is empty.
pub fn join(parent: &[u8], name: &[u8]) -> Vec<u8> {
    if parent.is_empty() { name.to_vec() } else { [parent, b"/", name].concat() }
}

/// Bytes as the operating system takes them.
pub(crate) fn os(bytes: &[u8]) -> &std::ffi::OsStr {
    std::os::unix::ffi::OsStrExt::from_bytes(bytes)
}

/// A modification time alone.
pub(crate) fn times((seconds, nanoseconds): (i64, u32)) -> Timestamps {
    Timestamps {
        last_access: Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT },
        last_modification: Timespec { tv_sec: seconds, tv_nsec: nanoseconds.into() },
    }
}
