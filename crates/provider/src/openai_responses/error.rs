//! What errors mean.

use serde_json::Value;

use crate::error::ProviderError;

/// The words are those of the vendor's other interface.
pub(super) fn read(status: Option<u16>, body: &Value) -> ProviderError {
    crate::openai_chat::read_error(status, body)
}
