//! The lines of a record.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::HeaderMap;
use serde::{Deserialize, Serialize};

use crate::message::Fields;
use crate::transport::WireRequest;

/// The version of the format.
pub(crate) const VERSION: u32 = 1;

/// Headers of answers that are written down. Others may have secrets.
const HEADERS: [&str; 6] =
    ["content-type", "retry-after", "retry-after-ms", "request-id", "x-request-id", "location"];

/// A line of a record: the first has a version, every other one something of an exchange.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Line {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) offshoot_provider_record: Option<u32>,
    /// The exchange.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) n: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) request: Option<RequestLine>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) response: Option<ResponseLine>,
    /// A piece of the body that is text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) chunk: Option<String>,
    /// A piece of the body that is none, in base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) bytes: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) end: Option<End>,
}

/// What was sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RequestLine {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Fields,
}

/// How the answer began.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ResponseLine {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
}

/// How the answer ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum End {
    /// All of it came.
    Done,
    /// Nobody wanted more of it.
    Dropped,
    /// It broke.
    Error(String),
}

impl Line {
    pub(crate) fn version() -> Self {
        Self { offshoot_provider_record: Some(VERSION), ..Self::default() }
    }

    pub(crate) fn of(n: u64) -> Self {
        Self { n: Some(n), ..Self::default() }
    }

    pub(crate) fn piece(n: u64, bytes: &[u8]) -> Self {
        match std::str::from_utf8(bytes) {
            Ok(text) => Self { chunk: Some(text.to_owned()), ..Self::of(n) },
            Err(_) => Self { bytes: Some(STANDARD.encode(bytes)), ..Self::of(n) },
        }
    }
}

impl RequestLine {
    pub(crate) fn of(request: &WireRequest) -> Self {
        let headers = request.headers.iter();
        let text =
            |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        Self {
            method: request.method.to_string(),
            path: request.path.clone(),
            headers: headers.map(|(name, value)| (name.to_string(), text(value))).collect(),
            body: request.body.clone(),
        }
    }
}

/// The headers of an answer that are written down.
pub(crate) fn headers_of(headers: &HeaderMap) -> Vec<(String, String)> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::to_owned);
    HEADERS.iter().filter_map(|name| Some(((*name).to_owned(), text(name)?))).collect()
}
