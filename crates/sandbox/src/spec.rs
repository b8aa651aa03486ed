//! What the inside looks like, in plain data.

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use offshoot_vocabulary::Network;

use crate::proxy::ProxyPorts;
use crate::walls::Walls;

/// Everything about one confined command.
#[derive(Debug)]
pub struct Spec {
    /// The files that the command works on.
    pub workspace: WorkspaceMount,
    /// What it sees of the host, at its own path and read-only. What is not there is left out, and so are pipes, sockets and devices.
    pub shown: Vec<PathBuf>,
    /// The user's home directory: a private one, in which there is nothing of the host but what is shown.
    pub home: Option<PathBuf>,
    /// A directory that outlives the command and is its home, in place of one that is thrown away. Other commands may use it at the same time.
    pub kept_home: Option<PathBuf>,
    /// Directories of the user's home that the command writes to, at their own paths in a home that is kept: absolute paths without links.
    pub shared: Vec<PathBuf>,
    /// What the command sees empty and can neither read nor write, such as the home of the vaults. A file of [`files`](Self::files) at the same path
    /// takes its place.
    pub hidden: Vec<PathBuf>,
    /// Directories that outlive the command, over those of the home, and others of which nothing stays.
    pub caches: Vec<CacheMount>,
    /// Files of the command's own.
    pub files: Vec<WrittenFile>,
    /// What it can reach.
    pub network: Network,
    /// Where it finds the proxy, where that is what it reaches. The sockets are in [`Running`](crate::Running) then.
    pub proxy: ProxyPorts,
    /// What it may use.
    pub limits: Limits,
    /// What keeps it in beside namespaces and mounts.
    pub walls: Walls,
    /// There are no namespaces and no mounts: Landlock and the filter of calls alone keep the command in.
    pub bare: Option<Bare>,
    /// Directories of lower layers can be renamed, which overlayfs by itself refuses.
    pub broker: bool,
    /// Where others can join, from [`make_door`](crate::make_door).
    pub door: Option<OwnedFd>,
    /// What to run.
    pub command: Program,
}

impl Spec {
    /// Whether there is anything that overlayfs would refuse.
    pub(crate) fn wants_broker(&self) -> bool {
        let layers = matches!(self.workspace.files, Files::Overlay(_));
        self.broker && layers && !self.workspace.read_only
    }
}

/// How a command runs where the system refuses namespaces. It sees the host as it is, and Landlock lets it open what is shown. Its workspace is a directory
/// that is seen where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bare {
    /// Directories that were made for it, to write anything to.
    pub private: Vec<PathBuf>,
}

/// The files that a command works on, and where it sees them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkspaceMount {
    /// Where they come from.
    pub files: Files,
    /// Where the command sees them: an absolute path without links.
    pub target: PathBuf,
    /// The command cannot change them.
    pub read_only: bool,
    /// Directories of them that it sees at other places.
    pub folders: Vec<FolderMount>,
    /// A directory of them that is empty for the command, since what is in it is seen at those places.
    pub covered: Option<PathBuf>,
}

/// A directory of a workspace that is seen at a place of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderMount {
    /// The directory, below the workspace's top.
    pub below: PathBuf,
    /// Where the command sees it: an absolute path without links.
    pub target: PathBuf,
}

/// Stacked layers at a place of their own: a directory that outlives the command, or one of which nothing stays. Where they cannot be stacked, the command sees
/// what is there without them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheMount {
    /// What it is called, where it outlives the command.
    pub name: Option<&'static str>,
    /// What to stack. Without an upper, changes are thrown away.
    pub layers: Overlay,
    /// Where the command sees it: an absolute path without links.
    pub target: PathBuf,
}

/// A file that is there when the command starts, and is the command's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenFile {
    /// Where: an absolute path.
    pub path: PathBuf,
    /// What is in it.
    pub content: Vec<u8>,
    /// When it was changed last; now where nobody says.
    pub modified: Option<SystemTime>,
}

/// Where the files of a workspace come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Files {
    /// Layers, to be stacked by overlayfs.
    Overlay(Overlay),
    /// A directory.
    Directory(PathBuf),
}

/// Layers for overlayfs: names below one directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overlay {
    /// The directory that all names are relative to.
    pub directory: PathBuf,
    /// What lies below, topmost first; at least two where nothing is written.
    pub lower: Vec<PathBuf>,
    /// What only holds bytes of files that the lowest of those describes.
    pub data: Vec<PathBuf>,
    /// Where changes go; none where nothing can be written.
    pub upper: Option<UpperDirectories>,
    /// Directories of the workspace to look up once before the command starts.
    pub look_up: Vec<PathBuf>,
}

/// Where the changes to stacked layers go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpperDirectories {
    /// The directory for them.
    pub directory: PathBuf,
    /// A fresh directory beside it, for the kernel's own use.
    pub work: PathBuf,
}

/// What a command may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// The soft limit of open files.
    pub open_files: Option<u64>,
    /// Processes and threads.
    pub processes: Option<u64>,
    /// Bytes of one file.
    pub file_size: Option<u64>,
    /// Bytes of memory of all processes together, and of files that are memory.
    pub memory: Option<u64>,
    /// Time of processors, of all processes together.
    pub cpu: Option<Duration>,
    /// Bytes of each directory whose files are memory; half of the machine's where there is none.
    pub tmpfs: Option<u64>,
    /// What it may watch of files.
    pub inotify: Option<InotifyLimit>,
}

/// How many files can be watched. What a command does not get stays for the user's other programs, who share their number with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InotifyLimit {
    /// How many programs can watch.
    pub instances: u64,
    /// How many files can be watched.
    pub watches: u64,
}

impl InotifyLimit {
    /// Half of what the user has; none where the system does not say.
    pub fn half() -> Option<Self> {
        let half = |name: &str| {
            let text = std::fs::read_to_string(format!("/proc/sys/fs/inotify/{name}")).ok()?;
            text.trim().parse::<u64>().ok().map(|all| all / 2)
        };
        Some(Self { instances: half("max_user_instances")?, watches: half("max_user_watches")? })
    }
}

/// The program to run, and what it is given.
#[derive(Debug)]
pub struct Program {
    /// The program and its arguments. A program without a slash is looked for in the `PATH` of `environment`.
    pub arguments: Vec<OsString>,
    /// All of its environment.
    pub environment: Vec<(OsString, OsString)>,
    /// Where it starts: an absolute path inside.
    pub directory: PathBuf,
    /// What it reads; nothing of it where there is a terminal.
    pub stdin: Stdin,
    /// A terminal of its own, in place of pipes.
    pub terminal: Option<Terminal>,
}

/// A terminal for a command that talks with a person: a new one of the inside's own, which is its standard input, output
/// and error and its controlling terminal. It starts with the modes and the size of the caller's, and follows that size.
#[derive(Debug)]
pub struct Terminal {
    /// The caller's terminal. What is typed there is passed in; the descriptor itself never is.
    pub caller: OwnedFd,
}

/// What a command reads from its standard input. Never a descriptor of the caller's itself: through one to a file the
/// command could open that file again, for writing.
#[derive(Debug)]
pub enum Stdin {
    /// Nothing.
    Empty,
    /// These bytes.
    Bytes(Vec<u8>),
    /// What can be read here until it ends.
    From(OwnedFd),
}
