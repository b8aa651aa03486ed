//! One session of an editor.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use agent_client_protocol::v1::Responder;
use offshoot_engine::exec::CommandLine;
use offshoot_engine::live::LiveChange;
use tokio::sync::Notify;

use crate::link::Link;

/// A session, and the process that holds it.
pub(crate) struct Session {
    /// What the editor calls it.
    pub(crate) ours: String,
    /// What the agent calls it.
    pub(crate) theirs: String,
    pub(crate) link: Arc<Link>,
    /// How many prompts there were.
    turns: AtomicU64,
    /// Who waits for the end of a turn, with its number.
    waiting: Mutex<Option<(u64, Responder)>>,
    /// The changes that the editor was shown last.
    shown: Mutex<Vec<LiveChange>>,
    /// Commands that a person approved of for all of it.
    approved: Mutex<Vec<CommandLine>>,
    /// Tells whoever waits for a person that the turn is cancelled.
    pub(crate) cancelled: Notify,
}

impl Session {
    pub(crate) fn new(ours: &str, theirs: &str, link: &Arc<Link>) -> Self {
        link.note_session();
        Self {
            ours: ours.to_owned(),
            theirs: theirs.to_owned(),
            link: Arc::clone(link),
            turns: AtomicU64::new(0),
            waiting: Mutex::new(None),
            shown: Mutex::default(),
            approved: Mutex::default(),
            cancelled: Notify::new(),
        }
    }

    /// A turn begins. The number of it, and who waited for one that has no end yet.
    pub(crate) fn begin(&self, responder: Responder) -> (u64, Option<Responder>) {
        let turn = self.turns.fetch_add(1, Ordering::Relaxed) + 1;
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let before = waiting.replace((turn, responder));
        (turn, before.map(|(_, responder)| responder))
    }

    /// Who waits for the end of a turn, to be answered once.
    pub(crate) fn finish(&self, turn: u64) -> Option<Responder> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.take_if(|(number, _)| *number == turn).map(|(_, responder)| responder)
    }

    /// The turn that has no end yet.
    pub(crate) fn turn(&self) -> Option<u64> {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.as_ref().map(|(number, _)| *number)
    }

    /// Whether these changes are others than those that were shown last; they are from now on.
    pub(crate) fn is_news(&self, changes: &[LiveChange]) -> bool {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        let is_news = *shown != changes;
        if is_news {
            *shown = changes.to_vec();
        }
        is_news
    }

    /// Whether a person approved of this very command for all of the session.
    pub(crate) fn approves(&self, command: &CommandLine) -> bool {
        self.approved.lock().unwrap_or_else(PoisonError::into_inner).contains(command)
    }

    /// From now on a person does.
    pub(crate) fn approve(&self, command: CommandLine) {
        self.approved.lock().unwrap_or_else(PoisonError::into_inner).push(command);
    }
}
