//! Updates of a task as server-sent events.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, Response};
use http_body_util::{BodyExt, StreamBody};
use hyper::body::Frame;
use serde_json::{Value, json};
use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::CancellationToken;

use super::reply::{Answer, Body};
use super::shared::Shared;
use crate::fault::{A2aCode, A2aFault};
use crate::hub::Updates;
use crate::record::A2aTaskRecord;
use crate::service::{Sent, first};
use crate::wire::A2aEvent;

/// What stands around an event.
#[derive(Debug, Clone)]
pub(super) enum Framing {
    /// The response of JSON-RPC to the call with this id.
    Rpc(Value),
    /// Nothing.
    Rest,
}

/// A place for a stream, if there is one.
pub(super) fn place(shared: &Shared) -> Result<OwnedSemaphorePermit, A2aFault> {
    let taken = Arc::clone(&shared.streams).try_acquire_owned();
    let message = "too many streams are open; ask for the task instead";
    taken.map_err(|_| A2aFault::new(A2aCode::Unavailable, message))
}

/// What comes of a message, until the agent is done or waits for the client.
pub(super) fn of_message(
    shared: &Shared,
    sent: Sent,
    history: Option<u32>,
    framing: Framing,
    place: OwnedSemaphorePermit,
) -> Answer {
    match sent {
        Sent::Answered(message) => {
            let event = framing.text(&A2aEvent::Message(message));
            drop(place);
            let frames = futures::stream::once(async { frame(event) });
            respond(StreamBody::new(frames).boxed_unsync())
        }
        Sent::Begun(record, updates) => {
            let rests =
                |state: crate::wire::A2aState| state.is_terminal() || state.is_interrupted();
            let is_over = rests(record.state());
            let source = Source::new(shared, framing, updates, rests, is_over, place);
            source.answer(first(&record, history))
        }
    }
}

/// What happens to a task, until it is over.
pub(super) fn of_task(
    shared: &Shared,
    record: A2aTaskRecord,
    updates: Updates,
    framing: Framing,
    place: OwnedSemaphorePermit,
) -> Answer {
    let ends = crate::wire::A2aState::is_terminal;
    let source = Source::new(shared, framing, updates, ends, false, place);
    source.answer(first(&record, None))
}

/// Where the events of a stream come from.
struct Source {
    framing: Framing,
    updates: Updates,
    /// The states after which nothing more is told.
    ends: fn(crate::wire::A2aState) -> bool,
    is_over: bool,
    heartbeat: Duration,
    over: CancellationToken,
    _place: OwnedSemaphorePermit,
}

impl Source {
    fn new(
        shared: &Shared,
        framing: Framing,
        updates: Updates,
        ends: fn(crate::wire::A2aState) -> bool,
        is_over: bool,
        place: OwnedSemaphorePermit,
    ) -> Self {
        let heartbeat = shared.service.hub.limits.heartbeat;
        let over = shared.over.clone();
        Self { framing, updates, ends, is_over, heartbeat, over, _place: place }
    }

    fn answer(self, first: A2aEvent) -> Answer {
        let first = self.framing.text(&first);
        let begin = futures::stream::once(async { frame(first) });
        let rest = futures::stream::unfold(self, |mut source| async move {
            let text = source.next().await?;
            Some((frame(text), source))
        });
        respond(StreamBody::new(begin.chain(rest)).boxed_unsync())
    }

    /// The next event, or a comment if there is none for a while. A stream that is too slow ends; its client subscribes again and gets
    /// the task as it is then.
    async fn next(&mut self) -> Option<String> {
        if self.is_over {
            return None;
        }
        let event = tokio::select! {
            event = self.updates.next() => event.ok()?,
            () = tokio::time::sleep(self.heartbeat) => return Some(":\n\n".to_owned()),
            () = self.over.cancelled() => return None,
        };
        self.is_over = event.state().is_some_and(self.ends);
        Some(self.framing.text(&event))
    }
}

impl Framing {
    fn text(&self, event: &A2aEvent) -> String {
        let value = json!(event);
        let value = match self {
            Self::Rpc(id) => json!({"jsonrpc": "2.0", "id": id, "result": value}),
            Self::Rest => value,
        };
        // JSON has no line breaks outside of texts, and escapes those within.
        format!("data: {value}\n\n")
    }
}

fn frame(text: String) -> Result<Frame<Bytes>, Infallible> {
    Ok(Frame::data(Bytes::from(text)))
}

fn respond(body: Body) -> Answer {
    let mut answer = Response::new(body);
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    answer
}
