//! One connection as a pipe of messages.

use std::future::{Future, poll_fn};
use std::io::{self, IoSlice};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use offshoot_mxp::MessageError;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::frame::{FrameReader, FrameWriter};
use crate::handshake::ChannelProof;
use crate::message::PeerMessage;

/// So long an end is waited for that was announced.
const LINGER: Duration = Duration::from_secs(1);

/// Bytes both ways.
pub(crate) trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Duplex for T {}

/// Bytes both ways, and what their way proves.
pub(crate) struct Channel {
    pub(crate) bytes: Box<dyn Duplex>,
    pub(crate) proof: ChannelProof,
}

/// What can end a pipe.
#[derive(Debug)]
pub(crate) enum PipeError {
    Io(io::Error),
    Message(MessageError),
}

impl From<io::Error> for PipeError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<MessageError> for PipeError {
    fn from(error: MessageError) -> Self {
        Self::Message(error)
    }
}

/// Messages both ways.
pub(crate) struct Pipe {
    bytes: Box<dyn Duplex>,
    reader: FrameReader,
    pub(crate) writer: FrameWriter,
    unflushed: bool,
}

impl Pipe {
    pub(crate) fn new(bytes: Box<dyn Duplex>, limit: usize) -> Self {
        let (reader, writer) = (FrameReader::new(limit), FrameWriter::default());
        Self { bytes, reader, writer, unflushed: false }
    }

    /// From now on, payloads may have another length.
    pub(crate) fn allow(&mut self, limit: usize) {
        self.reader.allow(limit);
    }

    /// A message that has arrived.
    pub(crate) fn take(&mut self) -> Result<Option<PeerMessage>, MessageError> {
        self.reader.next()
    }

    /// Waits for a message.
    pub(crate) async fn receive(&mut self) -> Result<PeerMessage, PipeError> {
        loop {
            if let Some(message) = self.reader.next()? {
                return Ok(message);
            }
            if self.bytes.read_buf(self.reader.room()).await? == 0 {
                return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
            }
        }
    }

    /// Writes a message, and waits until it is on its way.
    pub(crate) async fn send(&mut self, message: &PeerMessage) -> Result<(), PipeError> {
        self.writer.push(message)?;
        while self.writer.len() > 0 {
            let mut slices = [IoSlice::new(&[]); 8];
            let count = self.writer.slices(&mut slices);
            let written = self.bytes.write_vectored(&slices[..count]).await?;
            if written == 0 {
                return Err(io::Error::from(io::ErrorKind::WriteZero).into());
            }
            self.writer.advance(written);
        }
        Ok(self.bytes.flush().await?)
    }

    /// Writes what waits and reads what comes, as far as either goes without waiting; and whether bytes came. Without leave to read, whether
    /// bytes went. It goes on after writing, unless that is to be told. Nothing is lost when it is dropped.
    pub(crate) async fn step(&mut self, may_read: bool, tells: bool) -> io::Result<bool> {
        poll_fn(|context| self.poll_step(context, may_read, tells)).await
    }

    fn poll_step(
        &mut self,
        context: &mut Context<'_>,
        may_read: bool,
        tells: bool,
    ) -> Poll<io::Result<bool>> {
        let (mut done, mut alive) = (false, false);
        while self.writer.len() > 0 {
            let mut slices = [IoSlice::new(&[]); 8];
            let count = self.writer.slices(&mut slices);
            let bytes = Pin::new(&mut self.bytes);
            match bytes.poll_write_vectored(context, &slices[..count])? {
                Poll::Ready(0) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                Poll::Ready(written) => self.writer.advance(written),
                Poll::Pending => break,
            }
            alive |= !may_read;
            (done, self.unflushed) = (done || tells || !may_read, true);
        }
        if self.unflushed && Pin::new(&mut self.bytes).poll_flush(context)?.is_ready() {
            (done, self.unflushed) = (done || tells, false);
        }
        if may_read {
            let read = pin!(self.bytes.read_buf(self.reader.room())).poll(context)?;
            match read {
                Poll::Ready(0) => return Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into())),
                Poll::Ready(_) => (done, alive) = (true, true),
                Poll::Pending => {}
            }
        }
        if done { Poll::Ready(Ok(alive)) } else { Poll::Pending }
    }

    /// Writes what is left, and ends.
    pub(crate) async fn finish(mut self) {
        let writing = async {
            while self.writer.len() > 0 || self.unflushed {
                self.step(false, true).await?;
            }
            io::Result::Ok(())
        };
        if let Ok(Ok(())) = tokio::time::timeout(LINGER, writing).await {
            self.end().await;
        }
    }

    /// Ends this direction and waits a little for the other one, so that the last message arrives.
    pub(crate) async fn end(mut self) {
        let closing = async {
            self.bytes.shutdown().await?;
            let mut rest = [0; 4096];
            // What comes now is of no use; the end is what is waited for.
            while self.bytes.read(&mut rest).await? > 0 {}
            io::Result::Ok(())
        };
        // Either way the connection is over.
        drop(tokio::time::timeout(LINGER, closing).await);
    }
}
