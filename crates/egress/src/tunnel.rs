//! Bytes both ways until both sides are done, or nothing moves for too long.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::AsyncWrite;
use tokio::time::{Instant, sleep};

use crate::record::Counters;
use crate::wire::{BoxWrite, Duplex, Source};

/// How long a tunnel may be without traffic.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    pub(crate) idle: Duration,
    /// Once one side has said that it sends nothing any more.
    pub(crate) half_closed: Duration,
}

/// Carries bytes both ways. An end of stream is passed on to the other side, which may go on sending.
pub(crate) async fn carry(
    client: &mut Duplex,
    server: &mut Duplex,
    counters: &Counters,
    patience: Patience,
) -> io::Result<()> {
    let mut up = Pump::new(&mut client.read, &mut server.write, &counters.up);
    let mut down = Pump::new(&mut server.read, &mut client.write, &counters.down);
    let mut last = Instant::now();
    let mut timer = Box::pin(sleep(patience.idle));
    poll_fn(|context| {
        let before = up.moved + down.moved;
        let sent = up.poll(context)?;
        let received = down.poll(context)?;
        if sent.is_ready() && received.is_ready() {
            return Poll::Ready(Ok(()));
        }
        let limit = if sent.is_ready() || received.is_ready() {
            patience.half_closed
        } else {
            patience.idle
        };
        if up.moved + down.moved != before {
            last = Instant::now();
        }
        // Setting the timer for each packet would cost more than looking again when it rings.
        loop {
            let due = last + limit;
            if timer.deadline() > due || timer.is_elapsed() {
                timer.as_mut().reset(due);
            }
            ready!(timer.as_mut().poll(context));
            if Instant::now() >= last + limit {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
        }
    })
    .await
}

/// One direction.
struct Pump<'a> {
    from: &'a mut Source,
    to: &'a mut BoxWrite,
    counter: &'a AtomicU64,
    /// Read and not yet written: empty whenever the writer keeps up.
    pending: Vec<u8>,
    written: usize,
    unflushed: bool,
    ended: bool,
    done: bool,
    /// How much was done, to see whether anything is.
    moved: u64,
}

impl<'a> Pump<'a> {
    fn new(from: &'a mut Source, to: &'a mut BoxWrite, counter: &'a AtomicU64) -> Self {
        Self {
            from,
            to,
            counter,
            pending: Vec::new(),
            written: 0,
            unflushed: false,
            ended: false,
            done: false,
            moved: 0,
        }
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            if self.done {
                return Poll::Ready(Ok(()));
            }
            if self.written < self.pending.len() {
                let rest = &self.pending[self.written..];
                let count = ready!(Pin::new(&mut *self.to).poll_write(context, rest))?;
                self.wrote(count)?;
                self.written += count;
                if self.written == self.pending.len() {
                    self.pending = Vec::new();
                    self.written = 0;
                }
                continue;
            }
            if self.ended {
                ready!(Pin::new(&mut *self.to).poll_shutdown(context))?;
                self.done = true;
                self.moved += 1;
                continue;
            }
            let Self { from, to, pending, .. } = self;
            let read = from.poll_take(context, |bytes, context| {
                if bytes.is_empty() {
                    return Ok(None);
                }
                // Most of the time the writer takes all at once, and nothing is copied aside.
                let count = match Pin::new(&mut **to).poll_write(context, bytes) {
                    Poll::Ready(count) => count?,
                    Poll::Pending => 0,
                };
                pending.extend_from_slice(&bytes[count.min(bytes.len())..]);
                io::Result::Ok(Some(count))
            });
            match read {
                Poll::Ready(read) => match read?? {
                    None => self.ended = true,
                    Some(0) => {}
                    Some(count) => self.wrote(count)?,
                },
                Poll::Pending => {
                    if self.unflushed {
                        ready!(Pin::new(&mut *self.to).poll_flush(context))?;
                        self.unflushed = false;
                    }
                    return Poll::Pending;
                }
            }
        }
    }

    fn wrote(&mut self, count: usize) -> io::Result<()> {
        if count == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        self.counter.fetch_add(count as u64, Ordering::Relaxed);
        self.moved += count as u64;
        self.unflushed = true;
        Ok(())
    }
}
