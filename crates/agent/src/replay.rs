//! Replays: the same events give the same outputs.

use std::collections::VecDeque;

use offshoot_provider::{Block, Message, StopReason};
use offshoot_scrub::Redactor;

use crate::call::{CallFate, CallReply, EndedBy};
use crate::event::{AgentEvent, EventRecord, FoundCall, NoteReason};
use crate::machine::{FinishedAnswer, Machine};
use crate::pause::PauseReason;
use crate::state::State;
use crate::turn::{TurnInput, TurnMisuse, TurnOutput};

/// What a replay gave.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplayedTurns {
    /// All that the machine put out, events among it.
    pub outputs: Vec<TurnOutput>,
    /// What the conversation came to.
    pub state: State,
}

/// Why a replay did not come to its end.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ReplayError {
    /// The machine makes another event than the log has: this version of the program decides otherwise.
    #[error("event {number} is another one now")]
    Differs {
        /// The number of the event.
        number: u64,
        /// What the log has.
        logged: Box<AgentEvent>,
        /// What the machine makes; nothing if it makes none.
        made: Option<Box<AgentEvent>>,
    },
    /// The log has something that cannot happen there.
    #[error("event {number} cannot happen there: {why}")]
    Impossible {
        /// The number of the event.
        number: u64,
        /// Why.
        why: TurnMisuse,
    },
}

/// Gives a machine what the events say that happened, and compares every event that it makes with the log. Nothing is asked, called or kept.
pub fn replay(records: &[EventRecord]) -> Result<ReplayedTurns, ReplayError> {
    // The log has no credentials any more.
    let mut machine = Machine::new([], Redactor::default());
    let mut outputs = Vec::new();
    let mut made: VecDeque<TurnOutput> = VecDeque::new();
    for (at, record) in records.iter().enumerate() {
        outputs.extend(others(&mut made));
        let is_new_start =
            matches!(record.event(), AgentEvent::Opened { .. } | AgentEvent::Forked { .. });
        if is_new_start && !made.is_empty() {
            // The process before was gone before it could keep what came next.
            made.clear();
            machine = Machine::new(&records[..at], Redactor::default());
        }
        if made.is_empty() {
            made.extend(happen(&mut machine, record)?);
            outputs.extend(others(&mut made));
        }
        match made.pop_front() {
            Some(TurnOutput::Append(made)) if made == *record => {
                outputs.push(TurnOutput::Append(made));
            }
            other => {
                let made = match other {
                    Some(TurnOutput::Append(made)) => Some(Box::new(made.event().clone())),
                    _ => None,
                };
                let logged = Box::new(record.event().clone());
                return Err(ReplayError::Differs { number: record.number(), logged, made });
            }
        }
    }
    outputs.extend(others(&mut made));
    // What the machine made behind the end of the log did not happen.
    Ok(ReplayedTurns { outputs, state: State::from_events(records) })
}

/// The outputs before the next event.
fn others(made: &mut VecDeque<TurnOutput>) -> Vec<TurnOutput> {
    let mut others = Vec::new();
    while let Some(output) = made.pop_front_if(|it| !matches!(it, TurnOutput::Append(_))) {
        others.push(output);
    }
    others
}

/// What an event says that happened, happens again.
fn happen(machine: &mut Machine, record: &EventRecord) -> Result<Vec<TurnOutput>, ReplayError> {
    let input = match record.event().clone() {
        AgentEvent::Started { conversation, settings, preamble } => {
            TurnInput::Begin { conversation, settings: Box::new(settings), preamble }
        }
        AgentEvent::Opened { preamble, settings } => TurnInput::Open { preamble, settings },
        AgentEvent::Noted { about: NoteReason::Outside, text } => TurnInput::Note(text),
        AgentEvent::UserSaid { blocks } => TurnInput::Say(blocks),
        AgentEvent::Answered { message, stop, usage, cost, redacted } => {
            let answer = FinishedAnswer { message, stop, usage, cost, redacted };
            return Ok(machine.replay_answer(record.at(), answer));
        }
        AgentEvent::Summarised { text, usage, cost, .. } => {
            let message = Message::assistant([Block::text(text)]);
            let stop = StopReason::End;
            let answer = FinishedAnswer { message, stop, usage, cost, redacted: Vec::new() };
            return Ok(machine.replay_answer(record.at(), answer));
        }
        AgentEvent::AnswerFailed { failure, why } => TurnInput::AnswerFailed { failure, why },
        AgentEvent::Assessed { calls } => TurnInput::Assessed(calls),
        AgentEvent::Decided { key, decision, by } => TurnInput::Decide { key, decision, by },
        AgentEvent::CallEnded { key, report, by: EndedBy::Tool } => {
            TurnInput::Replied(key, CallReply::Done(report))
        }
        AgentEvent::CallEnded { key, report, by: EndedBy::Breakage } => {
            TurnInput::Replied(key, CallReply::Broken { why: report.to_text() })
        }
        AgentEvent::CallEnded { by: EndedBy::Limit, .. }
        | AgentEvent::Paused { reason: PauseReason::Time { .. } } => TurnInput::Tick,
        AgentEvent::CallBlocked { key, text, is_approval: true, .. } => {
            TurnInput::Replied(key, CallReply::NeedsApproval { why: text })
        }
        AgentEvent::CallBlocked { key, text, choices, is_approval: false } => {
            TurnInput::Replied(key, CallReply::Asks { question: text, choices })
        }
        AgentEvent::CallFound { key, found } => {
            let fate = match found {
                FoundCall::NotStarted => CallFate::NotStarted,
                FoundCall::Running => CallFate::Running,
                FoundCall::Unknown => CallFate::Unknown,
            };
            TurnInput::Found(key, fate)
        }
        AgentEvent::Cancelled { said } => {
            machine.replay_said(&said);
            TurnInput::Cancel
        }
        AgentEvent::Resumed { limits } => TurnInput::Resume { limits },
        AgentEvent::Pinned { text } => TurnInput::Pin(text),
        AgentEvent::Unpinned { text } => TurnInput::Unpin(text),
        AgentEvent::Forked { .. } => {
            machine.adopt(record);
            return Ok(vec![TurnOutput::Append(record.clone())]);
        }
        // All others the machine makes itself.
        AgentEvent::Asked { .. }
        | AgentEvent::Noted { .. }
        | AgentEvent::CallStarted { .. }
        | AgentEvent::CallEnded { .. }
        | AgentEvent::Paused { .. }
        | AgentEvent::Pruned { .. }
        | AgentEvent::SummaryAsked { .. }
        | AgentEvent::TurnEnded { .. } => return Ok(Vec::new()),
    };
    machine
        .handle(record.at(), input)
        .map_err(|why| ReplayError::Impossible { number: record.number(), why })
}
