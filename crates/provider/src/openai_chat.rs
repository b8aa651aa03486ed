//! OpenAI Chat Completions, and what is compatible with it.

mod error;
mod message;
mod request;
mod stream;

use http::HeaderName;
use http::header::AUTHORIZATION;
use serde_json::Value;

use crate::catalog::{ModelInfo, Quirks};
use crate::error::ProviderError;
use crate::event::Omission;
use crate::key::ApiKey;
use crate::message::Message;
use crate::request::Request;
use crate::wire::{Decoder, Encoded, Listing, Omissions};

pub(crate) use error::read as read_error;

/// The interface, as a server with quirks speaks it.
pub(crate) struct Wire {
    quirks: Quirks,
}

impl Wire {
    pub(crate) fn new(quirks: Quirks) -> Self {
        Self { quirks }
    }
}

impl crate::wire::Wire for Wire {
    fn request(&self, request: &Request, model: &ModelInfo) -> Result<Encoded, ProviderError> {
        Ok(request::encode(request, model, &self.quirks))
    }

    fn listing(&self) -> Listing {
        Listing::OPENAI
    }

    fn key_header(&self, key: &ApiKey) -> (HeaderName, String) {
        (AUTHORIZATION, format!("Bearer {}", key.expose()))
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(stream::Reader::default())
    }

    fn error(&self, status: Option<u16>, body: &Value) -> ProviderError {
        error::read(status, body)
    }

    fn write_messages(&self, messages: &[Message]) -> (Vec<Value>, Vec<Omission>) {
        let mut omitted = Omissions::default();
        (message::write(messages, &self.quirks, &mut omitted), omitted.into_vec())
    }

    fn read_messages(&self, messages: &[Value]) -> Vec<Message> {
        message::read(messages)
    }
}
