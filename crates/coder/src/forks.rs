//! Forks of workspaces and sessions for sub-agents.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use offshoot_agent::{
    AgentCallKey, ConversationId, ConversationLogs, EventLog, ForkedWorkspace, LogError, MemoryLog,
    MergedWork, WorkspaceForks,
};
use offshoot_engine::Workspace;
use offshoot_engine::session::Session;
use offshoot_tool::ToolHost;

use crate::log::SessionLog;
use crate::options::CoderOptions;
use crate::tools::WorkspaceTools;

/// What a session of a sub-agent is called.
const SESSION: &str = "task";

/// Workspaces of sub-agents: forks of one workspace, named after it and the call that made them.
#[derive(Clone)]
pub struct SubWorkspaces {
    workspace: Workspace,
    options: CoderOptions,
}

impl SubWorkspaces {
    /// Forks of this workspace.
    pub fn new(workspace: Workspace, options: CoderOptions) -> Self {
        Self { workspace, options }
    }

    /// The name of the workspace for a call: the step and place of all calls on the way to it.
    fn name(&self, key: &str) -> offshoot_engine::Result<String> {
        let name = self.workspace.name()?;
        let parts: Vec<&str> = key.rsplit('/').take(2).collect();
        Ok(format!("{name}-sub-{}", parts.into_iter().rev().collect::<Vec<_>>().join("-")))
    }

    fn find(&self, key: &str) -> Result<Option<Workspace>, String> {
        let name = self.name(key).map_err(|error| error.to_string())?;
        let all = self.workspace.project().workspaces().map_err(|error| error.to_string())?;
        Ok(all.into_iter().find(|it| it.name().is_ok_and(|own| own == name)))
    }

    /// The session of the sub-agent that a call started, and the forks for its own; nothing where it started none.
    pub(crate) fn sub_agent(
        &self,
        key: &AgentCallKey,
    ) -> offshoot_engine::Result<Option<(Session, Self)>> {
        let name = self.name(key.as_str())?;
        let all = self.workspace.project().workspaces()?;
        let Some(workspace) = all.into_iter().find(|it| it.name().is_ok_and(|own| own == name))
        else {
            return Ok(None);
        };
        let mut sessions = workspace.sessions()?.into_iter();
        let session = sessions.find(|it| it.record().name == SESSION);
        Ok(session.map(|session| (session, Self::new(workspace, self.options.clone()))))
    }

    fn fork_now(&self, key: &str) -> Result<ForkedWorkspace, String> {
        let text = |error: offshoot_engine::Error| error.to_string();
        let workspace = match self.find(key)? {
            Some(workspace) => workspace,
            None => {
                let from = self.workspace.name().map_err(text)?;
                self.workspace
                    .project()
                    .fork_from(&self.name(key).map_err(text)?, &from)
                    .map_err(text)?
            }
        };
        let session = self.session(&workspace)?;
        let host = host(&workspace, session, &self.options).map_err(text)?;
        let tools = WorkspaceTools::of(Arc::new(host), &self.options);
        let forks = Self::new(workspace, self.options.clone());
        Ok(ForkedWorkspace { tools: Arc::new(tools), forks: Arc::new(forks) })
    }

    fn session(&self, workspace: &Workspace) -> Result<Session, String> {
        let text = |error: offshoot_engine::Error| error.to_string();
        let all = workspace.sessions().map_err(text)?;
        if let Some(session) = all.into_iter().find(|it| it.record().name == SESSION) {
            return Ok(session);
        }
        let model = self.options.settings.model.to_string();
        let provider = self.options.provider.id().to_string();
        workspace.new_session(Some(SESSION), (&provider, &model)).map_err(text)
    }

    fn merge_now(&self, key: &str) -> Result<MergedWork, String> {
        let fork = self.find(key)?.ok_or("its workspace is gone")?;
        let outcome = self.workspace.merge(&[&fork]).map_err(|error| error.to_string())?;
        let conflicts = self.workspace.conflicts().map_err(|error| error.to_string())?.len();
        let changes = outcome.changes.len();
        let is_clean = conflicts == 0;
        let summary = match is_clean {
            true => format!("Its work was merged: {changes} changes."),
            false => format!(
                "Its work was merged with {conflicts} conflicts, which are marked in the files. Resolve them."
            ),
        };
        Ok(MergedWork { is_clean, summary })
    }
}

impl WorkspaceForks for SubWorkspaces {
    fn fork(&self, key: &AgentCallKey) -> BoxFuture<'static, Result<ForkedWorkspace, String>> {
        let (own, key) = (self.clone(), key.as_str().to_owned());
        away(move || own.fork_now(&key)).boxed()
    }

    fn merge(&self, key: &AgentCallKey) -> BoxFuture<'static, Result<MergedWork, String>> {
        let (own, key) = (self.clone(), key.as_str().to_owned());
        away(move || own.merge_now(&key)).boxed()
    }
}

impl ConversationLogs for SubWorkspaces {
    fn open(
        &self,
        conversation: &ConversationId,
    ) -> BoxFuture<'static, Result<Arc<dyn EventLog>, LogError>> {
        let (own, key) = (self.clone(), conversation.as_str().to_owned());
        let open = move || -> Result<Arc<dyn EventLog>, String> {
            Ok(match own.find(&key)? {
                Some(workspace) => Arc::new(SessionLog::new(own.session(&workspace)?)),
                // It was not forked yet: nothing was said there.
                None => Arc::new(MemoryLog::default()),
            })
        };
        away(open).map(|opened| opened.map_err(LogError::Storage)).boxed()
    }
}

/// What calls in a workspace share.
pub(crate) fn host(
    workspace: &Workspace,
    session: Session,
    options: &CoderOptions,
) -> offshoot_engine::Result<ToolHost> {
    let mut host = ToolHost::new(workspace.clone()).session(session).hosts(options.hosts.clone());
    if let Some(policy) = &options.policy {
        host = host.policy(Arc::clone(policy));
    }
    match &options.directory {
        Some(directory) => host.directory(directory),
        None => Ok(host),
    }
}

async fn away<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    tokio::task::spawn_blocking(work).await.map_err(|error| error.to_string())?
}
