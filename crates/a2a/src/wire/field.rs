//! What fields of several messages are.

use serde::{Deserialize, Deserializer};

/// The JSON object that metadata is.
pub type A2aMetadata = serde_json::Map<String, serde_json::Value>;

/// Reads a field that is empty if it is `null`.
pub(super) fn nullable<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}

/// Whether a flag has its ordinary value, which is not written.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde calls")]
pub(super) fn is_false(flag: &bool) -> bool {
    !*flag
}
