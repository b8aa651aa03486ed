//! What the kernel has the agent do.

use std::sync::Arc;

use offshoot_kernel::{AgentHooks, TaskContext, TaskFailure};
use serde::Deserialize;
use serde_json::Value;

use crate::governed;
use crate::progress::FleetProgress;
use crate::request::TaskRequest;
use crate::shared::Shared;
use crate::work;

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
