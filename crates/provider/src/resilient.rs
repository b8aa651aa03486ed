//! A provider that does not give up at once, and does not ask too much.

mod breaker;
mod gate;

use std::sync::Arc;
use std::time::Duration;

use futures::{StreamExt, stream};
use tokio::time::sleep;

pub use self::breaker::BreakerPolicy;
use self::breaker::{Breaker, Pass};
pub use self::gate::GateLimits;
use self::gate::{Gate, Ticket};
use crate::error::ProviderError;
use crate::event::{AnswerEvent, Restarted};
use crate::id::ProviderId;
use crate::provider::{EventStream, Provider};
use crate::request::Request;
use crate::wait::RetryPolicy;

/// When to ask again, and how much at once.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ResilientOptions {
    /// When requests are sent again.
    pub retry: RetryPolicy,
    /// How many at once, and in a minute.
    pub gate: GateLimits,
    /// When the provider is left alone.
    pub breaker: BreakerPolicy,
}

/// A provider around another one: it tries again, waits for its turn, and leaves a broken server alone. Its clones share
/// limits and circuit breaker.
#[derive(Clone)]
pub struct Resilient {
    shared: Arc<Shared>,
}

struct Shared {
    inner: Arc<dyn Provider>,
    retry: RetryPolicy,
    gate: Gate,
    breaker: Arc<Breaker>,
}

impl Resilient {
    /// Puts it around a provider.
    pub fn new(inner: impl Provider + 'static, options: ResilientOptions) -> Self {
        let shared = Shared {
            inner: Arc::new(inner),
            retry: options.retry,
            gate: Gate::new(options.gate),
            breaker: Arc::new(Breaker::new(options.breaker)),
        };
        Self { shared: Arc::new(shared) }
    }
}

impl Provider for Resilient {
    fn id(&self) -> &ProviderId {
        self.shared.inner.id()
    }

    fn stream(&self, request: &Request) -> EventStream {
        let tries = Tries {
            shared: Arc::clone(&self.shared),
            request: request.clone(),
            attempts: 0,
            is_shown: false,
            state: State::Waiting(Duration::ZERO),
        };
        stream::unfold(tries, |mut tries| async move {
            let event = tries.next().await?;
            Some((event, tries))
        })
        .boxed()
    }
}

/// The attempts at one answer.
struct Tries {
    shared: Arc<Shared>,
    request: Request,
    attempts: u32,
    /// Whether the caller has anything of an answer.
    is_shown: bool,
    state: State,
}

enum State {
    Waiting(Duration),
    Reading { stream: EventStream, pass: Pass, _ticket: Ticket },
    Done,
}

impl Tries {
    async fn next(&mut self) -> Option<Result<AnswerEvent, ProviderError>> {
        loop {
            match &mut self.state {
                State::Done => return None,
                State::Waiting(time) => {
                    let time = *time;
                    if !time.is_zero() {
                        sleep(time).await;
                    }
                    let ticket = self.shared.gate.enter().await;
                    match self.shared.breaker.enter() {
                        Ok(pass) => {
                            self.attempts += 1;
                            let stream = self.shared.inner.stream(&self.request);
                            self.state = State::Reading { stream, pass, _ticket: ticket };
                        }
                        Err(error) => {
                            self.state = State::Done;
                            return Some(
                                Err(error.at(self.shared.inner.id(), &self.request.model)),
                            );
                        }
                    }
                }
                State::Reading { stream, pass, .. } => match stream.next().await {
                    Some(Ok(event)) => {
                        self.is_shown = true;
                        if matches!(event, AnswerEvent::Stopped(_)) {
                            pass.succeeded();
                            self.state = State::Done;
                        }
                        return Some(Ok(event));
                    }
                    Some(Err(error)) => {
                        pass.failed(&error);
                        return Some(self.failed(error));
                    }
                    None => {
                        let error = ProviderError::cut_short();
                        pass.failed(&error);
                        return Some(
                            self.failed(error.at(self.shared.inner.id(), &self.request.model)),
                        );
                    }
                },
            }
        }
    }

    /// Decides whether to ask again.
    fn failed(&mut self, why: ProviderError) -> Result<AnswerEvent, ProviderError> {
        self.state = State::Done;
        let policy = &self.shared.retry;
        let may = why.is_retryable()
            && self.attempts < policy.attempts
            && (policy.restart || !self.is_shown);
        let wait = may.then(|| policy.wait(self.attempts, why.details().retry_after)).flatten();
        let Some(after) = wait else {
            return Err(why);
        };
        self.state = State::Waiting(after);
        let next = self.shared.inner.id().clone();
        Ok(AnswerEvent::Restarted(Restarted { why, attempts: self.attempts, after, next }))
    }
}
