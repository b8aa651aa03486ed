//! Calls of the answer: assessed, run in order, decided, ended.

use super::{Turn, texts};
use crate::call::{
    AgentCallKey, Assessment, CallEffect, CallFate, CallPermission, CallReply, CallReport, EndedBy,
    UserDecision,
};
use crate::event::{AgentEvent, FoundCall};
use crate::pause::PauseReason;
use crate::state::{CallStatus, OpenCall, Phase, State};
use crate::turn::{TurnMisuse, TurnOutput};

/// Calls of one answer; further ones are refused.
const MOST_CALLS: usize = 64;

/// Why a call may not even be assessed. Its arguments are for the tools to read.
pub(super) fn refusal(state: &State, index: usize, call: &OpenCall) -> Option<Assessment> {
    let block = &call.planned.call;
    let tools = &state.preamble.tools;
    let why = if index >= MOST_CALLS {
        format!("An answer may have {MOST_CALLS} calls. Make this one in another answer.")
    } else if !tools.iter().any(|tool| tool.name == block.name) {
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
        format!("There is no tool {:?}. There are: {}.", block.name, names.join(", "))
    } else {
        return None;
    };
    let permission = CallPermission::Refused { why };
    Some(Assessment { key: call.key().clone(), effect: CallEffect::Reads, permission })
}

impl Turn<'_> {
    pub(super) fn assessed(&mut self, assessments: Vec<Assessment>) {
        if self.state().phase != Phase::Assessing || !self.machine.flight.assessing {
            return;
        }
        self.machine.flight.assessing = false;
        let calls = self.state().calls.iter().enumerate().map(|(index, call)| {
            let given = || assessments.iter().find(|given| given.key == *call.key()).cloned();
            refusal(self.state(), index, call).or_else(given).unwrap_or_else(|| Assessment {
                key: call.key().clone(),
                effect: CallEffect::Writes,
                permission: CallPermission::Refused {
                    why: "The tools do not know what this call does.".to_owned(),
                },
            })
        });
        let calls = calls.collect();
        self.record(AgentEvent::Assessed { calls });
    }

    pub(super) fn replied(&mut self, key: &AgentCallKey, reply: CallReply) {
        // What comes from a call that was stopped is not wanted.
        if !self.state().call(key).is_some_and(OpenCall::is_started) {
            return;
        }
        self.machine.flight.calls.remove(key);
        let key = key.clone();
        match reply {
            CallReply::Done(report) => {
                self.record(AgentEvent::CallEnded { key, report, by: EndedBy::Tool });
            }
            CallReply::NeedsApproval { why } => self.record(AgentEvent::CallBlocked {
                key,
                text: why,
                choices: Vec::new(),
                is_approval: true,
            }),
            CallReply::Asks { question, choices } => self.record(AgentEvent::CallBlocked {
                key,
                text: question,
                choices,
                is_approval: false,
            }),
            CallReply::Broken { why } => {
                let report = CallReport::failure(&why);
                self.record(AgentEvent::CallEnded { key, report, by: EndedBy::Breakage });
                if self.state().paused.is_none() {
                    let reason = PauseReason::ToolBroken { why };
                    self.record(AgentEvent::Paused { reason });
                }
            }
        }
    }

    pub(super) fn found(&mut self, key: &AgentCallKey, fate: CallFate) {
        let Some(call) = self.state().call(key).filter(|call| call.is_started()) else { return };
        let planned = self.with_original(&call.planned);
        let found = match fate {
            CallFate::Done { report } => return self.replied(key, CallReply::Done(report)),
            CallFate::NotStarted => FoundCall::NotStarted,
            CallFate::Running => FoundCall::Running,
            CallFate::Unknown => FoundCall::Unknown,
        };
        self.record(AgentEvent::CallFound { key: key.clone(), found });
        match found {
            FoundCall::Running => self.outputs.push(TurnOutput::Attach(planned)),
            FoundCall::NotStarted | FoundCall::Unknown => {
                self.machine.flight.calls.remove(key);
            }
        }
    }

    pub(super) fn decide(
        &mut self,
        key: AgentCallKey,
        decision: UserDecision,
        by: Option<String>,
    ) -> Result<(), TurnMisuse> {
        let status = self.state().call(&key).map(|call| &call.status);
        let Some(CallStatus::Waiting { is_approval, .. }) = status else {
            return Err(TurnMisuse::NoSuchQuestion);
        };
        let fits = match decision {
            UserDecision::Allow => *is_approval,
            UserDecision::Answer { .. } => !is_approval,
            UserDecision::Deny { .. } => true,
        };
        if !fits {
            return Err(TurnMisuse::WrongDecision);
        }
        self.machine.flight.told = None;
        self.record(AgentEvent::Decided { key, decision, by });
        Ok(())
    }

    /// Starts a call, or says why it cannot be started any more.
    pub(super) fn start(&mut self, key: &AgentCallKey) {
        let Some(call) = self.state().call(key) else { return };
        if call.redacted && !self.machine.flight.originals.contains_key(key) {
            return self.end_unfinished(key, EndedBy::Crash, false);
        }
        let (planned, attempt) = (self.with_original(&call.planned), call.attempts + 1);
        self.record(AgentEvent::CallStarted { key: key.clone(), attempt });
        self.machine.flight.calls.insert(key.clone());
        self.outputs.push(TurnOutput::Call(planned));
    }

    /// Gives every call that has no result one.
    pub(super) fn end_open_calls(&mut self, by: EndedBy) {
        self.end_calls(by, |call| !call.is_ended());
    }

    /// Gives every call that runs a result.
    pub(super) fn end_started_calls(&mut self, by: EndedBy) {
        self.end_calls(by, OpenCall::is_started);
    }

    fn end_calls(&mut self, by: EndedBy, which: impl Fn(&OpenCall) -> bool) {
        let ends: Vec<(AgentCallKey, bool)> = self
            .state()
            .calls
            .iter()
            .filter(|call| which(call))
            .map(|call| (call.key().clone(), call.is_started()))
            .collect();
        let started: Vec<AgentCallKey> =
            ends.iter().filter(|(_, started)| *started).map(|(key, _)| key.clone()).collect();
        for (key, was_started) in &ends {
            self.end_unfinished(key, by, *was_started);
        }
        if !started.is_empty() {
            self.outputs.push(TurnOutput::StopCalls(started));
        }
    }

    pub(super) fn end_unfinished(&mut self, key: &AgentCallKey, by: EndedBy, was_started: bool) {
        self.machine.flight.calls.remove(key);
        let report = CallReport::failure(texts::unfinished(by, was_started));
        self.record(AgentEvent::CallEnded { key: key.clone(), report, by });
    }
}
