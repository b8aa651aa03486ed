//! Putting up the kernel's walls around the process that becomes a command.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;

use super::descriptors::RULESET;
use super::proc;
use super::step::{Failure, Step, step};
use crate::in_force::{Findings, Restriction};
use crate::script::Script;
use crate::sys::landlock::{self, access, scope};
use crate::sys::{self, keys, seccomp};
use offshoot_vocabulary::Demand;

/// Where everybody writes: devices, and what belongs to a process itself.
const ALWAYS_WRITTEN: [&CStr; 2] = [c"/dev", c"/proc"];
/// The same where both are those of the host.
const BARE_WRITTEN: [&CStr; 6] =
    [c"/dev/null", c"/dev/zero", c"/dev/full", c"/dev/tty", c"/dev/ptmx", c"/dev/pts"];
/// The first version of Landlock's rules that lets files move between directories.
const MOVES: i64 = 2;

/// Makes the rules of Landlock, when all mounts are in place, and keeps them for every command.
pub(super) fn make_ruleset(script: &Script) -> Result<(), Failure> {
    let made = ruleset(script);
    let name = if script.guarded.is_empty() { Step::Landlock } else { Step::Guard };
    demanded(landlock_demand(script), name, made).map(drop)
}

/// What is asked of Landlock. Where the mounts do not keep the command from other processes, nothing else does, and neither does anything else keep links
/// and pipes out of directories that are shared.
pub(super) fn landlock_demand(script: &Script) -> Demand {
    let alone = script.bare || !proc::is_own() || !script.guarded.is_empty();
    if alone { Demand::Required } else { script.walls.landlock }
}

fn ruleset(script: &Script) -> Result<(), Errno> {
    let (files, scopes) = handled(script, landlock::version()?);
    if files | scopes == 0 || files == 0 && !script.guarded.is_empty() {
        return Err(Errno::OPNOTSUPP);
    }
    let ruleset = landlock::create(files, scopes)?;
    if files != 0 {
        let home = script.home.iter().map(CString::as_c_str);
        let writable = script.writable.iter().map(CString::as_c_str);
        let always: &[&CStr] = if script.bare { &BARE_WRITTEN } else { &ALWAYS_WRITTEN };
        for path in writable.chain(home).chain(always.iter().copied()) {
            let rights = if holds_guarded(script, path) { files & !access::SPECIAL } else { files };
            allow(ruleset.as_fd(), path, rights)?;
        }
        for path in &script.readable {
            allow(ruleset.as_fd(), path, access::READ)?;
        }
    }
    sys::duplicate(ruleset.as_raw_fd(), RULESET, true)
}

/// Whether a directory that is shared lies below a path. A rule holds for all that does, mounts too, and the names on the way can be changed by other
/// commands with the same home: so nothing on the way has a right that what is shared must not have.
fn holds_guarded(script: &Script, path: &CStr) -> bool {
    let above = path.to_bytes();
    script.guarded.iter().any(|guarded| {
        let rest = guarded.to_bytes().strip_prefix(above);
        rest.is_some_and(|rest| rest.is_empty() || rest[0] == b'/' || above == b"/")
    })
}

/// Allows something below a path, where there is one.
fn allow(ruleset: BorrowedFd<'_>, path: &CStr, rights: u64) -> Result<(), Errno> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let place = match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(place) => place,
        // Nobody can open what is not there, or what is closed to its user anyway.
        Err(Errno::NOENT | Errno::ACCESS | Errno::NOTDIR) => return Ok(()),
        Err(errno) => return Err(errno),
    };
    let is_directory =
        FileType::from_raw_mode(rustix::fs::fstat(&place)?.st_mode) == FileType::Directory;
    let rights = if is_directory { rights } else { rights & access::OF_FILES };
    landlock::allow(ruleset, place.as_fd(), rights)
}

/// What a version of the rules can refuse, of files and of others.
fn handled(script: &Script, version: i64) -> (u64, u64) {
    let mut files = access::WRITE_FILE | access::ENTRIES | access::REFER;
    for (since, right) in [(3, access::TRUNCATE), (5, access::IOCTL_DEV)] {
        if version >= since {
            files |= right;
        }
    }
    if script.bare {
        files |= access::READ;
    }
    if version < MOVES || script.walls.nested_namespaces && !script.bare {
        files = 0;
    }
    // Each who joins has rules of its own. Where somebody can, signals and sockets are for all inside, whom namespaces keep to themselves.
    let alone = script.door.is_none();
    let scopes = match version {
        ..6 => 0,
        _ if alone => scope::SIGNAL | scope::ABSTRACT_UNIX_SOCKET,
        _ if !script.has_own_network() => scope::ABSTRACT_UNIX_SOCKET,
        _ => 0,
    };
    (files, scopes)
}

/// What stands of the walls.
#[derive(Default)]
pub(super) struct Standing {
    pub(super) findings: Findings,
    /// The version of Landlock's rules that hold; 0 where none do.
    pub(super) landlock: i64,
}

/// Puts up what needs capabilities still, and asks whether it stands.
pub(super) fn raise(script: &Script) -> Result<Standing, Failure> {
    let mut standing = Standing::default();
    let walls = &script.walls;
    let groups = || rustix::thread::set_thread_groups(&[]);
    if walls.groups != Demand::Off {
        demanded(walls.groups, Step::Groups, groups())?;
    }
    standing.findings.add(Restriction::NoGroups, has_no_groups());
    if walls.keyring != Demand::Off {
        let before = keys::session();
        let taken = demanded(walls.keyring, Step::Keyring, keys::take_own())?;
        let own = taken.is_some() && keys::session().is_ok_and(|own| Ok(own) != before);
        standing.findings.add(Restriction::OwnKeyring, own);
    }
    let demand = landlock_demand(script);
    if demand != Demand::Off {
        let held = landlock::restrict(sys::borrow(RULESET));
        let name = if script.guarded.is_empty() { Step::Landlock } else { Step::Guard };
        let held = demanded(demand, name, held)?.is_some();
        // A mount says nothing about it where no capability is left to make one.
        let parent = rustix::process::getppid().map_or(1, |pid| pid.as_raw_nonzero().get());
        let guards_signals = landlock::guards_from(parent);
        let guards_reads = script.bare && landlock::guards_reads();
        let guards_files = if script.bare { guards_reads } else { landlock::guards_files() };
        let stands = held && (guards_files || guards_signals);
        standing.findings.add(Restriction::Landlock, stands);
        if script.bare {
            standing.findings.add(Restriction::ListedRoot, held && guards_reads);
            standing.findings.add_writable(!script.read_only || !stands);
        }
        standing.landlock = if stands { landlock::version().unwrap_or(0) } else { 0 };
    }
    Ok(standing)
}

/// Puts up the filter of calls, where nobody is told about any.
pub(super) fn filter_calls(script: &Script) -> Result<(), Failure> {
    let Some(filter) = &script.filters.silent else { return Ok(()) };
    let demand = if script.guarded.is_empty() { script.walls.seccomp } else { Demand::Required };
    demanded(demand, Step::Filter, seccomp::install(filter)).map(drop)
}

/// Whether calls are refused, found by one that would fail otherwise.
pub(super) fn refuses_calls() -> bool {
    seccomp::take_descriptor_of_nobody() == Err(Errno::PERM)
}

/// None where a wall that may be missing is.
fn demanded<T>(demand: Demand, name: Step, result: Result<T, Errno>) -> Result<Option<T>, Failure> {
    match result {
        Ok(done) => Ok(Some(done)),
        Err(_) if demand != Demand::Required => Ok(None),
        Err(errno) => step(name, Err(errno)),
    }
}

/// Whether no group gives it anything beyond its own.
fn has_no_groups() -> bool {
    const MOST: usize = 64;
    let mut groups = [0; MOST];
    let own = rustix::process::getegid().as_raw();
    sys::groups(&mut groups).is_ok_and(|all| all.iter().all(|group| *group == own))
}
