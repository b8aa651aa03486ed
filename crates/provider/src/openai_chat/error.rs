//! What errors mean.

use serde_json::Value;

use crate::error::{ErrorKind, ProviderError};
use crate::json::{text, text_at};
use crate::refusal::Refusal;

/// The words for errors of OpenAI, and of servers compatible with it.
const KINDS: &[(&str, ErrorKind)] = &[
    ("insufficient_quota", ErrorKind::Budget),
    ("billing_hard_limit_reached", ErrorKind::Budget),
    ("invalid_api_key", ErrorKind::Auth),
    ("authentication_error", ErrorKind::Auth),
    ("permission_denied", ErrorKind::Auth),
    ("model_not_found", ErrorKind::NotFound),
    ("not_found_error", ErrorKind::NotFound),
    ("NotFoundError", ErrorKind::NotFound),
    ("context_length_exceeded", ErrorKind::ContextTooLong),
    ("exceed_context_size_error", ErrorKind::ContextTooLong),
    ("rate_limit_exceeded", ErrorKind::RateLimited),
    ("rate_limit_error", ErrorKind::RateLimited),
    ("tokens", ErrorKind::RateLimited),
    ("requests", ErrorKind::RateLimited),
    ("content_policy_violation", ErrorKind::Refused),
    ("content_filter", ErrorKind::Refused),
    ("server_error", ErrorKind::Overloaded),
    ("server_overloaded", ErrorKind::Overloaded),
    ("slow_down", ErrorKind::Overloaded),
    ("unavailable_error", ErrorKind::Overloaded),
    ("invalid_request_error", ErrorKind::BadRequest),
    ("BadRequestError", ErrorKind::BadRequest),
];

/// The error in a body or event: an object, or with some servers a text or the object without its cover.
pub(crate) fn read(status: Option<u16>, body: &Value) -> ProviderError {
    let error = body.get("error").filter(|error| error.is_object()).unwrap_or(body);
    // Some servers send the status as the code, which counts in the midst of a stream.
    let code = error.get("code").and_then(Value::as_u64);
    let inner = code.and_then(|code| u16::try_from(code).ok()).filter(|code| *code >= 400);
    let refusal = Refusal {
        status: status.or(inner),
        codes: &[text(error, "code"), text(error, "type")],
        message: text(error, "message")
            .or_else(|| text_at(body, "/error"))
            .or_else(|| text(body, "detail")),
        kinds: KINDS,
    };
    // `invalid_request_error` stands with 401 and 404, too.
    let error = refusal.error(body);
    match (error.kind(), refusal.status.map(crate::refusal::by_status)) {
        (ErrorKind::BadRequest, Some(kind)) if kind != ErrorKind::BadRequest => {
            Refusal { codes: &[], ..refusal }.error(body)
        }
        _ => error,
    }
}
