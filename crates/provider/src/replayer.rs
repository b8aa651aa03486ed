//! Answers from a record.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, stream};
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;

use crate::error::{ErrorKind, ProviderError};
use crate::recorder::line::{End, Line, RequestLine, ResponseLine, VERSION};
use crate::transport::{Transport, WireRequest, WireResponse};

/// A transport that answers each request from a record, once, in the recorded pieces. It sends nothing.
#[derive(Clone)]
pub struct Replayer {
    exchanges: Arc<Mutex<Vec<Exchange>>>,
}

struct Exchange {
    n: u64,
    request: RequestLine,
    response: Option<ResponseLine>,
    pieces: Vec<Bytes>,
    end: Option<End>,
    is_used: bool,
}

impl Replayer {
    /// Reads a record.
    pub fn open(path: &Path) -> Result<Self, ProviderError> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| wrong(format!("{}: {error}", path.display())))?;
        Self::parse(&text)
    }

    /// Reads the text of a record.
    pub fn parse(text: &str) -> Result<Self, ProviderError> {
        let mut exchanges: Vec<Exchange> = Vec::new();
        let mut is_first = true;
        for (index, text) in text.lines().enumerate() {
            let number = index + 1;
            let line: Line = serde_json::from_str(text)
                .map_err(|error| wrong(format!("line {number} cannot be read: {error}")))?;
            if std::mem::take(&mut is_first) {
                match line.offshoot_provider_record {
                    Some(VERSION) => continue,
                    Some(other) => {
                        return Err(wrong(format!("version {other} is not known, only {VERSION}")));
                    }
                    None => return Err(wrong("line 1 has no version: it is no record".to_owned())),
                }
            }
            let n = line.n.ok_or_else(|| wrong(format!("line {number} names no exchange")))?;
            if let Some(request) = line.request {
                let (response, pieces, end) = (None, Vec::new(), None);
                exchanges.push(Exchange { n, request, response, pieces, end, is_used: false });
                continue;
            }
            let exchange =
                exchanges.iter_mut().rfind(|exchange| exchange.n == n).ok_or_else(|| {
                    wrong(format!("line {number} is of an exchange without a request"))
                })?;
            exchange.response = line.response.or(exchange.response.take());
            exchange.end = line.end.or(exchange.end.take());
            exchange.pieces.extend(line.chunk.map(Bytes::from));
            if let Some(bytes) = line.bytes {
                let bytes = STANDARD
                    .decode(bytes)
                    .map_err(|error| wrong(format!("line {number} is no base64: {error}")))?;
                exchange.pieces.push(Bytes::from(bytes));
            }
        }
        match is_first {
            true => Err(wrong("it is empty".to_owned())),
            false => Ok(Self { exchanges: Arc::new(Mutex::new(exchanges)) }),
        }
    }

    /// The models that were asked, in the order of their first requests.
    pub fn models(&self) -> Vec<String> {
        let exchanges = self.exchanges.lock().unwrap_or_else(PoisonError::into_inner);
        let mut models: Vec<String> = Vec::new();
        for model in exchanges.iter().filter_map(|exchange| model_of(&exchange.request)) {
            if !models.contains(&model) {
                models.push(model);
            }
        }
        models
    }

    /// How many times the same was asked at most.
    pub fn attempts(&self) -> u32 {
        let exchanges = self.exchanges.lock().unwrap_or_else(PoisonError::into_inner);
        let times = |exchange: &Exchange| {
            let same = exchanges.iter().filter(|other| other.request == exchange.request);
            u32::try_from(same.count()).unwrap_or(u32::MAX)
        };
        exchanges.iter().map(times).max().unwrap_or(1)
    }

    /// How many exchanges were not asked for.
    pub fn left(&self) -> usize {
        let exchanges = self.exchanges.lock().unwrap_or_else(PoisonError::into_inner);
        exchanges.iter().filter(|exchange| !exchange.is_used).count()
    }

    fn answer(&self, request: &WireRequest) -> Result<WireResponse, ProviderError> {
        let mut exchanges = self.exchanges.lock().unwrap_or_else(PoisonError::into_inner);
        let asked = RequestLine::of(request);
        let unused = |exchange: &&mut Exchange| !exchange.is_used;
        let fits = |exchange: &&mut Exchange| {
            let recorded = &exchange.request;
            recorded.method == asked.method
                && recorded.path == asked.path
                && recorded.body == asked.body
        };
        let Some(exchange) = exchanges.iter_mut().filter(unused).find(fits) else {
            return Err(mismatch(&exchanges, &asked));
        };
        exchange.is_used = true;
        let end = match &exchange.end {
            Some(End::Done) => None,
            Some(End::Error(why)) => Some(ProviderError::new(ErrorKind::Network, why.clone())),
            // The record does not have what came next.
            Some(End::Dropped) => Some(ended(exchange.n, "the recorded caller did not read on")),
            None => Some(ended(exchange.n, "the record was cut off")),
        };
        let Some(head) = &exchange.response else {
            return Err(end.unwrap_or_else(|| ended(exchange.n, "the record has no answer")));
        };
        let mut headers = HeaderMap::new();
        for (name, value) in &head.headers {
            let (Ok(parsed), Ok(value)) =
                (name.parse::<HeaderName>(), value.parse::<HeaderValue>())
            else {
                return Err(wrong(format!(
                    "exchange {} has a header {name:?} that is none",
                    exchange.n
                )));
            };
            headers.insert(parsed, value);
        }
        let pieces = exchange.pieces.iter().cloned().map(Ok).chain(end.map(Err));
        let pieces: Vec<Result<Bytes, ProviderError>> = pieces.collect();
        Ok(WireResponse { status: head.status, headers, body: stream::iter(pieces).boxed() })
    }
}

impl Transport for Replayer {
    fn send(
        &self,
        request: WireRequest,
    ) -> BoxFuture<'static, Result<WireResponse, ProviderError>> {
        let replayer = self.clone();
        async move { replayer.answer(&request) }.boxed()
    }
}

/// The model that a request asks for: in its body, or in its path.
fn model_of(request: &RequestLine) -> Option<String> {
    if let Some(Value::String(model)) = request.body.get("model") {
        return Some(model.clone());
    }
    let (_, behind) = request.path.split_once("/models/")?;
    Some(behind.split([':', '?']).next()?.to_owned()).filter(|model| !model.is_empty())
}

fn wrong(what: String) -> ProviderError {
    ProviderError::new(ErrorKind::BadRequest, format!("the record cannot be replayed: {what}"))
}

fn ended(n: u64, why: &str) -> ProviderError {
    wrong(format!("exchange {n} has no end: {why}"))
}

/// Says where a request differs from the next that was recorded.
fn mismatch(exchanges: &[Exchange], asked: &RequestLine) -> ProviderError {
    let unused = exchanges.iter().filter(|exchange| !exchange.is_used);
    let Some(next) = unused.min_by_key(|exchange| exchange.request.path != asked.path) else {
        return wrong("all recorded requests were asked".to_owned());
    };
    let n = next.n;
    let goes_to = |line: &RequestLine| format!("{} {}", line.method, line.path);
    let (goes, recorded) = (goes_to(asked), goes_to(&next.request));
    if goes != recorded {
        return wrong(format!("the request goes to {goes}, the recorded one ({n}) to {recorded}"));
    }
    let body = Value::Object(asked.body.clone());
    let recorded = Value::Object(next.request.body.clone());
    let place = difference(&body, &recorded).unwrap_or_default();
    let shown = |value: &Value| match value.pointer(&place) {
        Some(value) => crate::error::shown(&value.to_string()),
        None => "nothing".to_owned(),
    };
    wrong(format!(
        "at {place}, the request has {}, and the recorded one ({n}) {}",
        shown(&body),
        shown(&recorded)
    ))
}

/// The JSON pointer of the first place where two values differ.
fn difference(one: &Value, other: &Value) -> Option<String> {
    let inside = |name: &str, one: Option<&Value>, other: Option<&Value>| {
        let rest = match (one, other) {
            (Some(one), Some(other)) => difference(one, other)?,
            _ => String::new(),
        };
        Some(format!("/{}{rest}", name.replace('~', "~0").replace('/', "~1")))
    };
    match (one, other) {
        _ if one == other => None,
        (Value::Object(one), Value::Object(other)) => {
            let names = one.keys().chain(other.keys());
            names.into_iter().find_map(|name| {
                let (one, other) = (one.get(name), other.get(name));
                if one == other { None } else { inside(name, one, other) }
            })
        }
        (Value::Array(one), Value::Array(other)) => (0..one.len().max(other.len()))
            .find(|&at| one.get(at) != other.get(at))
            .and_then(|at| inside(&at.to_string(), one.get(at), other.get(at))),
        _ => Some(String::new()),
    }
}
