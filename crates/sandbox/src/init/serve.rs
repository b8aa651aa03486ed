//! The life of the init while the command runs, and after.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use rustix::mount::{UnmountFlags, unmount};

use super::bare;
use super::command::{Started, Told};
use super::descriptors::socket;
use super::guests::{Guests, PLACES};
use super::mounts::Made;
use super::network;
use super::terminal::Terminal;
use super::watch::Watch;
use crate::message::{Buffer, Kind};
use crate::script::Script;
use crate::sys::{self, Stack};

/// How long what outlives the command is let be: it may be about to end by itself.
const LINGER: Duration = Duration::from_millis(200);
/// How long it may take to end when asked to.
const GRACE: Duration = Duration::from_millis(500);
/// How often what is left is killed again: something may be making new processes all the time.
const AGAIN: Duration = Duration::from_millis(10);
/// Paths are opened in parts, since the kernel takes at most 4,096 bytes at once.
const LONGEST_PART: usize = 3_800;

pub(super) struct Serving<'a> {
    pub(super) script: &'a Script,
    pub(super) buffer: &'a mut Buffer,
    pub(super) stack: &'a mut Stack,
    pub(super) signals: OwnedFd,
    pub(super) made: Made,
    /// What is known about the command.
    pub(super) told: Told,
    /// Those who joined.
    pub(super) guests: Guests<'a>,
    /// What all of them may use.
    pub(super) watch: Watch<'a>,
}

/// The command is over: how, and how many others had to be ended.
struct Over {
    status: i32,
    ended: i64,
}

impl Serving<'_> {
    /// Until the caller lets go.
    pub(super) fn serve(&mut self, started: Started, terminal: Option<Terminal>) {
        // One end stays open as long as the init lives: what a terminal still holds when the last process has let go of it
        // is read by the caller like everything before, and the caller is never told of an end that is none.
        let (master, _slave) = terminal.map(|both| (both.master, both.slave)).unzip();
        let sent = match started {
            Started::Running(_) => {
                let unheard = self.told.unheard.map_or(0, Errno::raw_os_error);
                let caches = self.made.caches as i64;
                let findings = self.told.findings.and(self.made.findings).number();
                let [files, processes, file_size] = self.told.limits;
                let [watched_processes, memory, cpu] = self.watch.held();
                let numbers = [
                    0,
                    self.device() as i64,
                    unheard.into(),
                    caches,
                    findings,
                    files,
                    processes,
                    file_size,
                    memory,
                    self.told.landlock,
                    watched_processes,
                    cpu,
                    self.told.tmpfs,
                    self.made.inotify.into(),
                ];
                let master = master.as_ref().map(AsFd::as_fd);
                let layers = self.made.devices.as_flattened();
                self.buffer.send(socket(), Kind::Started, &numbers, layers, master)
            }
            Started::NotExecuted(errno) => {
                self.send(Kind::NotExecuted, &[errno.raw_os_error().into()])
            }
        };
        if sent.is_err() {
            return;
        }
        // Only the caller has this end from now on: when it lets go, the terminal hangs up.
        drop(master);
        let over = match started {
            Started::Running(pid) => self.until_over(pid),
            Started::NotExecuted(_) => Some(Over { status: 127 << 8, ended: 0 }),
        };
        let Some(over) = over else { return };
        self.guests.close();
        let usage = sys::children_usage();
        let bare = self.script.bare;
        let processes = if bare { 0 } else { processes_started().unwrap_or(0) };
        let unreached = if bare { 0 } else { network::unreached(self.script.network) };
        if self.await_leave().is_err() {
            return;
        }
        let busy = self.leave().err().map_or(0, Errno::raw_os_error);
        let numbers = [
            over.status.into(),
            over.ended,
            usage.user_micros as i64,
            usage.system_micros as i64,
            usage.resident_kib as i64,
            busy.into(),
            usage.written_blocks as i64,
            processes,
            unreached,
            self.watch.reached.map_or(-1, |limit| limit as i64),
        ];
        if self.send(Kind::Ended, &numbers).is_ok() {
            self.open_for_caller();
        }
    }

    fn send(&mut self, kind: Kind, numbers: &[i64]) -> Result<(), Errno> {
        self.buffer.send(socket(), kind, numbers, b"", None)
    }

    /// Reaps until no process is left; none where the caller is gone, which ends everything.
    fn until_over(&mut self, command: i32) -> Option<Over> {
        let mut over: Option<Over> = None;
        let mut ending = Ending::Not;
        let mut told = false;
        loop {
            if let Err(Errno::CHILD) = self.reap(command, &mut over, ending) {
                return over.or(Some(Over { status: 0, ended: 0 }));
            }
            if over.is_some() && !told && self.guests.running() > 0 {
                told = true;
                let numbers = [self.guests.running()];
                if self.send(Kind::Waiting, &numbers).is_err() {
                    return None;
                }
            }
            if over.is_some() && matches!(ending, Ending::Not) {
                self.watch.look_back();
            }
            // Who joined is not left behind: what they do is a part of the whole.
            ending = ending.next(over.is_some() && self.guests.running() == 0, self.script);
            if !matches!(ending, Ending::Not) {
                self.guests.close();
            }
            let patience = [ending.patience(), self.watch.patience()].into_iter().flatten().min();
            if self.wait(patience) == Wait::Gone {
                return None;
            }
            self.watch.look();
        }
    }

    fn reap(&mut self, command: i32, over: &mut Option<Over>, ending: Ending) -> Result<(), Errno> {
        while let Some(reaped) = sys::reap()? {
            if self.guests.reaped(reaped.pid, reaped.status, self.buffer) {
                continue;
            }
            match over {
                // What ended before it was asked to did so by itself.
                Some(over) if ending.has_asked() => over.ended += 1,
                None if reaped.pid == command => {
                    *over = Some(Over { status: reaped.status, ended: 0 });
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Waits for a child to end or for the caller to say something, and does what it says.
    fn wait(&mut self, patience: Option<Duration>) -> Wait {
        let mut ready = [false; 2 + PLACES];
        let timeout = patience.map(|patience| Timespec {
            tv_sec: patience.as_secs() as i64,
            tv_nsec: patience.subsec_nanos().into(),
        });
        {
            let guests = self.guests.events();
            let mut events: [PollFd<'_>; 2 + PLACES] = std::array::from_fn(|at| match at {
                0 => PollFd::from_borrowed_fd(socket(), PollFlags::IN),
                1 => PollFd::new(&self.signals, PollFlags::IN),
                at => guests[at - 2].clone(),
            });
            match poll(&mut events, timeout.as_ref()) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(_) => return Wait::Gone,
            }
            for (ready, event) in ready.iter_mut().zip(&events) {
                *ready = !event.revents().is_empty();
            }
        }
        let [said, ended, guests @ ..] = ready;
        if ended {
            let mut report = [0u8; 128];
            let got = rustix::io::read(&self.signals, &mut report).is_ok();
            if got
                && asks_from_outside(&report, self.script.bare)
                && self.send(Kind::Asked, &[]).is_err()
            {
                return Wait::Gone;
            }
        }
        for (place, ready) in guests.into_iter().enumerate() {
            if ready {
                self.guests.serve(place, self.script, self.buffer, self.stack);
            }
        }
        if !said {
            return Wait::Something;
        }
        match self.buffer.receive(socket()) {
            Ok(Some(message)) => {
                match message.kind {
                    Kind::Terminate => {
                        bare::signal_all(self.script, libc::SIGTERM);
                        self.guests.hang_up();
                    }
                    Kind::Kill => bare::signal_all(self.script, libc::SIGKILL),
                    _ => {}
                }
                Wait::Something
            }
            _ => Wait::Gone,
        }
    }

    /// The device number of the workspace, by which the caller knows what lies on it.
    fn device(&self) -> u64 {
        rustix::fs::stat(self.script.target.as_c_str()).map_or(0, |found| found.st_dev)
    }

    /// Waits until the caller has nothing of the workspace open, where it may have.
    fn await_leave(&mut self) -> Result<(), Errno> {
        if !self.script.broker || self.told.unheard.is_some() {
            return Ok(());
        }
        self.send(Kind::Quiet, &[])?;
        loop {
            match self.buffer.receive(socket())? {
                Some(message) if message.kind == Kind::Leave => return Ok(()),
                // It may have been asked to end what has ended meanwhile.
                Some(_) => {}
                None => return Err(Errno::NOTCONN),
            }
        }
    }

    /// Takes the workspace down. Where that fails somebody outside still has a descriptor to it.
    fn leave(&self) -> Result<(), Errno> {
        if self.script.bare {
            return Ok(());
        }
        let covered = self.script.covered.iter().map(CString::as_c_str);
        let folders = self.script.folders.iter().map(|folder| folder.target.as_c_str());
        // All of them, also where somebody holds one.
        covered
            .chain(folders)
            .chain([self.script.target.as_c_str()])
            .map(take_down)
            .fold(Ok(()), Result::and)
    }

    fn open_for_caller(&mut self) {
        let Made { upper, home_upper, beside, shown_uppers, temporary, .. } = &self.made;
        let tops = [upper, home_upper, beside, shown_uppers, temporary];
        open_for_caller(tops.map(Option::as_ref), self.buffer);
    }
}

/// Takes a mount down. A process that another thread of the caller starts has the caller's descriptors until it closes them or
/// executes a program, so one that is busy may be free in a moment.
fn take_down(path: &CStr) -> Result<(), Errno> {
    const STEP: Timespec = Timespec { tv_sec: 0, tv_nsec: 2_000_000 };
    const STEPS: u32 = 250;
    for _ in 0..STEPS {
        match unmount(path, UnmountFlags::NOFOLLOW) {
            Err(Errno::BUSY) => drop(poll(&mut [], Some(&STEP))),
            other => return other,
        }
    }
    unmount(path, UnmountFlags::NOFOLLOW)
}

/// Opens what the caller asks for, until it lets go: below these directories, in the order of [`Top`](crate::message::Top).
pub(super) fn open_for_caller(tops: [Option<&OwnedFd>; 5], buffer: &mut Buffer) {
    while let Ok(Some(message)) = buffer.receive(socket()) {
        let opened = match message.kind {
            Kind::Open => {
                let flags = OFlags::from_bits_retain(message.numbers[0] as u32);
                let top = tops.get(message.numbers[1] as usize).copied().flatten();
                open_below(top, message.bytes, flags)
            }
            _ => continue,
        };
        let (errno, descriptor) = match &opened {
            Ok(descriptor) => (0, Some(descriptor.as_fd())),
            Err(errno) => (errno.raw_os_error(), None),
        };
        if buffer.send(socket(), Kind::Opened, &[errno.into()], b"", descriptor).is_err() {
            return;
        }
    }
}

/// How far the end of what outlives the command is, and since when.
#[derive(Clone, Copy)]
enum Ending {
    Not,
    Lingering(Instant),
    Asked(Instant),
    Killed,
}

impl Ending {
    /// Asks and kills when it is time to.
    fn next(self, over: bool, script: &Script) -> Self {
        match self {
            Self::Not if over => Self::Lingering(Instant::now()),
            Self::Lingering(since) if since.elapsed() >= LINGER => {
                bare::signal_all(script, libc::SIGTERM);
                Self::Asked(Instant::now())
            }
            Self::Asked(since) if since.elapsed() < GRACE => self,
            Self::Asked(_) | Self::Killed => {
                bare::signal_all(script, libc::SIGKILL);
                Self::Killed
            }
            Self::Not | Self::Lingering(_) => self,
        }
    }

    /// How long to wait for the next child to end.
    fn patience(self) -> Option<Duration> {
        match self {
            Self::Not => None,
            Self::Lingering(since) => Some(LINGER.saturating_sub(since.elapsed())),
            Self::Asked(since) => Some(GRACE.saturating_sub(since.elapsed())),
            Self::Killed => Some(AGAIN),
        }
    }

    fn has_asked(self) -> bool {
        matches!(self, Self::Asked(_) | Self::Killed)
    }
}

#[derive(PartialEq, Eq)]
enum Wait {
    Something,
    Gone,
}

/// Whether what the kernel says about a signal is that somebody outside wants the command to end: senders whom this namespace
/// does not know have no number in it. What the command sends is its own affair. Without namespaces everybody has a number, and Landlock keeps the command
/// from signalling this process.
fn asks_from_outside(report: &[u8; 128], bare: bool) -> bool {
    const CODE: usize = 8;
    const SENDER: usize = 12;
    let number = |at: usize| report[at..].first_chunk().map(|bytes| i32::from_ne_bytes(*bytes));
    // Whoever writes the report of a signal by themselves can write any sender into it, and not that it was a plain one.
    number(0) == Some(libc::SIGTERM)
        && number(CODE) == Some(libc::SI_USER)
        && (bare || number(SENDER) == Some(0))
}

/// How many processes and threads this namespace has had beside the init. Their numbers go up from 2, and the last one given
/// is the last word of `/proc/loadavg`.
fn processes_started() -> Option<i64> {
    let mut text = [0u8; 128];
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let file = rustix::fs::open(c"/proc/loadavg", flags, Mode::empty()).ok()?;
    let length = rustix::io::read(&file, &mut text).ok()?;
    let digits = text[..length].trim_ascii().rsplit(|byte| *byte == b' ').next()?;
    let last: i64 = std::str::from_utf8(digits).ok()?.parse().ok()?;
    Some(last - 1)
}

/// Opens a path of any length below a directory, following no link.
fn open_below(top: Option<&OwnedFd>, path: &[u8], flags: OFlags) -> Result<OwnedFd, Errno> {
    let top = top.ok_or(Errno::BADF)?;
    let mut held: Option<OwnedFd> = None;
    let mut rest = path;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    loop {
        let at = held.as_ref().unwrap_or(top);
        let last = rest.len() <= LONGEST_PART;
        let end = match last {
            true => rest.len(),
            false => {
                let slash = rest[..LONGEST_PART].iter().rposition(|byte| *byte == b'/');
                slash.ok_or(Errno::NAMETOOLONG)?
            }
        };
        let mut name = [0u8; LONGEST_PART + 2];
        let part = if rest.is_empty() { &b"."[..] } else { &rest[..end] };
        name[..part.len()].copy_from_slice(part);
        let name = CStr::from_bytes_until_nul(&name).map_err(|_| Errno::INVAL)?;
        let flags = match last {
            true => flags | OFlags::NOFOLLOW | OFlags::CLOEXEC,
            false => OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC,
        };
        let opened = rustix::fs::openat2(at, name, flags, Mode::empty(), resolve)?;
        if last {
            return Ok(opened);
        }
        held = Some(opened);
        rest = &rest[end + 1..];
    }
}
