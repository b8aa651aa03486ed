//! Bodies of HTTP/1 messages, passed on with new frames around them.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::head::Framing;
use crate::wire::{BoxWrite, Source, send};

/// The longest line between chunks.
const LINE: usize = 4096;
/// The longest trailers, which are headers behind the last chunk.
const TRAILERS: usize = 16 << 10;
/// At most so many of them, as of headers.
const MOST_TRAILERS: usize = 128;
/// Trailers that are not passed on. Who reads a message may take trailers for headers, which they never may be: these frame or route it, say who sent it, or
/// decide how it is read.
const HEADERS_ALONE: &[&str] = &[
    "age",
    "authorization",
    "cache-control",
    "connection",
    "content-encoding",
    "content-length",
    "content-range",
    "content-type",
    "cookie",
    "date",
    "expect",
    "expires",
    "forwarded",
    "host",
    "http2-settings",
    "keep-alive",
    "location",
    "max-forwards",
    "origin",
    "pragma",
    "range",
    "retry-after",
    "set-cookie",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "vary",
    "www-authenticate",
];
/// The same for all names that start so.
const HEADERS_ALONE_FROM: &[&str] = &["if-", "proxy-", "x-forwarded-"];

/// What stopped a body.
#[derive(Debug)]
pub(super) enum Fault {
    /// Whoever sends it is gone, too slow, or sends something else.
    From(io::Error),
    /// Whoever gets it is gone or too slow.
    To(io::Error),
}

/// Passes a body on.
pub(super) struct BodyCopy<'a> {
    pub(super) from: &'a mut Source,
    pub(super) to: &'a mut BoxWrite,
    pub(super) counter: &'a AtomicU64,
    pub(super) idle: Duration,
    /// Whether the reader knows chunks; if not they are taken off.
    pub(super) chunks: bool,
    /// Headers that the proxy writes itself: no trailer has one of their names.
    pub(super) own: &'a [&'a str],
}

impl BodyCopy<'_> {
    pub(super) async fn run(&mut self, framing: Framing) -> Result<(), Fault> {
        match framing {
            Framing::Empty => Ok(()),
            Framing::Length(length) => self.exactly(length).await,
            Framing::Chunked => self.chunked().await,
            Framing::UntilClose => self.rest().await,
        }
    }

    async fn exactly(&mut self, mut length: u64) -> Result<(), Fault> {
        while length > 0 {
            self.need().await?;
            let ahead = self.from.ahead().len();
            let count = ahead.min(usize::try_from(length).unwrap_or(ahead));
            self.pass(count, b"", b"").await?;
            length -= count as u64;
        }
        Ok(())
    }

    async fn rest(&mut self) -> Result<(), Fault> {
        loop {
            let count = self.from.ahead().len();
            if count > 0 {
                self.pass(count, b"", b"").await?;
            }
            if !self.from.fill_within(self.idle).await.map_err(Fault::From)? {
                return Ok(());
            }
        }
    }

    async fn chunked(&mut self) -> Result<(), Fault> {
        loop {
            let size =
                chunk_size(&self.line(LINE).await?).ok_or_else(|| wrong("a chunk has no size"))?;
            if size == 0 {
                return self.trailers().await;
            }
            let mut start = if self.chunks { format!("{size:x}\r\n") } else { String::new() };
            let mut left = size;
            while left > 0 {
                self.need().await?;
                let ahead = self.from.ahead().len();
                let count = ahead.min(usize::try_from(left).unwrap_or(ahead));
                left -= count as u64;
                let end: &[u8] = if left == 0 && self.chunks { b"\r\n" } else { b"" };
                self.pass(count, start.as_bytes(), end).await?;
                start.clear();
            }
            if !self.line(0).await?.is_empty() {
                return Err(wrong("a chunk is longer than it says"));
            }
        }
    }

    async fn trailers(&mut self) -> Result<(), Fault> {
        let mut out = b"0\r\n".to_vec();
        let (mut count, mut size) = (0, 0);
        loop {
            let line = self.line(LINE).await?;
            if line.is_empty() {
                break;
            }
            let colon = line.iter().position(|byte| *byte == b':').unwrap_or(0);
            let name = &line[..colon];
            let plain = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-' || *byte == b'_';
            if name.is_empty() || !name.iter().all(plain) {
                return Err(wrong("what follows the last chunk is no header"));
            }
            (count, size) = (count + 1, size + line.len());
            if count > MOST_TRAILERS || size > TRAILERS {
                return Err(wrong("too much follows the last chunk"));
            }
            if !self.passes(name) {
                continue;
            }
            out.extend_from_slice(&line);
            out.extend_from_slice(b"\r\n");
        }
        out.extend_from_slice(b"\r\n");
        if self.chunks { self.write(&out).await } else { Ok(()) }
    }

    /// Whether a trailer of this name is passed on.
    fn passes(&self, name: &[u8]) -> bool {
        let starts = |start: &&str| {
            name.get(..start.len()).is_some_and(|part| same_name(part, start.as_bytes()))
        };
        let mut never = HEADERS_ALONE.iter().chain(self.own);
        !never.any(|never| same_name(name, never.as_bytes()))
            && !HEADERS_ALONE_FROM.iter().any(starts)
    }

    /// A line of at most so many bytes, without its end.
    async fn line(&mut self, longest: usize) -> Result<Vec<u8>, Fault> {
        loop {
            let ahead = self.from.ahead();
            if let Some(end) = ahead.iter().position(|byte| *byte == b'\n') {
                let Some(line) = ahead[..end].strip_suffix(b"\r") else {
                    return Err(wrong("a line ends without a carriage return"));
                };
                let control = |byte: &u8| *byte < 0x20 && *byte != b'\t' || *byte == 0x7f;
                if line.len() > longest || line.iter().any(control) {
                    return Err(wrong("a line between chunks is none"));
                }
                let line = line.to_vec();
                self.from.consume(end + 1);
                return Ok(line);
            }
            if ahead.len() > longest + 2 {
                return Err(wrong("a line between chunks is too long"));
            }
            self.more().await?;
        }
    }

    /// Waits until there is something.
    async fn need(&mut self) -> Result<(), Fault> {
        if self.from.ahead().is_empty() { self.more().await } else { Ok(()) }
    }

    async fn more(&mut self) -> Result<(), Fault> {
        match self.from.fill_within(self.idle).await {
            Ok(true) => Ok(()),
            Ok(false) => Err(Fault::From(io::ErrorKind::UnexpectedEof.into())),
            Err(error) => Err(Fault::From(error)),
        }
    }

    /// Passes on so many bytes that are there, with something before and behind them.
    async fn pass(&mut self, count: usize, before: &[u8], behind: &[u8]) -> Result<(), Fault> {
        let bytes = &self.from.ahead()[..count];
        let sent = if before.is_empty() && behind.is_empty() {
            send(self.to, bytes, self.idle).await
        } else {
            send(self.to, &[before, bytes, behind].concat(), self.idle).await
        };
        sent.map_err(Fault::To)?;
        self.counter.fetch_add(count as u64, Ordering::Relaxed);
        self.from.consume(count);
        Ok(())
    }

    async fn write(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        send(self.to, bytes, self.idle).await.map_err(Fault::To)
    }
}

/// Whether two names of headers are one to some servers, which know neither upper case nor underscores.
pub(super) fn same_name(one: &[u8], other: &[u8]) -> bool {
    let plain = |byte: &u8| if *byte == b'_' { b'-' } else { byte.to_ascii_lowercase() };
    one.iter().map(plain).eq(other.iter().map(plain))
}

fn wrong(problem: &'static str) -> Fault {
    Fault::From(io::Error::new(io::ErrorKind::InvalidData, problem))
}

/// The size at the start of a chunk: hexadecimal digits, and extensions that are not passed on.
pub(crate) fn chunk_size(line: &[u8]) -> Option<u64> {
    let digits = line.split(|byte| *byte == b';').next()?;
    if digits.is_empty() || digits.len() > 15 || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_chunks_are_plain_numbers() {
        assert_eq!(chunk_size(b"0"), Some(0));
        assert_eq!(chunk_size(b"1aF"), Some(0x1af));
        assert_eq!(chunk_size(b"10;x=y"), Some(16));
        for line in ["", ";x", "-1", "+1", "0x1", " 1", "1 ", "g", "ffffffffffffffff", "1 ;x"] {
            assert_eq!(chunk_size(line.as_bytes()), None, "{line}");
        }
    }

    async fn pass(text: &str, framing: Framing, chunks: bool) -> Result<String, Fault> {
        let (out, mut result) = tokio::io::duplex(1 << 16);
        let mut from = Source::new(Box::new(io::Cursor::new(text.as_bytes().to_vec())));
        let mut to: BoxWrite = Box::new(out);
        let counter = AtomicU64::new(0);
        let idle = Duration::from_secs(1);
        let own = &["x-api-key"];
        BodyCopy { from: &mut from, to: &mut to, counter: &counter, idle, chunks, own }
            .run(framing)
            .await?;
        drop(to);
        let mut text = String::new();
        tokio::io::AsyncReadExt::read_to_string(&mut result, &mut text).await.unwrap();
        Ok(text)
    }

    fn run<T>(future: impl Future<Output = T>) -> T {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        builder.enable_all().build().unwrap().block_on(future)
    }

    #[test]
    fn chunks_get_new_frames() {
        run(async {
            let text = "5;ext=1\r\nhello\r\n1\r\n!\r\n0\r\nx-sum: 1\r\n\r\nnext";
            let passed = pass(text, Framing::Chunked, true).await.unwrap();
            assert_eq!(passed, "5\r\nhello\r\n1\r\n!\r\n0\r\nx-sum: 1\r\n\r\n");
            assert_eq!(pass(text, Framing::Chunked, false).await.unwrap(), "hello!");
            assert_eq!(pass("hello!", Framing::Length(5), true).await.unwrap(), "hello");
            assert_eq!(pass("hello!", Framing::UntilClose, true).await.unwrap(), "hello!");
        });
    }

    #[test]
    fn trailers_bring_no_header() {
        run(async {
            let trailers = |names: &[&str]| {
                let lines = names.iter().map(|name| format!("{name}: 1\r\n"));
                format!("1\r\na\r\n0\r\n{}\r\n", lines.collect::<String>())
            };
            let never = [
                "Host",
                "content-length",
                "Content_Length",
                "Transfer-Encoding",
                "AUTHORIZATION",
                "Proxy-Authorization",
                "cookie",
                "Set-Cookie",
                "Connection",
                "Trailer",
                "TE",
                "X-Api-Key",
                "x_api_key",
                "If-Match",
                "Expect",
                "X-Forwarded-For",
                "Upgrade",
            ];
            let sent = trailers(&[&never[..], &["X-Sum", "grpc-status", "ifs", "hosts"]].concat());
            let passed = pass(&sent, Framing::Chunked, true).await.unwrap();
            assert_eq!(passed, trailers(&["X-Sum", "grpc-status", "ifs", "hosts"]));
            // What is left out counts: nobody sends without end.
            let many = trailers(&["host"; MOST_TRAILERS]);
            assert_eq!(pass(&many, Framing::Chunked, true).await.unwrap(), trailers(&[]));
            let many = trailers(&["host"; MOST_TRAILERS + 1]);
            assert!(pass(&many, Framing::Chunked, true).await.is_err());
            let line = format!("cookie: {}\r\n", "x".repeat(LINE - 8)).repeat(4);
            let fits = format!("0\r\n{line}\r\n");
            assert!(pass(&fits, Framing::Chunked, true).await.is_ok());
            let large = format!("0\r\n{line}a: 1\r\n\r\n");
            assert!(pass(&large, Framing::Chunked, true).await.is_err());
        });
    }

    #[test]
    fn wrong_chunks_are_refused() {
        run(async {
            for text in [
                "5\r\nhel",
                "5\r\nhello!\r\n0\r\n\r\n",
                "5\nhello\r\n0\r\n\r\n",
                "x\r\n",
                "1\r\na\n0\r\n\r\n",
                "0\r\nx y: 1\r\n\r\n",
                "0\r\n folded\r\n\r\n",
                "0\r\n",
                "1;\0\r\na\r\n",
                "-1\r\n",
                "1\r\nab\r\n",
            ] {
                assert!(pass(text, Framing::Chunked, true).await.is_err(), "{text:?}");
            }
            let long = format!("1;{}\r\na\r\n0\r\n\r\n", "x".repeat(5000));
            assert!(pass(&long, Framing::Chunked, true).await.is_err());
            assert!(pass("short", Framing::Length(6), true).await.is_err());
        });
    }
}
