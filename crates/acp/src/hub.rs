//! What stands between one editor and the processes of its agent.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::{Client, Error, UntypedMessage};
use offshoot_engine::Offshoot;
use offshoot_engine::text::line;
use serde_json::Value;

use crate::fault::{fault, refused};
use crate::link::Link;
use crate::message::{session_id, with_session};
use crate::session::Session;
use crate::settings::{AcpSettings, Log};

/// Everything that is known about an editor.
pub(crate) struct Hub {
    pub(crate) engine: Offshoot,
    pub(crate) settings: AcpSettings,
    pub(crate) log: Log,
    editor: OnceLock<ConnectionTo<Client>>,
    state: Mutex<State>,
}

/// What changes about it.
#[derive(Default)]
pub(crate) struct State {
    /// What the editor said of itself, as agents are told.
    pub(crate) initialize: Option<Value>,
    /// The agent forks sessions.
    pub(crate) forks: bool,
    /// How it logged in last.
    pub(crate) authenticate: Option<Value>,
    /// The process that answers what is about no session.
    pub(crate) first: Option<Arc<Link>>,
    /// It has no session yet.
    pub(crate) is_free: bool,
    pub(crate) sessions: HashMap<String, Arc<Session>>,
    pub(crate) links: Vec<Arc<Link>>,
}

impl Hub {
    pub(crate) fn new(engine: Offshoot, settings: AcpSettings, log: Log) -> Self {
        Self { engine, settings, log, editor: OnceLock::new(), state: Mutex::default() }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps the way to the editor.
    pub(crate) fn meet(&self, editor: ConnectionTo<Client>) {
        let _known = self.editor.set(editor).is_err();
    }

    /// The way to the editor, who spoke first.
    pub(crate) fn editor(&self) -> Result<&ConnectionTo<Client>, Error> {
        self.editor.get().ok_or_else(|| fault("the editor has not said anything yet"))
    }

    /// Tells the editor something; one that is gone needs nothing.
    pub(crate) fn tell(&self, method: &str, params: Value) {
        let message = UntypedMessage::new(method, params);
        let told = message.and_then(|message| self.editor()?.send_notification(message));
        let _gone = told.is_err();
    }

    /// Registers a session.
    pub(crate) fn add(&self, ours: &str, theirs: &str, link: &Arc<Link>) -> Arc<Session> {
        let session = Arc::new(Session::new(ours, theirs, link));
        self.state().sessions.insert(ours.to_owned(), Arc::clone(&session));
        session
    }

    /// An id that no session of this editor has: other processes may count alike.
    pub(crate) fn free_id(&self, theirs: &str) -> String {
        let state = self.state();
        let mut ids = std::iter::once(theirs.to_owned())
            .chain((2..).map(|number| format!("{theirs}~{number}")));
        ids.find(|id| !state.sessions.contains_key(id)).unwrap_or_else(|| theirs.to_owned())
    }

    pub(crate) fn session(&self, id: &str) -> Option<Arc<Session>> {
        self.state().sessions.get(id).cloned()
    }

    /// The session that an agent means.
    pub(crate) fn session_of(&self, link: &Arc<Link>, theirs: &str) -> Option<Arc<Session>> {
        let state = self.state();
        let mut sessions = state.sessions.values();
        let is_meant =
            |session: &&Arc<Session>| session.theirs == theirs && Arc::ptr_eq(&session.link, link);
        sessions.find(is_meant).cloned()
    }

    /// A message of the agent with the id that the editor knows its session by.
    pub(crate) fn as_known(&self, link: &Arc<Link>, params: Value) -> Value {
        let session = session_id(&params).and_then(|theirs| self.session_of(link, theirs));
        match session {
            Some(session) => with_session(params, &session.ours),
            None => params,
        }
    }

    /// Who answers a message, and the message as they know it.
    pub(crate) fn addressed(&self, params: Value) -> Result<(Arc<Link>, Value), Error> {
        match session_id(&params).map(str::to_owned) {
            Some(id) => {
                let session = self.session(&id).ok_or_else(|| unknown(&id))?;
                let params = with_session(params, &session.theirs);
                Ok((Arc::clone(&session.link), params))
            }
            None => {
                let first = self.state().first.clone();
                Ok((first.ok_or_else(|| refused("initialize comes first"))?, params))
            }
        }
    }

    /// Passes on what the editor lets an agent know.
    pub(crate) fn notice(self: &Arc<Self>, method: &str, params: Value) {
        // It means a request of this connection, which is cancelled where it was passed on to.
        if method.starts_with("$/") {
            return;
        }
        if method == "session/cancel" {
            self.cancel(&params);
        }
        if let Ok((link, params)) = self.addressed(params) {
            link.tell(method, params);
        }
    }

    /// What the editor calls itself, as it is recorded.
    pub(crate) fn client(&self) -> String {
        let state = self.state();
        let name = state.initialize.as_ref().and_then(|said| said["clientInfo"]["name"].as_str());
        let name: String = name.unwrap_or_default().chars().take(64).collect();
        let name = line(name.trim());
        if name.is_empty() { "editor".to_owned() } else { name }
    }

    /// Remembers how the editor logged in, for processes that come later.
    pub(crate) fn logged_in(&self, params: Value) {
        self.state().authenticate = Some(params);
    }
}

pub(crate) fn unknown(id: &str) -> Error {
    refused(format!("there is no session {id}; open a new one"))
}
