//! Events of a server, none of which is too large.

use std::io;

use bytes::Bytes;
use futures::StreamExt;
use futures::stream::BoxStream;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use rmcp::transport::streamable_http_client::SseError;
use sse_stream::{Sse, SseStream};

/// The events of an answer, up to the first that is larger than `most`.
pub(super) fn bounded(body: Incoming, most: usize) -> BoxStream<'static, Result<Sse, SseError>> {
    let mut measure = Measure { most, size: 0, is_line_empty: true };
    let pieces = body.into_data_stream().map(move |piece| {
        let piece: Bytes = piece.map_err(io::Error::other)?;
        match measure.fits(&piece) {
            true => Ok(piece),
            false => Err(io::Error::other("an event is too large")),
        }
    });
    SseStream::from_bytes_stream(pieces).boxed()
}

/// Measures events, which an empty line ends.
struct Measure {
    most: usize,
    size: usize,
    is_line_empty: bool,
}

impl Measure {
    fn fits(&mut self, piece: &[u8]) -> bool {
        for byte in piece {
            self.size += 1;
            match byte {
                b'\n' | b'\r' if self.is_line_empty => self.size = 0,
                b'\n' | b'\r' => self.is_line_empty = true,
                _ => self.is_line_empty = false,
            }
            if self.size > self.most {
                return false;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_measured_one_by_one() {
        let mut measure = Measure { most: 12, size: 0, is_line_empty: true };
        assert!(measure.fits(b"data: 1\n\ndata: 2\n\n"));
        assert!(measure.fits(b"data: "));
        assert!(measure.fits(b"12\n\n"));
        assert!(!measure.fits(b"data: 1234567"));
    }
}
