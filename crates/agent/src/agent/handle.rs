//! Reaching an agent while it runs.

use tokio::sync::mpsc;

use offshoot_provider::Block;

use crate::call::{AgentCallKey, UserDecision};
use crate::turn::TurnInput;

/// Reaches an agent from other tasks and threads. What it is sent while the agent rests is taken when it runs again.
#[derive(Clone, Debug)]
pub struct AgentHandle {
    inputs: mpsc::UnboundedSender<TurnInput>,
}

impl AgentHandle {
    pub(super) fn new() -> (Self, mpsc::UnboundedReceiver<TurnInput>) {
        let (inputs, receiver) = mpsc::unbounded_channel();
        (Self { inputs }, receiver)
    }

    /// Ends the turn that runs; without one it does nothing. Says whether the agent is still there.
    pub fn cancel(&self) -> bool {
        self.send(TurnInput::Cancel)
    }

    /// Says something to the model, which gets it with the next request. Says whether the agent is still there.
    pub fn steer(&self, text: impl Into<String>) -> bool {
        self.send(TurnInput::Say(vec![Block::text(text)]))
    }

    /// Decides about a call that waits. Says whether the agent is still there.
    pub fn decide(&self, key: &AgentCallKey, decision: UserDecision, by: Option<&str>) -> bool {
        let by = by.map(str::to_owned);
        self.send(TurnInput::Decide { key: key.clone(), decision, by })
    }

    fn send(&self, input: TurnInput) -> bool {
        self.inputs.send(input).is_ok()
    }
}
