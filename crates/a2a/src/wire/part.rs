//! Parts of messages and artifacts.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::de::Error;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::field::A2aMetadata;

/// What a part holds: exactly one of these.
#[derive(Debug, Clone, PartialEq)]
pub enum A2aContent {
    /// Text.
    Text(String),
    /// The bytes of a file.
    Raw(Vec<u8>),
    /// Where a file is.
    Url(String),
    /// Any JSON value.
    Data(Value),
}

/// A piece of a message or an artifact.
#[derive(Debug, Clone, PartialEq)]
pub struct A2aPart {
    /// What it holds.
    pub content: A2aContent,
    /// The name of the file.
    pub filename: Option<String>,
    /// The media type, such as `image/png`.
    pub media_type: Option<String>,
    /// Whatever else is said of it.
    pub metadata: Option<A2aMetadata>,
}

impl A2aPart {
    /// A part of any content, and nothing said of it.
    #[must_use]
    pub fn new(content: A2aContent) -> Self {
        Self { content, filename: None, media_type: None, metadata: None }
    }

    /// A part of text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(A2aContent::Text(text.into()))
    }

    /// A part of structured data.
    #[must_use]
    pub fn data(value: Value) -> Self {
        Self::new(A2aContent::Data(value))
    }

    /// A part of bytes.
    #[must_use]
    pub fn raw(bytes: impl Into<Vec<u8>>) -> Self {
        Self::new(A2aContent::Raw(bytes.into()))
    }

    /// Its text, if it is text.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match &self.content {
            A2aContent::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// A part as it is written: the content is whichever of four fields is there.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Written {
    text: Option<String>,
    raw: Option<String>,
    url: Option<String>,
    #[serde(default, deserialize_with = "present")]
    data: Option<Value>,
    filename: Option<String>,
    media_type: Option<String>,
    metadata: Option<A2aMetadata>,
}

/// Data may be `null`, which is not the same as no data.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl<'de> Deserialize<'de> for A2aPart {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = Written::deserialize(deserializer)?;
        let raw = written.raw.map(|raw| BASE64_STANDARD.decode(raw)).transpose();
        let raw = raw.map_err(|error| D::Error::custom(format!("`raw` is no base64: {error}")))?;
        let mut found = [
            written.text.map(A2aContent::Text),
            raw.map(A2aContent::Raw),
            written.url.map(A2aContent::Url),
            written.data.map(A2aContent::Data),
        ]
        .into_iter()
        .flatten();
        let (Some(content), None) = (found.next(), found.next()) else {
            return Err(D::Error::custom("a part has exactly one of text, raw, url and data"));
        };
        let (filename, media_type) = (written.filename, written.media_type);
        Ok(Self { content, filename, media_type, metadata: written.metadata })
    }
}

impl Serialize for A2aPart {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match &self.content {
            A2aContent::Text(text) => map.serialize_entry("text", text)?,
            A2aContent::Raw(raw) => map.serialize_entry("raw", &BASE64_STANDARD.encode(raw))?,
            A2aContent::Url(url) => map.serialize_entry("url", url)?,
            A2aContent::Data(data) => map.serialize_entry("data", data)?,
        }
        if let Some(filename) = &self.filename {
            map.serialize_entry("filename", filename)?;
        }
        if let Some(media_type) = &self.media_type {
            map.serialize_entry("mediaType", media_type)?;
        }
        if let Some(metadata) = &self.metadata {
            map.serialize_entry("metadata", metadata)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_what_its_field_says() {
        for text in [
            r#"{"text":"hi"}"#,
            r#"{"raw":"AQID","filename":"a.bin","mediaType":"application/octet-stream"}"#,
            r#"{"url":"https://example.com/a"}"#,
            r#"{"data":null,"metadata":{"a":1}}"#,
            r#"{"data":[1,{"b":"c"}]}"#,
        ] {
            let part: A2aPart = serde_json::from_str(text).unwrap();
            assert_eq!(serde_json::to_string(&part).unwrap(), text);
        }
    }

    #[test]
    fn what_is_no_part_is_refused() {
        for text in [
            "{}",
            r#"{"text":null}"#,
            r#"{"text":"a","data":1}"#,
            r#"{"text":"a","url":"b"}"#,
            r#"{"raw":"%%"}"#,
            r#"{"text":1}"#,
            r#"{"text":"a","metadata":[]}"#,
            r#"{"kind":"text"}"#,
        ] {
            assert!(serde_json::from_str::<A2aPart>(text).is_err(), "{text}");
        }
    }
}
