//! Errors of the protocol, as each binding writes them.

use std::collections::BTreeMap;

use serde_json::{Value, json};

const ERROR_INFO: &str = "type.googleapis.com/google.rpc.ErrorInfo";
const DOMAIN: &str = "a2a-protocol.org";

/// What kind of error it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum A2aCode {
    /// It is no JSON.
    Parse,
    /// It is JSON and no request.
    InvalidRequest,
    /// There is no such method.
    MethodNotFound,
    /// The method is there and its parameters are wrong.
    InvalidParams,
    /// The server failed.
    Internal,
    /// The server has too much to do; later it may work. On JSON-RPC it has the number of [`A2aCode::Internal`].
    Unavailable,
    /// There is no such task for this client.
    TaskNotFound,
    /// The task is over.
    TaskNotCancelable,
    /// The server calls no webhooks.
    PushNotificationNotSupported,
    /// The server does not do that, or not now.
    UnsupportedOperation,
    /// The server does not read this media type.
    ContentTypeNotSupported,
    /// The agent answered what it may not.
    InvalidAgentResponse,
    /// There is no extended card.
    ExtendedAgentCardNotConfigured,
    /// The client has to know an extension.
    ExtensionSupportRequired,
    /// The server does not know this revision.
    VersionNotSupported,
}

use A2aCode as C;

/// The code, its number in JSON-RPC, its HTTP status, its gRPC status and its reason.
const TABLE: [(A2aCode, i64, u16, &str, &str); 15] = [
    (C::Parse, -32700, 400, "INVALID_ARGUMENT", "PARSE_ERROR"),
    (C::InvalidRequest, -32600, 400, "INVALID_ARGUMENT", "INVALID_REQUEST"),
    (C::MethodNotFound, -32601, 404, "NOT_FOUND", "METHOD_NOT_FOUND"),
    (C::InvalidParams, -32602, 400, "INVALID_ARGUMENT", "INVALID_PARAMS"),
    (C::Internal, -32603, 500, "INTERNAL", "INTERNAL_ERROR"),
    (C::Unavailable, -32603, 503, "UNAVAILABLE", "UNAVAILABLE"),
    (C::TaskNotFound, -32001, 404, "NOT_FOUND", "TASK_NOT_FOUND"),
    (C::TaskNotCancelable, -32002, 400, "FAILED_PRECONDITION", "TASK_NOT_CANCELABLE"),
    (
        C::PushNotificationNotSupported,
        -32003,
        400,
        "FAILED_PRECONDITION",
        "PUSH_NOTIFICATION_NOT_SUPPORTED",
    ),
    (C::UnsupportedOperation, -32004, 400, "FAILED_PRECONDITION", "UNSUPPORTED_OPERATION"),
    (C::ContentTypeNotSupported, -32005, 400, "INVALID_ARGUMENT", "CONTENT_TYPE_NOT_SUPPORTED"),
    (C::InvalidAgentResponse, -32006, 500, "INTERNAL", "INVALID_AGENT_RESPONSE"),
    (
        C::ExtendedAgentCardNotConfigured,
        -32007,
        400,
        "FAILED_PRECONDITION",
        "EXTENDED_AGENT_CARD_NOT_CONFIGURED",
    ),
    (C::ExtensionSupportRequired, -32008, 400, "FAILED_PRECONDITION", "EXTENSION_SUPPORT_REQUIRED"),
    (C::VersionNotSupported, -32009, 400, "FAILED_PRECONDITION", "VERSION_NOT_SUPPORTED"),
];

impl A2aCode {
    fn row(self) -> &'static (Self, i64, u16, &'static str, &'static str) {
        TABLE.iter().find(|row| row.0 == self).expect("the table has every code")
    }

    /// Its number in JSON-RPC.
    #[must_use]
    pub fn number(self) -> i64 {
        self.row().1
    }

    /// Its status in HTTP.
    #[must_use]
    pub fn http_status(self) -> u16 {
        self.row().2
    }

    /// Its name in details.
    #[must_use]
    pub fn reason(self) -> &'static str {
        self.row().4
    }

    fn of_number(number: i64) -> Option<Self> {
        TABLE.iter().find(|row| row.1 == number).map(|row| row.0)
    }

    fn of_reason(reason: &str) -> Option<Self> {
        TABLE.iter().find(|row| row.4 == reason).map(|row| row.0)
    }
}

/// An error of the protocol, told to the peer as it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message} ({})", code.reason())]
pub struct A2aFault {
    /// What kind of error it is.
    pub code: A2aCode,
    /// What happened, and what to do.
    pub message: String,
    /// What it is about, such as `taskId`.
    pub details: BTreeMap<String, String>,
}

impl A2aFault {
    /// An error with a message.
    #[must_use]
    pub fn new(code: A2aCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), details: BTreeMap::new() }
    }

    /// The same error with one more detail.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.details.insert(name.to_owned(), value.into());
        self
    }

    pub(crate) fn task_not_found(id: &str) -> Self {
        let message = "there is no such task for this client, or it was removed";
        Self::new(A2aCode::TaskNotFound, message).with("taskId", id)
    }

    pub(crate) fn params(message: impl Into<String>) -> Self {
        Self::new(A2aCode::InvalidParams, message)
    }

    fn info(&self) -> Value {
        let (reason, details) = (self.code.reason(), &self.details);
        json!([{"@type": ERROR_INFO, "reason": reason, "domain": DOMAIN, "metadata": details}])
    }

    /// The error object of JSON-RPC.
    pub(crate) fn to_rpc(&self) -> Value {
        json!({"code": self.code.number(), "message": self.message, "data": self.info()})
    }

    /// The body of an HTTP answer.
    pub(crate) fn to_rest(&self) -> Value {
        let (_, _, code, status, _) = self.code.row();
        json!({"error": {
            "code": code, "status": status, "message": self.message, "details": self.info(),
        }})
    }

    /// The error that a server told by JSON-RPC.
    pub(crate) fn from_rpc(error: &Value) -> Option<Self> {
        let number = error.get("code")?.as_i64()?;
        let code = A2aCode::of_number(number).unwrap_or(A2aCode::Internal);
        Some(Self::told(code, error, error.get("data")))
    }

    /// The error that a server told by HTTP.
    pub(crate) fn from_rest(body: &Value, status: u16) -> Option<Self> {
        let error = body.get("error")?.as_object()?;
        let code = match status {
            404 => A2aCode::TaskNotFound,
            503 | 429 => A2aCode::Unavailable,
            400..500 => A2aCode::InvalidRequest,
            _ => A2aCode::Internal,
        };
        Some(Self::told(code, &body["error"], error.get("details")))
    }

    fn told(code: A2aCode, error: &Value, details: Option<&Value>) -> Self {
        let message = error.get("message").and_then(Value::as_str).unwrap_or("no reason given");
        let mut fault = Self::new(code, message.chars().take(2_000).collect::<String>());
        let infos = details.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let Some(info) = infos.iter().find(|info| info["@type"] == ERROR_INFO) else {
            return fault;
        };
        if let Some(named) = info["reason"].as_str().and_then(A2aCode::of_reason) {
            fault.code = named;
        }
        for (name, value) in info["metadata"].as_object().into_iter().flatten().take(32) {
            if let Some(value) = value.as_str() {
                fault.details.insert(name.clone(), value.chars().take(2_000).collect());
            }
        }
        fault
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for (code, number, status, ..) in TABLE {
            let fault = A2aFault::new(code, "no").with("taskId", "t");
            assert_eq!(fault.to_rpc()["code"], number);
            assert_eq!(A2aFault::from_rpc(&fault.to_rpc()), Some(fault.clone()));
            assert_eq!(A2aFault::from_rest(&fault.to_rest(), status), Some(fault));
        }
    }

    #[test]
    fn errors_of_others_are_read() {
        let bare = A2aFault::from_rpc(&json!({"code": -32001, "message": "gone"})).unwrap();
        assert_eq!(bare, A2aFault::new(A2aCode::TaskNotFound, "gone"));
        let own = A2aFault::from_rpc(&json!({"code": -5})).unwrap();
        assert_eq!(own, A2aFault::new(A2aCode::Internal, "no reason given"));
        assert_eq!(A2aFault::from_rpc(&json!({"code": "x"})), None);
        assert_eq!(A2aFault::from_rpc(&json!([])), None);
        assert_eq!(A2aFault::from_rest(&json!("no"), 500), None);
        let plain = A2aFault::from_rest(&json!({"error": {"details": 1}}), 404).unwrap();
        assert_eq!(plain.code, A2aCode::TaskNotFound);
    }
}
