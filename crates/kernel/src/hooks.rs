//! What an agent does.

use std::future::Future;

use serde_json::Value;

use crate::context::TaskContext;
use crate::failure::TaskFailure;

/// What an agent does. No hook can end the kernel: one that fails, panics or takes too long has failed, and that is all.
pub trait AgentHooks: Send + Sync + 'static {
    /// Connects what a process needs. It runs before the agent is ready, and in each process that opens its journal.
    fn on_bootstrap(&self) -> impl Future<Output = Result<(), String>> + Send {
        std::future::ready(Ok(()))
    }

    /// Handles a message or a sub-task, and answers.
    fn on_message(
        &self,
        task: TaskContext,
    ) -> impl Future<Output = Result<Value, TaskFailure>> + Send;

    /// Handles a run of a job.
    fn on_tick(
        &self,
        task: TaskContext,
    ) -> impl Future<Output = Result<Value, TaskFailure>> + Send {
        drop(task);
        std::future::ready(Ok(Value::Null))
    }

    /// Lets go of what the agent has, when it retired and nothing is open.
    fn on_shutdown(&self) -> impl Future<Output = Result<(), String>> + Send {
        std::future::ready(Ok(()))
    }
}
