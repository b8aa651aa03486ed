//! What all calls of one session share.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use offshoot_engine::Workspace;
use offshoot_engine::exec::start_directory;
use offshoot_engine::file::{PathContext, RootId, VaultPath};
use offshoot_engine::session::Session;

use crate::background::Background;
use crate::error::ToolError;
use crate::full_texts::{FullTexts, MemoryFullTexts};
use crate::notes::{MemoryNotes, Notes};
use crate::policy::{AllowAll, CallPolicy};
use crate::session::{SessionNotes, SessionTexts};

/// What all calls of one session share. When it is dropped, the commands that it has in the background are ended.
pub struct ToolHost {
    workspace: Workspace,
    standing: PathContext,
    directory: Option<PathBuf>,
    hosts: Vec<String>,
    allows: String,
    notes: Arc<dyn Notes>,
    full_texts: Arc<dyn FullTexts>,
    policy: Arc<dyn CallPolicy>,
    session: Option<Session>,
    background: Background,
}

impl ToolHost {
    /// For calls in this workspace. Paths start at its top, notes and full texts are kept in memory, and no host can be reached.
    pub fn new(workspace: Workspace) -> Self {
        Self {
            workspace,
            standing: PathContext::default(),
            directory: None,
            hosts: Vec::new(),
            allows: "a person allows `--net allow={hosts}`".to_owned(),
            notes: Arc::new(MemoryNotes::default()),
            full_texts: Arc::new(MemoryFullTexts::default()),
            policy: Arc::new(AllowAll),
            session: None,
            background: Background::default(),
        }
    }

    /// Paths start in this folder of the host, and so do commands: the project's or one below it.
    pub fn directory(mut self, here: &Path) -> offshoot_engine::Result<Self> {
        let vault = self.workspace.project().vault();
        self.standing = PathContext::new(vault, here)?;
        self.directory = start_directory(vault, here)?;
        Ok(self)
    }

    /// The hosts that may be reached, as they stand behind `--net allow=`.
    #[must_use]
    pub fn hosts(mut self, hosts: Vec<String>) -> Self {
        self.hosts = hosts;
        self
    }

    /// How a person lets calls reach more hosts, for the model; `{hosts}` stands for those.
    #[must_use]
    pub fn allows(mut self, how: impl Into<String>) -> Self {
        self.allows = how.into();
        self
    }

    /// The session that the calls belong to: it keeps notes and full texts, and what became of each call.
    #[must_use]
    pub fn session(mut self, session: Session) -> Self {
        self.notes = Arc::new(SessionNotes::new(session.clone()));
        self.full_texts = Arc::new(SessionTexts::new(session.clone()));
        self.session = Some(session);
        self
    }

    /// Where notes are kept.
    #[must_use]
    pub fn notes(mut self, notes: Arc<dyn Notes>) -> Self {
        self.notes = notes;
        self
    }

    /// Where full texts are kept.
    #[must_use]
    pub fn full_texts(mut self, full_texts: Arc<dyn FullTexts>) -> Self {
        self.full_texts = full_texts;
        self
    }

    /// What judges calls.
    #[must_use]
    pub fn policy(mut self, policy: Arc<dyn CallPolicy>) -> Self {
        self.policy = policy;
        self
    }

    /// The workspace.
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// Ends the commands in the background. What they wrote is recorded.
    pub fn end(&self) {
        self.background.end();
    }

    /// The same, and waits until they are over. Says which they were.
    pub async fn finish(&self) -> Vec<String> {
        self.background.finish().await
    }

    pub(crate) fn own_session(&self) -> Option<&Session> {
        self.session.as_ref()
    }

    pub(crate) fn start_directory(&self) -> Option<&Path> {
        self.directory.as_deref()
    }

    pub(crate) fn allowed_hosts(&self) -> &[String] {
        &self.hosts
    }

    pub(crate) fn how_allowed(&self) -> &str {
        &self.allows
    }

    pub(crate) fn notes_kept(&self) -> &dyn Notes {
        &*self.notes
    }

    pub(crate) fn texts(&self) -> &dyn FullTexts {
        &*self.full_texts
    }

    pub(crate) fn call_policy(&self) -> &dyn CallPolicy {
        &*self.policy
    }

    pub(crate) fn background(&self) -> &Background {
        &self.background
    }

    /// The path that a call means.
    pub(crate) fn path(&self, text: &str) -> Result<VaultPath, ToolError> {
        Ok(self.workspace.project().path(&self.standing, text)?)
    }

    /// The state of the files now.
    pub(crate) fn root(&self) -> Result<RootId, ToolError> {
        let head = self.workspace.record().map_err(offshoot_engine::Error::from)?.state.head;
        let snapshot = self.workspace.project().vault().snapshot(&head);
        Ok(snapshot.map_err(offshoot_engine::Error::from)?.root)
    }
}

impl Drop for ToolHost {
    fn drop(&mut self) {
        self.end();
    }
}

impl fmt::Debug for ToolHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolHost").field("workspace", &self.workspace).finish_non_exhaustive()
    }
}
