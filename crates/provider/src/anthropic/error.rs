//! What errors mean.

use serde_json::Value;

use crate::error::{ErrorKind, ProviderError};
use crate::json::{text, text_at};
use crate::refusal::Refusal;

/// The interface's own words for errors.
const KINDS: &[(&str, ErrorKind)] = &[
    ("authentication_error", ErrorKind::Auth),
    ("permission_error", ErrorKind::Auth),
    ("billing_error", ErrorKind::Budget),
    ("not_found_error", ErrorKind::NotFound),
    ("rate_limit_error", ErrorKind::RateLimited),
    ("overloaded_error", ErrorKind::Overloaded),
    ("api_error", ErrorKind::Overloaded),
    ("timeout_error", ErrorKind::Overloaded),
    ("request_too_large", ErrorKind::ContextTooLong),
    ("invalid_request_error", ErrorKind::BadRequest),
];

pub(super) fn read(status: Option<u16>, body: &Value) -> ProviderError {
    let refusal = Refusal {
        status,
        codes: &[text_at(body, "/error/type")],
        message: text_at(body, "/error/message").or_else(|| text(body, "error")),
        kinds: KINDS,
    };
    refusal.error(body).with_request_id(text(body, "request_id"))
}
