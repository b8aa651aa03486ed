//! How large answers may be, and how long they may take.

use std::time::Duration;

/// How large the parts of an answer may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnswerLimits {
    /// Bytes of one event of a stream.
    pub event: usize,
    /// Bytes of the arguments of one call.
    pub arguments: usize,
    /// Bytes of a whole answer, as it is sent.
    pub answer: usize,
    /// Bytes that are read of the body of an error.
    pub error: usize,
    /// Blocks of an answer.
    pub blocks: usize,
}

impl Default for AnswerLimits {
    fn default() -> Self {
        const MIB: usize = 1024 * 1024;
        Self {
            event: 16 * MIB,
            arguments: 8 * MIB,
            answer: 64 * MIB,
            error: 64 * 1024,
            blocks: 4096,
        }
    }
}

/// How long the parts of an exchange may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeLimits {
    /// Until there is a connection, with TLS.
    pub connect: Duration,
    /// From there to the first event that is part of the answer.
    pub first_event: Duration,
    /// Between bytes of the answer.
    pub idle: Duration,
    /// From the start to the end.
    pub total: Option<Duration>,
}

impl Default for TimeLimits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_event: Duration::from_secs(120),
            idle: Duration::from_secs(60),
            total: None,
        }
    }
}
