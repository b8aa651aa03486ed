//! What errors mean.

use std::time::Duration;

use serde_json::Value;

use crate::error::{ErrorKind, ProviderError};
use crate::json::{list, text, text_at};
use crate::refusal::Refusal;

/// The interface's own words for errors.
const KINDS: &[(&str, ErrorKind)] = &[
    ("UNAUTHENTICATED", ErrorKind::Auth),
    ("PERMISSION_DENIED", ErrorKind::Auth),
    ("NOT_FOUND", ErrorKind::NotFound),
    ("RESOURCE_EXHAUSTED", ErrorKind::RateLimited),
    ("UNAVAILABLE", ErrorKind::Overloaded),
    ("INTERNAL", ErrorKind::Overloaded),
    ("DEADLINE_EXCEEDED", ErrorKind::Overloaded),
    ("INVALID_ARGUMENT", ErrorKind::BadRequest),
    ("FAILED_PRECONDITION", ErrorKind::BadRequest),
    ("OUT_OF_RANGE", ErrorKind::BadRequest),
];

pub(super) fn read(status: Option<u16>, body: &Value) -> ProviderError {
    // A stream without `alt=sse` has the error in a list.
    let body = match body {
        Value::Array(list) => list.first().unwrap_or(body),
        other => other,
    };
    let refusal = Refusal {
        status: status.or_else(|| {
            let code = body.pointer("/error/code").and_then(Value::as_u64)?;
            u16::try_from(code).ok()
        }),
        codes: &[text_at(body, "/error/status")],
        message: text_at(body, "/error/message"),
        kinds: KINDS,
    };
    let details = body.get("error").map_or(&[][..], |error| list(error, "details"));
    let wait = details
        .iter()
        .find_map(|detail| text(detail, "retryDelay")?.strip_suffix('s')?.parse::<f64>().ok())
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    refusal.error(body).with_retry_after(wait)
}
