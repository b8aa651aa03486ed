//! Lines of an outbox.

use serde::{Deserialize, Serialize};

use crate::event::GovernanceEvent;
use crate::outbox::OutboxError;

/// How many hexadecimal digits of the checksum stand before each line.
const DIGITS: usize = 16;

/// The version of files that are written and read here.
pub(super) const VERSION: u32 = 1;

/// What a line says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Line {
    Begin { version: u32, next: u64 },
    Append { append: u64, event: Box<GovernanceEvent> },
    Acknowledge { acknowledge: u64 },
}

impl Line {
    /// The line with its checksum and its end.
    pub(super) fn to_bytes(&self) -> Result<Vec<u8>, OutboxError> {
        let json =
            serde_json::to_string(self).map_err(|error| OutboxError::Storage(error.to_string()))?;
        Ok(format!("{} {json}\n", checksum(json.as_bytes())).into_bytes())
    }

    /// Reads a line without its end; or why it is none.
    pub(super) fn parse(line: &[u8]) -> Result<Self, String> {
        let (digits, rest) = line.split_at_checked(DIGITS).ok_or("it is too short")?;
        let json = rest.strip_prefix(b" ").ok_or("it has no checksum")?;
        if digits != checksum(json).as_bytes() {
            return Err("its checksum is another one".to_owned());
        }
        serde_json::from_slice(json).map_err(|error| error.to_string())
    }
}

fn checksum(json: &[u8]) -> String {
    let mut digits = blake3::hash(json).to_hex().to_string();
    digits.truncate(DIGITS);
    digits
}
