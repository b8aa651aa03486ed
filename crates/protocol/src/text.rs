//! Bytes in JSON without loss.

mod stream;

pub use stream::TextStream;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Bytes that are mostly text: a string where they are UTF-8, else an object with the exact bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Text {
    /// They are UTF-8.
    Plain(String),
    /// They are not.
    Raw {
        /// The bytes as text, with replacement characters.
        lossy: String,
        /// The exact bytes in base64.
        base64: String,
    },
}

impl Text {
    /// Wraps bytes.
    pub fn new(bytes: &[u8]) -> Self {
        match std::str::from_utf8(bytes) {
            Ok(text) => Self::Plain(text.to_owned()),
            Err(_) => Self::Raw {
                lossy: String::from_utf8_lossy(bytes).into_owned(),
                base64: STANDARD.encode(bytes),
            },
        }
    }

    /// The text; what is no UTF-8 has the replacement character in its place.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Plain(text) | Self::Raw { lossy: text, .. } => text,
        }
    }

    /// The exact bytes; `None` where the base64 is none.
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        match self {
            Self::Plain(text) => Some(text.clone().into_bytes()),
            Self::Raw { base64, .. } => STANDARD.decode(base64).ok(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_from_json() {
        for bytes in [&b"plain"[..], b"", b"new\nline", b"\xff\xfe\0", "ä".as_bytes()] {
            let json = serde_json::to_string(&Text::new(bytes)).unwrap();
            let back: Text = serde_json::from_str(&json).unwrap();
            assert_eq!(back.to_bytes().as_deref(), Some(bytes), "{json}");
        }
        assert_eq!(Text::new(b"a\xff").as_str(), "a\u{fffd}");
        assert_eq!(serde_json::to_string(&Text::new(b"a")).unwrap(), "\"a\"");
    }
}
