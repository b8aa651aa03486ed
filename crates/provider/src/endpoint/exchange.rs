//! One request and its answer.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use futures::StreamExt;
use futures::stream::BoxStream;
use http::header::{CONTENT_TYPE, LOCATION};
use http::{HeaderMap, Method};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::Shared;
use crate::assembly::Assembly;
use crate::catalog::ModelInfo;
use crate::error::{ErrorKind, ProviderError, shown};
use crate::event::{AnswerEvent, Omission, Started};
use crate::id::ModelId;
use crate::refusal;
use crate::request::Request;
use crate::sse::EventReader;
use crate::transport::{WireRequest, WireResponse};
use crate::wait;
use crate::wire::Decoder;

/// Names of headers that have the request's name.
const REQUEST_IDS: [&str; 3] = ["request-id", "x-request-id", "x-goog-request-id"];

/// One request and its answer.
pub(super) struct Exchange {
    shared: Arc<Shared>,
    model: ModelId,
    request_id: Option<String>,
    state: State,
    /// Events that have come and were not yet taken.
    events: VecDeque<AnswerEvent>,
    /// What went wrong behind these events.
    error: Option<ProviderError>,
}

enum State {
    Prepared(Box<Prepared>),
    Reading(Box<Reading>),
    Done,
}

struct Prepared {
    model: ModelInfo,
    request: WireRequest,
    omitted: Vec<Omission>,
}

struct Reading {
    body: BoxStream<'static, Result<Bytes, ProviderError>>,
    form: Form,
    decoder: Box<dyn Decoder>,
    assembly: Assembly,
    /// Bytes that came.
    size: usize,
    first: Instant,
    has_begun: bool,
    end: Option<Instant>,
}

/// What the body is.
enum Form {
    Events(EventReader),
    Whole(Vec<u8>),
}

impl Exchange {
    pub(super) fn new(shared: Arc<Shared>, request: &Request) -> Self {
        let mut exchange = Self {
            shared,
            model: request.model.clone(),
            request_id: None,
            state: State::Done,
            events: VecDeque::new(),
            error: None,
        };
        match exchange.prepare(request) {
            Ok(prepared) => exchange.state = State::Prepared(Box::new(prepared)),
            Err(error) => exchange.error = Some(error),
        }
        exchange
    }

    fn prepare(&self, request: &Request) -> Result<Prepared, ProviderError> {
        let model = self.shared.catalog.model(&self.shared.id, &request.model)?;
        let encoded = self.shared.wire.request(request, &model)?;
        let mut headers = encoded.headers;
        headers.extend(self.shared.headers.iter().cloned());
        let (path, body) = (encoded.path, encoded.body);
        let request = WireRequest { method: Method::POST, path, headers, body };
        Ok(Prepared { model, request, omitted: encoded.omitted })
    }

    /// The next event.
    pub(super) async fn next(&mut self) -> Option<Result<AnswerEvent, ProviderError>> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Some(Ok(event));
            }
            if let Some(error) = self.error.take() {
                self.state = State::Done;
                return Some(Err(self.complete(error)));
            }
            match std::mem::replace(&mut self.state, State::Done) {
                State::Done => return None,
                State::Prepared(prepared) => match self.send(*prepared).await {
                    Ok(reading) => self.state = State::Reading(Box::new(reading)),
                    Err(error) => self.error = Some(error),
                },
                State::Reading(mut reading) => {
                    let result = reading.read(&self.shared).await;
                    self.events.extend(reading.assembly.take());
                    match result {
                        Ok(true) => {}
                        Ok(false) => self.state = State::Reading(reading),
                        Err(error) => self.error = Some(error),
                    }
                }
            }
        }
    }

    /// Says who was asked, and takes out the key if the server repeats it.
    fn complete(&self, error: ProviderError) -> ProviderError {
        let error = error.at(&self.shared.id, &self.model);
        let error = error.with_request_id(self.request_id.as_deref());
        match &self.shared.key {
            Some(key) => error.without(key.expose()),
            None => error,
        }
    }

    async fn send(&mut self, prepared: Prepared) -> Result<Reading, ProviderError> {
        let shared = Arc::clone(&self.shared);
        let times = shared.times;
        let start = Instant::now();
        let end = times.total.map(|total| start + total);
        // Connecting has its own limit, within the transport.
        let first = start + times.connect + times.first_event;
        let sent = shared.transport.send(prepared.request);
        let response = match timeout_at(earlier(first, end), sent).await {
            Ok(response) => response?,
            Err(_) => return Err(late(end, "no answer", times.first_event)),
        };
        self.request_id =
            REQUEST_IDS.iter().find_map(|name| header(&response.headers, name).map(str::to_owned));
        if !(200..300).contains(&response.status) {
            return Err(refused(&shared, response).await);
        }
        let kind = header(&response.headers, CONTENT_TYPE.as_str()).unwrap_or_default();
        let is =
            |mime: &str| kind.get(..mime.len()).is_some_and(|kind| kind.eq_ignore_ascii_case(mime));
        let form = match () {
            () if is("text/event-stream") => Form::Events(EventReader::new(shared.limits.event)),
            () if is("application/json") => Form::Whole(Vec::new()),
            () => {
                let kind = shown(kind);
                let body = start_of(response.body, &shared).await;
                let said = refusal::plain(response.status, &body).details().message.clone();
                let message = format!("the answer is neither events nor JSON but {kind:?}: {said}");
                let error = ProviderError::new(ErrorKind::Protocol, message);
                return Err(error.with_hint("check the base address"));
            }
        };
        let started = Started {
            provider: shared.id.clone(),
            model: prepared.model.id.clone(),
            response_id: None,
            request_id: self.request_id.clone(),
            omitted: prepared.omitted,
        };
        Ok(Reading {
            body: response.body,
            form,
            decoder: shared.wire.decoder(),
            assembly: Assembly::new(started, prepared.model, shared.limits),
            size: 0,
            first,
            has_begun: false,
            end,
        })
    }
}

impl Reading {
    /// Reads a piece. Says whether the answer is complete.
    async fn read(&mut self, shared: &Shared) -> Result<bool, ProviderError> {
        let idle = Instant::now() + shared.times.idle;
        let until = if self.has_begun { idle } else { self.first };
        let piece = match timeout_at(earlier(until, self.end), self.body.next()).await {
            // The answer was complete but for the words that say so.
            Ok(Some(Err(_))) | Err(_) if self.assembly.is_stopping() => None,
            Ok(piece) => piece,
            Err(_) if self.has_begun => {
                return Err(late(self.end, "the answer stopped coming", shared.times.idle));
            }
            Err(_) => return Err(late(self.end, "no answer", shared.times.first_event)),
        };
        let Some(piece) = piece.transpose()? else {
            match &self.form {
                Form::Events(_) => self.decoder.end(&mut self.assembly)?,
                Form::Whole(body) => {
                    let value: Value = serde_json::from_slice(body).map_err(|error| {
                        let message = format!("the answer is no JSON: {error}");
                        ProviderError::new(ErrorKind::Protocol, message)
                    })?;
                    self.decoder.whole(&value, &mut self.assembly)?;
                }
            }
            return Ok(true);
        };
        self.size += piece.len();
        if self.size > shared.limits.answer {
            let message = format!("the answer has more than {} bytes", shared.limits.answer);
            return Err(ProviderError::new(ErrorKind::TooLarge, message));
        }
        match &mut self.form {
            Form::Whole(body) => {
                self.has_begun = true;
                body.extend_from_slice(&piece);
            }
            Form::Events(reader) => {
                let mut events = Vec::new();
                let result = reader.read(&piece, &mut events);
                for event in events {
                    self.decoder.event(&event, &mut self.assembly)?;
                    if self.assembly.is_finished() {
                        return Ok(true);
                    }
                }
                self.has_begun |= self.assembly.has_begun();
                result?;
            }
        }
        Ok(false)
    }
}

fn earlier(one: Instant, other: Option<Instant>) -> Instant {
    other.map_or(one, |other| one.min(other))
}

/// A time limit passed: that of the whole answer, which is final, or another one.
fn late(end: Option<Instant>, what: &str, within: Duration) -> ProviderError {
    match end {
        Some(end) if Instant::now() >= end => {
            let message = "the answer took longer than is allowed for all of it";
            ProviderError::new(ErrorKind::Timeout, message).into_final()
        }
        _ => ProviderError::new(ErrorKind::Timeout, format!("{what} for {within:?}")),
    }
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// Why a server refuses a request.
pub(super) async fn refused(shared: &Shared, response: WireResponse) -> ProviderError {
    let WireResponse { status, headers, body } = response;
    if (300..400).contains(&status) {
        let to = header(&headers, LOCATION.as_str()).map(shown).unwrap_or_default();
        let message = format!("the server redirects to {to:?}");
        let error = ProviderError::new(ErrorKind::BadRequest, message).with_status(status);
        return error
            .with_hint("redirects are not followed: use the address that it leads to as base");
    }
    let body = start_of(body, shared).await;
    let error = match serde_json::from_slice::<Value>(&body) {
        Ok(value) if value.is_object() || value.is_array() => {
            shared.wire.error(Some(status), &value)
        }
        _ => refusal::plain(status, &body),
    };
    error.with_retry_after(wait::asked(&headers, SystemTime::now()))
}

/// The start of a body, as much as comes in time and is allowed for errors.
async fn start_of(
    mut body: BoxStream<'static, Result<Bytes, ProviderError>>,
    shared: &Shared,
) -> Vec<u8> {
    let end = Instant::now() + shared.times.idle;
    let mut read = Vec::new();
    while let Ok(Some(Ok(piece))) = timeout_at(end, body.next()).await {
        read.extend_from_slice(&piece);
        if read.len() >= shared.limits.error {
            read.truncate(shared.limits.error);
            break;
        }
    }
    read
}
