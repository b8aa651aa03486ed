//! Carries out for a command what overlayfs refuses: renaming directories of lower layers, and giving their files a second
//! name that is seen to be the same file.
//!
//! The kernel tells threads of the caller about every rename and link before it is made. Whatever the kernel can do itself it is
//! told to do; the rest is done here, with the rights of the command and on the workspace's own mount only. The design is
//! in `docs/design/exec.md` under "Renaming directories".

mod exchange;
mod inside;
mod judge;
pub(crate) mod powers;
mod relocate;
mod remove;
mod rename;
mod request;
mod resolve;
mod scene;
mod tree;
mod unify;

use std::os::fd::{AsFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

use crate::error::{Result, SandboxError, system};
use crate::sys::seccomp::{self, Answer, Notice};
use judge::{Verdict, Work};
use request::Request;
pub(crate) use scene::Scene;
use scene::Shared;

/// Deep trees are walked by recursion.
const MOVER_STACK: usize = 64 << 20;
/// How often it is looked whether a thread that waits for a call waits in vain.
const PATIENCE: Duration = Duration::from_millis(500);

/// The threads that answer for one command.
struct Broker {
    receiver: Option<JoinHandle<()>>,
    /// Ends with the receiving thread.
    gone: Receiver<()>,
    shared: Arc<Shared>,
}

/// The brokers of a command and of those who joined it.
#[derive(Default)]
pub(crate) struct Brokers {
    /// None where nobody is told about renames.
    pub(crate) scene: Option<Arc<Scene>>,
    all: Vec<Broker>,
}

impl Brokers {
    /// Answers the calls of one more command.
    pub(crate) fn start(&mut self, listener: OwnedFd) -> Result<()> {
        let Some(scene) = &self.scene else { return Err(SandboxError::Lost) };
        let started = Broker::start(listener, Arc::clone(scene)).map_err(|error| {
            let errno = Errno::from_io_error(&error).unwrap_or(Errno::AGAIN);
            system("cannot start a thread for renames")(errno)
        })?;
        self.all.push(started);
        Ok(())
    }

    /// Waits until nothing of the workspace is open any more.
    pub(crate) fn finish(&mut self) {
        self.all.clear();
        self.scene = None;
    }
}

impl Broker {
    /// Answers calls from now on. Must not fail to be called once there is a listener: without an answer they fail.
    fn start(listener: OwnedFd, scene: Arc<Scene>) -> std::io::Result<Self> {
        seccomp::wake_together(listener.as_fd());
        let (idle, waiting) = (AtomicBool::new(false), AtomicUsize::new(0));
        let shared = Arc::new(Shared { listener, scene, idle, waiting });
        let (alive, gone) = channel();
        let served = Arc::clone(&shared);
        let receiver = Builder::new().name("broker".to_owned()).spawn(move || {
            serve(&served);
            drop(alive);
        })?;
        Ok(Self { receiver: Some(receiver), gone, shared })
    }

    /// Waits until every thread has ended and nothing of the workspace is open any more. To be called when no process is
    /// left inside.
    fn finish(&mut self) {
        let Some(receiver) = self.receiver.take() else { return };
        while let Err(RecvTimeoutError::Timeout) = self.gone.recv_timeout(PATIENCE) {
            // Before Linux 6.11 a thread that waits for a call is not told that none can come any more, where the last
            // caller was killed at the wrong moment. It has nothing open but the listener.
            if self.shared.idle.load(Ordering::SeqCst) {
                return;
            }
        }
        let _panicked = receiver.join().is_err();
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        self.finish();
    }
}

/// The life of the receiving thread: until nobody is left who could call.
fn serve(shared: &Arc<Shared>) {
    if shared.scene.own_ids && powers::take_ids().is_err() {
        // Every call is the kernel's then, as if there were no broker.
        return continue_all(shared);
    }
    powers::lay_down();
    let mut mover: Option<Mover> = None;
    while let Some(notice) = next(shared) {
        let id = notice.id;
        let judged = AssertUnwindSafe(|| consider(shared, &notice));
        match catch_unwind(judged).unwrap_or(Verdict::Answer(Answer::Continue)) {
            Verdict::Answer(answer) => seccomp::answer(shared.listener.as_fd(), id, answer),
            Verdict::Gone => {}
            Verdict::Work(work) => {
                if mover.is_none() {
                    mover = Mover::start(shared).ok();
                }
                match &mover {
                    Some(mover) => mover.give(shared, work, id),
                    None => seccomp::answer(shared.listener.as_fd(), id, Answer::Continue),
                }
            }
        }
    }
    drop(mover);
}

/// The thread for what may take long. One is enough, since one directory moves at a time: however many processes ask, there are no more
/// threads.
struct Mover {
    queue: Option<Sender<(Work, u64)>>,
    thread: Option<JoinHandle<()>>,
}

impl Mover {
    fn start(shared: &Arc<Shared>) -> std::io::Result<Self> {
        let shared = Arc::clone(shared);
        let (queue, asked) = channel::<(Work, u64)>();
        let thread = Builder::new().name("broker-move".to_owned()).stack_size(MOVER_STACK);
        let thread = thread.spawn(move || {
            // Its powers are those of the thread that starts it.
            for (work, id) in asked {
                carry_out(&shared, work, id);
                shared.waiting.fetch_sub(1, Ordering::SeqCst);
            }
        })?;
        Ok(Self { queue: Some(queue), thread: Some(thread) })
    }

    fn give(&self, shared: &Shared, work: Work, id: u64) {
        shared.waiting.fetch_add(1, Ordering::SeqCst);
        let given = self.queue.as_ref().map(|queue| queue.send((work, id)));
        if !matches!(given, Some(Ok(()))) {
            shared.waiting.fetch_sub(1, Ordering::SeqCst);
            seccomp::answer(shared.listener.as_fd(), id, Answer::Continue);
        }
    }
}

impl Drop for Mover {
    fn drop(&mut self) {
        self.queue = None;
        let _panicked = self.thread.take().is_some_and(|thread| thread.join().is_err());
    }
}

/// Leaves every call to the kernel.
fn continue_all(shared: &Shared) {
    while let Some(notice) = next(shared) {
        seccomp::answer(shared.listener.as_fd(), notice.id, Answer::Continue);
    }
}

/// The next call; none where no process is left that could make one.
fn next(shared: &Shared) -> Option<Notice> {
    loop {
        let mut events = [PollFd::new(&shared.listener, PollFlags::IN)];
        match poll(&mut events, None) {
            Ok(_) => {}
            Err(Errno::INTR) => continue,
            Err(_) => return None,
        }
        if !events[0].revents().contains(PollFlags::IN) {
            return None;
        }
        let nothing_moves = shared.waiting.load(Ordering::SeqCst) == 0;
        shared.idle.store(nothing_moves, Ordering::SeqCst);
        let received = seccomp::receive(shared.listener.as_fd());
        shared.idle.store(false, Ordering::SeqCst);
        match received {
            Ok(notice) => return Some(notice),
            // Whoever called was killed before it was heard.
            Err(Errno::NOENT | Errno::INTR | Errno::AGAIN) => {}
            Err(_) => return None,
        }
    }
}

fn consider(shared: &Shared, notice: &Notice) -> Verdict {
    match Request::read(notice) {
        Some(request) => judge::judge(shared, notice.id, &request),
        None => Verdict::Answer(Answer::Continue),
    }
}

/// Does what may take long, and answers.
fn carry_out(shared: &Shared, work: Work, id: u64) {
    let done = AssertUnwindSafe(|| {
        let _one_at_a_time = shared.scene.moving.lock().unwrap_or_else(PoisonError::into_inner);
        match &work {
            Work::Rename(rename) => match relocate::relocate(shared, id, rename) {
                Ok(()) => Answer::Done,
                Err(errno) => Answer::Refused(errno),
            },
            // The link itself is the kernel's, which also says what is wrong with it.
            Work::Link(first) => {
                let _as_before = unify::unify(first).is_err();
                Answer::Continue
            }
        }
    });
    let answer = catch_unwind(done).unwrap_or(Answer::Refused(Errno::IO));
    // What was open of the workspace is closed before the command goes on.
    drop(work);
    seccomp::answer(shared.listener.as_fd(), id, answer);
}
