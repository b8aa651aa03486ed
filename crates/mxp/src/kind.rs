//! What a message is for, and how it is to be handled.

/// What a message is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
#[non_exhaustive]
pub enum MessageKind {
    /// An agent tells a registry that it is there.
    AgentRegister = 0x01,
    /// Somebody asks a registry which agents can do something.
    AgentDiscover = 0x02,
    /// An agent tells a registry that it is still there; with [`MessageFlags::FINAL`], that it leaves.
    AgentHeartbeat = 0x03,
    /// A request that wants a response.
    Call = 0x10,
    /// The response to a request, under its id.
    Response = 0x11,
    /// Something that happened; nobody answers.
    Event = 0x12,
    /// A stream begins.
    StreamOpen = 0x20,
    /// A piece of a stream; the last one has [`MessageFlags::FINAL`].
    StreamChunk = 0x21,
    /// A stream ends.
    StreamClose = 0x22,
    /// A message arrived that had [`MessageFlags::REQUIRES_ACK`].
    Ack = 0xF0,
    /// A request could not be handled.
    Error = 0xF1,
}

impl MessageKind {
    /// All of them, by their numbers.
    pub const ALL: [Self; 11] = [
        Self::AgentRegister,
        Self::AgentDiscover,
        Self::AgentHeartbeat,
        Self::Call,
        Self::Response,
        Self::Event,
        Self::StreamOpen,
        Self::StreamChunk,
        Self::StreamClose,
        Self::Ack,
        Self::Error,
    ];

    /// Its number on the wire.
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// The kind of a number.
    pub const fn from_number(number: u8) -> Option<Self> {
        Some(match number {
            0x01 => Self::AgentRegister,
            0x02 => Self::AgentDiscover,
            0x03 => Self::AgentHeartbeat,
            0x10 => Self::Call,
            0x11 => Self::Response,
            0x12 => Self::Event,
            0x20 => Self::StreamOpen,
            0x21 => Self::StreamChunk,
            0x22 => Self::StreamClose,
            0xF0 => Self::Ack,
            0xF1 => Self::Error,
            _ => return None,
        })
    }
}

/// How a message is to be handled.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct MessageFlags(u8);

impl MessageFlags {
    /// Nothing special.
    pub const NONE: Self = Self(0);
    /// The payload is compressed by zstd.
    pub const COMPRESSED: Self = Self(1);
    /// The payload is encrypted for its receiver.
    pub const ENCRYPTED: Self = Self(1 << 1);
    /// The sender wants to be told that the message arrived.
    pub const REQUIRES_ACK: Self = Self(1 << 2);
    /// Nothing follows: the last piece of a stream, the last heartbeat.
    pub const FINAL: Self = Self(1 << 3);

    const KNOWN: u8 = 0b1111;

    /// Its number on the wire.
    pub const fn number(self) -> u8 {
        self.0
    }

    /// The flags of a number; none if it has bits that mean nothing.
    pub const fn from_number(number: u8) -> Option<Self> {
        if number & !Self::KNOWN == 0 { Some(Self(number)) } else { None }
    }

    /// Whether all flags of `other` are set.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// These and those of `other`.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl std::fmt::Debug for MessageFlags {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = [
            (Self::COMPRESSED, "COMPRESSED"),
            (Self::ENCRYPTED, "ENCRYPTED"),
            (Self::REQUIRES_ACK, "REQUIRES_ACK"),
            (Self::FINAL, "FINAL"),
        ];
        let set = names.iter().filter(|(flag, _)| self.has(*flag)).map(|(_, name)| *name);
        formatter.write_str(&set.collect::<Vec<_>>().join("|"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_one_kind_and_kinds_one_number() {
        let known = (0..=u8::MAX).filter_map(MessageKind::from_number);
        assert!(known.eq(MessageKind::ALL));
        for kind in MessageKind::ALL {
            assert_eq!(MessageKind::from_number(kind.number()), Some(kind));
        }
        assert_eq!((0..=u8::MAX).filter_map(MessageFlags::from_number).count(), 16);
        let both = MessageFlags::FINAL.with(MessageFlags::REQUIRES_ACK);
        assert_eq!((both.number(), format!("{both:?}")), (12, "REQUIRES_ACK|FINAL".to_owned()));
        assert!(both.has(MessageFlags::FINAL) && !both.has(MessageFlags::COMPRESSED));
    }
}
