//! Server-sent events, as the HTML standard reads them, with bounds.
//!
//! Servers of models use more of the standard than the kept crates read: see the design page.

use crate::error::{ErrorKind, ProviderError};

/// One event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ServerEvent {
    /// The name of the event, empty if it has none.
    pub(crate) name: String,
    /// Its data.
    pub(crate) data: String,
}

/// Reads events from pieces of a stream, wherever those are cut.
#[derive(Debug)]
pub(crate) struct EventReader {
    longest: usize,
    /// The line that is not yet complete.
    line: Vec<u8>,
    /// Bytes of the lines of the event so far.
    size: usize,
    name: String,
    data: Option<String>,
    is_first_line: bool,
    /// A line feed that comes next belongs to the line end before it.
    skips_line_feed: bool,
}

impl EventReader {
    pub(crate) fn new(longest: usize) -> Self {
        Self {
            longest,
            line: Vec::new(),
            size: 0,
            name: String::new(),
            data: None,
            is_first_line: true,
            skips_line_feed: false,
        }
    }

    /// Takes a piece, and adds the events that are complete with it.
    pub(crate) fn read(
        &mut self,
        mut piece: &[u8],
        events: &mut Vec<ServerEvent>,
    ) -> Result<(), ProviderError> {
        while let Some(first) = piece.first() {
            if std::mem::take(&mut self.skips_line_feed) && *first == b'\n' {
                piece = &piece[1..];
                continue;
            }
            let end = piece.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let (part, rest) = piece.split_at(end.unwrap_or(piece.len()));
            self.size += part.len();
            if self.size > self.longest {
                let message =
                    format!("an event of the stream has more than {} bytes", self.longest);
                return Err(ProviderError::new(ErrorKind::TooLarge, message));
            }
            let Some((line_end, rest)) = rest.split_first() else {
                self.line.extend_from_slice(part);
                return Ok(());
            };
            self.skips_line_feed = *line_end == b'\r';
            piece = rest;
            if self.line.is_empty() {
                self.take_line(part, events)?;
            } else {
                let mut line = std::mem::take(&mut self.line);
                line.extend_from_slice(part);
                self.take_line(&line, events)?;
            }
        }
        Ok(())
    }

    fn take_line(
        &mut self,
        mut line: &[u8],
        events: &mut Vec<ServerEvent>,
    ) -> Result<(), ProviderError> {
        if std::mem::take(&mut self.is_first_line) {
            line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        }
        if line.is_empty() {
            self.size = 0;
            let name = std::mem::take(&mut self.name);
            if let Some(data) = self.data.take() {
                events.push(ServerEvent { name, data });
            }
            return Ok(());
        }
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let value = line.get(colon + 1..).unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match &line[..colon] {
            b"event" => self.name = text(value)?.to_owned(),
            b"data" => self.add_data(text(value)?),
            // llama.cpp tells errors in the midst of a stream so.
            b"error" => {
                self.name = "error".to_owned();
                self.add_data(text(value)?);
            }
            // Comments, ids, times to reconnect, and what is not known.
            _ => {}
        }
        Ok(())
    }

    fn add_data(&mut self, value: &str) {
        match &mut self.data {
            Some(data) => {
                data.push('\n');
                data.push_str(value);
            }
            None => self.data = Some(value.to_owned()),
        }
    }
}

fn text(bytes: &[u8]) -> Result<&str, ProviderError> {
    std::str::from_utf8(bytes)
        .map_err(|_| ProviderError::new(ErrorKind::Protocol, "the stream is no valid UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pieces: &[&[u8]]) -> Vec<(String, String)> {
        let mut reader = EventReader::new(100);
        let mut events = Vec::new();
        for piece in pieces {
            reader.read(piece, &mut events).unwrap();
        }
        events.into_iter().map(|event| (event.name, event.data)).collect()
    }

    fn event(name: &str, data: &str) -> (String, String) {
        (name.to_owned(), data.to_owned())
    }

    #[test]
    fn the_standard_is_read() {
        let all = "\u{feff}: hello\r\nretry: soon\nid\nunknown: x\nevent: a\ndata: 1\rdata:2\r\n\r\n\
                   event: b\n\ndata\n\ndata: ü\n\ndata: last";
        let expected = [event("a", "1\n2"), event("", ""), event("", "ü")];
        assert_eq!(read(&[all.as_bytes()]), expected);
        let bytes = all.as_bytes();
        for cut in 0..bytes.len() {
            assert_eq!(read(&[&bytes[..cut], &bytes[cut..]]), expected, "{cut}");
        }
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(read(&single), expected);
    }

    #[test]
    fn an_error_field_is_an_event() {
        assert_eq!(read(&[b"error: {\"code\":500}\n\n"]), [event("error", "{\"code\":500}")]);
    }

    #[test]
    fn large_events_and_other_texts_are_errors() {
        let mut reader = EventReader::new(10);
        let mut events = Vec::new();
        reader.read(b"data: 1234\n\n", &mut events).unwrap();
        reader.read(b"data: 12", &mut events).unwrap();
        let error = reader.read(b"345", &mut events).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TooLarge);
        // Lines of one event count together, and so do comments.
        let mut reader = EventReader::new(10);
        assert!(reader.read(b"data: 1\ndata: 2\n", &mut events).is_err());
        let mut reader = EventReader::new(10);
        assert!(reader.read(b"data: \xff\n\n", &mut events).is_err());
    }
}
