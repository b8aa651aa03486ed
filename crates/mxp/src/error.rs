//! What can be wrong with a message.

use crate::header::MAX_PAYLOAD;

/// Bytes that are no message, or a message that cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MessageError {
    /// There are not enough bytes yet.
    #[error("the message ends after {have} bytes, and at least {need} are needed")]
    Incomplete {
        /// So many are there.
        have: usize,
        /// So many are needed before more can be said.
        need: usize,
    },
    /// It does not begin as a message does.
    #[error("no MXP1 message begins with {0:#010x}")]
    Magic(u32),
    /// A kind that does not exist.
    #[error("there is no kind {0:#04x} of messages")]
    Kind(u8),
    /// Flags that mean nothing.
    #[error("the flags {0:#04x} have bits that mean nothing")]
    Flags(u8),
    /// Something where nothing may be.
    #[error("the reserved bytes of the header are {0:#06x} in place of zero")]
    Reserved(u16),
    /// More than a message may hold.
    #[error("a payload of {0} bytes is longer than {MAX_PAYLOAD}")]
    TooLong(u64),
    /// It was changed on its way.
    #[error("the checksum is {found:#018x} in place of {expected:#018x}")]
    Checksum {
        /// What the bytes have.
        expected: u64,
        /// What stands at the end.
        found: u64,
    },
    /// Bytes behind the message.
    #[error("{0} bytes follow the message")]
    Trailing(usize),
}

/// A payload that cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PayloadError {
    /// Only its receiver can read it.
    #[error("the payload is encrypted")]
    Encrypted,
    /// What is said to be compressed is not, or not to its end.
    #[error("the payload cannot be decompressed")]
    Damaged,
    /// It becomes longer than a payload may be.
    #[error("the payload becomes longer than {MAX_PAYLOAD} bytes")]
    Expands,
    /// It does not say what a message of this kind says.
    #[error("the payload does not fit its kind: {0}")]
    Json(#[from] serde_json::Error),
}
