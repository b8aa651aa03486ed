//! Writes what a command prints, for readers who may take their time.
//!
//! Threads of their own do that: whoever watches the command has to be there when its time is over or somebody wants it to end. The
//! command waits where its readers do not, because there is room for a little only.

use std::collections::VecDeque;
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use offshoot_engine::exec::{Room, Stream};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// How much waits to be written; a pipe of the kernel has as much.
const WAITING: usize = 1 << 16;
/// How often somebody who waits for all to be written looks whether that is still wanted.
const LOOK: Duration = Duration::from_millis(20);

/// Something to write.
pub(super) struct Piece {
    /// What the command printed it to.
    pub(super) stream: Stream,
    /// Where it goes.
    pub(super) to: Stream,
    pub(super) bytes: Vec<u8>,
    /// How many bytes of the command's output it stands for.
    pub(super) takes: usize,
}

/// Writes what it is given, in order.
pub(super) struct Writer {
    room: Arc<Room>,
    /// One for standard output and one for standard error: who does not read the one may read the other. Where both lead to the same
    /// place there is one for both, so that the order is right.
    lanes: Vec<Lane>,
}

/// What goes to one place.
struct Lane {
    shared: Arc<Shared>,
    started: bool,
}

struct Shared {
    room: Arc<Room>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Piece>,
    /// The thread writes something that is not among them any more.
    writes: bool,
    /// At a terminal, which is gone where it cannot be written to.
    terminal: bool,
    /// Why some of it could not be written.
    failed: Option<io::Error>,
}

impl Writer {
    pub(super) fn new() -> Result<Self, Errno> {
        let room = Arc::new(Room::new(WAITING)?);
        let count = if is_one_place() { 1 } else { 2 };
        let lanes = (0..count).map(|_| Lane::new(&room)).collect();
        Ok(Self { room, lanes })
    }

    /// The room for what the command prints.
    pub(super) fn room(&self) -> Arc<Room> {
        Arc::clone(&self.room)
    }

    /// What is written from now on goes to a terminal.
    pub(super) fn at_terminal(&mut self) {
        self.lanes.iter().for_each(|lane| lane.shared.lock().terminal = true);
    }

    /// Has something written.
    pub(super) fn write(&mut self, piece: Piece) {
        let last = self.lanes.len() - 1;
        self.lanes[last.min(piece.to as usize)].write(piece);
    }

    /// Waits until all is written, for as long as that is wanted; whether it is.
    pub(super) fn settle(&self, mut wanted: impl FnMut() -> bool) -> bool {
        self.lanes.iter().all(|lane| lane.shared.settle(&mut wanted))
    }

    /// Why some of it could not be written.
    pub(super) fn failed(&self) -> Option<io::Error> {
        self.lanes.iter().find_map(|lane| lane.shared.lock().failed.take())
    }
}

impl Lane {
    fn new(room: &Arc<Room>) -> Self {
        let room = Arc::clone(room);
        let shared = Shared { room, state: Mutex::default(), changed: Condvar::new() };
        Self { shared: Arc::new(shared), started: false }
    }

    /// Has something written. A command that prints nothing needs no thread.
    fn write(&mut self, piece: Piece) {
        self.shared.lock().waiting.push_back(piece);
        self.shared.changed.notify_all();
        if !self.started {
            self.started = true;
            let shared = Arc::clone(&self.shared);
            let thread = std::thread::Builder::new().name("offshoot-output".to_owned());
            if let Err(error) = thread.spawn(move || shared.run()) {
                self.shared.give_up(error);
            }
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nothing can be written.
    fn give_up(&self, error: io::Error) {
        let mut state = self.lock();
        state.waiting.clear();
        state.failed.get_or_insert(error);
        self.room.close(Stream::Stdout);
        self.room.close(Stream::Stderr);
    }

    fn settle(&self, wanted: &mut impl FnMut() -> bool) -> bool {
        let mut state = self.lock();
        while state.writes || !state.waiting.is_empty() {
            if !wanted() {
                return false;
            }
            let waited = self.changed.wait_timeout(state, LOOK);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    /// Writes until the process ends: nobody could end this while it waits for a reader.
    fn run(&self) {
        let mut state = self.lock();
        loop {
            let Some(piece) = state.waiting.pop_front() else {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            state.writes = true;
            drop(state);
            let written = write_all(piece.to, &piece.bytes);
            self.room.free(piece.stream, piece.takes);
            state = self.lock();
            match written {
                // A reader that is gone has seen enough: the command finds its output closed, as it would without us.
                Err(Errno::PIPE) => self.room.close(piece.stream),
                // A terminal that cannot be written to is gone.
                Err(_) if state.terminal => self.room.close(piece.stream),
                // The command goes on, and all that it says is recorded.
                Err(error) => {
                    state.failed.get_or_insert(error.into());
                }
                Ok(()) => {}
            }
            state.writes = false;
            self.changed.notify_all();
        }
    }
}

/// Whether standard output and standard error lead to the same place.
fn is_one_place() -> bool {
    let found =
        [Stream::Stdout, Stream::Stderr].map(|stream| rustix::fs::fstat(descriptor(stream)));
    let [Ok(out), Ok(error)] = found else { return false };
    (out.st_dev, out.st_ino) == (error.st_dev, error.st_ino)
}

/// Whether something can be written there at once.
pub(super) fn is_ready(to: Stream) -> bool {
    let descriptor = descriptor(to);
    let mut polled = [PollFd::new(&descriptor, PollFlags::OUT)];
    poll(&mut polled, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
}

/// Not by way of the standard library, whose lock would be held as long as nobody reads.
fn write_all(to: Stream, mut bytes: &[u8]) -> Result<(), Errno> {
    let descriptor = descriptor(to);
    while !bytes.is_empty() {
        match rustix::io::write(descriptor, bytes) {
            Ok(0) => return Err(Errno::IO),
            Ok(written) => bytes = &bytes[written..],
            Err(Errno::INTR) => {}
            // Whoever shares it may have made it one that nobody waits at.
            Err(Errno::AGAIN) => {
                poll(&mut [PollFd::new(&descriptor, PollFlags::OUT)], None).map(drop)?;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn descriptor(of: Stream) -> BorrowedFd<'static> {
    match of {
        Stream::Stdout => rustix::stdio::stdout(),
        Stream::Stderr => rustix::stdio::stderr(),
    }
}
