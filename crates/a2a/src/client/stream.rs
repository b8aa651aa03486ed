//! Streams of updates, taken up again where they break off.

use std::sync::Arc;

use http::StatusCode;
use http::header::CONTENT_TYPE;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use serde_json::{Value, json};

use super::call::{Asked, Link};
use super::error::A2aClientError;
use super::events::Events;
use super::operation::Operation;
use crate::fault::A2aCode;
use crate::wire::{A2aEvent, A2aState, GetTask};

type Result<T> = std::result::Result<T, A2aClientError>;

/// What happens to a task. After a connection broke off, the task as it is comes first.
pub struct A2aStream {
    link: Arc<Link>,
    body: Option<Incoming>,
    events: Events,
    /// The task, once it is known.
    task: Option<String>,
    state: Option<A2aState>,
    /// Connections since anything new was told.
    attempts: u32,
    is_over: bool,
}

impl A2aStream {
    pub(super) async fn begin(
        link: Arc<Link>,
        operation: Operation,
        params: Value,
        task: Option<String>,
    ) -> Result<Self> {
        let mut attempt = 0;
        let body = loop {
            match open(&link, operation, params.clone()).await {
                Ok(body) => break body,
                Err(error) => {
                    let may = error.is_unsent() || (operation.is_safe() && error.is_passing());
                    if !may || attempt >= link.options().retries {
                        return Err(error);
                    }
                }
            }
            tokio::time::sleep(link.options().wait(attempt)).await;
            attempt += 1;
        };
        let events = Events::new(link.options().answer);
        let (body, state) = (Some(body), None);
        Ok(Self { link, body, events, task, state, attempts: 0, is_over: false })
    }

    /// The task, once an event has named it.
    #[must_use]
    pub fn task_id(&self) -> Option<&str> {
        self.task.as_deref()
    }

    /// The next event; none when the task is over, the agent waits for a message and the server has ended the stream, or the answer was
    /// a message.
    ///
    /// # Errors
    ///
    /// If the agent says so, says what is none of the protocol, or cannot be reached again. Nothing comes after an error.
    pub async fn next(&mut self) -> Option<Result<A2aEvent>> {
        while !self.is_over {
            let told = match self.events.next() {
                Ok(Some(text)) => self.take(&text).map(Some),
                Ok(None) => self.more().await,
                Err(_) => Err(self.link.wrong("an event is too long")),
            };
            match told {
                Ok(Some(event)) => return Some(Ok(event)),
                Ok(None) => {}
                Err(error) => {
                    self.end();
                    return Some(Err(error));
                }
            }
        }
        None
    }

    fn end(&mut self) {
        self.is_over = true;
        self.body = None;
    }

    /// What an event says.
    fn take(&mut self, text: &str) -> Result<A2aEvent> {
        let value = self.link.parse(text.as_bytes())?;
        let value = self.link.outcome(value, StatusCode::OK, None)?;
        let event: A2aEvent = self.link.read(value)?;
        self.note(&event)?;
        Ok(event)
    }

    fn note(&mut self, event: &A2aEvent) -> Result<()> {
        if let A2aEvent::Message(_) = event {
            self.end();
            return Ok(());
        }
        match (&self.task, event.task_id()) {
            (None, id) => self.task = id.map(str::to_owned),
            (Some(known), Some(id)) if known == id => {}
            _ => return Err(self.link.wrong("an event is about another task")),
        }
        if !matches!(event, A2aEvent::Task(_)) || event.state() != self.state {
            self.attempts = 0;
        }
        self.state = event.state().or(self.state);
        if self.state.is_some_and(A2aState::is_terminal) {
            self.end();
        }
        Ok(())
    }

    /// Reads more bytes, or connects again.
    async fn more(&mut self) -> Result<Option<A2aEvent>> {
        if let Some(body) = &mut self.body {
            let frame = tokio::time::timeout(self.link.options().idle, body.frame()).await;
            if let Ok(Some(Ok(frame))) = frame {
                if let Some(data) = frame.data_ref() {
                    self.events.push(data);
                }
                return Ok(None);
            }
            // It is over, broke off, or is silent for too long.
            let is_end = matches!(frame, Ok(None));
            self.body = None;
            if is_end && self.state.is_some_and(A2aState::is_interrupted) {
                self.end();
                return Ok(None);
            }
        }
        self.again().await
    }

    /// Takes the stream up again.
    async fn again(&mut self) -> Result<Option<A2aEvent>> {
        let host = &self.link.target().host;
        let broken = |why: &str| A2aClientError::Connection {
            message: format!("{host}: {why}"),
            is_unsent: false,
        };
        let Some(task) = self.task.clone() else {
            return Err(broken("the stream ended before it named a task"));
        };
        if self.attempts >= self.link.options().retries {
            return Err(broken("the stream broke off and could not be taken up again"));
        }
        tokio::time::sleep(self.link.options().wait(self.attempts)).await;
        self.attempts += 1;
        match open(&self.link, Operation::Subscribe, json!({"id": task})).await {
            Ok(body) => {
                self.body = Some(body);
                self.events = Events::new(self.link.options().answer);
                Ok(None)
            }
            // It ended meanwhile.
            Err(A2aClientError::Fault(fault)) if fault.code == A2aCode::UnsupportedOperation => {
                let asked = GetTask { tenant: String::new(), id: task, history_length: None };
                let task = self.link.get(&asked).await?;
                if !task.status.state.is_terminal() {
                    return Err(A2aClientError::Fault(fault));
                }
                let event = A2aEvent::Task(task);
                self.note(&event)?;
                Ok(Some(event))
            }
            Err(error) if error.is_passing() => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl std::fmt::Debug for A2aStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("A2aStream").field("task", &self.task).finish_non_exhaustive()
    }
}

/// Opens a stream.
async fn open(link: &Link, operation: Operation, params: Value) -> Result<Incoming> {
    let asked: Asked = link.send(operation, params, link.options().timeout).await?;
    let headers = asked.response.headers();
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let is_stream = kind.to_ascii_lowercase().starts_with("text/event-stream");
    if is_stream && asked.response.status().is_success() {
        return Ok(asked.response.into_body());
    }
    link.result(asked).await?;
    Err(link.wrong("the answer is no stream of events"))
}
