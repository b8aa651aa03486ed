//! What an agent has in flight: an answer, and calls.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use offshoot_provider::EventStream;
use tokio::sync::watch;
use tokio::time::sleep;

use super::AgentParts;
use crate::call::{AgentCallKey, CallFate, CallReply};
use crate::turn::{TurnInput, TurnOutput};

/// So long a call that was asked to stop is waited for. Tools give their own work less.
const PATIENCE: Duration = Duration::from_secs(30);

/// A call that ends, and what comes of it; nothing where nobody wants that any more.
type CallFuture = BoxFuture<'static, (AgentCallKey, Option<TurnInput>)>;

/// What an agent has in flight.
#[derive(Default)]
pub(super) struct Flights {
    pub(super) answer: Option<EventStream>,
    pub(super) calls: FuturesUnordered<CallFuture>,
    /// How each call is asked to stop.
    pub(super) stops: BTreeMap<AgentCallKey, watch::Sender<bool>>,
    /// Calls that were asked to stop and did not end yet.
    pub(super) stopping: BTreeSet<AgentCallKey>,
}

impl Flights {
    pub(super) fn is_empty(&self) -> bool {
        self.answer.is_none() && self.calls.is_empty()
    }

    /// Does what the machine says. What is known at once is an input.
    pub(super) fn carry_out(
        &mut self,
        output: TurnOutput,
        parts: &AgentParts,
    ) -> Option<TurnInput> {
        match output {
            TurnOutput::AskModel(request) => self.answer = Some(parts.provider.stream(&request)),
            TurnOutput::StopAnswer => self.answer = None,
            TurnOutput::Assess(calls) => {
                let assessed = calls.iter().map(|call| parts.tools.assess(call)).collect();
                return Some(TurnInput::Assessed(assessed));
            }
            TurnOutput::Call(call) => {
                let key = call.key.clone();
                self.reply(key, parts.tools.call(call));
            }
            TurnOutput::Attach(call) => {
                let key = call.key.clone();
                self.reply(key, parts.tools.attach(call));
            }
            TurnOutput::LookUp(call) => {
                let key = call.key.clone();
                let fate = AssertUnwindSafe(parts.tools.outcome_of(call)).catch_unwind();
                let found = key.clone();
                let future = fate.map(move |fate| {
                    // A tool that cannot say it does not know it.
                    TurnInput::Found(found, fate.unwrap_or(CallFate::Unknown))
                });
                self.push(key, future, Duration::ZERO);
            }
            TurnOutput::StopCalls(keys) => {
                parts.tools.stop(&keys);
                for key in keys {
                    if let Some(stop) = self.stops.get(&key) {
                        stop.send_replace(true);
                        self.stopping.insert(key);
                    }
                }
            }
            TurnOutput::Append(_)
            | TurnOutput::AskUser(_)
            | TurnOutput::Pause(_)
            | TurnOutput::End(_) => {}
        }
        None
    }

    /// The answer ended.
    pub(super) fn answer_ended(&mut self) {
        self.answer = None;
    }

    fn reply(&mut self, key: AgentCallKey, reply: BoxFuture<'static, CallReply>) {
        let replied = key.clone();
        let future = AssertUnwindSafe(reply).catch_unwind().map(move |reply| {
            let reply = reply.unwrap_or_else(|panic| CallReply::Broken {
                why: format!("the tool panicked: {}", message(panic.as_ref())),
            });
            TurnInput::Replied(replied, reply)
        });
        self.push(key, future, PATIENCE);
    }

    /// Follows a call; once it was asked to stop, it is waited for with some patience.
    fn push(
        &mut self,
        key: AgentCallKey,
        call: impl Future<Output = TurnInput> + Send + 'static,
        patience: Duration,
    ) {
        let (stop, mut stopped) = watch::channel(false);
        self.stops.insert(key.clone(), stop);
        let end = async move {
            if *stopped.borrow() {
                return (key, None);
            }
            let over = async {
                if stopped.wait_for(|stopped| *stopped).await.is_err() {
                    // Nobody can ask any more.
                    std::future::pending::<()>().await;
                }
                sleep(patience).await;
            };
            tokio::select! {
                biased;
                input = call => (key, Some(input)),
                () = over => (key, None),
            }
        };
        self.calls.push(end.boxed());
    }
}

/// What a panic says.
fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no reason given")
}
