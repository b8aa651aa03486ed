//! Starting the init and waiting until the command runs.

mod streams;

use std::ffi::{CString, OsStr};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use offshoot_vocabulary::{Demand, Network};
use rustix::fs::{FileType, Mode, OFlags, fchown, fstat};
use rustix::io::Errno;
use rustix::process::{Gid, Uid};

use crate::broker::Scene;
use crate::covers::{self, Cover};
use crate::error::{FRESH_PROC, GUARD, LAYERS, READ_ONLY_LAYERS, Result, SandboxError, system};
use crate::ids::Ids;
use crate::in_force::{Findings, InForce, Renames, Restriction};
use crate::init::{self, Room, Step, UNLIMITED};
use crate::keeper::Keeper;
use crate::looked::Looked;
use crate::message::{self, Buffer, Kind, Message};
use crate::proxy::NetworkSockets;
use crate::running::{Feed, Running};
use crate::script::Script;
use crate::spec::{Files, Limits, Spec, WorkspaceMount};
use crate::sys::Stack;
use crate::{ids, sys};
use streams::Streams;

const NAMESPACES: [(&str, i32); 5] = [
    ("user", libc::CLONE_NEWUSER),
    ("mount", libc::CLONE_NEWNS),
    ("pid", libc::CLONE_NEWPID),
    ("ipc", libc::CLONE_NEWIPC),
    ("uts", libc::CLONE_NEWUTS),
];

/// The namespace that a command has which reaches nothing.
const NET: &str = "net";

/// Makes the inside and starts the command in it.
pub fn launch(spec: &Spec) -> Result<Running> {
    launch_noted(spec, &mut |_| Ok::<(), SandboxError>(()))
}

/// The same; `note` is told the number of the first process inside before that does anything, and can still refuse.
pub fn launch_noted<E: From<SandboxError>>(
    spec: &Spec,
    note: &mut dyn FnMut(u32) -> Result<(), E>,
) -> Result<Running, E> {
    if spec.bare.is_some() && spec.network == Network::Proxy {
        return Err(SandboxError::NoProxy.into());
    }
    if spec.walls.own_ids != Demand::Off && spec.bare.is_none() && ids::can_be_own() {
        let mut looked = Looked::default();
        let launched = match covers::needed(spec, &mut looked) {
            Some(covers) => launch_with(spec, Some(covers), looked, note),
            None => Err(SandboxError::Ids(Errno::XDEV).into()),
        };
        match launched {
            Err(Failed::Sandbox(error))
                if spec.walls.own_ids == Demand::Optional && about_ids(&error) => {}
            other => return other.map_err(Failed::into_error),
        }
    }
    launch_with(spec, None, Looked::default(), note).map_err(Failed::into_error)
}

/// Whether it may be otherwise where ids are the same outside.
fn about_ids(error: &SandboxError) -> bool {
    matches!(error, SandboxError::Ids(_)) || error.is_about_layers()
}

/// Who did not want it: the system, or who was told.
enum Failed<E> {
    Sandbox(SandboxError),
    Note(E),
}

impl<E> From<SandboxError> for Failed<E> {
    fn from(error: SandboxError) -> Self {
        Self::Sandbox(error)
    }
}

impl<E: From<SandboxError>> Failed<E> {
    fn into_error(self) -> E {
        match self {
            Self::Sandbox(error) => error.into(),
            Self::Note(error) => error,
        }
    }
}

fn launch_with<E>(
    spec: &Spec,
    covers: Option<Vec<Cover>>,
    looked: Looked,
    note: &mut dyn FnMut(u32) -> Result<(), E>,
) -> Result<Running, Failed<E>> {
    let Begun { mut running, pid, script, covers } = begin(spec, covers, looked)?;
    note(pid).map_err(Failed::Note)?;
    go(spec, &mut running, &script, covers, pid as i32)?;
    Ok(running)
}

/// The first process of a command, which waits for a word.
struct Begun {
    running: Running,
    pid: u32,
    script: Script,
    /// What is covered for it; none where its ids are the same outside.
    covers: Option<Vec<Cover>>,
}

/// Makes the first process, with ids of its own where directories are covered for that.
fn begin(spec: &Spec, mut covers: Option<Vec<Cover>>, mut looked: Looked) -> Result<Begun> {
    let Streams { inside: [stdin, stdout, stderr], outputs, sink } = Streams::new(&spec.command)?;
    let (socket, socket_inside) = message::pair().map_err(system("cannot make a socket"))?;
    let inside = [&stdin, &stdout, &stderr, &socket_inside];
    let inside = inside.map(|fd| fd.as_raw_fd());
    let script = Script::new(spec, covers.as_deref(), &mut looked, inside)?;
    let (mut buffer, mut stack) = (Buffer::new(), Stack::new());
    let namespaces = match spec.bare {
        Some(_) => Vec::new(),
        None => namespaces(spec.network),
    };
    let flags = namespaces.iter().fold(0, |flags, (_, flag)| flags | *flag as u64);
    let mut room = spec.door.is_some().then(Room::new);
    let child =
        sys::clone(flags, &mut || init::main(&script, &mut buffer, &mut stack, room.as_mut()));
    let child = child.map_err(ids::refused)?;
    if covers.is_some() {
        give_away([&stdin, &stdout, &stderr]).map_err(SandboxError::Ids)?;
    }
    drop((stdin, stdout, stderr, socket_inside));
    let feed = sink.map(|sink| Feed::new(sink, &spec.command.stdin)).transpose();
    let feed = feed.map_err(system("cannot pass standard input on"))?;
    let mut running = Running::new(Some(child.pidfd), socket, outputs, feed);
    running.in_force.namespaces = namespaces.iter().map(|(name, _)| *name).collect();
    if spec.bare.is_none() {
        ids::map(child.pid, if covers.is_some() { Ids::Own } else { Ids::Same })?;
    }
    if let Some(covers) = &mut covers {
        cover(covers, &mut running, child.pid).map_err(SandboxError::Ids)?;
    }
    Ok(Begun { running, pid: child.pid.unsigned_abs(), script, covers })
}

/// Makes pipes those of the command's user, who can then open them again by their names in `/proc`.
fn give_away(pipes: [&OwnedFd; 3]) -> Result<(), Errno> {
    for pipe in pipes {
        if FileType::from_raw_mode(fstat(pipe)?.st_mode) == FileType::Fifo {
            let (user, group) = (Uid::from_raw(ids::FIRST), Gid::from_raw(ids::FIRST));
            fchown(pipe, Some(user), Some(group))?;
        }
    }
    Ok(())
}

/// Makes the mounts that translate ids, and hands them to the init.
fn cover(covers: &mut [Cover], running: &mut Running, pid: i32) -> Result<(), Errno> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let namespace = rustix::fs::open(format!("/proc/{pid}/ns/user"), flags, Mode::empty())?;
    for (at, cover) in covers.iter_mut().enumerate() {
        let mount = cover.make(namespace.as_fd())?;
        running.hand_over(Kind::Cover, at as i64, mount)?;
    }
    Ok(())
}

/// Gives the word, and waits until the command runs.
fn go(
    spec: &Spec,
    running: &mut Running,
    script: &Script,
    covers: Option<Vec<Cover>>,
    pid: i32,
) -> Result<()> {
    let program = spec.command.arguments.first().map(PathBuf::from).unwrap_or_default();
    running.say(Kind::Go)?;
    let started = await_start(running, script, &program)?;
    let renames = match started.listener {
        Some(listener) => {
            running.brokers.scene = Some(Arc::new(Scene {
                device: started.device,
                others: started.layers,
                init: pid,
                own_ids: covers.is_some(),
                upper: upper(&spec.workspace.files, covers.as_deref()),
                places: places(&spec.workspace),
                moving: Mutex::new(()),
            }));
            running.brokers.start(listener)?;
            Renames::Brokered
        }
        None => started.unheard.map_or(Renames::Native, Renames::Refused),
    };
    if let (Some(master), Some(terminal)) = (started.master, &spec.command.terminal) {
        running.attach(master, terminal).map_err(system("cannot use the terminal"))?;
    }
    let namespaces = std::mem::take(&mut running.in_force.namespaces);
    running.in_force = InForce {
        network: match spec.bare {
            // The filter refuses every socket.
            Some(_) if has(&started.findings, Restriction::CallFilter) => spec.network,
            _ => network_of(&namespaces, started.sockets.as_ref()),
        },
        namespaces,
        home: script.home_view,
        writable: started.findings.writable(),
        limits: held_to(&spec.limits, &started.limits),
        landlock: started.landlock,
        restrictions: started.findings.restrictions(),
        renames,
        private: script.private_paths(),
        hidden: spec.hidden.clone(),
        scratch: script.scratch(),
        caches: spec
            .caches
            .iter()
            .enumerate()
            .filter(|(at, _)| started.caches & (1 << at) != 0)
            .filter_map(|(_, cache)| cache.name)
            .collect(),
    };
    running.sockets = started.sockets;
    running.begin();
    Ok(())
}

fn has(findings: &Findings, restriction: Restriction) -> bool {
    findings.restrictions().contains(&restriction)
}

/// Starts a process that does nothing but open what lies below a directory and what ordinary permissions close to its
/// own user: the keeper of a command that is no more.
pub fn keep(directory: &Path) -> Result<Keeper> {
    let (socket, inside) = message::pair().map_err(system("cannot make a socket"))?;
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = rustix::fs::open(directory, flags, Mode::empty());
    let top = opened.map_err(system("cannot open what is to be kept"))?;
    let descriptors = [inside.as_raw_fd(), top.as_raw_fd()];
    let mut buffer = Buffer::new();
    let flags = libc::CLONE_NEWUSER as u64;
    let child = sys::clone(flags, &mut || init::keep(descriptors, &mut buffer));
    let child = child.map_err(ids::refused)?;
    drop((inside, top));
    let keeper = Keeper::new(socket, child.pidfd);
    ids::map(child.pid, Ids::Same)?;
    keeper.go().map_err(|_| SandboxError::Lost)?;
    Ok(keeper)
}

/// Where directories of the workspace are seen, each with its path in the workspace.
fn places(workspace: &WorkspaceMount) -> Vec<(PathBuf, PathBuf)> {
    let folders = workspace.folders.iter();
    let folders = folders.map(|folder| (folder.target.clone(), folder.below.clone()));
    [(workspace.target.clone(), PathBuf::new())].into_iter().chain(folders).collect()
}

/// The directory that changes go to, to look what is in it with the command's ids.
fn upper(files: &Files, covers: Option<&[Cover]>) -> Option<OwnedFd> {
    let Files::Overlay(overlay) = files else { return None };
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let upper = overlay.directory.join(&overlay.upper.as_ref()?.directory);
    match covers {
        None => rustix::fs::open(upper, flags, Mode::empty()).ok(),
        Some(covers) => {
            let upper = upper.canonicalize().ok()?;
            covers.iter().find_map(|cover| cover.open(&upper))
        }
    }
}

/// The devices of layers that are in place.
fn devices(bytes: &[u8]) -> Vec<u64> {
    let (numbers, _) = bytes.as_chunks();
    let numbers = numbers.iter().map(|bytes| u64::from_le_bytes(*bytes));
    numbers.filter(|device| *device != 0).collect()
}

fn namespaces(network: Network) -> Vec<(&'static str, i32)> {
    let mut namespaces = NAMESPACES.to_vec();
    if network != Network::Host {
        namespaces.push((NET, libc::CLONE_NEWNET));
    }
    namespaces
}

/// What a command reaches that has these namespaces of its own, and this way to a proxy.
fn network_of(namespaces: &[&str], sockets: Option<&NetworkSockets>) -> Network {
    match (namespaces.contains(&NET), sockets) {
        (true, None) => Network::None,
        (true, Some(_)) => Network::Proxy,
        (false, _) => Network::Host,
    }
}

/// Those of the limits asked for that a command is held to, as the kernel and the init have them.
fn held_to(asked: &Limits, has: &HeldLimits) -> Limits {
    let limit = |limit: i64| (limit != UNLIMITED).then(|| limit.cast_unsigned());
    // The kernel counts the init too, and lets the host's own root have more than its limit. The init lets nobody.
    let counted = limit(has.processes).map(|most| most.saturating_sub(1));
    let counted = counted.filter(|_| !ids::is_host_root());
    let watched = limit(has.watched_processes);
    Limits {
        open_files: limit(has.open_files).filter(|_| asked.open_files.is_some()),
        processes: watched.map(|watched| counted.map_or(watched, |counted| counted.min(watched))),
        file_size: limit(has.file_size).filter(|_| asked.file_size.is_some()),
        memory: limit(has.memory),
        cpu: limit(has.cpu).map(Duration::from_millis),
        tmpfs: limit(has.tmpfs).filter(|_| asked.tmpfs.is_some()),
        inotify: asked.inotify.filter(|_| has.inotify),
    }
}

/// The limits of a command as it was started with them.
struct HeldLimits {
    open_files: i64,
    processes: i64,
    file_size: i64,
    memory: i64,
    watched_processes: i64,
    cpu: i64,
    tmpfs: i64,
    /// Those of watching files are in place.
    inotify: bool,
}

/// A command that runs.
struct Started {
    /// The device number of its workspace.
    device: u64,
    /// Where its renames are told about.
    listener: Option<OwnedFd>,
    /// Why they are not, where they should be.
    unheard: Option<Errno>,
    /// Which caches are in place, a bit for each.
    caches: u64,
    /// The devices of those.
    layers: Vec<u64>,
    /// What else is in force.
    findings: Findings,
    /// Its limits.
    limits: HeldLimits,
    /// The version of Landlock's rules that hold.
    landlock: Option<u32>,
    /// The caller's end of its terminal.
    master: Option<OwnedFd>,
    /// Sockets for a proxy.
    sockets: Option<NetworkSockets>,
}

/// Waits for the word that the command runs.
fn await_start(running: &mut Running, script: &Script, program: &Path) -> Result<Started> {
    let (mut listener, mut sockets) = (None, None::<NetworkSockets>);
    let message = loop {
        let message = running.hear()?.ok_or(SandboxError::Lost)?;
        match (message.kind, message.descriptor) {
            (Kind::Listener, descriptor) => listener = descriptor,
            (Kind::Socket, Some(socket)) => {
                sockets.get_or_insert_default().add(message.numbers[0], socket);
            }
            (_, descriptor) => break Message { descriptor, ..message },
        }
    };
    let errno = |number: i64| Errno::from_raw_os_error(number as i32);
    match message.kind {
        Kind::Started => Ok(Started {
            device: message.numbers[1] as u64,
            listener,
            caches: message.numbers[3] as u64,
            layers: devices(message.bytes),
            findings: Findings::from_number(message.numbers[4]),
            limits: HeldLimits {
                open_files: message.numbers[5],
                processes: message.numbers[6],
                file_size: message.numbers[7],
                memory: message.numbers[8],
                watched_processes: message.numbers[10],
                cpu: message.numbers[11],
                tmpfs: message.numbers[12],
                inotify: message.numbers[13] != 0,
            },
            landlock: u32::try_from(message.numbers[9]).ok().filter(|version| *version > 0),
            unheard: Some(message.numbers[2]).filter(|number| *number != 0).map(errno),
            master: message.descriptor,
            sockets,
        }),
        Kind::NotExecuted => Err(SandboxError::NotExecuted {
            program: program.to_owned(),
            errno: errno(message.numbers[0]),
        }),
        Kind::Failed => {
            let step = Step::ALL.into_iter().find(|step| *step as i64 == message.numbers[0]);
            let errno = errno(message.numbers[1]);
            if let Some(wall) = step.and_then(Step::wall) {
                return Err(SandboxError::Wall { wall, errno });
            }
            let (step, path) = describe(step, script, message.numbers[2] as usize);
            let detail = String::from_utf8_lossy(message.bytes).trim().to_owned();
            Err(SandboxError::Prepare { step, path, errno, detail })
        }
        _ => Err(SandboxError::Lost),
    }
}

/// What the init was doing, and to what.
fn describe(step: Option<Step>, script: &Script, index: usize) -> (&'static str, Option<PathBuf>) {
    let path = |name: &CString| Some(PathBuf::from(OsStr::from_bytes(name.to_bytes())));
    let Some(step) = step else { return ("cannot start the sandbox", None) };
    match step {
        Step::Descriptors => ("cannot place descriptors", None),
        Step::Cover => ("cannot translate ids of", script.covers.get(index).and_then(path)),
        Step::Ids => ("cannot take ids of its own", None),
        Step::Stage => ("cannot enter", path(&script.stage)),
        Step::Layers => (LAYERS, path(&script.stage)),
        Step::ReadOnlyLayers => (READ_ONLY_LAYERS, path(&script.stage)),
        Step::Directory => ("cannot mount", path(&script.stage)),
        Step::Root => ("cannot make a root", None),
        Step::Place => {
            ("cannot show", script.places.get(index).and_then(|place| path(&place.path)))
        }
        Step::Pivot => ("cannot change the root", None),
        Step::Private => ("cannot write files for the command", None),
        Step::Devices => ("cannot make a private /dev", None),
        Step::Proc => (FRESH_PROC, None),
        Step::Hidden => ("cannot hide", script.hidden.get(index).and_then(path)),
        Step::Target => ("cannot mount the workspace at", path(&script.target)),
        Step::Folders => {
            let folder = script.folders.get(index);
            ("cannot mount a folder at", folder.and_then(|folder| path(&folder.target)))
        }
        Step::Network => ("cannot bring up the loopback interface", None),
        Step::Sockets => ("cannot make the sockets of the network proxy", None),
        Step::Signals => ("cannot take over signals", None),
        Step::Terminal => ("cannot make a terminal", None),
        Step::Fork => ("cannot start a process", None),
        Step::Session => ("cannot start a session", None),
        Step::Limits => ("cannot set limits", None),
        Step::Privileges => ("cannot drop privileges", None),
        Step::Guard => (GUARD, script.guarded.first().and_then(path)),
        Step::WorkingDirectory => ("cannot enter", path(&script.directory)),
        // These are told as walls.
        Step::Sysfs | Step::Landlock | Step::Keyring | Step::Groups | Step::Filter => {
            ("cannot confine the command", None)
        }
    }
}
