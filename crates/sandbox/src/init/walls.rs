//! Putting up the kernel's walls around the process that becomes a command.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, AsRawFd};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::descriptors::RULESET;
use super::step::{Failure, Step, step};
use crate::in_force::{Findings, Restriction};
use crate::script::Script;
use crate::sys::landlock::{self, access, scope};
use crate::sys::{self, keys, seccomp};
use offshoot_vocabulary::Demand;

/// Where everybody writes: devices, and what belongs to a process itself.
const ALWAYS_WRITTEN: [&CStr; 2] = [c"/dev", c"/proc"];
/// The first version of Landlock's rules that lets files move between directories.
const MOVES: i64 = 2;

/// Makes the rules of Landlock, when all mounts are in place, and keeps them for every command.
pub(super) fn make_ruleset(script: &Script) -> Result<(), Failure> {
    let made = ruleset(script);
    demanded(script.walls.landlock, Step::Landlock, made).map(drop)
}

fn ruleset(script: &Script) -> Result<(), Errno> {
    let (files, scopes) = handled(script, landlock::version()?);
    if files | scopes == 0 {
        return Err(Errno::OPNOTSUPP);
    }
    let ruleset = landlock::create(files, scopes)?;
    if files != 0 {
        let home = script.home.iter().map(CString::as_c_str);
        let writable = script.writable.iter().map(CString::as_c_str);
        for path in writable.chain(home).chain(ALWAYS_WRITTEN) {
            let flags = OFlags::PATH | OFlags::CLOEXEC;
            match rustix::fs::open(path, flags, Mode::empty()) {
                Ok(place) => landlock::allow(ruleset.as_fd(), place.as_fd(), files)?,
                Err(Errno::NOENT) => {}
                Err(errno) => return Err(errno),
            }
        }
    }
    sys::duplicate(ruleset.as_raw_fd(), RULESET, true)
}

/// What a version of the rules can refuse, of files and of others.
fn handled(script: &Script, version: i64) -> (u64, u64) {
    let mut files = access::WRITE_FILE | access::ENTRIES | access::REFER;
    for (since, right) in [(3, access::TRUNCATE), (5, access::IOCTL_DEV)] {
        if version >= since {
            files |= right;
        }
    }
    if version < MOVES || script.walls.nested_namespaces {
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
    if walls.landlock != Demand::Off {
        let held = landlock::restrict(sys::borrow(RULESET));
        let held = demanded(walls.landlock, Step::Landlock, held)?.is_some();
        const INIT: i32 = 1;
        let stands = held && (landlock::guards_files() || landlock::guards_from(INIT));
        standing.findings.add(Restriction::Landlock, stands);
        standing.landlock = if stands { landlock::version().unwrap_or(0) } else { 0 };
    }
    Ok(standing)
}

/// Puts up the filter of calls, where nobody is told about any.
pub(super) fn filter_calls(script: &Script) -> Result<(), Failure> {
    let Some(filter) = &script.filters.silent else { return Ok(()) };
    demanded(script.walls.seccomp, Step::Filter, seccomp::install(filter)).map(drop)
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
