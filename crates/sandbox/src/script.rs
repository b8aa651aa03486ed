//! A [`Spec`] made ready for the child: every string ends with NUL, every list has its final form.

use std::ffi::{CStr, CString, OsStr};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use offshoot_vocabulary::{HomeView, Network};
use rustix::fs::{Timespec, Timestamps};
use rustix::termios::{Termios, Winsize};

use crate::covers::Cover;
use crate::error::{Result, SandboxError, system};
use crate::filter::Filters;
use crate::in_force::DiscardedDirectory;
use crate::layout::{Layout, Place, PlaceKind};
use crate::looked::Looked;
use crate::message::Top;
use crate::proxy::ProxyPorts;
use crate::spec::{
    CacheMount, Files, FolderMount, InotifyLimit, Limits, Overlay, Program, Spec, Terminal,
    UpperDirectories, WorkspaceMount, WrittenFile,
};
use crate::sys::Pointers;
use crate::walls::Walls;

/// Directories of the host that are replaced by private ones.
const PRIVATE: [&str; 3] = ["/tmp", "/var/tmp", "/run"];
/// Where programs look for the name server.
const RESOLVER: &str = "/etc/resolv.conf";
/// More caches than this are left out: what is known of them while the inside is made has a fixed size.
pub(crate) const MOST_CACHES: usize = 32;
/// At most so many directories are covered, for the same reason.
pub(crate) const MOST_COVERS: usize = 32;
/// Where programs are looked for when the command's environment does not say.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// What the child does, in the order in which it does it.
pub(crate) struct Script {
    /// A directory of the host to start from; mounts are put there for a moment.
    pub(crate) stage: CString,
    pub(crate) files: FilesScript,
    pub(crate) read_only: bool,
    /// Directories to be covered by mounts that translate ids; without any, ids are the same outside.
    pub(crate) covers: Vec<CString>,
    pub(crate) own_ids: bool,
    /// What the root is made of.
    pub(crate) places: Vec<Place>,
    /// The user's home.
    pub(crate) home: Option<CString>,
    pub(crate) home_view: HomeView,
    /// What is mounted there, where it is kept.
    pub(crate) kept_home: Option<CString>,
    pub(crate) private: Vec<CString>,
    /// Files of the command's own.
    pub(crate) written: Vec<WrittenScript>,
    pub(crate) hidden: Vec<CString>,
    /// Where a file can be written for a moment.
    pub(crate) aside: CString,
    /// Directories that outlive the command, at most [`MOST_CACHES`].
    pub(crate) caches: Vec<CacheScript>,
    /// The directories on the way to the target, and the target.
    pub(crate) target_parents: Vec<CString>,
    pub(crate) target: CString,
    /// The directory in a private one that the target lies in, by way of others or not.
    pub(crate) beside: Option<CString>,
    /// Directories of the workspace that are seen at places of their own.
    pub(crate) folders: Vec<FolderScript>,
    /// What is empty for the command.
    pub(crate) covered: Option<CString>,
    pub(crate) network: Network,
    /// Where the command finds a proxy.
    pub(crate) proxy: Option<ProxyPorts>,
    /// The file that names the name server, where that is the proxy.
    pub(crate) resolver: Option<ResolverScript>,
    /// Renames are told about.
    pub(crate) broker: bool,
    pub(crate) limits: Limits,
    /// The size of each directory whose files are memory.
    pub(crate) tmpfs_size: Option<CString>,
    /// What is to be written where about watching files.
    pub(crate) inotify: Vec<(CString, CString)>,
    /// The same about semaphores, queues and segments of memory, which no limit of processes counts.
    pub(crate) shared: Vec<(CString, CString)>,
    pub(crate) walls: Walls,
    /// There are no namespaces.
    pub(crate) bare: bool,
    /// What Landlock lets the command read, where mounts do not decide about that.
    pub(crate) readable: Vec<CString>,
    /// Where Landlock lets the command write, beside its home.
    pub(crate) writable: Vec<CString>,
    /// Directories of the user that it writes to, in which it makes files and directories alone.
    pub(crate) guarded: Vec<CString>,
    pub(crate) filters: Filters,
    pub(crate) directory: CString,
    /// Where the program may be, in the order of `PATH`.
    pub(crate) programs: Vec<CString>,
    pub(crate) arguments: Pointers,
    /// The arguments for the shell, for each program that turns out to be a script without an interpreter.
    pub(crate) shell_arguments: Vec<Pointers>,
    pub(crate) environment: Pointers,
    pub(crate) terminal: Option<TerminalScript>,
    /// The descriptor in the parent of where others can join.
    pub(crate) door: Option<RawFd>,
    /// Descriptors in the parent: standard input, output and error, and the init's end of the socket.
    pub(crate) descriptors: [RawFd; 4],
    /// What the pointers point at.
    _strings: Vec<CString>,
}

pub(crate) enum FilesScript {
    Overlay(OverlayScript),
    Directory(CString),
}

pub(crate) struct OverlayScript {
    pub(crate) lower: Vec<CString>,
    pub(crate) data: Vec<CString>,
    pub(crate) upper: Option<UpperScript>,
    pub(crate) look_up: Vec<CString>,
}

/// Where changes go, and the kernel's own directory beside it.
pub(crate) struct UpperScript {
    pub(crate) directory: CString,
    pub(crate) work: CString,
}

/// How the command's terminal looks when it starts.
pub(crate) struct TerminalScript {
    pub(crate) modes: Termios,
    pub(crate) size: Winsize,
}

/// A directory that outlives the command.
pub(crate) struct CacheScript {
    /// The directory that the names of its layers are relative to.
    pub(crate) stage: CString,
    pub(crate) layers: OverlayScript,
    /// Where changes go that are thrown away, in a scratch directory.
    pub(crate) scratch: UpperScript,
    /// It is no cache, but something that somebody wants to be shown.
    pub(crate) is_shown: bool,
    /// The directories on the way to its place, and that.
    pub(crate) parents: Vec<CString>,
    pub(crate) target: CString,
}

/// A directory of the workspace at a place of its own.
pub(crate) struct FolderScript {
    /// Where it is in the workspace, once that is attached.
    pub(crate) source: CString,
    /// The directories on the way to its place, and that.
    pub(crate) parents: Vec<CString>,
    pub(crate) target: CString,
}

/// The file by which programs find their name server.
pub(crate) struct ResolverScript {
    /// Where it is, without links.
    pub(crate) path: CString,
    /// The directories on the way to it, and to the name that it is known by.
    pub(crate) parents: Vec<CString>,
    /// Where one can be written for a moment.
    pub(crate) aside: CString,
}

/// A file of the command's own.
pub(crate) struct WrittenScript {
    pub(crate) path: CString,
    /// The directories on the way to it.
    pub(crate) parents: Vec<CString>,
    pub(crate) content: Vec<u8>,
    pub(crate) times: Option<Timestamps>,
    /// It covers what is hidden at its path.
    pub(crate) covers: bool,
}

impl Script {
    pub(crate) fn new(
        spec: &Spec,
        covers: Option<&[Cover]>,
        looked: &mut Looked,
        descriptors: [RawFd; 4],
    ) -> Result<Self> {
        let workspace = &spec.workspace;
        let (stage, files) = files(&workspace.files)?;
        let bare = spec.bare.as_ref();
        let private = bare.map_or_else(private_directories, |bare| bare.private.clone());
        let (home, home_view) = home(spec);
        let kept = spec.kept_home.as_deref().filter(|_| home_view == HomeView::Kept);
        let command = &spec.command;
        let CommandStrings { programs, arguments, environment, directory } =
            CommandStrings::new(command)?;
        let mut strings = Vec::new();
        let pointers = Pointers::new(arguments.iter().map(CString::as_c_str));
        let shell_arguments = programs.iter().map(|program| for_shell(program, &arguments));
        let shell_arguments = shell_arguments.collect();
        let variables = Pointers::new(environment.iter().map(CString::as_c_str));
        strings.extend(arguments);
        strings.extend(environment);
        Ok(Self {
            stage: c_path(&stage)?,
            files,
            read_only: workspace.read_only,
            covers: covers.into_iter().flatten().map(|cover| cover.place.clone()).collect(),
            own_ids: covers.is_some(),
            places: match bare {
                Some(_) => Vec::new(),
                None => places(spec, &private, home.as_deref(), looked)?,
            },
            home: home.as_deref().map(c_path).transpose()?,
            home_view,
            kept_home: kept.map(c_path).transpose()?,
            beside: beside(&workspace.target, &private, home.as_deref())
                .filter(|_| bare.is_none())
                .map(|path| c_path(&path))
                .transpose()?,
            private: all(&private, "a path")?,
            written: written(spec)?,
            hidden: all(&spec.hidden, "a path")?,
            aside: c_path(&aside(&private))?,
            caches: caches(&spec.caches)?,
            target_parents: parents(&workspace.target)?,
            target: c_path(&workspace.target)?,
            folders: folders(workspace)?,
            covered: workspace
                .covered
                .as_ref()
                .map(|below| c_path(&workspace.target.join(below)))
                .transpose()?,
            network: spec.network,
            proxy: (spec.network == Network::Proxy).then(|| spec.proxy.clone()),
            resolver: (spec.network == Network::Proxy).then(|| resolver(&private)).transpose()?,
            broker: spec.wants_broker(),
            limits: spec.limits,
            tmpfs_size: spec.limits.tmpfs.map(number).transpose()?,
            inotify: spec.limits.inotify.as_ref().map(inotify).transpose()?.unwrap_or_default(),
            shared: SHARED.iter().map(shared).collect::<Result<_>>()?,
            walls: spec.walls,
            bare: bare.is_some(),
            readable: bare.map(|_| readable(spec)).transpose()?.unwrap_or_default(),
            writable: writable(spec, &private)?,
            guarded: match kept {
                Some(_) => all(&spec.shared, "a path")?,
                None => Vec::new(),
            },
            filters: Filters::new(spec),
            directory,
            programs,
            arguments: pointers,
            shell_arguments,
            environment: variables,
            terminal: command.terminal.as_ref().map(terminal_script).transpose()?,
            door: spec.door.as_ref().map(AsRawFd::as_raw_fd),
            descriptors,
            _strings: strings,
        })
    }

    /// Whether it has a network namespace of its own.
    pub(crate) fn has_own_network(&self) -> bool {
        self.network != Network::Host && !self.bare
    }

    /// What is thrown away and may hold projects.
    pub(crate) fn scratch(&self) -> Vec<DiscardedDirectory> {
        let path = |name: &CString| PathBuf::from(OsStr::from_bytes(name.to_bytes()));
        // Without mounts nobody looks into what is thrown away.
        let home = self.home.as_ref().filter(|_| !self.bare && self.kept_home.is_none());
        let whole = |path, top| DiscardedDirectory { path, top, below: Vec::new() };
        let home = home.map(|home| whole(path(home), Top::Home));
        let beside = self.beside.as_ref();
        let beside = beside.map(|beside| whole(path(beside), Top::Beside));
        let shown = self.caches.iter().filter(|cache| cache.is_shown).map(|cache| {
            let below = cache.scratch.directory.as_bytes().to_vec();
            DiscardedDirectory { path: path(&cache.target), top: Top::Shown, below }
        });
        home.into_iter().chain(beside).chain(shown).collect()
    }

    /// What will be private, for people.
    pub(crate) fn private_paths(&self) -> Vec<PathBuf> {
        let path = |name: &CString| PathBuf::from(OsStr::from_bytes(name.to_bytes()));
        let mut paths: Vec<PathBuf> = self.private.iter().map(path).collect();
        paths.extend((!self.bare).then(|| PathBuf::from("/dev")));
        paths
    }
}

fn files(files: &Files) -> Result<(PathBuf, FilesScript)> {
    Ok(match files {
        Files::Overlay(layers) => {
            let (stage, layers) = overlay(layers)?;
            (stage, FilesScript::Overlay(layers))
        }
        Files::Directory(directory) => {
            (directory.clone(), FilesScript::Directory(c_path(directory)?))
        }
    })
}

fn overlay(layers: &Overlay) -> Result<(PathBuf, OverlayScript)> {
    let Overlay { directory, lower, data, upper, look_up } = layers;
    let upper = upper.as_ref().map(upper_script).transpose()?;
    let (lower, data) = (all(lower, "a path")?, all(data, "a path")?);
    let look_up = all(look_up, "a path")?;
    Ok((directory.clone(), OverlayScript { lower, data, upper, look_up }))
}

fn folders(workspace: &WorkspaceMount) -> Result<Vec<FolderScript>> {
    let folder = |folder: &FolderMount| {
        Ok(FolderScript {
            source: c_path(&workspace.target.join(&folder.below))?,
            parents: parents(&folder.target)?,
            target: c_path(&folder.target)?,
        })
    };
    workspace.folders.iter().map(folder).collect()
}

fn caches(mounts: &[CacheMount]) -> Result<Vec<CacheScript>> {
    let cache = |(at, mount): (usize, &CacheMount)| {
        let (stage, layers) = overlay(&mount.layers)?;
        let (parents, target) = (parents(&mount.target)?, c_path(&mount.target)?);
        let scratch = |part| c_path(&Path::new(part).with_extension(at.to_string()));
        let scratch = UpperScript { directory: scratch("upper")?, work: scratch("work")? };
        let is_shown = mount.name.is_none() && mount.layers.upper.is_none();
        Ok(CacheScript { stage: c_path(&stage)?, layers, scratch, is_shown, parents, target })
    };
    mounts.iter().take(MOST_CACHES).enumerate().map(cache).collect()
}

fn upper_script(upper: &UpperDirectories) -> Result<UpperScript> {
    Ok(UpperScript { directory: c_path(&upper.directory)?, work: c_path(&upper.work)? })
}

fn terminal_script(terminal: &Terminal) -> Result<TerminalScript> {
    let unusable = || system("cannot use this terminal");
    let modes = rustix::termios::tcgetattr(&terminal.caller).map_err(unusable())?;
    let size = rustix::termios::tcgetwinsize(&terminal.caller).map_err(unusable())?;
    Ok(TerminalScript { modes, size })
}

/// Where a command can write, beside its home.
fn writable(spec: &Spec, private: &[PathBuf]) -> Result<Vec<CString>> {
    let WorkspaceMount { target, folders, read_only, .. } = &spec.workspace;
    let workspace = folders.iter().map(|folder| &folder.target).chain([target]);
    let workspace = workspace.filter(|_| !read_only);
    let caches = spec.caches.iter().map(|cache| &cache.target);
    workspace.chain(private).chain(caches).map(|path| c_path(path)).collect()
}

/// What a command reads, beside what it writes: what is shown, what every program may expect, and itself.
fn readable(spec: &Spec) -> Result<Vec<CString>> {
    const ALWAYS: [&str; 9] = [
        "/proc",
        "/dev/null",
        "/dev/zero",
        "/dev/full",
        "/dev/random",
        "/dev/urandom",
        "/dev/tty",
        "/dev/ptmx",
        "/dev/pts",
    ];
    let WorkspaceMount { target, .. } = &spec.workspace;
    let resolver = (spec.network == Network::Host).then_some(Path::new(RESOLVER));
    let always = ALWAYS.iter().map(Path::new).chain(resolver).chain([target.as_path()]);
    always.chain(spec.shown.iter().map(PathBuf::as_path)).map(c_path).collect()
}

fn inotify(limit: &InotifyLimit) -> Result<Vec<(CString, CString)>> {
    let InotifyLimit { instances, watches } = *limit;
    let all = [("instances", instances), ("watches", watches)];
    let written = all.map(|(name, limit)| {
        let path = format!("/proc/sys/user/max_inotify_{name}");
        Ok((c_path(Path::new(&path))?, number(limit)?))
    });
    written.into_iter().collect()
}

/// How much the namespace of a command holds of what outlives processes: enough for databases, and a few MiB of the kernel's own memory.
const SHARED: [(&str, &str); 3] =
    [("sem", "32000 64000 500 1024"), ("msgmni", "1024"), ("shmmni", "256")];

fn shared((name, value): &(&str, &str)) -> Result<(CString, CString)> {
    let path = Path::new("/proc/sys/kernel").join(name);
    Ok((c_path(&path)?, c_string(OsStr::new(value), "a number")?))
}

fn number(number: u64) -> Result<CString> {
    c_string(OsStr::new(&number.to_string()), "a number")
}

/// The private directories that this host has, each by its path without links, none inside another.
fn private_directories() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    for path in PRIVATE {
        let Ok(path) = Path::new(path).canonicalize() else { continue };
        if path.is_dir() && !found.iter().any(|other| path.starts_with(other)) {
            found.push(path);
        }
    }
    found
}

/// The home to make throw-away, and how it will look where that works.
fn home(spec: &Spec) -> (Option<PathBuf>, HomeView) {
    let found = spec.home.as_deref().and_then(|home| home.canonicalize().ok());
    match found {
        Some(home) if home.starts_with(&spec.workspace.target) => (None, HomeView::Workspace),
        Some(home) if is_shown(spec, &home) => (None, HomeView::ReadOnly),
        Some(home) if home.is_dir() && spec.kept_home.is_some() && spec.bare.is_none() => {
            (Some(home), HomeView::Kept)
        }
        Some(home) if home.is_dir() => (Some(home), HomeView::ThrowAway),
        _ => (None, HomeView::None),
    }
}

/// Whether all of a home is shown as it is.
fn is_shown(spec: &Spec, home: &Path) -> bool {
    home == Path::new("/") || spec.shown.iter().any(|shown| home.starts_with(shown))
}

/// The directory below a private one in which the target lies deeper down. None where the target lies in the private one itself,
/// where everybody leaves things, nor where that is the home, which is looked at by itself.
fn beside(target: &Path, private: &[PathBuf], home: Option<&Path>) -> Option<PathBuf> {
    let private = private.iter().find(|private| target.starts_with(private))?;
    let first = target.strip_prefix(private).ok()?.components().next()?;
    let beside = private.join(first);
    (beside != target && Some(beside.as_path()) != home).then_some(beside)
}

/// What the root is made of: what is shown of the host, and what is private.
fn places(
    spec: &Spec,
    private: &[PathBuf],
    home: Option<&Path>,
    looked: &mut Looked,
) -> Result<Vec<Place>> {
    let mut layout = Layout::new(looked);
    layout.top_links()?;
    for path in PRIVATE.map(Path::new).into_iter().chain(spec.home.as_deref()) {
        // Programs know them by these names, which may be links.
        layout.reach(path)?;
    }
    for path in private {
        let mode = if path == Path::new("/run") { c"0755" } else { c"1777" };
        layout.add(path, PlaceKind::Private(mode));
    }
    if let Some(home) = home {
        layout.add(home, PlaceKind::Home);
    }
    for path in ["/dev", "/proc"] {
        layout.add(Path::new(path), PlaceKind::Directory);
    }
    for path in &spec.shown {
        layout.show(path)?;
    }
    if spec.network == Network::Host {
        layout.show(Path::new(RESOLVER))?;
    }
    let kept = home.filter(|_| spec.kept_home.is_some());
    let in_home = |path: &&PathBuf| kept.is_some_and(|home| path.starts_with(home));
    for path in spec.shared.iter().filter(in_home) {
        layout.add(path, PlaceKind::Shared);
    }
    layout.finish(kept)
}

fn written(spec: &Spec) -> Result<Vec<WrittenScript>> {
    let covers = |file: &WrittenFile| spec.hidden.contains(&file.path);
    spec.files.iter().map(|file| written_file(file, covers(file))).collect()
}

fn written_file(file: &WrittenFile, covers: bool) -> Result<WrittenScript> {
    let WrittenFile { path, content, modified } = file;
    let mut parents = parents(path)?;
    parents.pop();
    let since = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let times = since.map(|since| {
        let time =
            Timespec { tv_sec: since.as_secs() as i64, tv_nsec: since.subsec_nanos().into() };
        Timestamps { last_access: time, last_modification: time }
    });
    Ok(WrittenScript { path: c_path(path)?, parents, content: content.clone(), times, covers })
}

/// Where programs look for the name server.
fn resolver(private: &[PathBuf]) -> Result<ResolverScript> {
    let known = Path::new(RESOLVER);
    let path = known.canonicalize().unwrap_or_else(|_| known.to_owned());
    let mut all = Vec::new();
    for path in [known, &path] {
        all.extend(path.parent().map(parents).transpose()?.unwrap_or_default());
    }
    Ok(ResolverScript { path: c_path(&path)?, parents: all, aside: c_path(&aside(private))? })
}

/// Where a file can be written for a moment.
fn aside(private: &[PathBuf]) -> PathBuf {
    private.first().map_or(Path::new("/tmp"), PathBuf::as_path).join("offshoot-aside")
}

/// A command as the kernel takes it.
pub(crate) struct CommandStrings {
    /// Where the program may be, in the order of `PATH`.
    pub(crate) programs: Vec<CString>,
    pub(crate) arguments: Vec<CString>,
    pub(crate) environment: Vec<CString>,
    pub(crate) directory: CString,
}

impl CommandStrings {
    pub(crate) fn new(command: &Program) -> Result<Self> {
        Ok(Self {
            programs: programs(command)?,
            arguments: all(&command.arguments, "an argument")?,
            environment: environment(command)?,
            directory: c_path(&command.directory)?,
        })
    }
}

/// Where the program may be.
fn programs(command: &Program) -> Result<Vec<CString>> {
    let Some(program) = command.arguments.first() else { return Ok(Vec::new()) };
    let named = c_string(program, "the program")?;
    if program.as_bytes().contains(&b'/') {
        return Ok(vec![named]);
    }
    let mut variables = command.environment.iter();
    let path = variables.find(|(name, _)| name == "PATH").map(|(_, value)| value.as_os_str());
    let path = path.unwrap_or(OsStr::new(DEFAULT_PATH)).as_bytes();
    let candidates = path.split(|byte| *byte == b':').map(|directory| {
        // An empty part of PATH is the current directory.
        let directory = if directory.is_empty() { b"." } else { directory };
        c_string(OsStr::from_bytes(&[directory, b"/", program.as_bytes()].concat()), "PATH")
    });
    candidates.collect()
}

fn environment(command: &Program) -> Result<Vec<CString>> {
    let variables = command.environment.iter().map(|(name, value)| {
        let variable = [name.as_bytes(), b"=", value.as_bytes()].concat();
        c_string(OsStr::from_bytes(&variable), "a variable")
    });
    variables.collect()
}

/// `/bin/sh SCRIPT ARGUMENTS...`
fn for_shell(program: &CString, arguments: &[CString]) -> Pointers {
    let shell: [&CStr; 2] = [c"sh", program];
    Pointers::new(shell.into_iter().chain(arguments.iter().skip(1).map(CString::as_c_str)))
}

/// Every directory on the way to a path, outermost first, and the path itself; without the root.
fn parents(path: &Path) -> Result<Vec<CString>> {
    let mut all: Vec<&Path> = path.ancestors().filter(|part| part.parent().is_some()).collect();
    all.reverse();
    all.into_iter().map(c_path).collect()
}

fn all<T: AsRef<OsStr>>(items: &[T], what: &'static str) -> Result<Vec<CString>> {
    items.iter().map(|item| c_string(item.as_ref(), what)).collect()
}

pub(crate) fn c_path(path: &Path) -> Result<CString> {
    c_string(path.as_os_str(), "a path")
}

fn c_string(text: &OsStr, what: &'static str) -> Result<CString> {
    CString::new(text.as_bytes()).map_err(|_| SandboxError::Nul(what))
}
