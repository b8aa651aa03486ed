//! A handle of one stream.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use offshoot_mxp::FailureBody;
use tokio::sync::{mpsc, oneshot};

use crate::command::{Command, Notice, StreamItem};
use crate::connection::PeerConnection;
use crate::error::PeerStreamError;

/// One stream. Dropped before it was finished, it is closed; what was finished is still sent.
#[derive(Debug)]
pub struct PeerStream {
    reader: PeerStreamReader,
    writer: PeerStreamWriter,
}

/// The half of a stream that reads.
#[derive(Debug)]
pub struct PeerStreamReader {
    incoming: mpsc::UnboundedReceiver<StreamItem>,
    ended: Option<Result<(), PeerStreamError>>,
    held: Arc<Held>,
}

/// The half of a stream that writes.
#[derive(Debug)]
pub struct PeerStreamWriter {
    finished: bool,
    held: Arc<Held>,
}

/// What both halves share. The last one gives the stream back.
struct Held {
    id: u64,
    connection: PeerConnection,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.connection.notice(Notice::Abandon(self.id));
    }
}

impl fmt::Debug for Held {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "stream {} of {:?}", self.id, self.connection)
    }
}

impl PeerStream {
    pub(crate) fn new(
        id: u64,
        incoming: mpsc::UnboundedReceiver<StreamItem>,
        connection: PeerConnection,
    ) -> Self {
        let held = Arc::new(Held { id, connection });
        let reader = PeerStreamReader { incoming, ended: None, held: held.clone() };
        Self { reader, writer: PeerStreamWriter { finished: false, held } }
    }

    /// Waits for the next piece; none when the other side finished.
    pub async fn read(&mut self) -> Result<Option<Bytes>, PeerStreamError> {
        self.reader.read().await
    }

    /// Writes bytes. Waits while the other side does not read.
    pub async fn write(&mut self, bytes: impl Into<Bytes>) -> Result<(), PeerStreamError> {
        self.writer.write(bytes).await
    }

    /// Says that nothing more will be written.
    pub async fn finish(&mut self) -> Result<(), PeerStreamError> {
        self.writer.finish().await
    }

    /// Ends both directions for a reason. What was written and not sent is lost.
    pub fn close(self, reason: FailureBody) {
        let Held { id, connection } = &*self.reader.held;
        connection.notice(Notice::CloseStream(*id, Some(reason)));
    }

    /// Both halves, to read and write at the same time.
    pub fn split(self) -> (PeerStreamReader, PeerStreamWriter) {
        (self.reader, self.writer)
    }
}

impl PeerStreamReader {
    /// Waits for the next piece; none when the other side finished.
    pub async fn read(&mut self) -> Result<Option<Bytes>, PeerStreamError> {
        if let Some(ended) = &self.ended {
            return ended.clone().map(|()| None);
        }
        let item = self.incoming.recv().await;
        match item.unwrap_or(Err(PeerStreamError::Disconnected)) {
            Ok((bytes, last)) => {
                let Held { id, connection } = &*self.held;
                connection.notice(Notice::Read(*id, bytes.len()));
                if last {
                    self.ended = Some(Ok(()));
                    return Ok(Some(bytes).filter(|bytes| !bytes.is_empty()));
                }
                Ok(Some(bytes))
            }
            Err(error) => {
                self.ended = Some(Err(error.clone()));
                Err(error)
            }
        }
    }
}

impl PeerStreamWriter {
    /// Writes bytes. Waits while the other side does not read.
    pub async fn write(&mut self, bytes: impl Into<Bytes>) -> Result<(), PeerStreamError> {
        self.put(bytes.into(), false, false).await
    }

    /// The same, and asks the other side for new credit as soon as its reader has all of it.
    pub async fn write_urgent(&mut self, bytes: impl Into<Bytes>) -> Result<(), PeerStreamError> {
        self.put(bytes.into(), true, false).await
    }

    /// Says that nothing more will be written.
    pub async fn finish(&mut self) -> Result<(), PeerStreamError> {
        if std::mem::replace(&mut self.finished, true) {
            return Ok(());
        }
        self.put(Bytes::new(), false, true).await
    }

    async fn put(&self, bytes: Bytes, flush: bool, last: bool) -> Result<(), PeerStreamError> {
        if self.finished && !last {
            return Err(PeerStreamError::Finished);
        }
        let (reply, result) = oneshot::channel();
        let Held { id, connection } = &*self.held;
        connection.command(Command::Write { id: *id, bytes, flush, last, reply }).await?;
        result.await.unwrap_or(Err(PeerStreamError::Disconnected))
    }
}
