//! What all sessions of a server share.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use offshoot_engine::Result;
use offshoot_engine::id::Id;

use crate::options::McpOptions;
use crate::parked::{PATIENCE, Parked};
use crate::session::Session;

/// What all sessions of a server share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) options: McpOptions,
    /// Sessions of clients that have none of their own, by client name.
    by_client: Mutex<BTreeMap<String, Arc<Session>>>,
    /// All that were opened.
    opened: Mutex<Vec<Weak<Session>>>,
    /// Names of workspaces that a session of this process has or is about to fork.
    taken: Mutex<BTreeSet<String>>,
    /// What waits for the answer of a person, by the word that names it.
    waiting: Parked,
}

impl Shared {
    pub(crate) fn new(options: McpOptions) -> Arc<Self> {
        Arc::new(Self {
            options,
            by_client: Mutex::default(),
            opened: Mutex::default(),
            taken: Mutex::default(),
            waiting: Parked::new(PATIENCE),
        })
    }

    /// Opens a session.
    pub(crate) fn open(self: &Arc<Self>, client: &str, id: &str) -> Result<Arc<Session>> {
        let session = Arc::new(Session::open(Arc::clone(self), client, id)?);
        let mut opened = locked(&self.opened);
        opened.retain(|one| one.strong_count() > 0);
        opened.push(Arc::downgrade(&session));
        Ok(session)
    }

    /// The session of all requests of a client that come without one.
    pub(crate) fn of_client(self: &Arc<Self>, client: &str) -> Result<Arc<Session>> {
        // Held while it is opened: two requests at once are of one session.
        let mut all = locked(&self.by_client);
        if let Some(found) = all.get(client) {
            return Ok(Arc::clone(found));
        }
        let session = self.open(client, &Id::random().to_string())?;
        all.insert(client.to_owned(), Arc::clone(&session));
        Ok(session)
    }

    /// Takes the first of `name`, `name-2`, ... that is free here and that `is_free` in the vault.
    pub(crate) fn take_name(
        &self,
        name: &str,
        is_free: impl Fn(&str) -> Result<bool>,
    ) -> Result<String> {
        let mut taken = locked(&self.taken);
        let mut number = 1_u32;
        loop {
            let tried = if number == 1 { name.to_owned() } else { format!("{name}-{number}") };
            if !taken.contains(&tried) && is_free(&tried)? {
                taken.insert(tried.clone());
                return Ok(tried);
            }
            number += 1;
        }
    }

    /// Keeps what waits for an answer, and gives the word that names it.
    pub(crate) fn park(&self, waiting: impl Any + Send) -> String {
        self.waiting.park(waiting)
    }

    /// What waits under a word. It is good for one answer.
    pub(crate) fn unpark<T: Any>(&self, word: &str) -> Option<T> {
        self.waiting.unpark(word)
    }

    /// Ends everything that runs, and waits until it is recorded.
    pub(crate) fn close(&self) {
        self.waiting.clear();
        let opened: Vec<_> = locked(&self.opened).iter().filter_map(Weak::upgrade).collect();
        opened.iter().for_each(|session| session.end());
        opened.iter().for_each(|session| session.project.wait_idle());
    }
}

/// A lock whose holder may have panicked: what it guards is whole after every statement.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
