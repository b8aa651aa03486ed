//! How each event changes the state.

use std::mem;

use offshoot_provider::{Cost, Message, StopReason, TokenUsage};

use super::{CallStatus, HistoryEntry, OpenCall, Phase, SettledCall, State, Summarised, WHOLE};
use crate::call::{
    AgentCallKey, CallEffect, CallReport, ConversationId, EndedBy, PlannedCall, UserDecision,
};
use crate::context::estimate;
use crate::event::{AgentEvent, EventRecord, FoundCall, ModelFailure, NoteReason};
use crate::limits::Spent;
use crate::pause::PauseReason;
use crate::settings::TurnSettings;

/// What is wrong with an answer without text and calls.
const EMPTY: &str = "the last was empty";

impl State {
    /// Applies one more event.
    pub(crate) fn apply(&mut self, record: &EventRecord) {
        let is_opened = matches!(record.event(), AgentEvent::Opened { .. });
        // While no process ran, nothing was in flight.
        if self.is_active() && !is_opened {
            self.spent.add_time(record.at().since(self.last_at));
        }
        self.events = record.number();
        self.last_at = record.at().max(self.last_at);
        self.change(record.event());
    }

    fn change(&mut self, event: &AgentEvent) {
        match event {
            AgentEvent::Started { conversation, settings, preamble } => {
                self.conversation = Some(conversation.clone());
                self.settings = Some(settings.clone());
                self.preamble = preamble.clone();
            }
            AgentEvent::Opened { preamble, settings } => {
                self.preamble = preamble.clone();
                if let Some(settings) = settings {
                    self.set(settings);
                }
            }
            AgentEvent::UserSaid { blocks } => {
                if self.phase == Phase::Idle {
                    self.entries.push(HistoryEntry::User(blocks.clone()));
                    self.phase = Phase::Ready;
                    self.ended = None;
                    self.forgive();
                } else {
                    self.steering.push(blocks.clone());
                }
            }
            AgentEvent::Asked { step, tokens } => {
                self.steer();
                self.steps = *step;
                self.recent_steps += 1;
                self.asked_tokens = *tokens;
                self.phase = Phase::Asking;
            }
            AgentEvent::Answered { message, stop, usage, cost, redacted } => {
                self.charge(usage, *cost, estimate::of_message(message));
                self.calibrate(usage);
                self.overflows = 0;
                self.answer(message, stop, redacted);
            }
            AgentEvent::AnswerFailed { failure, why } => {
                self.unusable.clone_from(why);
                if *failure == ModelFailure::ContextTooLong && self.phase != Phase::Ready {
                    self.overflows += 1;
                    let asked = self.calibrated(self.asked_tokens);
                    self.window_cap = Some(self.window().min(asked) / 4 * 3);
                }
                self.phase = Phase::Ready;
            }
            AgentEvent::Noted { about: NoteReason::Outside, text } if !self.calls.is_empty() => {
                // Nothing stands between calls and their results.
                self.steering.push(vec![offshoot_provider::Block::text(text)]);
            }
            AgentEvent::Noted { about, text } => {
                self.entries.push(HistoryEntry::Note(text.clone()));
                match about {
                    NoteReason::Repeats => self.repeats_noted = true,
                    NoteReason::Outside => {}
                    NoteReason::Empty | NoteReason::TooLong => {
                        if *about == NoteReason::Empty {
                            EMPTY.clone_into(&mut self.unusable);
                        }
                        self.nonsense += 1;
                        self.phase = Phase::Ready;
                    }
                    NoteReason::Cut => self.phase = Phase::Ready,
                }
            }
            AgentEvent::Assessed { calls } => {
                for assessment in calls {
                    if let Some(call) = self.call_mut(&assessment.key) {
                        call.assess(assessment.effect, &assessment.permission);
                    }
                }
                self.phase = Phase::Calling;
            }
            AgentEvent::CallStarted { key, attempt } => {
                if let Some(call) = self.call_mut(key) {
                    call.status = CallStatus::Started;
                    call.attempts = *attempt;
                }
            }
            AgentEvent::CallBlocked { key, text, choices, is_approval } => {
                if let Some(call) = self.call_mut(key) {
                    call.status = CallStatus::Waiting {
                        text: text.clone(),
                        choices: choices.clone(),
                        is_approval: *is_approval,
                    };
                    // What was allowed before is not what is asked now.
                    call.planned.approved = false;
                }
            }
            AgentEvent::Decided { key, decision, .. } => self.decide(key, decision),
            AgentEvent::CallFound { key, found } => {
                if let Some(call) = self.call_mut(key) {
                    call.status = match found {
                        FoundCall::NotStarted => CallStatus::Planned,
                        FoundCall::Running => CallStatus::Started,
                        FoundCall::Unknown if call.effect == CallEffect::Reads => {
                            CallStatus::Planned
                        }
                        FoundCall::Unknown => CallStatus::Lost,
                    };
                }
            }
            AgentEvent::CallEnded { key, report, by } => self.end_call(key, report, *by),
            AgentEvent::Cancelled { said } => {
                if !said.is_empty() {
                    let message = Message::assistant([offshoot_provider::Block::text(said)]);
                    self.entries.push(HistoryEntry::Answer { step: self.steps, message });
                }
            }
            AgentEvent::Paused { reason } => {
                self.paused = Some(reason.clone());
                if matches!(self.phase, Phase::Asking | Phase::Summarising { .. }) {
                    self.phase = Phase::Ready;
                }
            }
            AgentEvent::Resumed { limits } => {
                if let (Some(settings), Some(limits)) = (&mut self.settings, limits) {
                    settings.limits = *limits;
                }
                if self.paused.take() == Some(PauseReason::CostUnknown) {
                    self.unpriced_accepted = true;
                }
                self.forgive();
            }
            AgentEvent::Pruned { calls } => self.pruned.extend(calls.iter().cloned()),
            AgentEvent::SummaryAsked { upto } => self.phase = Phase::Summarising { upto: *upto },
            AgentEvent::Summarised { upto, text, usage, cost, by_model } => {
                if *by_model {
                    self.charge(usage, *cost, estimate::of_text(text));
                }
                self.summary = Some(Summarised { upto: *upto, text: text.clone() });
                self.phase = Phase::Ready;
            }
            AgentEvent::Pinned { text } => {
                if !self.pinned.contains(text) {
                    self.pinned.push(text.clone());
                }
            }
            AgentEvent::Unpinned { text } => self.pinned.retain(|pinned| pinned != text),
            AgentEvent::Forked { conversation, parent, .. } => self.fork(conversation, parent),
            AgentEvent::TurnEnded { end } => {
                self.steer();
                self.phase = Phase::Idle;
                self.paused = None;
                self.ended = Some(*end);
            }
        }
    }

    /// The user looked at it: what counts in a row counts anew.
    fn forgive(&mut self) {
        self.recent_steps = 0;
        self.failures = 0;
        self.nonsense = 0;
        self.overflows = 0;
        self.repeats = super::Repeats::default();
        self.repeats_noted = false;
    }

    /// Takes settings over that hold from now on.
    fn set(&mut self, settings: &TurnSettings) {
        if self.settings.as_ref().is_some_and(|before| before.model != settings.model) {
            // What was learned of the other model.
            self.window_cap = None;
            self.calibration = WHOLE;
        }
        self.settings = Some(settings.clone());
    }

    /// What the user said meanwhile takes its place in the conversation.
    fn steer(&mut self) {
        for blocks in mem::take(&mut self.steering) {
            self.entries.push(HistoryEntry::User(blocks));
        }
    }

    fn charge(&mut self, usage: &TokenUsage, cost: Option<Cost>, written: u64) {
        let read = [usage.input, usage.cache_read, usage.cache_write, usage.cache_write_1h];
        let read = match usage.input {
            Some(_) => read.into_iter().flatten().fold(0, u64::saturating_add),
            None => self.calibrated(self.asked_tokens),
        };
        let tokens = read.saturating_add(usage.output.unwrap_or(written));
        let picodollars = cost.map_or(0, |cost| cost.picodollars);
        let unpriced = u64::from(cost.is_none());
        self.spent.add(&Spent { tokens, picodollars, unpriced, time_ms: 0 });
    }

    /// Learns how many real tokens an estimated one is.
    fn calibrate(&mut self, usage: &TokenUsage) {
        let Some(input) = usage.input else { return };
        let cached = [usage.cache_read, usage.cache_write, usage.cache_write_1h];
        let read = cached.into_iter().flatten().fold(input, u64::saturating_add);
        // What a short request says is mostly about what stands around it.
        if self.asked_tokens >= 256 && read > 0 {
            let real = read.saturating_mul(WHOLE) / self.asked_tokens;
            self.calibration = real.clamp(WHOLE / 4, WHOLE * 4);
        }
    }

    fn answer(&mut self, message: &Message, stop: &StopReason, redacted: &[usize]) {
        let step = self.steps;
        let conversation = self.conversation.clone().unwrap_or_else(|| ConversationId::new(""));
        self.repeats.begin_answer();
        self.calls = message
            .calls()
            .enumerate()
            .map(|(index, call)| OpenCall {
                planned: PlannedCall {
                    key: AgentCallKey::new(&conversation, step, index),
                    call: call.clone(),
                    approved: false,
                    budget: crate::limits::TurnLimits::default(),
                },
                effect: CallEffect::Writes,
                status: CallStatus::Planned,
                attempts: 0,
                redacted: redacted.contains(&index),
            })
            .collect();
        self.used_ids.extend(message.calls().map(|call| call.id.clone()));
        let says = message.blocks.iter().any(says_something);
        if says {
            self.nonsense = 0;
            self.entries.push(HistoryEntry::Answer { step, message: message.clone() });
        }
        self.phase = if !self.calls.is_empty() {
            Phase::Assessing
        } else if *stop == StopReason::Paused {
            Phase::Ready
        } else {
            Phase::Ending
        };
    }

    fn decide(&mut self, key: &AgentCallKey, decision: &UserDecision) {
        let Some(call) = self.call_mut(key) else { return };
        let CallStatus::Waiting { is_approval, .. } = call.status else { return };
        call.status = match decision {
            UserDecision::Allow => {
                call.planned.approved = true;
                CallStatus::Planned
            }
            UserDecision::Answer { text } if !is_approval => {
                CallStatus::Answered { text: text.clone() }
            }
            // Words instead of a yes are a no with a reason.
            UserDecision::Answer { text } => refused_by_user(Some(text)),
            UserDecision::Deny { why } => refused_by_user(why.as_ref()),
        };
    }

    fn end_call(&mut self, key: &AgentCallKey, report: &CallReport, by: EndedBy) {
        let Some(call) = self.call_mut(key) else { return };
        call.status = CallStatus::Ended { report: report.clone(), by };
        let (block, effect) = (call.planned.call.clone(), call.effect);
        if let Some(spent) = &report.spent {
            self.spent.add(spent);
        }
        if matches!(by, EndedBy::Tool | EndedBy::Refusal) {
            self.repeats.add(&block, effect, report);
        }
        if self.calls.iter().all(OpenCall::is_ended) {
            self.settle();
        }
    }

    /// All calls have ended: their results become part of the conversation.
    fn settle(&mut self) {
        let settled: Vec<SettledCall> = mem::take(&mut self.calls)
            .into_iter()
            .filter_map(|call| match call.status {
                CallStatus::Ended { report, by } => {
                    let PlannedCall { key, call, .. } = call.planned;
                    Some(SettledCall { key, call, report, by })
                }
                _ => None,
            })
            .collect();
        let counts = |call: &&SettledCall| matches!(call.by, EndedBy::Tool | EndedBy::Refusal);
        if settled.iter().any(|call| counts(&call)) {
            let all_failed = settled.iter().filter(counts).all(|call| call.report.failed);
            self.failures = if all_failed { self.failures + 1 } else { 0 };
        }
        if !settled.is_empty() {
            self.entries.push(HistoryEntry::Results(settled));
        }
        self.phase = Phase::Ready;
    }

    fn fork(&mut self, conversation: &ConversationId, parent: &ConversationId) {
        let open: Vec<AgentCallKey> = self
            .calls
            .iter()
            .filter(|call| !call.is_ended())
            .map(|call| call.planned.key.clone())
            .collect();
        let why = format!("This call belongs to the conversation {parent}, not to its fork.");
        for key in open {
            self.end_call(&key, &CallReport::failure(&why), EndedBy::Fork);
        }
        self.conversation = Some(conversation.clone());
        self.steer();
        self.paused = None;
        self.phase = Phase::Idle;
    }
}

fn refused_by_user(why: Option<&String>) -> CallStatus {
    let why = match why.filter(|why| !why.trim().is_empty()) {
        Some(why) => format!("The user does not allow this call: {why}"),
        None => "The user does not allow this call.".to_owned(),
    };
    CallStatus::Refused { why, by: EndedBy::User }
}

/// Whether a block is more than what a model thought: a message of such blocks alone is refused by vendors.
fn says_something(block: &offshoot_provider::Block) -> bool {
    use offshoot_provider::Content;
    match &block.content {
        Content::Text { text, .. } => !text.trim().is_empty(),
        Content::Reasoning { .. } => false,
        Content::ToolCall(_) | Content::Image(_) | Content::Unknown { .. } => true,
        Content::ToolResult(_) => false,
    }
}
