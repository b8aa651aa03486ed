//! Long content on its way into a document, never all of it in memory.

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt;
use std::io::{self, Read};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::ser::{Error, SerializeStruct};
use serde::{Serialize, Serializer};

use super::Text;

/// How much is read at once. Base64 turns three bytes into four letters, so a part ends between threes.
const PART: usize = 3 << 14;

/// Becomes the same as a [`Text`] of the same bytes, which are read when they are written. `F` opens them; it is called for each pass.
pub struct TextStream<F> {
    open: F,
    plain: bool,
    failed: RefCell<Option<io::Error>>,
}

impl<R: Read, F: Fn() -> io::Result<R>> TextStream<F> {
    /// Reads everything once, to know whether it is text.
    pub fn new(open: F) -> io::Result<Self> {
        let mut plain = true;
        each_piece(open()?, |piece| {
            plain &= piece.is_ok();
            Ok(())
        })?;
        Ok(Self { open, plain, failed: RefCell::default() })
    }

    /// Why the bytes could not be read to their end while they were written, if that happened: the document is cut short then.
    pub fn finish(self) -> io::Result<()> {
        self.failed.into_inner().map_or(Ok(()), Err)
    }

    fn part(&self, base64: bool) -> Part<'_, F> {
        Part { stream: self, base64 }
    }
}

impl<F> fmt::Debug for TextStream<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TextStream").field("plain", &self.plain).finish_non_exhaustive()
    }
}

impl<R: Read, F: Fn() -> io::Result<R>> Serialize for TextStream<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.plain {
            return self.part(false).serialize(serializer);
        }
        let mut raw = serializer.serialize_struct("Text", 2)?;
        raw.serialize_field("lossy", &self.part(false))?;
        raw.serialize_field("base64", &self.part(true))?;
        raw.end()
    }
}

impl<F> JsonSchema for TextStream<F> {
    fn schema_name() -> Cow<'static, str> {
        Text::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Text::json_schema(generator)
    }
}

/// One string of the document.
struct Part<'a, F> {
    stream: &'a TextStream<F>,
    base64: bool,
}

impl<R: Read, F: Fn() -> io::Result<R>> Serialize for Part<'_, F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let written = serializer.collect_str(self)?;
        match &*self.stream.failed.borrow() {
            Some(error) => Err(S::Error::custom(error)),
            None => Ok(written),
        }
    }
}

impl<R: Read, F: Fn() -> io::Result<R>> fmt::Display for Part<'_, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut written = Ok(());
        let mut write = |text: &str| -> io::Result<()> {
            written = f.write_str(text);
            written.map_err(io::Error::other)
        };
        let read = (self.stream.open)().and_then(|source| match self.base64 {
            true => each_part(source, |part| write(&STANDARD.encode(part))),
            false => each_piece(source, |piece| write(piece.unwrap_or("\u{fffd}"))),
        });
        written?;
        // What writes text allows for no error but its own, so this one is told afterwards.
        if let Err(error) = read {
            *self.stream.failed.borrow_mut() = Some(error);
        }
        Ok(())
    }
}

/// A sequence of bytes that is no text.
struct Invalid;

/// Takes text, and what is none, as [`String::from_utf8_lossy`] would.
fn each_piece(
    source: impl Read,
    mut take: impl FnMut(Result<&str, Invalid>) -> io::Result<()>,
) -> io::Result<()> {
    let mut bytes = Vec::new();
    each_part(source, |part| {
        bytes.extend_from_slice(part);
        let mut at = 0;
        for chunk in bytes.utf8_chunks() {
            let (valid, invalid) = (chunk.valid(), chunk.invalid());
            take(Ok(valid))?;
            at += valid.len();
            let is_last = at + invalid.len() == bytes.len();
            // A character that is cut in two is whole with the next part.
            if is_last && std::str::from_utf8(invalid).is_err_and(|e| e.error_len().is_none()) {
                break;
            }
            at += invalid.len();
            if !invalid.is_empty() {
                take(Err(Invalid))?;
            }
        }
        bytes.drain(..at);
        Ok(())
    })?;
    if bytes.is_empty() { Ok(()) } else { take(Err(Invalid)) }
}

/// Takes everything in parts, all of one length but for the last.
fn each_part(
    mut source: impl Read,
    mut take: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let mut part = Vec::with_capacity(PART);
    loop {
        part.clear();
        source.by_ref().take(PART as u64).read_to_end(&mut part)?;
        if part.is_empty() {
            return Ok(());
        }
        take(&part)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn streamed(bytes: &[u8]) -> String {
        let stream = TextStream::new(|| Ok(bytes)).unwrap();
        let json = serde_json::to_string(&stream).unwrap();
        stream.finish().unwrap();
        json
    }

    #[test]
    fn a_stream_becomes_what_a_text_of_the_same_bytes_is() {
        let long = |unit: &[u8]| unit.repeat(2 * PART / unit.len() + 2);
        let all = [
            b"".to_vec(),
            b"plain \"text\"\n".to_vec(),
            b"\xff\xfe\0a\xe2\x82".to_vec(),
            long("ab€".as_bytes()),
            long(b"ab\xe2\x82"),
            long(b"\xf0\x9f\x98"),
            [long(b"a"), b"\xff".to_vec()].concat(),
        ];
        for bytes in all {
            let expected = serde_json::to_string(&Text::new(&bytes)).unwrap();
            assert!(streamed(&bytes) == expected, "{} bytes", bytes.len());
        }
    }

    #[test]
    fn bytes_that_cannot_be_read_to_their_end_are_an_error() {
        let passes = RefCell::new(0);
        let open = || {
            *passes.borrow_mut() += 1;
            let fails = *passes.borrow() > 1;
            Ok(io::Cursor::new(b"text").chain(Failing(fails)))
        };
        let stream = TextStream::new(open).unwrap();
        assert!(serde_json::to_string(&stream).is_err());
        assert_eq!(stream.finish().unwrap_err().kind(), io::ErrorKind::InvalidData);
    }

    struct Failing(bool);

    impl Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            if self.0 { Err(io::ErrorKind::InvalidData.into()) } else { Ok(0) }
        }
    }
}
