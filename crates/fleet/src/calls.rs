//! What other agents want of this one.

use std::sync::Arc;

use futures::FutureExt;
use offshoot_kernel::{AgentKernel, KernelError, TaskMessage};
use offshoot_transport::{
    FailureBody, MessageKind, PeerBody, PeerConnection, PeerHandler, PeerMessage, PeerStream,
};
use serde_json::{Value, json};
use tokio::sync::broadcast::error::RecvError;

use crate::asking::DECIDE;
use crate::control;
use crate::definition::WorkDefinition;
use crate::progress::FleetProgress;
use crate::reply::{failure, outcome};
use crate::request::TaskRequest;
use crate::shared::Shared;
use offshoot_mxp::CallBody;

/// Answers the peers of an agent.
pub(crate) struct PeerCalls {
    pub(crate) shared: Arc<Shared>,
    pub(crate) kernel: AgentKernel,
}

impl PeerCalls {
    async fn answer(&self, from: &str, request: &PeerMessage) -> Result<Value, FailureBody> {
        if request.kind != MessageKind::Call {
            return Err(failure("unsupported", "this is an agent, and no registry"));
        }
        let call: CallBody =
            request.json().map_err(|error| failure("bad_request", error.to_string()))?;
        let wanted = match &call.tools[..] {
            [] => self.task_of(&call)?,
            [tool] if tool.name == DECIDE => self.question_of(&tool.input)?,
            [tool] => {
                self.require_operator(from)?;
                return control::answer(&self.shared, &self.kernel, from, tool).await;
            }
            _ => return Err(failure("bad_request", "one tool at a time")),
        };
        let mut message = TaskMessage::new(from, wanted.to_value());
        message.key = call.key;
        message.budget = self.shared.definition.task_budget.budget();
        let receipt = self.kernel.send(message).await.map_err(refused)?;
        let (task, again) = (receipt.id.0, receipt.duplicate);
        let from = from.to_owned();
        self.shared.watched.tell(&FleetProgress::Accepted { task, from, again });
        let ended = receipt.outcome().await;
        outcome(task, ended.map_err(|error| failure("stopped", error.to_string()))?)
    }

    fn task_of(&self, call: &CallBody) -> Result<TaskRequest, FailureBody> {
        if self.shared.definition.work == WorkDefinition::Rules {
            return Err(failure("unsupported", "this agent decides, and does no tasks"));
        }
        let Some((last, before)) = call.messages.split_last() else {
            return Err(failure("bad_request", "a call needs messages, or a tool"));
        };
        if last.content.trim().is_empty() {
            return Err(failure("bad_request", "the task is empty"));
        }
        let mut text = String::new();
        for message in before {
            text += &format!("{}: {}\n\n", message.role, message.content);
        }
        Ok(TaskRequest::Task { text: text + &last.content })
    }

    fn question_of(&self, input: &Value) -> Result<TaskRequest, FailureBody> {
        if self.shared.definition.work != WorkDefinition::Rules {
            return Err(failure("unsupported", "this agent does tasks, and decides nothing"));
        }
        let request = serde_json::from_value(input["request"].clone());
        let request = request.map_err(|error| failure("bad_request", error.to_string()))?;
        Ok(TaskRequest::Decide { request: Box::new(request) })
    }

    fn require_operator(&self, from: &str) -> Result<(), FailureBody> {
        match self.shared.definition.operators().iter().any(|operator| operator == from) {
            true => Ok(()),
            false => Err(failure("forbidden", format!("{from} is no operator of this agent"))),
        }
    }

    async fn tail(&self, stream: &mut PeerStream) -> Result<(), FailureBody> {
        let mut lines = self.shared.watched.watch();
        loop {
            let line = match lines.recv().await {
                Ok(line) => format!("{line}\n"),
                Err(RecvError::Lagged(missed)) => {
                    format!("{}\n", json!({ "is": "missed", "lines": missed }))
                }
                Err(RecvError::Closed) => return Ok(()),
            };
            let written = stream.write(line.into_bytes()).await;
            // Whoever watched has gone.
            if written.is_err() {
                return Ok(());
            }
        }
    }
}

impl PeerHandler for PeerCalls {
    async fn call(
        &self,
        peer: &PeerConnection,
        request: PeerMessage,
    ) -> Result<PeerBody, FailureBody> {
        let answer = self.answer(&name(peer)?, &request).boxed().await?;
        let body = PeerBody::json(&answer);
        Ok(body.map_err(|error| failure("internal", error.to_string()))?.traced(request.trace))
    }

    async fn event(&self, peer: &PeerConnection, event: PeerMessage) -> Result<(), FailureBody> {
        let (from, told) = (name(peer)?, TaskRequest::of_event(&event)?);
        let receipt = self.kernel.send(TaskMessage::new(&from, told.to_value())).await;
        let receipt = receipt.map_err(refused)?;
        let task = receipt.id.0;
        self.shared.watched.tell(&FleetProgress::Accepted { task, from, again: false });
        Ok(())
    }

    async fn stream(
        &self,
        peer: &PeerConnection,
        open: PeerMessage,
        mut stream: PeerStream,
    ) -> Result<(), FailureBody> {
        self.require_operator(&name(peer)?)?;
        let wanted: Value =
            open.json().map_err(|error| failure("bad_request", error.to_string()))?;
        match wanted["tail"].as_bool() {
            Some(true) => self.tail(&mut stream).await,
            _ => Err(failure("bad_request", "a stream is opened with {\"tail\": true}")),
        }
    }
}

fn name(peer: &PeerConnection) -> Result<String, FailureBody> {
    let name = peer.name().map(|name| name.as_str().to_owned());
    name.ok_or_else(|| failure("forbidden", "who are you?"))
}

/// What the kernel says to a message that it does not accept.
fn refused(error: KernelError) -> FailureBody {
    let code = match &error {
        KernelError::Refused(_) => "refused",
        _ => "stopped",
    };
    failure(code, error.to_string())
}
