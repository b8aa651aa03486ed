//! Server-sent events from bytes that come in pieces.

/// Puts events together. Pure.
#[derive(Debug)]
pub(super) struct Events {
    /// Bytes of which no line was made yet.
    rest: Vec<u8>,
    /// Where the next line begins in them.
    at: usize,
    /// The data of the event that is not over.
    data: Option<String>,
    /// No event, and no line, has more bytes.
    limit: usize,
}

/// An event is too long.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLong;

impl Events {
    pub(super) fn new(limit: usize) -> Self {
        Self { rest: Vec::new(), at: 0, data: None, limit }
    }

    /// Takes in what has come.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.rest.drain(..self.at);
        self.at = 0;
        self.rest.extend(bytes);
    }

    /// The data of the next whole event.
    pub(super) fn next(&mut self) -> Result<Option<String>, TooLong> {
        while let Some((line, next)) = self.line() {
            let line = line.to_vec();
            self.at = next;
            if line.is_empty() {
                if let Some(data) = self.data.take() {
                    return Ok(Some(data));
                }
                continue;
            }
            let (name, value) = match line.iter().position(|byte| *byte == b':') {
                Some(colon) => (&line[..colon], &line[colon + 1..]),
                None => (&line[..], &[][..]),
            };
            if name != b"data" {
                continue;
            }
            let value = String::from_utf8_lossy(value.strip_prefix(b" ").unwrap_or(value));
            let data = match self.data.take() {
                Some(data) => data + "\n" + &value,
                None => value.into_owned(),
            };
            if data.len() > self.limit {
                return Err(TooLong);
            }
            self.data = Some(data);
        }
        let is_long = self.rest.len() - self.at > self.limit;
        if is_long { Err(TooLong) } else { Ok(None) }
    }

    /// The next whole line, and where the one after it begins. A CR at the end may be half of a line end.
    fn line(&self) -> Option<(&[u8], usize)> {
        let rest = &self.rest[self.at..];
        let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'))?;
        let length = match (rest[end], rest.get(end + 1)) {
            (b'\r', None) => return None,
            (b'\r', Some(b'\n')) => 2,
            _ => 1,
        };
        Some((&rest[..end], self.at + end + length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(events: &mut Events) -> Vec<String> {
        std::iter::from_fn(|| events.next().unwrap()).collect()
    }

    #[test]
    fn pieces_make_no_difference() {
        let text = ":hi\r\n\r\ndata: one\n\nevent: x\ndata:two\r\ndata:  three\r\n\r\nid: 7\n\ndata\n\ndata: \u{e4}\n\ndata: cut";
        let wanted = ["one", "two\n three", "", "\u{e4}"];
        for size in 1..text.len() {
            let mut events = Events::new(100);
            let mut found = Vec::new();
            for piece in text.as_bytes().chunks(size) {
                events.push(piece);
                found.extend(all(&mut events));
            }
            assert_eq!(found, wanted, "{size}");
        }
        let mut events = Events::new(100);
        events.push(b"data: a\rdata: b\r\rx");
        assert_eq!(all(&mut events), ["a\nb"]);
    }

    #[test]
    fn nothing_grows_for_ever() {
        let mut events = Events::new(10);
        events.push(b"data: 12345678901\n");
        assert_eq!(events.next(), Err(TooLong));
        let mut events = Events::new(10);
        events.push(&[b'x'; 11]);
        assert_eq!(events.next(), Err(TooLong));
        let mut events = Events::new(10);
        events.push(b"data: 12345\ndata: 12345\n");
        assert_eq!(events.next(), Err(TooLong));
        let mut events = Events::new(10);
        for _ in 0..1000 {
            events.push(b"data: 1\n\n:\n\n");
            assert_eq!(all(&mut events), ["1"]);
        }
        assert!(events.rest.len() < 100);
    }
}
