//! Messages between agents, as MXP1 writes them: a header of 32 bytes, a payload, and a checksum of both.
//!
//! ```
//! use offshoot_mxp::{AgentMessage, MessageKind};
//!
//! let call = AgentMessage::new(MessageKind::Call, 7, 9, b"Hello, agent!");
//! let bytes = call.to_bytes()?;
//! let read = AgentMessage::parse(&bytes)?;
//! assert_eq!((read, bytes.len()), (call, call.len()));
//! # Ok::<(), offshoot_mxp::MessageError>(())
//! ```
//!
//! Nothing is copied when a message is read: its payload is a part of the bytes that it was read from. No bytes make this crate panic, and
//! nothing that is compressed becomes longer than [`MAX_PAYLOAD`].

mod body;
mod error;
mod header;
mod kind;
mod message;
mod payload;

pub use body::{
    AgentCard, CallBody, DiscoverBody, DiscoveredBody, FailureBody, HeartbeatBody,
    HeartbeatReplyBody, RegisterBody, RegisteredBody, SpokenMessage, ToolRequest,
};
pub use error::{MessageError, PayloadError};
pub use header::{HEADER_LENGTH, Header, MAX_PAYLOAD};
pub use kind::{MessageFlags, MessageKind};
pub use message::{AgentMessage, OVERHEAD};
pub use payload::MessageBody;
