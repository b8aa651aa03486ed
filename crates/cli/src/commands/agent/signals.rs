//! Signals that ask a conversation in the terminal to end.

use std::future::poll_fn;
use std::task::Poll;

use offshoot_protocol::ExitCode;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals that ask to end, and the exit codes that they stand for.
#[derive(Debug)]
pub(super) struct EndSignals(Vec<(Signal, ExitCode)>);

impl EndSignals {
    /// Takes the signals over, to be heard by the runtime of this thread.
    pub(super) fn new() -> std::io::Result<Self> {
        let all = [
            (SignalKind::interrupt(), ExitCode::Interrupted),
            (SignalKind::terminate(), ExitCode::Terminated),
            (SignalKind::hangup(), ExitCode::HungUp),
            (SignalKind::quit(), ExitCode::Quit),
        ];
        let taken = all.into_iter().map(|(kind, code)| Ok((signal(kind)?, code)));
        Ok(Self(taken.collect::<std::io::Result<_>>()?))
    }

    /// Waits for the next one, and gives what it stands for.
    pub(super) async fn next(&mut self) -> ExitCode {
        poll_fn(|context| {
            for (signal, code) in &mut self.0 {
                if let Poll::Ready(Some(())) = signal.poll_recv(context) {
                    return Poll::Ready(*code);
                }
            }
            Poll::Pending
        })
        .await
    }
}
