//! Messages, whoever they are from: which session they are about, and how they are answered.

use agent_client_protocol::Error;
use agent_client_protocol::v1::Responder;
use serde_json::{Value, json};

use crate::fault::refused;

/// Answers; an editor that is gone needs none.
pub(crate) fn respond(responder: Responder, result: Result<Value, Error>) {
    let _gone = responder.respond_with_result(result).is_err();
}

/// The session that a message is about.
pub(crate) fn session_id(params: &Value) -> Option<&str> {
    params.get("sessionId").and_then(Value::as_str)
}

/// The same, where there has to be one.
pub(crate) fn required_id(params: &Value) -> Result<String, Error> {
    session_id(params).map(str::to_owned).ok_or_else(|| refused("sessionId is missing"))
}

/// The message with another session.
pub(crate) fn with_session(mut params: Value, id: &str) -> Value {
    if let Some(known) = params.get_mut("sessionId") {
        *known = Value::from(id);
    }
    params
}

/// A text among what an editor shows with a tool call.
pub(crate) fn text(text: &str) -> Value {
    json!({ "type": "content", "content": { "type": "text", "text": text } })
}
