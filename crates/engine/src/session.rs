//! Sessions: conversations of agents, as logs of events that are only ever appended to. Each belongs to a workspace.

use std::io::{Read, Write};
use std::time::{Duration, Instant};

pub use offshoot_protocol::{CallKind, CallState, SessionState};
use offshoot_protocol::{ExecEnvelopeDoc, SessionDoc};
use offshoot_store::Id;
use offshoot_vault::Vault;
pub use offshoot_vault::{
    CallKey, NewSessionEvent, RecordedCall, SessionError, SessionEvent, SessionHead, SessionLock,
    SessionOrigin, SessionParent, SessionRecord, SessionTotals, SessionUpdate, TextId,
};
pub use offshoot_workspace::{ListedSession, SessionFork, SessionService};

use crate::error::Result;
use crate::offshoot::Offshoot;
use crate::project::Project;
use crate::workspace::Workspace;

/// How often somebody who waits for events looks for them.
const LOOK: Duration = Duration::from_millis(50);

/// A conversation of an agent. Cheap to clone, and good for all threads.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # use offshoot_engine::{Offshoot, Options};
/// use offshoot_engine::session::{NewSessionEvent, SessionUpdate};
///
/// # let scratch = tempfile::tempdir()?;
/// # let (vaults, folder) = (scratch.path().join("vaults"), scratch.path().join("project"));
/// # std::fs::create_dir(&folder)?;
/// # let offshoot = Offshoot::open(Options::new(Vec::new()).registry(vaults))?;
/// let fix = offshoot.project(&folder)?.fork("fix")?;
/// let session = fix.new_session(Some("parser"), ("anthropic", "opus"))?;
/// let _mine = session.resume("me")?;
/// let said = NewSessionEvent { kind: "user".to_owned(), body: r#"{"text":"hi"}"#.to_owned(), snapshot: None };
/// let head = session.append(1, &[said], &SessionUpdate::default())?;
/// assert_eq!(head.events, 1);
/// assert_eq!(session.events(1, 10)?[0].kind, "user");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Session {
    project: Project,
    record: SessionRecord,
}

impl Offshoot {
    /// Makes, finds, forks and deletes sessions of a vault.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// let all = project.engine().sessions(project.vault()).list(None)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn sessions<'v>(&self, vault: &'v Vault) -> SessionService<'v> {
        SessionService::new(vault, self.actor())
    }

    /// Appends to a session, of which the first new event is to have the number `next`.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// use offshoot_engine::session::{SessionState, SessionUpdate};
    ///
    /// let (engine, vault) = (project.engine(), project.vault());
    /// let session = engine.sessions(vault).find("parser", None)?;
    /// let ended = SessionUpdate { state: Some(SessionState::Ended), ..SessionUpdate::default() };
    /// engine.append(vault, &session.record.id, session.head.events + 1, (&[], &ended))?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn append(
        &self,
        vault: &Vault,
        session: &Id,
        next: u64,
        what: (&[NewSessionEvent], &SessionUpdate),
    ) -> Result<SessionHead> {
        Ok(vault.append_session(session, next, what, self.actor())?)
    }
}

impl Project {
    /// All sessions; the one that changed last comes first.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// for session in project.sessions()? {
    ///     println!("{} has {} events", session.record().name, session.head()?.events);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn sessions(&self) -> Result<Vec<Session>> {
        let found = self.engine().sessions(self.vault()).list(None)?;
        Ok(found.into_iter().map(|one| Session::new(self.clone(), one.record)).collect())
    }

    /// The session of this name, or of an id that starts so.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// let session = project.session("parser")?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn session(&self, name: &str) -> Result<Session> {
        let found = self.engine().sessions(self.vault()).find(name, None)?;
        Ok(Session::new(self.clone(), found.record))
    }

    /// What became of a call of an agent; nothing where it never started.
    ///
    /// ```
    /// # fn example(session: &offshoot_engine::session::Session) -> offshoot_engine::Result<()> {
    /// use offshoot_engine::session::CallState;
    ///
    /// match session.project().call(&session.call_key("call-17"))? {
    ///     None => println!("it never started: do it now"),
    ///     Some(call) if call.state == CallState::Ended => println!("it is done: exec {}", call.id),
    ///     Some(call) => println!("exec {} is {}", call.id, call.state),
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn call(&self, key: &CallKey) -> Result<Option<RecordedCall>> {
        Ok(self.vault().call(key)?)
    }

    /// The envelope of a call that ran a command, once that is over.
    ///
    /// ```
    /// # fn example(session: &offshoot_engine::session::Session) -> offshoot_engine::Result<()> {
    /// let project = session.project();
    /// if let Some(envelope) = project.call_envelope(&session.call_key("call-17"))? {
    ///     println!("{:?}", envelope.result.exit_code);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn call_envelope(&self, key: &CallKey) -> Result<Option<ExecEnvelopeDoc>> {
        let Some(exec) = self.call(key)?.and_then(|call| call.exec) else { return Ok(None) };
        self.envelope(&exec.id)
    }
}

impl Workspace {
    /// Makes a session in it, under a name or a friendly one, with the provider and the model that it starts with.
    ///
    /// ```
    /// # fn example(workspace: &offshoot_engine::Workspace) -> offshoot_engine::Result<()> {
    /// let session = workspace.new_session(None, ("anthropic", "opus"))?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn new_session(&self, name: Option<&str>, model: (&str, &str)) -> Result<Session> {
        let service = self.project().engine().sessions(self.project().vault());
        let made = service.create(&self.record()?, name, model)?;
        Ok(Session::new(self.project().clone(), made.record))
    }

    /// Its sessions; the one that changed last comes first.
    ///
    /// ```
    /// # fn example(workspace: &offshoot_engine::Workspace) -> offshoot_engine::Result<()> {
    /// let last = workspace.sessions()?.into_iter().next();
    /// # Ok(())
    /// # }
    /// ```
    pub fn sessions(&self) -> Result<Vec<Session>> {
        let project = self.project();
        let found = project.engine().sessions(project.vault()).list(Some(&self.id()))?;
        Ok(found.into_iter().map(|one| Session::new(project.clone(), one.record)).collect())
    }
}

impl Session {
    fn new(project: Project, record: SessionRecord) -> Self {
        Self { project, record }
    }

    /// Its id, which stays when it is renamed.
    ///
    /// ```
    /// # fn example(session: &offshoot_engine::session::Session) {
    /// println!("{}", session.id());
    /// # }
    /// ```
    pub fn id(&self) -> Id {
        self.record.id
    }

    /// Its project.
    ///
    /// ```
    /// # fn example(session: &offshoot_engine::session::Session) -> offshoot_engine::Result<()> {
    /// let others = session.project().sessions()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn project(&self) -> &Project {
        &self.project
    }

    /// Its workspace.
    ///
    /// ```
    /// # fn example(session: &offshoot_engine::session::Session) -> offshoot_engine::Result<()> {
    /// let changes = session.workspace().diff()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn workspace(&self) -> Workspace {
        Workspace::new(self.project.clone(), self.record.workspace)
    }

    /// What it was when it was looked up.
    ///
    /// ```
    /// # fn example(session: &offshoot_engine::session::Session) {
    /// println!("{}", session.record().name);
    /// # }
    /// ```
    pub fn record(&self) -> &SessionRecord {
        &self.record
    }

    /// How it stands now.
    ///
    /// ```
    /// # fn example(session: &offshoot_engine::session::Session) -> offshoot_engine::Result<()> {
    /// let next = session.head()?.events + 1;
    /// # Ok(())
    /// # }
    /// ```
    pub fn head(&self) -> Result<SessionHead> {
        Ok(self.now()?.head)
    }

    /// It as a document, with the process that has taken it up.
    ///
    /// ```
    /// # fn example(session: &offshoot_engine::session::Session) -> offshoot_engine::Result<()> {
    /// println!("{:?}", session.document()?.holder);
    /// # Ok(())
    /// # }
    /// ```
    pub fn document(&self) -> Result<SessionDoc> {
        Ok(self.service().document(&self.now()?)?)
    }

    /// Takes it up, where no other process has, until what this gives is dropped. `holder` tells others who has it.
    ///
    /// ```
    /// # fn example(session: &offshoot_engine::session::Session) -> offshoot_engine::Result<()> {
    /// let mine = session.resume(&format!("process {}", std::process::id()))?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn resume(&self, holder: &str) -> Result<SessionLock> {
        Ok(self.vault().lock_session(&self.id(), holder)?)
    }

    /// Appends events, of which the first is to have the number `next`: if somebody else appended meanwhile, nothing is written, and that
    /// is the error. All is durable when this returns.
    ///
    /// ```
    /// # fn example(session: &offshoot_engine::session::Session) -> offshoot_engine::Result<()> {
    /// use offshoot_engine::session::{NewSessionEvent, SessionState, SessionUpdate};
    ///
    /// let head = session.workspace().record()?.state.head;
    /// let event = NewSessionEvent {
    ///     kind: "turn".to_owned(),
    ///     body: r#"{"text":"done"}"#.to_owned(),
    ///     snapshot: Some(head),
    /// };
    /// let update = SessionUpdate { state: Some(SessionState::Waiting), ..SessionUpdate::default() };
    /// let next = session.head()?.events + 1;
    /// session.append(next, &[event], &update)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn append(
        &self,
        next: u64,
        events: &[NewSessionEvent],
        update: &SessionUpdate,
    ) -> Result<SessionHead> {
        self.project.engine().append(self.vault(), &self.id(), next, (events, update))
    }

    /// Events from a number on, at most `limit`; a page has at most 256 events and about 4 MiB.
    ///
    /// ```
    /// # fn example(session: &offshoot_engine::session::Session) -> offshoot_engine::Result<()> {
    /// let mut next = 1;
    /// loop {
    ///     let page = session.events(next, 256)?;
    ///     let Some(last) = page.last() else { break };
    ///     next = last.number + 1;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn events(&self, from: u64, limit: u32) -> Result<Vec<SessionEvent>> {
        Ok(self.vault().session_events(&self.id(), from, limit)?)
    }

    /// Waits until there is an event of this number, at most so long. Whether there is.
    ///
    /// ```
    /// # fn example(session: &offshoot_engine::session::Session) -> offshoot_engine::Result<()> {
    /// use std::time::Duration;
    ///
    /// let next = session.head()?.events + 1;
    /// if session.await_event(next, Duration::from_secs(10))? {
    ///     println!("{}", session.events(next, 1)?[0].kind);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn await_event(&self, number: u64, wait: Duration) -> Result<bool> {
        let started = Instant::now();
        loop {
            if self.head()?.events >= number {
                return Ok(true);
            }
            let left = wait.saturating_sub(started.elapsed());
            if left.is_zero() {
                return Ok(false);
            }
            std::thread::sleep(left.min(LOOK));
        }
    }

    /// Forks it and its workspace, as that was at an event: both in one operation, which undo takes back as a whole.
    ///
    /// ```
    /// # fn example(session: &offshoot_engine::session::Session) -> offshoot_engine::Result<()> {
    /// use offshoot_engine::session::SessionFork;
    ///
    /// let at_four = SessionFork { at: Some(4), workspace: Some("again"), ..SessionFork::default() };
    /// let (fork, workspace) = session.fork(&at_four)?;
    /// workspace.undo()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn fork(&self, how: &SessionFork<'_>) -> Result<(Self, Workspace)> {
        let (made, workspace) = self.service().fork(&self.record, how)?;
        let workspace = Workspace::new(self.project.clone(), workspace.id);
        Ok((Self::new(self.project.clone(), made.record), workspace))
    }

    /// Gives it another name.
    ///
    /// ```
    /// # fn example(session: &offshoot_engine::session::Session) -> offshoot_engine::Result<()> {
    /// let session = session.rename("parser")?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn rename(&self, name: &str) -> Result<Self> {
        let record = self.service().rename(&self.record, name)?;
        Ok(Self::new(self.project.clone(), record))
    }

    /// Deletes it, unless a process has taken it up. Undo brings it back.
    ///
    /// ```
    /// # fn example(session: offshoot_engine::session::Session) -> offshoot_engine::Result<()> {
    /// session.delete()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn delete(self) -> Result<Option<Id>> {
        Ok(self.service().delete(&self.record)?)
    }

    /// Writes it as lines of JSON: a header, and one for each event. Gives how many events there are.
    ///
    /// ```
    /// # fn example(session: &offshoot_engine::session::Session) -> offshoot_engine::Result<()> {
    /// let mut lines = Vec::new();
    /// session.export_lines(&mut lines)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn export_lines(&self, to: &mut dyn Write) -> Result<u64> {
        Ok(self.service().export(&self.now()?, to)?)
    }

    /// Keeps everything that a source gives for as long as the session is there. The same bytes have the same id.
    ///
    /// ```
    /// # fn example(session: &offshoot_engine::session::Session) -> offshoot_engine::Result<()> {
    /// let id = session.put_text(&mut &b"a long result"[..])?;
    /// assert_eq!(session.get_text(&id, 2, 4)?, b"long");
    /// # Ok(())
    /// # }
    /// ```
    pub fn put_text(&self, source: &mut dyn Read) -> Result<TextId> {
        Ok(self.vault().put_session_text(&self.id(), source, self.project.engine().actor())?)
    }

    /// A part of a text: from an offset on, at most so many bytes. Nothing where it is shorter.
    ///
    /// ```
    /// # fn example(session: &offshoot_engine::session::Session, id: &offshoot_engine::session::TextId) -> offshoot_engine::Result<()> {
    /// let start = session.get_text(id, 0, 4096)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn get_text(&self, id: &TextId, offset: u64, limit: u64) -> Result<Vec<u8>> {
        Ok(self.vault().session_text(&self.id(), id, (offset, limit))?)
    }

    /// How long a text is.
    ///
    /// ```
    /// # fn example(session: &offshoot_engine::session::Session, id: &offshoot_engine::session::TextId) -> offshoot_engine::Result<()> {
    /// println!("{} bytes", session.text_length(id)?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn text_length(&self, id: &TextId) -> Result<u64> {
        Ok(self.vault().session_text_length(&self.id(), id)?)
    }

    /// Sets a note, or removes it where there are no bytes.
    ///
    /// ```
    /// # fn example(session: &offshoot_engine::session::Session) -> offshoot_engine::Result<()> {
    /// session.set_note("plan", Some(b"first the parser"))?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn set_note(&self, key: &str, note: Option<&[u8]>) -> Result<()> {
        let actor = self.project.engine().actor();
        Ok(self.vault().set_session_note(&self.id(), key, note, actor)?)
    }

    /// A note.
    ///
    /// ```
    /// # fn example(session: &offshoot_engine::session::Session) -> offshoot_engine::Result<()> {
    /// let plan = session.note("plan")?.unwrap_or_default();
    /// # Ok(())
    /// # }
    /// ```
    pub fn note(&self, key: &str) -> Result<Option<Vec<u8>>> {
        Ok(self.vault().session_note(&self.id(), key)?)
    }

    /// The keys of its notes, in order.
    ///
    /// ```
    /// # fn example(session: &offshoot_engine::session::Session) -> offshoot_engine::Result<()> {
    /// for key in session.notes()? {
    ///     println!("{key}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn notes(&self) -> Result<Vec<String>> {
        Ok(self.vault().session_notes(&self.id())?)
    }

    /// The key of a call that an agent makes in it.
    ///
    /// ```
    /// # fn example(session: &offshoot_engine::session::Session) -> offshoot_engine::Result<()> {
    /// use offshoot_engine::exec::Command;
    ///
    /// let build = Command::new(["make"]).call(session.call_key("call-17"));
    /// session.workspace().exec(build)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn call_key(&self, call: &str) -> CallKey {
        CallKey { session: self.id(), call: call.to_owned() }
    }

    fn now(&self) -> Result<ListedSession> {
        let found = self.vault().session(&self.id())?;
        let (record, head) = found.ok_or(SessionError::Unknown(self.id()))?;
        Ok(ListedSession { record, head })
    }

    fn vault(&self) -> &Vault {
        self.project.vault()
    }

    fn service(&self) -> SessionService<'_> {
        self.project.engine().sessions(self.vault())
    }
}
