//! The first 32 bytes of a message.

use zerocopy::little_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::error::MessageError;
use crate::kind::{MessageFlags, MessageKind};

/// How long a header is.
pub const HEADER_LENGTH: usize = size_of::<Raw>();

/// The longest payload of a message, compressed or not: 16 MiB.
pub const MAX_PAYLOAD: usize = 16 << 20;

/// `1PXM` on the wire.
const MAGIC: u32 = 0x4D58_5031;

/// What stands before the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Header {
    /// What the message is for.
    pub kind: MessageKind,
    /// How it is to be handled.
    pub flags: MessageFlags,
    /// The sender's number of the message; a response has that of its request.
    pub message_id: u64,
    /// What the message belongs to: the same for all that follows from one cause.
    pub trace_id: u64,
    /// How long the payload is.
    pub payload_length: usize,
}

#[derive(Clone, Copy, FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned)]
#[repr(C)]
struct Raw {
    magic: U32,
    kind: u8,
    flags: u8,
    reserved: U16,
    message_id: U64,
    trace_id: U64,
    payload_length: U64,
}

impl Header {
    /// Reads the header at the start of some bytes. It is right in itself; whether the message is, its checksum tells.
    pub fn parse(bytes: &[u8]) -> Result<Self, MessageError> {
        let incomplete = MessageError::Incomplete { have: bytes.len(), need: HEADER_LENGTH };
        let (raw, _) = Raw::ref_from_prefix(bytes).map_err(|_short| incomplete)?;
        let magic = raw.magic.get();
        if magic != MAGIC {
            return Err(MessageError::Magic(magic));
        }
        let kind = MessageKind::from_number(raw.kind).ok_or(MessageError::Kind(raw.kind))?;
        let flags = MessageFlags::from_number(raw.flags).ok_or(MessageError::Flags(raw.flags))?;
        let reserved = raw.reserved.get();
        if reserved != 0 {
            return Err(MessageError::Reserved(reserved));
        }
        let length = raw.payload_length.get();
        let payload_length = usize::try_from(length).ok().filter(|it| *it <= MAX_PAYLOAD);
        Ok(Self {
            kind,
            flags,
            message_id: raw.message_id.get(),
            trace_id: raw.trace_id.get(),
            payload_length: payload_length.ok_or(MessageError::TooLong(length))?,
        })
    }

    /// As it is sent.
    pub fn to_bytes(&self) -> [u8; HEADER_LENGTH] {
        let raw = Raw {
            magic: U32::new(MAGIC),
            kind: self.kind.number(),
            flags: self.flags.number(),
            reserved: U16::ZERO,
            message_id: U64::new(self.message_id),
            trace_id: U64::new(self.trace_id),
            payload_length: U64::new(self.payload_length as u64),
        };
        let mut bytes = [0; HEADER_LENGTH];
        bytes.copy_from_slice(raw.as_bytes());
        bytes
    }
}
