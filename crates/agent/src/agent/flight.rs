//! What an agent has in flight: an answer, and calls.

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;

use futures::FutureExt;
use futures::future::{AbortHandle, Abortable, BoxFuture};
use futures::stream::FuturesUnordered;
use offshoot_provider::EventStream;

use super::AgentParts;
use crate::call::{AgentCallKey, CallFate, CallReply};
use crate::turn::{TurnInput, TurnOutput};

/// A call that becomes an input.
type CallFuture = Abortable<BoxFuture<'static, TurnInput>>;

/// What an agent has in flight.
#[derive(Default)]
pub(super) struct Flights {
    pub(super) answer: Option<EventStream>,
    pub(super) calls: FuturesUnordered<CallFuture>,
    stops: BTreeMap<AgentCallKey, AbortHandle>,
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
                self.push(key, future.boxed());
            }
            TurnOutput::StopCalls(keys) => {
                for key in &keys {
                    if let Some(stop) = self.stops.remove(key) {
                        stop.abort();
                    }
                }
                parts.tools.stop(&keys);
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
        self.push(key, future.boxed());
    }

    fn push(&mut self, key: AgentCallKey, future: BoxFuture<'static, TurnInput>) {
        let (stop, registration) = AbortHandle::new_pair();
        self.stops.insert(key, stop);
        self.calls.push(Abortable::new(future, registration));
    }
}

/// What a panic says.
fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no reason given")
}
