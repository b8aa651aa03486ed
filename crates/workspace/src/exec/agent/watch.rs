//! Watching credentials on both sides while a command runs.

use std::collections::{BTreeMap, BTreeSet};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use offshoot_protocol::CredentialMode;
use offshoot_vault::AgentPlace;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};

use super::credentials::{self, CredentialPair, Done, Moment};
use super::side::{Mark, Side};

/// How often is looked where the kernel tells nothing: some file systems do not, and directories come and go.
const SELDOM: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };

/// How often each file was written to the host, and from it.
pub(super) type Counts = BTreeMap<String, [u64; 2]>;

/// Keeps credentials equal until it ends.
#[derive(Debug)]
pub(super) struct CredentialWatch {
    mode: CredentialMode,
    pairs: Vec<CredentialPair>,
    told: Arc<Mutex<Told>>,
    /// Closed when the command is over.
    over: Option<UnixStream>,
    thread: Option<JoinHandle<()>>,
}

/// What was done so far.
#[derive(Debug, Default)]
struct Told {
    counts: Counts,
    warnings: BTreeSet<String>,
}

impl Told {
    fn add(&mut self, pairs: &[CredentialPair], done: Vec<Result<Done, String>>, counts: bool) {
        for (pair, done) in pairs.iter().zip(done) {
            let path = pair.path.to_string();
            match done {
                Ok(Done::ToHost) => self.counts.entry(path).or_default()[0] += 1,
                Ok(Done::FromHost) if counts => self.counts.entry(path).or_default()[1] += 1,
                Ok(Done::FromHost) => {
                    self.counts.entry(path).or_default();
                }
                Ok(Done::Nothing) => {}
                Err(problem) => {
                    self.warnings.insert(problem);
                }
            }
        }
    }
}

impl CredentialWatch {
    /// Copies the user's credentials in, and watches them where they are to stay equal. `early` is what was done about them before.
    pub(super) fn start(
        home: &AgentPlace,
        pairs: Vec<CredentialPair>,
        mode: CredentialMode,
        early: Vec<Result<Done, String>>,
    ) -> Self {
        let mut told = Told::default();
        // What was wrong then is found again.
        let early = early.into_iter().map(|done| Ok(done.unwrap_or(Done::Nothing)));
        told.add(&pairs, early.collect(), false);
        let told = Arc::new(Mutex::new(told));
        let first = match mode {
            CredentialMode::Sync => credentials::sync(home, &pairs, Moment::Before),
            CredentialMode::Copy => credentials::copy_in(home, &pairs),
            CredentialMode::None => {
                credentials::remove_equal(&pairs, &home.path(), mode);
                Vec::new()
            }
        };
        told.lock().unwrap_or_else(PoisonError::into_inner).add(&pairs, first, false);
        let mut watch = Self { mode, pairs, told, over: None, thread: None };
        if mode == CredentialMode::Sync
            && !watch.pairs.is_empty()
            && let Ok((over, ended)) = UnixStream::pair()
        {
            let home = home.clone();
            let (pairs, told) = (watch.pairs.clone(), Arc::clone(&watch.told));
            let named = std::thread::Builder::new().name("offshoot-login".to_owned());
            // Without a thread they are compared in the end.
            watch.thread = named.spawn(move || run(&home, &pairs, &told, &ended)).ok();
            watch.over = Some(over);
        }
        watch
    }

    /// The command is over: compares once more, and says what was done.
    pub(super) fn end(mut self, home: &AgentPlace) -> (Counts, BTreeSet<String>) {
        self.stop();
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if self.mode == CredentialMode::Sync {
            told.warnings.clear();
            let last = credentials::sync(home, &self.pairs, Moment::While);
            told.add(&self.pairs, last, true);
        }
        (std::mem::take(&mut told.counts), std::mem::take(&mut told.warnings))
    }

    fn stop(&mut self) {
        drop(self.over.take());
        // A panic there says nothing about the command.
        let _panicked = self.thread.take().is_some_and(|thread| thread.join().is_err());
    }
}

impl Drop for CredentialWatch {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The life of the thread.
fn run(home: &AgentPlace, pairs: &[CredentialPair], told: &Mutex<Told>, ended: &UnixStream) {
    let notices = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok();
    let inside = Side::agent(&home.path());
    let marks = || -> Vec<[Option<Mark>; 2]> {
        pairs.iter().map(|pair| [inside.mark(&pair.path), pair.host.mark(&pair.path)]).collect()
    };
    let mut known = None;
    loop {
        if let Some(notices) = &notices {
            watch_directories(notices, pairs, &inside);
        }
        let now = marks();
        let is_over = || {
            let mut over = [PollFd::new(ended, PollFlags::IN)];
            poll(&mut over, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_ok_and(|ready| ready > 0)
        };
        if !is_over() && known.as_ref() != Some(&now) {
            let done = credentials::sync(home, pairs, Moment::While);
            told.lock().unwrap_or_else(PoisonError::into_inner).add(pairs, done, true);
            // What was changed just now, by this one too, is looked at once more.
            known = Some(now);
            continue;
        }
        let mut events = vec![PollFd::new(ended, PollFlags::IN)];
        events.extend(notices.iter().map(|notices| PollFd::new(notices, PollFlags::IN)));
        let waited = poll(&mut events, Some(&SELDOM));
        if waited.is_ok() && !events[0].revents().is_empty() {
            return;
        }
        drop(events);
        if let Some(notices) = &notices {
            drain(notices);
        }
    }
}

/// Watches the directories that the files are in, as far as they are there. One that is watched already stays so.
fn watch_directories(notices: &OwnedFd, pairs: &[CredentialPair], inside: &Side) {
    let flags =
        WatchFlags::CLOSE_WRITE | WatchFlags::MOVED_TO | WatchFlags::DELETE | WatchFlags::ONLYDIR;
    let places =
        pairs.iter().flat_map(|pair| [pair.host.place(&pair.path), inside.place(&pair.path)]);
    let directories: BTreeSet<PathBuf> =
        places.filter_map(|place| place.parent().map(PathBuf::from)).collect();
    for directory in directories {
        let _not_there_yet = inotify::add_watch(notices, &directory, flags).is_err();
    }
}

/// What happened does not matter: everything is looked at.
fn drain(notices: &OwnedFd) {
    let mut space = [const { MaybeUninit::uninit() }; 4096];
    let mut reader = inotify::Reader::new(notices, &mut space);
    while reader.next().is_ok() {}
}
