//! A message: header, payload and checksum.

use std::fmt;
use std::hash::Hasher;

use twox_hash::XxHash3_64;

use crate::error::MessageError;
use crate::header::{HEADER_LENGTH, Header, MAX_PAYLOAD};
use crate::kind::{MessageFlags, MessageKind};

/// How long the checksum is.
const CHECKSUM_LENGTH: usize = 8;

/// What a message adds to its payload.
pub const OVERHEAD: usize = HEADER_LENGTH + CHECKSUM_LENGTH;

/// A message whose payload lies somewhere else.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct AgentMessage<'a> {
    /// What it is for.
    pub kind: MessageKind,
    /// How it is to be handled.
    pub flags: MessageFlags,
    /// The sender's number of the message; a response has that of its request.
    pub id: u64,
    /// The same for all that follows from one cause.
    pub trace: u64,
    /// The payload as it is sent.
    pub payload: &'a [u8],
}

impl<'a> AgentMessage<'a> {
    /// A message without flags.
    pub const fn new(kind: MessageKind, id: u64, trace: u64, payload: &'a [u8]) -> Self {
        Self { kind, flags: MessageFlags::NONE, id, trace, payload }
    }

    /// The same with further flags.
    #[must_use]
    pub const fn with(self, flags: MessageFlags) -> Self {
        Self { flags: self.flags.with(flags), ..self }
    }

    /// Reads bytes that are one message and nothing else.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, MessageError> {
        let (message, rest) = Self::parse_prefix(bytes)?;
        match rest.len() {
            0 => Ok(message),
            more => Err(MessageError::Trailing(more)),
        }
    }

    /// Reads the message at the start of some bytes; what follows it is the rest. [`MessageError::Incomplete`] says how many bytes have to
    /// be there before it is worth another try; every other error is final.
    pub fn parse_prefix(bytes: &'a [u8]) -> Result<(Self, &'a [u8]), MessageError> {
        let header = Header::parse(bytes)?;
        let end = HEADER_LENGTH + header.payload_length;
        let short = MessageError::Incomplete { have: bytes.len(), need: end + CHECKSUM_LENGTH };
        let (signed, rest) = bytes.split_at_checked(end).ok_or(short)?;
        let (sum, rest) = rest.split_first_chunk().ok_or(short)?;
        let (expected, found) = (XxHash3_64::oneshot(signed), u64::from_le_bytes(*sum));
        if expected != found {
            return Err(MessageError::Checksum { expected, found });
        }
        let Header { kind, flags, message_id: id, trace_id: trace, .. } = header;
        Ok((Self { kind, flags, id, trace, payload: &signed[HEADER_LENGTH..] }, rest))
    }

    /// How many bytes it takes on the wire.
    #[expect(clippy::len_without_is_empty, reason = "no message is empty")]
    pub const fn len(&self) -> usize {
        OVERHEAD + self.payload.len()
    }

    /// Its header; an error if the payload is too long.
    pub fn header(&self) -> Result<Header, MessageError> {
        let payload_length = self.payload.len();
        if payload_length > MAX_PAYLOAD {
            return Err(MessageError::TooLong(payload_length as u64));
        }
        let Self { kind, flags, id: message_id, trace: trace_id, .. } = *self;
        Ok(Header { kind, flags, message_id, trace_id, payload_length })
    }

    /// What stands before and behind the payload, for whoever writes the three one after the other without copying.
    pub fn frame(&self) -> Result<([u8; HEADER_LENGTH], [u8; CHECKSUM_LENGTH]), MessageError> {
        let header = self.header()?.to_bytes();
        let mut sum = XxHash3_64::new();
        sum.write(&header);
        sum.write(self.payload);
        Ok((header, sum.finish().to_le_bytes()))
    }

    /// Appends it to some bytes.
    pub fn write_to(&self, bytes: &mut Vec<u8>) -> Result<(), MessageError> {
        let header = self.header()?.to_bytes();
        bytes.reserve(self.len());
        let start = bytes.len();
        bytes.extend_from_slice(&header);
        bytes.extend_from_slice(self.payload);
        let sum = XxHash3_64::oneshot(&bytes[start..]);
        bytes.extend_from_slice(&sum.to_le_bytes());
        Ok(())
    }

    /// As it is sent.
    pub fn to_bytes(&self) -> Result<Vec<u8>, MessageError> {
        let mut bytes = Vec::new();
        self.write_to(&mut bytes)?;
        Ok(bytes)
    }
}

impl fmt::Debug for AgentMessage<'_> {
    /// Payloads may hold secrets, and be long.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, flags, id, trace, payload } = self;
        write!(formatter, "{kind:?}({flags:?}) {id:#x} of {trace:#x}, {} bytes", payload.len())
    }
}
