//! What every interface does: requests to JSON, and answers to events.

use http::{HeaderName, HeaderValue};
use serde_json::Value;

use crate::assembly::Assembly;
use crate::catalog::ModelInfo;
use crate::error::ProviderError;
use crate::event::Omission;
use crate::key::ApiKey;
use crate::message::{Fields, Message};
use crate::request::Request;
use crate::sse::ServerEvent;

/// An interface.
pub(crate) trait Wire: Send + Sync {
    /// The request in the words of the interface.
    fn request(&self, request: &Request, model: &ModelInfo) -> Result<Encoded, ProviderError>;

    /// What lists the models of a server.
    fn listing(&self) -> Listing;

    /// The header that has the key.
    fn key_header(&self, key: &ApiKey) -> (HeaderName, String);

    /// Reads one answer.
    fn decoder(&self) -> Box<dyn Decoder>;

    /// What an error means, whose body is JSON.
    fn error(&self, status: Option<u16>, body: &Value) -> ProviderError;

    /// Messages as they stand in a request.
    fn write_messages(&self, messages: &[Message]) -> (Vec<Value>, Vec<Omission>);

    /// Messages that stand in a request.
    fn read_messages(&self, messages: &[Value]) -> Vec<Message>;
}

/// What lists the models of a server.
#[derive(Debug)]
pub(crate) struct Listing {
    /// What follows the base address.
    pub(crate) path: &'static str,
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    /// The field that has the list.
    pub(crate) list: &'static str,
    /// The field of each that has its name.
    pub(crate) name: &'static str,
    /// What a name starts with that is no part of it.
    pub(crate) prefix: &'static str,
}

impl Listing {
    /// As OpenAI lists its models, and whoever is compatible with it.
    pub(crate) const OPENAI: Self =
        Self { path: "/models", headers: Vec::new(), list: "data", name: "id", prefix: "" };
}

/// Reads the events of one answer.
pub(crate) trait Decoder: Send {
    /// Reads an event of the stream.
    fn event(&mut self, event: &ServerEvent, out: &mut Assembly) -> Result<(), ProviderError>;

    /// Reads an answer of a server that does not stream.
    fn whole(&mut self, body: &Value, out: &mut Assembly) -> Result<(), ProviderError>;

    /// The stream has ended. What says that the answer has, may have come before.
    fn end(&mut self, out: &mut Assembly) -> Result<(), ProviderError>;
}

/// A request in the words of an interface.
#[derive(Debug)]
pub(crate) struct Encoded {
    /// What follows the base address.
    pub(crate) path: String,
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    pub(crate) body: Fields,
    pub(crate) omitted: Vec<Omission>,
}

/// What an interface could not take.
#[derive(Debug, Default)]
pub(crate) struct Omissions(std::collections::BTreeSet<Omission>);

impl Omissions {
    pub(crate) fn add(&mut self, omission: Omission) {
        self.0.insert(omission);
    }

    pub(crate) fn into_vec(self) -> Vec<Omission> {
        self.0.into_iter().collect()
    }
}
