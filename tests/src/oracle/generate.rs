//! Random programs for a tree.
//!
//! A program need not make sense: a step that the system refuses is as good as any, as long as it is refused everywhere.
//! But most steps should do something, so paths are mostly taken from what is there or was made.

use super::step::Step;
use super::tree::{ATTRIBUTES, DIRECTORY_MODES, FILE_MODES, NAMES, SIZES, join, some_time, target};
use crate::rng::Rng;
use crate::scan::{Kind, Scan};

mod fragments;

/// Every verb that a program can have.
pub const VERBS: [&str; 37] = [
    "allocate",
    "append",
    "behind",
    "children",
    "chmod",
    "chown",
    "copy",
    "create",
    "deep",
    "fifo",
    "getxattr",
    "ghost",
    "inode",
    "link",
    "links",
    "list",
    "mkdir",
    "mmap",
    "mv",
    "open",
    "patch",
    "punch",
    "read",
    "removexattr",
    "rename",
    "rmdir",
    "setxattr",
    "sh",
    "socket",
    "stat",
    "symlink",
    "threads",
    "times",
    "tmpfile",
    "truncate",
    "unlink",
    "write",
];

/// Longer paths are left alone, so that a program can be an argument.
const LONGEST: usize = 300;

/// A program under construction.
pub(super) struct Generator<'a> {
    pub(super) rng: &'a mut Rng,
    steps: Vec<Step>,
    /// What is or was in the tree, without the top.
    files: Vec<Vec<u8>>,
    /// Directories, with the top.
    directories: Vec<Vec<u8>>,
    /// What has or had an attribute, and the name of that.
    attributes: Vec<(Vec<u8>, Vec<u8>)>,
    /// Names that were made so far.
    fresh: u64,
}

/// A program of about so many actions for a tree as it is.
pub fn program(rng: &mut Rng, tree: &Scan, actions: u64) -> Vec<Step> {
    let short = |path: &&Vec<u8>| path.len() <= LONGEST;
    let of = |directory: bool| {
        let nodes =
            tree.0.iter().filter(move |(_, node)| (node.kind == Kind::Directory) == directory);
        nodes.map(|(path, _)| path).filter(short).cloned().collect::<Vec<_>>()
    };
    let (files, directories) = (of(false), of(true));
    let with = tree.0.iter().filter(|(path, _)| !path.is_empty() && path.len() <= LONGEST);
    let pairs =
        with.flat_map(|(path, node)| node.xattrs.keys().map(|name| (path.clone(), name.clone())));
    let attributes = pairs.collect();
    let steps = Vec::new();
    let mut generator = Generator { rng, steps, files, directories, attributes, fresh: 0 };
    for _ in 0..actions {
        generator.action();
    }
    let top = Step::new(["list", "."]);
    generator.steps.push(top);
    generator.steps
}

impl Generator<'_> {
    fn action(&mut self) {
        match self.rng.below(100) {
            0..=24 => self.write(),
            25..=34 => self.metadata(),
            35..=42 => self.attribute(),
            43..=54 => self.make(),
            55..=60 => self.rename(),
            61..=67 => self.rename_directory(),
            68..=73 => self.remove(),
            74..=80 => self.replace(),
            81..=83 => self.crowd(),
            84..=86 => self.look(),
            87 => self.deep(),
            _ => fragments::action(self),
        }
    }

    /// Adds a step.
    pub(super) fn step<W: AsRef<[u8]>>(&mut self, words: impl IntoIterator<Item = W>) {
        self.steps.push(Step::new(words));
    }

    /// A number as a word.
    fn seed(&mut self) -> String {
        self.rng.below(1 << 40).to_string()
    }

    pub(super) fn size(&mut self) -> String {
        self.rng.pick(&SIZES).expect("there are sizes").to_string()
    }

    /// Something that is likely to be a file, a link or a pipe.
    pub(super) fn file(&mut self) -> Vec<u8> {
        if self.rng.one_in(12) {
            return self.new_path();
        }
        self.rng.pick(&self.files).cloned().unwrap_or_else(|| b"none".to_vec())
    }

    /// Something that is likely to be a directory; perhaps the top, which is empty.
    pub(super) fn directory(&mut self) -> Vec<u8> {
        self.rng.pick(&self.directories).cloned().unwrap_or_default()
    }

    /// A directory that is not the top.
    pub(super) fn inner_directory(&mut self) -> Vec<u8> {
        let path = self.directory();
        if path.is_empty() { self.new_path() } else { path }
    }

    pub(super) fn any(&mut self) -> Vec<u8> {
        if self.rng.one_in(3) { self.inner_directory() } else { self.file() }
    }

    /// A path that may well be taken, but not necessarily.
    pub(super) fn new_path(&mut self) -> Vec<u8> {
        let parent = self.directory();
        let name = self.rng.pick(&NAMES).expect("there are names").to_vec();
        let name = if self.rng.one_in(2) {
            self.fresh += 1;
            [name, format!("~{}", self.fresh).into_bytes()].concat()
        } else {
            name
        };
        join(&parent, &name)
    }

    pub(super) fn made_file(&mut self, path: &[u8]) {
        if path.len() <= LONGEST {
            self.files.push(path.to_vec());
        }
    }

    pub(super) fn made_directory(&mut self, path: &[u8]) {
        if path.len() <= LONGEST {
            self.directories.push(path.to_vec());
        }
    }

    /// Sets times that can be compared, most of the time; of the directory too, now and then.
    pub(super) fn settle(&mut self, path: &[u8]) {
        if !self.rng.one_in(4) {
            self.times(path);
        }
        if self.rng.one_in(2) {
            let parent =
                path.iter().rposition(|byte| *byte == b'/').map_or(&b""[..], |at| &path[..at]);
            self.times(parent);
        }
    }

    fn times(&mut self, path: &[u8]) {
        let (seconds, nanoseconds) = some_time(self.rng);
        let path = if path.is_empty() { b"." } else { path };
        let words = [seconds.to_string(), nanoseconds.to_string()];
        self.step([b"times", path, words[0].as_bytes(), words[1].as_bytes()]);
    }

    fn write(&mut self) {
        let (size, seed) = (self.size(), self.seed());
        let offset = self.rng.below(9000).to_string();
        let existing = self.file();
        let (size, seed, offset) = (size.as_bytes(), seed.as_bytes(), offset.as_bytes());
        let mut touched = existing.clone();
        match self.rng.below(14) {
            12 => {
                touched = self.new_path();
                let directory = self.directory();
                let directory = if directory.is_empty() { b".".to_vec() } else { directory };
                self.step([b"tmpfile", &directory[..], &touched[..], size, seed]);
                self.made_file(&touched);
            }
            13 => self.step([b"behind", &existing[..], size, seed]),
            0 | 1 => {
                touched = self.new_path();
                self.step([b"create", &touched[..], size, seed]);
                self.made_file(&touched);
            }
            2 => {
                let mode = format!("{:o}", self.rng.pick(&FILE_MODES).expect("there are modes"));
                if self.rng.one_in(2) {
                    touched = self.new_path();
                }
                self.step([b"write", &touched[..], size, seed, mode.as_bytes()]);
                self.made_file(&touched);
            }
            3 => self.step([b"append", &existing[..], size, seed]),
            4 | 5 => self.step([b"patch", &existing[..], offset, b"10", seed]),
            6 => self.step([b"truncate", &existing[..], size]),
            7 => {
                self.step([b"open", &existing[..]]);
                return;
            }
            8 => self.step([b"ghost", &existing[..], size, seed]),
            9 => {
                let verb: &[u8] = if self.rng.one_in(2) { b"punch" } else { b"allocate" };
                self.step([verb, &existing[..], offset, b"4096"]);
            }
            10 => {
                touched = if self.rng.one_in(2) { self.new_path() } else { self.file() };
                self.step([b"copy", &existing[..], &touched[..]]);
                self.made_file(&touched);
            }
            _ => self.step([b"mmap", &existing[..], b"5", b"mapped"]),
        }
        self.settle(&touched);
    }

    fn metadata(&mut self) {
        let directory = self.rng.one_in(3);
        let (path, modes): (Vec<u8>, &[u32]) = if directory {
            (self.directory(), &DIRECTORY_MODES)
        } else {
            (self.file(), &FILE_MODES)
        };
        match self.rng.below(8) {
            0..=3 => return self.times(&path),
            4 => return self.step([&b"chown"[..], if path.is_empty() { b"." } else { &path }]),
            _ => {}
        }
        let mode = *self.rng.pick(modes).expect("there are modes");
        // The top must stay open, else everything after this is refused.
        let (path, mode) =
            if path.is_empty() { (b".".to_vec(), mode | 0o500) } else { (path, mode) };
        self.step([b"chmod", &path[..], format!("{mode:o}").as_bytes()]);
    }

    fn attribute(&mut self) {
        let mut path = if self.rng.one_in(10) { b".".to_vec() } else { self.any() };
        let mut name =
            self.rng.pick(&ATTRIBUTES).expect("there are attributes").as_bytes().to_vec();
        let long = "v".repeat(1500);
        let value = *self.rng.pick(&["", "y", "x", "value", "%", &long]).expect("there are values");
        // Most of what is looked at or taken away should be there.
        let known = self.rng.pick(&self.attributes).cloned();
        match (self.rng.below(5), known) {
            (0..=2, _) => {
                self.step([b"setxattr", &path[..], &name, value.as_bytes()]);
                self.attributes.push((path, name));
            }
            (verb, known) => {
                (path, name) = known.unwrap_or((path, name));
                let verb: &[u8] = if verb == 3 { b"removexattr" } else { b"getxattr" };
                self.step([verb, &path, &name]);
            }
        }
    }

    fn make(&mut self) {
        let path = self.new_path();
        self.make_at(&path);
        self.settle(&path);
    }

    fn make_at(&mut self, path: &[u8]) {
        match self.rng.below(10) {
            0..=3 => {
                let mode = *self.rng.pick(&DIRECTORY_MODES).expect("there are modes");
                self.step([b"mkdir", path, format!("{mode:o}").as_bytes()]);
                self.made_directory(path);
                return;
            }
            4 | 5 => {
                let target = target(self.rng);
                self.step([b"symlink", &target[..], path]);
            }
            6 => self.step([&b"fifo"[..], path, b"640"]),
            7 => self.step([&b"socket"[..], path]),
            8 => {
                let from = self.file();
                self.step([b"link", &from[..], path]);
            }
            _ => {
                let (size, seed) = (self.size(), self.seed());
                self.step([b"create", path, size.as_bytes(), seed.as_bytes()]);
            }
        }
        self.made_file(path);
    }

    fn rename(&mut self) {
        let from = self.any();
        let to = if self.rng.one_in(2) { self.new_path() } else { self.any() };
        let how =
            *self.rng.pick(&["plain", "plain", "plain", "noreplace", "exchange"]).expect("some");
        if self.rng.one_in(5) {
            self.step([b"mv", &from[..], &to[..]]);
        } else {
            self.step([b"rename", &from[..], &to[..], how.as_bytes()]);
        }
        self.made_file(&to);
        self.settle(&to);
    }

    /// To a new name, into another directory, over one that may be empty, or where it cannot go.
    fn rename_directory(&mut self) {
        let from = self.inner_directory();
        let to = match self.rng.below(6) {
            0..=2 => self.new_path(),
            3 => self.inner_directory(),
            4 => self.any(),
            _ => {
                let to = self.new_path();
                self.step([&b"mkdir"[..], &to, b"755"]);
                to
            }
        };
        let how = *self.rng.pick(&["plain", "plain", "noreplace", "exchange"]).expect("some");
        match self.rng.below(8) {
            0 => self.step([b"mv", &from[..], &to[..]]),
            1 => {
                let slashed = [&from[..], b"/"].concat();
                self.step([b"rename", &slashed[..], &to[..], how.as_bytes()]);
            }
            _ => self.step([b"rename", &from[..], &to[..], how.as_bytes()]),
        }
        self.made_directory(&to);
        if self.rng.one_in(2) {
            let inner = join(&to, NAMES[self.rng.below(4) as usize]);
            self.step([&b"list"[..], &to]);
            let seed = self.seed();
            self.step([b"write", &inner[..], b"10", seed.as_bytes(), b"644"]);
            self.made_file(&inner);
        }
        self.settle(&to);
    }

    fn remove(&mut self) {
        let path = match self.rng.below(4) {
            0 => {
                let path = self.inner_directory();
                self.step([b"rmdir", &path[..]]);
                path
            }
            _ => {
                let path = self.file();
                self.step([b"unlink", &path[..]]);
                path
            }
        };
        if self.rng.one_in(2) {
            self.settle(&path);
        }
    }

    /// What was there becomes something else, again and again.
    fn replace(&mut self) {
        let path = self.any();
        for _ in 0..=self.rng.below(3) {
            self.step([&b"sh"[..], b"rm -rf -- \"$1\"", &path]);
            self.make_at(&path);
            if self.rng.one_in(3) {
                let inner = join(&path, NAMES[self.rng.below(4) as usize]);
                let seed = self.seed();
                self.step([b"create", &inner[..], b"10", seed.as_bytes()]);
                self.made_file(&inner);
            }
        }
        self.settle(&path);
    }

    fn crowd(&mut self) {
        let path = self.new_path();
        let (count, seed) = ((2 + self.rng.below(4)).to_string(), self.seed());
        let verb: &[u8] = if self.rng.one_in(2) { b"children" } else { b"threads" };
        self.step([verb, &path[..], count.as_bytes(), b"3000", seed.as_bytes()]);
        self.made_file(&path);
        self.settle(&path);
    }

    fn look(&mut self) {
        let path = self.any();
        let verb = *self.rng.pick(&["read", "list", "stat", "inode"]).expect("there are verbs");
        self.step([verb.as_bytes(), &path[..]]);
    }

    /// Only now and then: such a tree takes its time.
    fn deep(&mut self) {
        let (path, seed) = (self.new_path(), self.seed());
        let depth = if self.rng.one_in(3) { "25" } else { "3" };
        self.step([b"deep", &path[..], depth.as_bytes(), seed.as_bytes()]);
        self.made_directory(&path);
        if self.rng.one_in(3) {
            self.step([&b"sh"[..], b"rm -rf -- \"$1\"", &path]);
        }
    }
}

/// The step that tells a program which directories are older than it. Those that are too deep to be named in a program
/// cannot be renamed by it either.
pub fn old_directories(tree: &Scan) -> Step {
    let old = tree.0.iter().filter(|(_, node)| node.kind == Kind::Directory);
    let old = old.map(|(path, _)| path).filter(|path| !path.is_empty() && path.len() <= LONGEST);
    Step([b"old".to_vec()].into_iter().chain(old.cloned()).collect())
}
