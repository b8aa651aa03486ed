//! What is read of a request in every binding.

use bytes::Bytes;
use http::StatusCode;
use http::header::CONTENT_TYPE;
use http::request::Parts;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Incoming;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::query::pairs;
use super::shared::Shared;
use crate::fault::{A2aCode, A2aFault};
use crate::wire::A2A_VERSION;

/// Whether the client speaks a revision that is spoken here. One that says nothing speaks 0.3.
pub(super) fn version(parts: &Parts) -> Result<(), A2aFault> {
    let header = parts.headers.get("a2a-version").and_then(|value| value.to_str().ok());
    let asked = header.map(str::to_owned).or_else(|| {
        let query = parts.uri.query().unwrap_or_default();
        pairs(query).find(|(name, _)| name.eq_ignore_ascii_case("a2a-version")).map(|it| it.1)
    });
    let asked = asked.unwrap_or_default();
    if asked.trim() == A2A_VERSION {
        return Ok(());
    }
    let said = match asked.trim() {
        "" => "0.3".to_owned(),
        other => other.chars().take(32).collect(),
    };
    let message = format!("send the header A2A-Version: {A2A_VERSION}");
    Err(A2aFault::new(A2aCode::VersionNotSupported, message).with("version", said))
}

/// The body of a request, if it is JSON by its type, not too long, and comes in time.
pub(super) async fn body(
    shared: &Shared,
    parts: &Parts,
    body: Incoming,
) -> Result<Bytes, (StatusCode, A2aFault)> {
    let refused = |code, message: &str| A2aFault::new(code, message);
    let kind = parts.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.and_then(|kind| kind.split(';').next()).unwrap_or_default().trim();
    if !["application/json", "application/a2a+json"].iter().any(|it| it.eq_ignore_ascii_case(kind))
    {
        let fault =
            refused(A2aCode::ContentTypeNotSupported, "the body has to be application/json");
        return Err((StatusCode::UNSUPPORTED_MEDIA_TYPE, fault));
    }
    let limits = &shared.service.hub.limits;
    let reading = Limited::new(body, limits.body).collect();
    match tokio::time::timeout(limits.arrival, reading).await {
        Ok(Ok(read)) => Ok(read.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            let message = format!("the request has more than {} bytes", limits.body);
            let fault = A2aFault::new(A2aCode::InvalidRequest, message);
            Err((StatusCode::PAYLOAD_TOO_LARGE, fault))
        }
        Ok(Err(_)) => {
            let fault = refused(A2aCode::InvalidRequest, "the request broke off");
            Err((StatusCode::BAD_REQUEST, fault))
        }
        Err(_) => {
            let fault = refused(A2aCode::InvalidRequest, "the request took too long to arrive");
            Err((StatusCode::REQUEST_TIMEOUT, fault))
        }
    }
}

/// Reads the parameters of a method.
pub(super) fn read<T: DeserializeOwned>(params: Value) -> Result<T, A2aFault> {
    serde_json::from_value(params).map_err(|error| {
        let what: String = error.to_string().chars().take(300).collect();
        A2aFault::params(what)
    })
}
