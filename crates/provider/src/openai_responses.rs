//! OpenAI Responses.

mod error;
mod message;
mod request;
mod stream;

use http::HeaderName;
use http::header::AUTHORIZATION;
use serde_json::Value;

use crate::catalog::ModelInfo;
use crate::error::ProviderError;
use crate::event::Omission;
use crate::key::ApiKey;
use crate::message::Message;
use crate::request::Request;
use crate::wire::{Decoder, Encoded, Listing, Omissions};

/// The interface.
pub(crate) struct Wire;

impl crate::wire::Wire for Wire {
    fn request(&self, request: &Request, model: &ModelInfo) -> Result<Encoded, ProviderError> {
        Ok(request::encode(request, model))
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
        (message::write(messages, &mut omitted), omitted.into_vec())
    }

    fn read_messages(&self, messages: &[Value]) -> Vec<Message> {
        message::read(messages)
    }
}
