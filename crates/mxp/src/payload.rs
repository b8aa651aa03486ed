//! What a payload says: bytes that may be compressed, and often JSON.

use std::borrow::Cow;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::PayloadError;
use crate::header::MAX_PAYLOAD;
use crate::kind::MessageFlags;
use crate::message::AgentMessage;

/// Shorter payloads become no shorter by compression.
const WORTH_COMPRESSING: usize = 512;

/// How much effort compression takes: fast, since agents wait for it.
const LEVEL: i32 = 1;

/// A payload, and the flags that say how it was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageBody {
    /// As it is sent.
    pub bytes: Vec<u8>,
    /// What has to be set in the header.
    pub flags: MessageFlags,
}

impl MessageBody {
    /// A document as JSON.
    pub fn json(document: &impl Serialize) -> Result<Self, PayloadError> {
        Ok(Self { bytes: serde_json::to_vec(document)?, flags: MessageFlags::NONE })
    }

    /// The same, compressed if that makes it shorter.
    #[must_use]
    pub fn compressed(self) -> Self {
        let is_open = self.flags == MessageFlags::NONE && self.bytes.len() >= WORTH_COMPRESSING;
        if !is_open || self.bytes.len() > MAX_PAYLOAD {
            return self;
        }
        match zstd::bulk::compress(&self.bytes, LEVEL) {
            Ok(bytes) if bytes.len() < self.bytes.len() => {
                Self { bytes, flags: MessageFlags::COMPRESSED }
            }
            // It can be sent as it is.
            Ok(_) | Err(_) => self,
        }
    }
}

impl<'a> AgentMessage<'a> {
    /// What the payload says once it is decompressed. Whatever it is, it does not become longer than [`MAX_PAYLOAD`].
    pub fn content(&self) -> Result<Cow<'a, [u8]>, PayloadError> {
        if self.flags.has(MessageFlags::ENCRYPTED) {
            return Err(PayloadError::Encrypted);
        }
        match self.flags.has(MessageFlags::COMPRESSED) {
            true => Ok(Cow::Owned(expand(self.payload)?)),
            false => Ok(Cow::Borrowed(self.payload)),
        }
    }

    /// What a JSON payload says.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, PayloadError> {
        Ok(serde_json::from_slice(&self.content()?)?)
    }
}

/// Decompresses one frame of zstd that is whole, and nothing else.
fn expand(bytes: &[u8]) -> Result<Vec<u8>, PayloadError> {
    // A frame says how long its content is, or not; either way nobody is believed. The memory grows with what is really there.
    let mut content = Vec::new();
    let mut decoder = zstd::stream::read::Decoder::with_buffer(bytes)
        .map_err(|_error| PayloadError::Damaged)?
        .single_frame();
    decoder.window_log_max(WINDOW_LOG).map_err(|_error| PayloadError::Damaged)?;
    let mut limited = std::io::Read::take(&mut decoder, MAX_PAYLOAD as u64 + 1);
    std::io::Read::read_to_end(&mut limited, &mut content)
        .map_err(|_error| PayloadError::Damaged)?;
    if content.len() > MAX_PAYLOAD {
        return Err(PayloadError::Expands);
    }
    match decoder.finish().is_empty() {
        true => Ok(content),
        false => Err(PayloadError::Damaged),
    }
}

/// No frame may ask for more memory than the longest payload: 2^24 bytes.
const WINDOW_LOG: u32 = MAX_PAYLOAD.trailing_zeros();
