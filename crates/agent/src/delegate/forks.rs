//! What sub-agents need of others: forks of workspaces, and logs.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use futures::FutureExt;
use futures::future::{BoxFuture, ready};

use crate::call::{AgentCallKey, ConversationId};
use crate::log::{EventLog, LogError, MemoryLog};
use crate::tools::Tools;

/// A fork of a workspace.
#[derive(Clone)]
pub struct ForkedWorkspace {
    /// Tools that work in it.
    pub tools: Arc<dyn Tools>,
    /// Forks of it.
    pub forks: Arc<dyn WorkspaceForks>,
}

/// What became of the work in a fork.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergedWork {
    /// Whether all of it was merged: conflicts are left otherwise.
    pub is_clean: bool,
    /// What was done, in words for the model.
    pub summary: String,
}

/// Forks the workspace of an agent, and merges what was done.
pub trait WorkspaceForks: Send + Sync {
    /// The fork for a call: a new one, or the one that was made for it before.
    fn fork(&self, key: &AgentCallKey) -> BoxFuture<'static, Result<ForkedWorkspace, String>>;

    /// Merges the fork for a call into the workspace. A second time changes nothing, and says the same.
    fn merge(&self, key: &AgentCallKey) -> BoxFuture<'static, Result<MergedWork, String>>;
}

/// Opens logs of conversations.
pub trait ConversationLogs: Send + Sync {
    /// The log of a conversation; an empty one if there is none.
    fn open(
        &self,
        conversation: &ConversationId,
    ) -> BoxFuture<'static, Result<Arc<dyn EventLog>, LogError>>;
}

/// Logs in memory, which copies share.
#[derive(Clone, Debug, Default)]
pub struct MemoryLogs {
    logs: Arc<Mutex<BTreeMap<ConversationId, MemoryLog>>>,
}

impl MemoryLogs {
    /// The log of a conversation.
    pub fn log(&self, conversation: &ConversationId) -> MemoryLog {
        let mut logs = self.logs.lock().unwrap_or_else(PoisonError::into_inner);
        logs.entry(conversation.clone()).or_default().clone()
    }
}

impl ConversationLogs for MemoryLogs {
    fn open(
        &self,
        conversation: &ConversationId,
    ) -> BoxFuture<'static, Result<Arc<dyn EventLog>, LogError>> {
        let log: Arc<dyn EventLog> = Arc::new(self.log(conversation));
        ready(Ok(log)).boxed()
    }
}
