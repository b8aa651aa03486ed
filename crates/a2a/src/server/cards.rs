//! The public card, as it is served.

use std::hash::{DefaultHasher, Hash, Hasher};

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode};
use http_body_util::{BodyExt, Full};

use super::reply::{Answer, plain};
use crate::wire::A2aCard;

/// So long a client may use a card without asking.
const KEPT: HeaderValue = HeaderValue::from_static("max-age=300");

/// The bytes of a card and their name.
#[derive(Debug)]
pub(super) struct Card {
    bytes: Bytes,
    tag: String,
}

impl Card {
    pub(super) fn new(card: &A2aCard) -> Self {
        // A card has no maps with keys that are no texts.
        let bytes = serde_json::to_vec(card).unwrap_or_default();
        let mut hasher = DefaultHasher::new();
        bytes.hash(&mut hasher);
        Self { bytes: bytes.into(), tag: format!("\"{:016x}\"", hasher.finish()) }
    }

    pub(super) fn answer(&self, method: &Method, headers: &HeaderMap) -> Answer {
        if method != Method::GET && method != Method::HEAD {
            return plain(StatusCode::METHOD_NOT_ALLOWED, "the card is got by GET\n");
        }
        let known = headers.get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
        let is_known = known.flat_map(|value| value.split(',')).any(|value| {
            let value = value.trim();
            value == "*" || value.strip_prefix("W/").unwrap_or(value) == self.tag
        });
        let bytes = if is_known { Bytes::new() } else { self.bytes.clone() };
        let mut answer = Response::new(Full::new(bytes).boxed_unsync());
        if is_known {
            *answer.status_mut() = StatusCode::NOT_MODIFIED;
        }
        let headers = answer.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(CACHE_CONTROL, KEPT);
        if let Ok(tag) = HeaderValue::from_str(&self.tag) {
            headers.insert(ETAG, tag);
        }
        answer
    }
}
