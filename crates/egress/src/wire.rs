//! Streams that can be read ahead of, and that hold no memory while nothing comes.

use std::cell::RefCell;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// How much is read at once.
const SCRATCH: usize = 64 << 10;

thread_local! {
    /// What is read lands here first: thousands of connections that wait share one buffer.
    static BUFFER: RefCell<Vec<u8>> = RefCell::new(vec![0; SCRATCH]);
}

/// Something to read from.
pub(crate) type BoxRead = Box<dyn AsyncRead + Send + Unpin>;
/// Something to write to.
pub(crate) type BoxWrite = Box<dyn AsyncWrite + Send + Unpin>;

/// Reads once and gives what came to `take`; nothing came at the end of the stream.
pub(crate) fn poll_take<R, T>(
    source: &mut R,
    context: &mut Context<'_>,
    take: impl FnOnce(&[u8], &mut Context<'_>) -> T,
) -> Poll<io::Result<T>>
where
    R: AsyncRead + Unpin + ?Sized,
{
    BUFFER.with(|buffer| {
        // Nobody reads within a read; a stream that did would get a buffer of its own.
        let mut own = Vec::new();
        let mut shared = buffer.try_borrow_mut();
        let space: &mut [u8] = match &mut shared {
            Ok(shared) => shared.as_mut_slice(),
            Err(_) => {
                own.resize(SCRATCH, 0);
                &mut own
            }
        };
        let mut space = ReadBuf::new(space);
        ready!(Pin::new(source).poll_read(context, &mut space))?;
        Poll::Ready(Ok(take(space.filled(), context)))
    })
}

/// The reading side of a stream, with what was read ahead.
pub(crate) struct Source {
    inner: BoxRead,
    ahead: Vec<u8>,
    start: usize,
}

impl Source {
    pub(crate) fn new(inner: BoxRead) -> Self {
        Self { inner, ahead: Vec::new(), start: 0 }
    }

    /// What was read and not yet used.
    pub(crate) fn ahead(&self) -> &[u8] {
        &self.ahead[self.start..]
    }

    /// Marks bytes as used.
    pub(crate) fn consume(&mut self, count: usize) {
        self.start = self.ahead.len().min(self.start.saturating_add(count));
        if self.start == self.ahead.len() {
            self.ahead = Vec::new();
            self.start = 0;
        }
    }

    /// Waits for more bytes; false at the end of the stream. Nothing is lost when it is given up.
    pub(crate) async fn fill(&mut self) -> io::Result<bool> {
        let Self { inner, ahead, start } = self;
        poll_fn(|context| {
            poll_take(inner.as_mut(), context, |bytes, _| {
                ahead.drain(..*start);
                *start = 0;
                ahead.extend_from_slice(bytes);
                !bytes.is_empty()
            })
        })
        .await
    }

    /// The same with a time limit.
    pub(crate) async fn fill_within(&mut self, limit: Duration) -> io::Result<bool> {
        within(limit, self.fill()).await
    }

    /// Gives what is ahead, or else what comes next, to `take`.
    pub(crate) fn poll_take<T>(
        &mut self,
        context: &mut Context<'_>,
        take: impl FnOnce(&[u8], &mut Context<'_>) -> T,
    ) -> Poll<io::Result<T>> {
        if self.ahead().is_empty() {
            return poll_take(self.inner.as_mut(), context, take);
        }
        let taken = take(self.ahead(), context);
        self.consume(usize::MAX);
        Poll::Ready(Ok(taken))
    }
}

impl AsyncRead for Source {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        space: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.ahead().is_empty() {
            return Pin::new(&mut self.inner).poll_read(context, space);
        }
        let count = self.ahead().len().min(space.remaining());
        space.put_slice(&self.ahead()[..count]);
        self.consume(count);
        Poll::Ready(Ok(()))
    }
}

/// Both sides of a stream.
pub(crate) struct Duplex {
    pub(crate) read: Source,
    pub(crate) write: BoxWrite,
}

impl Duplex {
    /// Takes a stream apart.
    pub(crate) fn of<S: AsyncRead + AsyncWrite + Send + 'static>(stream: S) -> Self {
        let (read, write) = tokio::io::split(stream);
        Self { read: Source::new(Box::new(read)), write: Box::new(write) }
    }
}

impl From<TcpStream> for Duplex {
    fn from(stream: TcpStream) -> Self {
        let (read, write) = stream.into_split();
        Self { read: Source::new(Box::new(read)), write: Box::new(write) }
    }
}

impl AsyncRead for Duplex {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        space: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.read).poll_read(context, space)
    }
}

impl AsyncWrite for Duplex {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.write).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.write).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.write).poll_shutdown(context)
    }
}

/// Writes all of it, within a time limit.
pub(crate) async fn send(writer: &mut BoxWrite, bytes: &[u8], limit: Duration) -> io::Result<()> {
    within(limit, async {
        writer.write_all(bytes).await?;
        writer.flush().await
    })
    .await
}

/// An operation that fails if it takes too long.
pub(crate) async fn within<T>(
    limit: Duration,
    operation: impl Future<Output = io::Result<T>>,
) -> io::Result<T> {
    timeout(limit, operation).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}
