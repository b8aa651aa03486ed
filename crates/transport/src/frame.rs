//! Messages out of bytes and into bytes.

use std::collections::VecDeque;
use std::io::IoSlice;

use bytes::{Buf, BufMut, Bytes, BytesMut};
use offshoot_mxp::{AgentMessage, HEADER_LENGTH, Header, MessageError, OVERHEAD};

use crate::message::PeerMessage;

/// Room for one read.
const READ: usize = 64 << 10;

/// Shorter payloads are copied, so that a short message does not keep all that was read with it.
const SHARED: usize = 8 << 10;

/// Cuts what was read into messages.
#[derive(Debug)]
pub(crate) struct FrameReader {
    buffer: BytesMut,
    limit: usize,
}

impl FrameReader {
    /// For messages with payloads up to a limit.
    pub(crate) fn new(limit: usize) -> Self {
        Self { buffer: BytesMut::new(), limit }
    }

    /// From now on, payloads may have another length.
    pub(crate) fn allow(&mut self, limit: usize) {
        self.limit = limit;
    }

    /// Where further bytes go. It grows with what has arrived, not with what a header promises.
    pub(crate) fn room(&mut self) -> &mut BytesMut {
        let room = self.buffer.len().max(READ);
        if self.buffer.capacity() - self.buffer.len() < READ / 4 {
            self.buffer.reserve(room);
        }
        &mut self.buffer
    }

    /// The next message, if it is there.
    pub(crate) fn next(&mut self) -> Result<Option<PeerMessage>, MessageError> {
        if self.buffer.len() < HEADER_LENGTH {
            return Ok(None);
        }
        let header = Header::parse(&self.buffer)?;
        let length = header.payload_length;
        if length > self.limit {
            return Err(MessageError::TooLong(length as u64));
        }
        let total = length + OVERHEAD;
        if self.buffer.len() < total {
            return Ok(None);
        }
        let AgentMessage { kind, flags, id, trace, .. } =
            AgentMessage::parse(&self.buffer[..total])?;
        let range = HEADER_LENGTH..HEADER_LENGTH + length;
        let payload = if length < SHARED {
            let payload = Bytes::copy_from_slice(&self.buffer[range]);
            self.buffer.advance(total);
            payload
        } else {
            self.buffer.split_to(total).freeze().slice(range)
        };
        Ok(Some(PeerMessage { kind, flags, id, trace, payload }))
    }
}

/// Bytes that wait to be written. Long payloads are not copied.
#[derive(Debug, Default)]
pub(crate) struct FrameWriter {
    whole: VecDeque<Bytes>,
    tail: BytesMut,
    length: usize,
}

impl FrameWriter {
    /// Appends a message.
    pub(crate) fn push(&mut self, message: &PeerMessage) -> Result<(), MessageError> {
        let (header, sum) = message.view().frame()?;
        self.length += message.cost();
        self.tail.put_slice(&header);
        if message.payload.len() < SHARED {
            self.tail.put_slice(&message.payload);
        } else {
            self.whole.push_back(self.tail.split().freeze());
            self.whole.push_back(message.payload.clone());
        }
        self.tail.put_slice(&sum);
        Ok(())
    }

    /// How many bytes wait.
    pub(crate) fn len(&self) -> usize {
        self.length
    }

    /// The first of them, in pieces.
    pub(crate) fn slices<'a>(&'a self, slices: &mut [IoSlice<'a>; 8]) -> usize {
        let pieces = self.whole.iter().map(|bytes| &bytes[..]).chain([&self.tail[..]]);
        let pieces = pieces.filter(|piece| !piece.is_empty());
        slices.iter_mut().zip(pieces).map(|(slot, piece)| *slot = IoSlice::new(piece)).count()
    }

    /// So many of them were written.
    pub(crate) fn advance(&mut self, mut written: usize) {
        self.length -= written;
        while let Some(first) = self.whole.front_mut() {
            if written < first.len() {
                first.advance(written);
                return;
            }
            written -= first.len();
            self.whole.pop_front();
        }
        self.tail.advance(written);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use offshoot_mxp::MessageKind;

    #[test]
    fn messages_come_back_however_they_are_cut() {
        let lengths = [0, 1, SHARED - 1, SHARED, SHARED + 1, 100_000];
        let messages: Vec<PeerMessage> = lengths
            .iter()
            .map(|length| PeerMessage::new(MessageKind::Event, 7, vec![9; *length].into()))
            .collect();
        for step in [1, 7, 4096, usize::MAX] {
            let mut writer = FrameWriter::default();
            for message in &messages {
                writer.push(message).unwrap();
            }
            let mut reader = FrameReader::new(1 << 20);
            let mut read = Vec::new();
            while writer.len() > 0 {
                let mut slices = [IoSlice::new(&[]); 8];
                assert!(writer.slices(&mut slices) > 0);
                let piece = slices[0][..step.min(slices[0].len())].to_vec();
                reader.room().put_slice(&piece);
                writer.advance(piece.len());
                while let Some(message) = reader.next().unwrap() {
                    read.push(message);
                }
            }
            assert!(read == messages, "{step}");
        }
    }

    #[test]
    fn a_promise_of_bytes_takes_no_memory() {
        let message = PeerMessage::new(MessageKind::Event, 7, vec![0; 1 << 20].into());
        let bytes = message.view().to_bytes().unwrap();
        let mut reader = FrameReader::new(16 << 20);
        reader.room().put_slice(&bytes[..HEADER_LENGTH]);
        assert_eq!(reader.next(), Ok(None));
        assert!(reader.room().capacity() <= 2 * READ);
        let mut small = FrameReader::new(1 << 10);
        small.room().put_slice(&bytes[..HEADER_LENGTH]);
        assert_eq!(small.next(), Err(MessageError::TooLong(1 << 20)));
    }
}
