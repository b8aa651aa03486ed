//! Reading JSON of others, in which anything may be missing.

use serde_json::Value;

use crate::error::{ErrorKind, ProviderError, shown};
use crate::message::Fields;

/// Takes a text out of an object; what is no text stays.
pub(crate) fn take_text(object: &mut Fields, name: &str) -> Option<String> {
    match object.remove(name) {
        Some(Value::String(text)) => Some(text),
        Some(other) => {
            object.insert(name.to_owned(), other);
            None
        }
        None => None,
    }
}

/// A text in an object.
pub(crate) fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name)?.as_str()
}

/// A text at a JSON pointer, or nothing.
pub(crate) fn text_at<'a>(value: &'a Value, pointer: &str) -> Option<&'a str> {
    value.pointer(pointer)?.as_str()
}

/// A count at a JSON pointer.
pub(crate) fn count(value: &Value, pointer: &str) -> Option<u64> {
    value.pointer(pointer)?.as_u64()
}

/// A list in an object, or none.
pub(crate) fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The data of an event as JSON.
pub(crate) fn parse(data: &str) -> Result<Value, ProviderError> {
    serde_json::from_str(data).map_err(|error| {
        let message = format!("an event of the stream is no JSON ({error}): {}", shown(data));
        ProviderError::new(ErrorKind::Protocol, message)
    })
}

/// Builds an object without what is null.
pub(crate) fn object<const N: usize>(fields: [(&str, Value); N]) -> Fields {
    fields
        .into_iter()
        .filter(|(_, value)| !value.is_null())
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}
