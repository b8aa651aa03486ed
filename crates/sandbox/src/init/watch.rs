//! Looks now and then at what the processes inside use together, and ends them where that is too much. The kernel's own limits are for one
//! process each.

use std::ffi::{CStr, CString};
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use offshoot_vocabulary::ResourceLimit;
use rustix::fs::CWD;
use rustix::io::Errno;

use super::findings::UNLIMITED;
use super::proc;
use super::processes::{Stat, each_process, join, number_of, of_a_thread, read, read_file};
use crate::script::Script;
use crate::spec::Limits;
use crate::sys;

/// How often it looks, and how often once half of a limit is used.
const SELDOM: Duration = Duration::from_millis(200);
const OFTEN: Duration = Duration::from_millis(20);
/// So often in a row nothing needs to be found out.
const MOST_BLIND: u32 = 5;
/// What a file in memory takes beside its bytes.
const FILE: u64 = 1024;

pub(super) struct Watch<'a> {
    limits: Limits,
    /// Directories whose files are memory.
    private: &'a [CString],
    home: Option<&'a CStr>,
    /// None where nothing is limited.
    next: Option<Instant>,
    /// How often in a row nothing could be found out.
    blind: u32,
    /// What was reached first.
    pub(super) reached: Option<ResourceLimit>,
}

/// What all processes inside use.
#[derive(Default)]
struct Used {
    processes: u64,
    memory: u64,
    cpu: Duration,
}

impl<'a> Watch<'a> {
    pub(super) fn new(script: &'a Script) -> Self {
        // Without namespaces nobody knows whose processes belong together.
        let watched = |limit: Limits| if script.bare { Limits::default() } else { limit };
        let limits = watched(script.limits);
        let Limits { processes, memory, cpu, .. } = limits;
        let limited = processes.is_some() || memory.is_some() || cpu.is_some();
        Self {
            limits,
            private: &script.private,
            home: script.home.as_deref().filter(|_| script.kept_home.is_none()),
            next: limited.then(|| Instant::now() + SELDOM),
            blind: 0,
            reached: None,
        }
    }

    /// What it holds the command to: processes, bytes of memory and milliseconds of processors.
    pub(super) fn held(&self) -> [i64; 3] {
        let Limits { processes, memory, cpu, .. } = self.limits;
        let cpu = cpu.map(|cpu| cpu.as_millis() as u64);
        [processes, memory, cpu]
            .map(|limit| limit.and_then(|limit| i64::try_from(limit).ok()).unwrap_or(UNLIMITED))
    }

    /// How long until it looks again.
    pub(super) fn patience(&self) -> Option<Duration> {
        self.next.map(|next| next.saturating_duration_since(Instant::now()))
    }

    /// Looks where it is time to, and ends everything where there is too much.
    pub(super) fn look(&mut self) {
        if self.next.is_none_or(|next| Instant::now() < next) {
            return;
        }
        let Limits { processes, memory, cpu, .. } = self.limits;
        let used = match self.used() {
            Ok(used) => {
                self.blind = 0;
                used
            }
            // Now and then something cannot be read. Whoever can never be looked at is held to nothing.
            Err(_) if self.blind < MOST_BLIND => {
                self.blind += 1;
                Used::default()
            }
            Err(_) => Used { processes: u64::MAX, memory: u64::MAX, cpu: Duration::MAX },
        };
        let shares = [
            (ResourceLimit::Processes, share(used.processes, processes)),
            (ResourceLimit::Memory, share(used.memory, memory)),
            (
                ResourceLimit::Cpu,
                share(used.cpu.as_millis() as u64, cpu.map(|cpu| cpu.as_millis() as u64)),
            ),
        ];
        if let Some((limit, share)) = shares.into_iter().find(|(_, share)| *share >= Share::All) {
            self.reached.get_or_insert(limit);
            if share == Share::More {
                let _nobody = !sys::signal_all(libc::SIGKILL);
            }
        }
        let near = shares.iter().any(|(_, share)| *share >= Share::Half);
        self.next = Some(Instant::now() + if near { OFTEN } else { SELDOM });
    }

    /// Looks once more when the command is over: one that the kernel gave no further process may have ended for that, sooner than anybody looked.
    pub(super) fn look_back(&mut self) {
        let Some(limit) = self.limits.processes else { return };
        let left = count(stat).map_or(0, |used| used.processes);
        // It was one of them itself.
        if left > 0 && left + 1 >= limit {
            self.reached.get_or_insert(ResourceLimit::Processes);
        }
    }

    fn used(&self) -> Result<Used, Errno> {
        let mut used = count(stat)?;
        let ended = sys::children_usage();
        used.cpu += Duration::from_micros(ended.user_micros + ended.system_micros);
        let Some(limit) = self.limits.memory else { return Ok(used) };
        let files = self.in_files() + in_segments();
        // What processes share was counted for each of them. To tell exactly takes longer.
        if used.memory + files > limit {
            used.memory = count(exact_memory)?.memory;
        }
        used.memory += files;
        // Buffers of sockets and files without a name are nobody's in particular. They are not to use up the machine either.
        if is_machine_used_up() {
            used.memory = u64::MAX;
        }
        Ok(used)
    }

    /// Bytes in files that are memory.
    fn in_files(&self) -> u64 {
        let private = self.private.iter().map(CString::as_c_str);
        let places = private.chain(self.home).chain([c"/dev", c"/dev/shm"]);
        let used = places.filter_map(|path| rustix::fs::statvfs(path).ok()).map(|found| {
            let blocks = found.f_blocks.saturating_sub(found.f_bfree);
            let files = found.f_files.saturating_sub(found.f_ffree);
            blocks.saturating_mul(found.f_frsize).saturating_add(files.saturating_mul(FILE))
        });
        used.fold(0, u64::saturating_add)
    }
}

/// Bytes in segments of memory that processes share by their numbers.
fn in_segments() -> u64 {
    const BYTES: usize = 15;
    let mut space = [0; 64 * 1024];
    let text = read_file(CWD, c"/proc/sysvipc/shm", &mut space).unwrap_or_default();
    let bytes = text.split(|byte| *byte == b'\n').filter_map(|line| {
        let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        words.nth(BYTES - 1).and_then(number_of)
    });
    bytes.fold(0, u64::saturating_add)
}

fn is_machine_used_up() -> bool {
    let mut space = [0; 4096];
    is_used_up(read_file(CWD, c"/proc/meminfo", &mut space).unwrap_or_default())
}

/// Whether less than a fiftieth of a machine's memory is left, as `/proc/meminfo` has it.
fn is_used_up(text: &[u8]) -> bool {
    let of = |name: &[u8]| {
        let line = text.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(name))?;
        number_of(line.trim_ascii().split(|byte| *byte == b' ').next()?)
    };
    match (of(b"MemTotal:"), of(b"MemAvailable:")) {
        (Some(total), Some(left)) => left < total / 50,
        _ => false,
    }
}

/// How much of a limit is used.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Share {
    Less,
    Half,
    All,
    More,
}

fn share(used: u64, limit: Option<u64>) -> Share {
    match limit {
        Some(limit) if used > limit => Share::More,
        Some(limit) if used == limit => Share::All,
        Some(limit) if used >= limit / 2 => Share::Half,
        _ => Share::Less,
    }
}

/// Adds up something about every process but this one. Those that end meanwhile are left out.
fn count(add: fn(BorrowedFd<'_>, &[u8], &mut Used) -> Option<()>) -> Result<Used, Errno> {
    let (mut own, mut other) = ([0; 64], [0; 64]);
    let mut used = Used::default();
    // Where no `/proc` of its own could be made, processes of others are in there too.
    let own = is_foreign().then(|| pid_namespace(CWD, b"/proc/self", &mut own)).flatten();
    let mut met = false;
    each_process(&mut |proc, name| {
        let is_this = if own.is_some() { is_self(name) } else { name == b"1" };
        met |= is_this;
        let is_inside = own.is_none_or(|own| pid_namespace(proc, name, &mut other) == Some(own));
        if is_this || !is_inside { None } else { add(proc, name, &mut used) }
    })?;
    // Where not even this process is, something else lies over `/proc`.
    if !met {
        return Err(Errno::NOENT);
    }
    Ok(used)
}

/// Whether `/proc` is that of another namespace: what it calls this process is not its number.
fn is_foreign() -> bool {
    !proc::is_own()
}

fn is_self(process: &[u8]) -> bool {
    let mut space = [0; 16];
    let length = rustix::fs::readlinkat_raw(CWD, c"/proc/self", &mut space);
    length.is_ok_and(|length| space.get(..length) == Some(process))
}

/// The name of the pid namespace of a process.
fn pid_namespace<'s>(
    proc: BorrowedFd<'_>,
    process: &[u8],
    space: &'s mut [u8; 64],
) -> Option<&'s [u8]> {
    let mut path = [0; 64];
    let path = join(process, b"ns/pid", &mut path)?;
    let length = rustix::fs::readlinkat_raw(proc, path, &mut *space).ok()?;
    space.get(..length)
}

/// Threads, memory and time of one process.
fn stat(proc: BorrowedFd<'_>, process: &[u8], used: &mut Used) -> Option<()> {
    let mut space = [0; 1024];
    let stat = Stat::read(proc, process, &mut space)?;
    let ticks: u64 = (14..=17).filter_map(|number| stat.field(number)).sum();
    let (threads, mut pages) = (stat.field(20)?, stat.field(24)?);
    used.processes += threads;
    if pages == 0 && threads > 1 {
        // Its first thread has ended, and the memory belongs to the others.
        const RESIDENT: usize = 1;
        let mut space = [0; 128];
        let text = of_a_thread(proc, process, b"statm", &mut space).unwrap_or_default();
        pages = text.split(|byte| *byte == b' ').nth(RESIDENT).and_then(number_of).unwrap_or(0);
    }
    used.memory += pages * sys::page_size();
    used.cpu += Duration::from_millis(ticks * 1000 / sys::ticks_per_second());
    Some(())
}

/// The memory of one process, what it shares by halves, thirds and so on.
fn exact_memory(proc: BorrowedFd<'_>, process: &[u8], used: &mut Used) -> Option<()> {
    let mut space = [0; 2048];
    let text = match read(proc, process, b"smaps_rollup", &mut space) {
        Some(text) if !text.is_empty() => text,
        _ => of_a_thread(proc, process, b"smaps_rollup", &mut space)?,
    };
    let line = text.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(b"Pss:"))?;
    let kib = number_of(line.trim_ascii().split(|byte| *byte == b' ').next()?)?;
    used.memory += kib * 1024;
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_is_used_up_when_hardly_anything_is_left() {
        let text = |left: u64| {
            format!("MemTotal:       1000000 kB\nMemFree: 5 kB\nMemAvailable:  {left} kB\n")
        };
        assert!(is_used_up(text(19_999).as_bytes()));
        assert!(!is_used_up(text(20_000).as_bytes()));
        assert!(!is_used_up(b"MemTotal: 5 kB\n") && !is_used_up(b""));
    }
}
