//! What the connection itself says: payloads of messages with the id 0, and of credit.

use bytes::Bytes;
use offshoot_mxp::{FailureBody, MessageKind};
use serde::{Deserialize, Serialize};

use crate::limits::OfferedLimits;
use crate::message::PeerMessage;

/// The protocol and its version.
pub(crate) const PROTOCOL: &str = "offshoot-peer/1";

/// The longest message of a handshake.
pub(crate) const HANDSHAKE_MESSAGE: usize = 16 << 10;

/// An `Event` with the id 0 that is no ping: exactly one of the fields.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct ControlBody {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) greeting: Option<GreetingBody>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) deadline: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) drain: Option<bool>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct GreetingBody {
    pub(crate) protocol: String,
    pub(crate) nonce: String,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct HelloBody {
    pub(crate) protocol: String,
    pub(crate) session: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    pub(crate) nonce: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) proof: Option<String>,
    #[serde(default)]
    pub(crate) received: u64,
    pub(crate) limits: OfferedLimits,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct WelcomeBody {
    pub(crate) name: String,
    pub(crate) resumed: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) proof: Option<String>,
    #[serde(default)]
    pub(crate) received: u64,
    pub(crate) limits: OfferedLimits,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct CreditBody {
    pub(crate) credit: u64,
}

/// A document of the connection. All of them are plain structs of texts and numbers, which JSON can say.
pub(crate) fn document(kind: MessageKind, id: u64, document: &impl Serialize) -> PeerMessage {
    let bytes = serde_json::to_vec(document).unwrap_or_default();
    PeerMessage::new(kind, id, Bytes::from(bytes))
}

/// An `Error`.
pub(crate) fn error(id: u64, failure: &FailureBody) -> PeerMessage {
    document(MessageKind::Error, id, failure)
}

/// What an `Error` or a `StreamClose` says. It may say nothing that can be read.
pub(crate) fn failure_of(message: &PeerMessage) -> FailureBody {
    let unreadable = || FailureBody {
        error: "the other side gave no reason that can be read".to_owned(),
        code: "unknown".to_owned(),
    };
    message.json().unwrap_or_else(|_error| unreadable())
}
