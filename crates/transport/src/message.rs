//! Messages that own their payload.

use std::fmt;

use bytes::Bytes;
use offshoot_mxp::{AgentMessage, MessageBody, MessageFlags, MessageKind, PayloadError};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A message as it came, with a payload that is shared and not copied.
#[derive(Clone, PartialEq, Eq)]
pub struct PeerMessage {
    /// What it is for.
    pub kind: MessageKind,
    /// How it is to be handled.
    pub flags: MessageFlags,
    /// Its number.
    pub id: u64,
    /// The same for all that follows from one cause.
    pub trace: u64,
    /// The payload as it was sent.
    pub payload: Bytes,
}

impl PeerMessage {
    pub(crate) fn new(kind: MessageKind, id: u64, payload: Bytes) -> Self {
        Self { kind, flags: MessageFlags::NONE, id, trace: 0, payload }
    }

    pub(crate) fn with(self, flags: MessageFlags) -> Self {
        Self { flags: self.flags.with(flags), ..self }
    }

    /// The same, as a view.
    pub fn view(&self) -> AgentMessage<'_> {
        AgentMessage::new(self.kind, self.id, self.trace, &self.payload).with(self.flags)
    }

    /// What the payload says once it is decompressed; without a copy if it was not compressed.
    pub fn content(&self) -> Result<Bytes, PayloadError> {
        let is_plain = !self.flags.has(MessageFlags::COMPRESSED);
        if is_plain && !self.flags.has(MessageFlags::ENCRYPTED) {
            return Ok(self.payload.clone());
        }
        Ok(self.view().content()?.into_owned().into())
    }

    /// What a JSON payload says.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, PayloadError> {
        self.view().json()
    }

    /// How many bytes it takes on the wire.
    pub(crate) fn cost(&self) -> usize {
        self.view().len()
    }
}

impl fmt::Debug for PeerMessage {
    /// Payloads may hold secrets, and be long.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.view().fmt(formatter)
    }
}

/// A payload that is to be sent.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct PeerBody {
    /// As it is sent.
    pub bytes: Bytes,
    /// How it was made: compressed, encrypted; and FINAL for the last heartbeat.
    pub flags: MessageFlags,
    /// The same for all that follows from one cause; 0 if there is none.
    pub trace: u64,
}

impl PeerBody {
    /// A document as JSON.
    pub fn json(document: &impl Serialize) -> Result<Self, PayloadError> {
        Ok(MessageBody::json(document)?.into())
    }

    /// The same with a trace.
    #[must_use]
    pub fn traced(self, trace: u64) -> Self {
        Self { trace, ..self }
    }

    pub(crate) fn message(self, kind: MessageKind, id: u64) -> PeerMessage {
        let Self { bytes, flags, trace } = self;
        // Whether it is acknowledged is not up to the payload.
        let allowed = flags.number() & !MessageFlags::REQUIRES_ACK.number();
        let flags = MessageFlags::from_number(allowed).unwrap_or_default();
        PeerMessage { kind, flags, id, trace, payload: bytes }
    }
}

impl fmt::Debug for PeerBody {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?}, {} bytes", self.flags, self.bytes.len())
    }
}

impl From<MessageBody> for PeerBody {
    fn from(body: MessageBody) -> Self {
        Self { bytes: body.bytes.into(), flags: body.flags, trace: 0 }
    }
}

impl From<Bytes> for PeerBody {
    fn from(bytes: Bytes) -> Self {
        Self { bytes, ..Self::default() }
    }
}

impl From<Vec<u8>> for PeerBody {
    fn from(bytes: Vec<u8>) -> Self {
        Bytes::from(bytes).into()
    }
}

impl From<&'static str> for PeerBody {
    fn from(text: &'static str) -> Self {
        Bytes::from_static(text.as_bytes()).into()
    }
}
