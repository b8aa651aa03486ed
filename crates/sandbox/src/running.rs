//! A command that runs, as its caller sees it.

mod ending;
mod feed;
mod terminal;

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

pub(crate) use feed::Feed;

pub(crate) use self::ending::Ending;
use self::terminal::Terminal;

use crate::broker::Brokers;
use crate::cancel::{Cancel, Requests};
use crate::error::{Result, SandboxError, system};
use crate::in_force::InForce;
use crate::keeper::Keeper;
use crate::message::{Buffer, Kind, Message, NUMBERS};
use crate::proxy::NetworkSockets;
use crate::room::{Room, Stream};
use crate::signals::{Signal, Signals};
use crate::spec::Limits;
use crate::sys;
use offshoot_vocabulary::ResourceLimit;

/// Who is told what a command prints, as it prints it.
pub trait Observer {
    /// Something was printed. This must not wait for anybody: as long as it does, nobody ends the command.
    fn output(&mut self, stream: Stream, bytes: &[u8]);

    /// The room that there is for output that was not read yet; none where there always is some.
    fn room(&self) -> Option<Arc<Room>> {
        None
    }

    /// The command is over, and so many others who joined it are still there; their end is waited for.
    fn waiting(&mut self, others: u64) {
        let _ = others;
    }
}

/// How long a command may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeout {
    /// When it is asked to end; never where there is none.
    pub after: Option<Duration>,
    /// How long after that it is killed.
    pub grace: Duration,
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// By itself, with this code.
    Exited(i32),
    /// By this signal.
    Signaled(i32),
}

/// What a command and its children used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Time in its own code.
    pub user: Duration,
    /// Time in the kernel.
    pub system: Duration,
    /// The most memory that one process had, in bytes.
    pub max_resident: u64,
    /// Bytes that it wrote to file systems on disks, as the kernel counts them: in whole pages, when they are first made to
    /// differ from what is on the disk.
    pub written: u64,
    /// How many processes and threads it started, itself included.
    pub processes: u64,
}

/// A command that has ended, with all its children.
#[derive(Debug)]
pub struct Ended {
    /// How.
    pub status: Status,
    /// It took too long and was ended.
    pub timed_out: bool,
    /// The caller was interrupted, and so it was ended.
    pub interrupted: bool,
    /// How many processes it left behind, which were ended.
    pub left_behind: u64,
    /// From its start to the end of the last process.
    pub duration: Duration,
    /// What it used.
    pub usage: Usage,
    /// The limit that it reached, for which it was ended or could not go on.
    pub limit_reached: Option<ResourceLimit>,
    /// Somebody outside has a descriptor to its files, and may still write.
    pub busy: bool,
    /// How often it tried to reach something beyond the loopback interface and had no network.
    pub unreached: u64,
    /// The init.
    pub keeper: Keeper,
}

/// A command that runs. Dropped, it is killed with all its children.
pub struct Running {
    /// What confines it.
    pub in_force: InForce,
    /// Its way to a proxy, to be served while it runs.
    pub sockets: Option<NetworkSockets>,
    pidfd: Option<OwnedFd>,
    socket: Option<OwnedFd>,
    outputs: [Option<OwnedFd>; 2],
    feed: Option<Feed>,
    terminal: Option<Terminal>,
    /// Who renames directories for it.
    pub(crate) brokers: Brokers,
    buffer: Buffer,
    /// The room that its observer has for output.
    room: Option<Arc<Room>>,
    started: Instant,
    /// Somebody outside wants it to end.
    asked: bool,
}

impl std::fmt::Debug for Running {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Running").field("in_force", &self.in_force).finish_non_exhaustive()
    }
}

impl Running {
    pub(crate) fn new(
        pidfd: Option<OwnedFd>,
        socket: OwnedFd,
        outputs: [Option<OwnedFd>; 2],
        feed: Option<Feed>,
    ) -> Self {
        let in_force = InForce::nothing();
        let started = Instant::now();
        let (socket, terminal) = (Some(socket), None);
        let (brokers, buffer) = (Brokers::default(), Buffer::new());
        Self {
            in_force,
            sockets: None,
            pidfd,
            socket,
            outputs,
            feed,
            terminal,
            brokers,
            buffer,
            room: None,
            started,
            asked: false,
        }
    }

    pub(crate) fn begin(&mut self) {
        self.started = Instant::now();
    }

    pub(crate) fn say(&mut self, kind: Kind) -> Result<()> {
        let socket = self.socket.as_ref().ok_or(SandboxError::Lost)?;
        let sent = self.buffer.send(socket.as_fd(), kind, &[], b"", None);
        sent.map_err(|_| SandboxError::Lost)
    }

    /// Says something and gives a descriptor along.
    pub(crate) fn hand_over(
        &mut self,
        kind: Kind,
        number: i64,
        descriptor: BorrowedFd<'_>,
    ) -> Result<(), Errno> {
        let socket = self.socket.as_ref().ok_or(Errno::NOTCONN)?;
        self.buffer.send(socket.as_fd(), kind, &[number], b"", Some(descriptor))
    }

    pub(crate) fn hear(&mut self) -> Result<Option<Message<'_>>> {
        let socket = self.socket.as_ref().ok_or(SandboxError::Lost)?;
        self.buffer.receive(socket.as_fd()).map_err(system("cannot hear from the sandbox"))
    }

    /// Passes output on until the command and all its children have ended. It is asked to end when its time is over, when a
    /// signal asks for it, or when the caller's terminal is gone.
    pub fn drive(
        mut self,
        timeout: &Timeout,
        observer: &mut dyn Observer,
        requests: Requests<'_>,
    ) -> Result<Ended> {
        let (ended, ending) = self.until_ended(timeout, observer, requests)?;
        self.finish(ended, &ending)
    }

    /// The same, up to what the init says at the end.
    pub(crate) fn until_ended(
        &mut self,
        timeout: &Timeout,
        observer: &mut dyn Observer,
        requests: Requests<'_>,
    ) -> Result<([i64; NUMBERS], Ending)> {
        let mut ending = Ending::new(timeout, self.started);
        self.room = observer.room();
        loop {
            let ready = self.wait(ending.until(), requests)?;
            if ready.has(Source::Room) {
                self.look_at_room();
            }
            self.pass_on(&ready, observer);
            if ready.has(Source::Socket)
                && let Some(ended) = self.ended(observer)?
            {
                self.drain(observer);
                return Ok((ended, ending));
            }
            if self.has_lost_terminal() {
                self.hang_up();
                ending.hang_up(Instant::now());
            }
            if ready.has(Source::Signals) {
                self.obey(requests.signals, &mut ending, observer)?;
            }
            if ready.has(Source::Cancel)
                && let Some(kind) =
                    ending.cancel(requests.cancel.map_or(0, Cancel::take), Instant::now())
            {
                self.say(kind)?;
            }
            if std::mem::take(&mut self.asked)
                && let Some(kind) = ending.interrupt(Instant::now())
            {
                self.say(kind)?;
            }
            if let Some(kind) = ending.due(Instant::now()) {
                self.say(kind)?;
            }
        }
    }

    /// Does what signals ask for.
    fn obey(
        &mut self,
        signals: Option<&Signals>,
        ending: &mut Ending,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        while let Some(signal) = signals.and_then(Signals::next) {
            let kind = match signal {
                Signal::Resized => {
                    self.follow_size();
                    None
                }
                Signal::FileTooLarge => None,
                Signal::HangUp if self.terminal.is_some() => {
                    self.read_once(0, Stream::Stdout, observer);
                    self.hang_up();
                    ending.hang_up(Instant::now());
                    None
                }
                Signal::HangUp if ending.has_begun() => None,
                Signal::HangUp | Signal::Interrupt => ending.interrupt(Instant::now()),
                Signal::Quit => ending.quit(),
            };
            if let Some(kind) = kind {
                self.say(kind)?;
            }
        }
        Ok(())
    }

    /// Waits until something can be done.
    fn wait(&mut self, until: Option<Instant>, requests: Requests<'_>) -> Result<Ready> {
        let mut sources = Vec::with_capacity(8);
        let mut events = Vec::with_capacity(8);
        let mut add = |source, event| {
            sources.push(source);
            events.push(event);
        };
        let socket = self.socket.as_ref().ok_or(SandboxError::Lost)?;
        add(Source::Socket, PollFd::new(socket, PollFlags::IN));
        let has_room = |stream| self.room.as_ref().is_none_or(|room| room.is_left(stream));
        let outputs = [(Source::Stdout, Stream::Stdout), (Source::Stderr, Stream::Stderr)];
        for ((source, stream), output) in outputs.into_iter().zip(&self.outputs) {
            if let Some(output) = output.as_ref().filter(|_| has_room(stream)) {
                add(source, PollFd::new(output, PollFlags::IN));
            }
        }
        if let Some(room) = &self.room {
            add(Source::Room, PollFd::new(room, PollFlags::IN));
        }
        if let Some(signals) = requests.signals {
            add(Source::Signals, PollFd::new(signals, PollFlags::IN));
        }
        if let Some(cancel) = requests.cancel {
            add(Source::Cancel, PollFd::new(cancel, PollFlags::IN));
        }
        if let Some(feed) = &self.feed {
            add(Source::Feed, feed.event());
            add(Source::FeedClosed, feed.closed());
        }
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        let timeout = left.map(|left| Timespec {
            tv_sec: left.as_secs().min(i64::MAX as u64) as i64,
            tv_nsec: left.subsec_nanos().into(),
        });
        match poll(&mut events, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(system("cannot wait for the sandbox")(errno)),
        }
        let ready = sources.into_iter().zip(&events);
        Ok(Ready(ready.filter(|(_, event)| !event.revents().is_empty()).map(|(s, _)| s).collect()))
    }

    /// Closes what nobody reads any more. Whether there is room now is asked before the next wait.
    fn look_at_room(&mut self) {
        let Some(room) = &self.room else { return };
        room.seen();
        for (at, stream) in [Stream::Stdout, Stream::Stderr].into_iter().enumerate() {
            if room.is_closed(stream) {
                self.outputs[at] = None;
            }
        }
    }

    /// Passes on what was printed, and gives the command more to read.
    fn pass_on(&mut self, ready: &Ready, observer: &mut dyn Observer) {
        for (source, at, stream) in
            [(Source::Stdout, 0, Stream::Stdout), (Source::Stderr, 1, Stream::Stderr)]
        {
            if ready.has(source) {
                self.read_once(at, stream, observer);
            }
        }
        let pump = |feed: &mut Feed| !ready.has(Source::Feed) || feed.pump();
        if ready.has(Source::FeedClosed) || !self.feed.as_mut().is_none_or(pump) {
            self.feed = None;
        }
    }

    /// Reads what is there; closes the output where it has ended. False where there was nothing.
    fn read_once(&mut self, at: usize, stream: Stream, observer: &mut dyn Observer) -> bool {
        let mut bytes = [0u8; 1 << 16];
        let Some(output) = &self.outputs[at] else { return false };
        match rustix::io::read(output, &mut bytes) {
            Ok(0) => self.outputs[at] = None,
            Ok(got) => {
                if let Some(room) = &self.room {
                    room.take(stream, got);
                }
                observer.output(stream, &bytes[..got]);
                return true;
            }
            Err(Errno::INTR) => return true,
            Err(Errno::AGAIN) => {}
            Err(_) => self.outputs[at] = None,
        }
        false
    }

    /// Reads what is left in the pipes, which is little, whether there is room or not. Nobody inside writes any more, and whoever got hold of one outside is not waited
    /// for.
    fn drain(&mut self, observer: &mut dyn Observer) {
        for (at, stream) in [Stream::Stdout, Stream::Stderr].into_iter().enumerate() {
            if let Some(output) = &self.outputs[at] {
                let unblocked = rustix::io::ioctl_fionbio(output, true).is_ok();
                while unblocked && self.read_once(at, stream, observer) {}
            }
        }
    }

    /// What the init says at the end; none where it said something else.
    fn ended(&mut self, observer: &mut dyn Observer) -> Result<Option<[i64; NUMBERS]>> {
        let message = self.hear()?.ok_or(SandboxError::Lost)?;
        match (message.kind, message.descriptor) {
            (Kind::Ended, _) => return Ok(Some(message.numbers)),
            (Kind::Quiet, _) => self.let_go()?,
            (Kind::Asked, _) => self.asked = true,
            // Somebody joined, and renames directories too.
            (Kind::Listener, Some(listener)) => self.brokers.start(listener)?,
            (Kind::Waiting, _) => {
                let others = message.numbers[0].unsigned_abs();
                // What is typed now is for nobody inside.
                (self.terminal, self.feed) = (None, None);
                self.read_rest(observer);
                observer.waiting(others);
            }
            _ => {}
        }
        Ok(None)
    }

    /// Shows what the terminal of a command that is over still holds.
    fn read_rest(&mut self, observer: &mut dyn Observer) {
        while self.read_once(0, Stream::Stdout, observer) {}
    }

    /// Nobody is left inside: what the broker still does is finished, and the workspace can be taken down.
    fn let_go(&mut self) -> Result<()> {
        self.brokers.finish();
        self.say(Kind::Leave)
    }

    fn finish(
        mut self,
        [
            status,
            left_behind,
            user,
            system,
            resident,
            busy,
            blocks,
            processes,
            unreached,
            reached,
            ..,
        ]: [i64; NUMBERS],
        ending: &Ending,
    ) -> Result<Ended> {
        let (socket, pidfd) = match (self.socket.take(), self.pidfd.take()) {
            (Some(socket), Some(pidfd)) => (socket, pidfd),
            _ => return Err(SandboxError::Lost),
        };
        let micros = |number: i64| Duration::from_micros(number.unsigned_abs());
        let status = Status::decode(status as i32);
        let reached = ResourceLimit::ALL.iter().find(|limit| **limit as i64 == reached).copied();
        let asked = &self.in_force.limits;
        Ok(Ended {
            limit_reached: reached.or_else(|| status.limit(asked)),
            status,
            timed_out: ending.timed_out,
            interrupted: ending.interrupted,
            left_behind: left_behind.unsigned_abs(),
            duration: self.started.elapsed(),
            usage: Usage {
                user: micros(user),
                system: micros(system),
                max_resident: resident.unsigned_abs() * 1024,
                written: blocks.unsigned_abs() * 512,
                processes: processes.unsigned_abs(),
            },
            busy: busy != 0,
            unreached: unreached.unsigned_abs(),
            keeper: Keeper::new(socket, pidfd),
        })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.socket = None;
        if let Some(pidfd) = &self.pidfd {
            // With the caller's end of the socket gone the init ends, and the kernel ends everything with it.
            let _reaped_elsewhere = sys::wait_pidfd(pidfd.as_fd()).is_err();
        }
    }
}

impl Status {
    /// The limit whose signal ended it, or, as shells tell it, what it ran.
    fn limit(self, limits: &Limits) -> Option<ResourceLimit> {
        let signal = match self {
            Self::Signaled(signal) => signal,
            Self::Exited(code) => code - 128,
        };
        match signal {
            libc::SIGXFSZ if limits.file_size.is_some() => Some(ResourceLimit::FileSize),
            libc::SIGXCPU if limits.cpu.is_some() => Some(ResourceLimit::Cpu),
            _ => None,
        }
    }

    /// From what `wait` says.
    pub(crate) fn decode(status: i32) -> Self {
        match status & 0x7f {
            0 => Self::Exited(status >> 8 & 0xff),
            signal => Self::Signaled(signal),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    Socket,
    Stdout,
    Stderr,
    Room,
    Signals,
    Cancel,
    Feed,
    FeedClosed,
}

/// Where something can be done.
struct Ready(Vec<Source>);

impl Ready {
    fn has(&self, source: Source) -> bool {
        self.0.contains(&source)
    }
}
