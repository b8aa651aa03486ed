//! What the kernel has the agent do.

use std::sync::Arc;

use offshoot_governance::GovernanceRequest;
use offshoot_kernel::{AgentHooks, TaskContext, TaskFailure};
use offshoot_transport::{FailureBody, PeerMessage};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::governed;
use crate::progress::FleetProgress;
use crate::reply::failure;
use crate::service::Shared;
use crate::work;

/// What a task of the kernel is about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "is")]
pub(crate) enum TaskRequest {
    /// Something is to be done.
    Task {
        /// What.
        text: String,
    },
    /// Another agent asks whether it may do something.
    Decide {
        /// What.
        request: Box<GovernanceRequest>,
    },
    /// Another agent tells something.
    Told {
        /// What.
        event: Value,
    },
}

impl TaskRequest {
    pub(crate) fn task(text: &str) -> Self {
        Self::Task { text: text.to_owned() }
    }

    pub(crate) fn to_value(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// What an event is about.
    pub(crate) fn of_event(event: &PeerMessage) -> Result<Self, FailureBody> {
        let event = event.json().map_err(|error| failure("bad_request", error.to_string()))?;
        Ok(Self::Told { event })
    }
}

/// What the kernel calls.
pub(crate) struct ServiceHooks(pub(crate) Arc<Shared>);

impl ServiceHooks {
    async fn handle(&self, task: TaskContext) -> Result<Value, TaskFailure> {
        let (id, attempt) = (task.id().0, task.attempt());
        self.0.watched.tell(&FleetProgress::Begun { task: id, attempt });
        let request = TaskRequest::deserialize(task.body()).map_err(TaskFailure::fatal)?;
        let done = match request {
            TaskRequest::Task { text } => work::run(&self.0, &task, &text).await,
            TaskRequest::Decide { request } => governed::decide(&self.0, &task, &request).await,
            TaskRequest::Told { event } => {
                self.0.watched.tell(&FleetProgress::Heard { task: id, event });
                Ok(Value::Null)
            }
        };
        let how = match &done {
            Ok(_) => "done".to_owned(),
            Err(failure) => failure.to_string(),
        };
        self.0.watched.tell(&FleetProgress::Rested { task: id, how });
        done
    }
}

impl AgentHooks for ServiceHooks {
    async fn on_message(&self, task: TaskContext) -> Result<Value, TaskFailure> {
        self.handle(task).await
    }

    async fn on_tick(&self, task: TaskContext) -> Result<Value, TaskFailure> {
        self.handle(task).await
    }
}
