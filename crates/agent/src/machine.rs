//! The turn as a state machine, without I/O.

mod answer;
mod calls;
mod next;
mod texts;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use offshoot_provider::Block;
use offshoot_scrub::Redactor;

use self::answer::Answering;
pub(crate) use self::answer::FinishedAnswer;
use crate::call::{AgentCallKey, EndedBy, PendingQuestion};
use crate::event::{AgentEvent, EventRecord, NoteReason};
use crate::pause::{PauseReason, TurnEnd};
use crate::state::{Phase, State};
use crate::time::Timestamp;
use crate::turn::{TurnInput, TurnMisuse, TurnOutput};

/// The turn of a conversation: inputs go in, what is to be done comes out. It does nothing itself.
#[derive(Debug)]
pub struct Machine {
    state: State,
    redactor: Redactor,
    flight: Flight,
}

/// What this process has in flight. It is no state: another process has none of it.
#[derive(Debug, Default)]
struct Flight {
    answer: Option<Answering>,
    assessing: bool,
    /// Calls that run, are waited for or looked up.
    calls: BTreeSet<AgentCallKey>,
    /// What the model wrote of arguments that held a credential.
    originals: BTreeMap<AgentCallKey, String>,
    /// What the user was told last, so that they are told once.
    told: Option<Told>,
}

#[derive(Debug, PartialEq)]
enum Told {
    Paused,
    Questions(Vec<PendingQuestion>),
}

/// One input: what it leads to is gathered in here.
struct Turn<'m> {
    machine: &'m mut Machine,
    now: Timestamp,
    outputs: Vec<TurnOutput>,
}

impl Machine {
    /// The machine of a conversation with these events, which may be none.
    pub fn new<'e>(records: impl IntoIterator<Item = &'e EventRecord>, redactor: Redactor) -> Self {
        Self { state: State::from_events(records), redactor, flight: Flight::default() }
    }

    /// What the conversation came to.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// When the machine wants a [`TurnInput::Tick`], if nothing happens before.
    pub fn deadline(&self) -> Option<Timestamp> {
        let limit = self.state.limits().time_ms.filter(|_| self.state.is_active())?;
        let left = limit.saturating_sub(self.state.spent.time_ms);
        Some(self.state.last_at.after(Duration::from_millis(left)))
    }

    /// Takes an input, and says what is to be done.
    pub fn handle(
        &mut self,
        now: Timestamp,
        input: TurnInput,
    ) -> Result<Vec<TurnOutput>, TurnMisuse> {
        let mut turn = Turn { machine: self, now, outputs: Vec::new() };
        turn.take(input)?;
        turn.advance();
        Ok(turn.outputs)
    }

    /// Takes an answer that is complete, as a log has it.
    pub(crate) fn replay_answer(
        &mut self,
        now: Timestamp,
        answer: FinishedAnswer,
    ) -> Vec<TurnOutput> {
        let mut turn = Turn { machine: self, now, outputs: Vec::new() };
        turn.finish_answer(answer);
        turn.advance();
        turn.outputs
    }

    /// Has the model say what it had said when the turn was cancelled.
    pub(crate) fn replay_said(&mut self, said: &str) {
        if let Some(answer) = &mut self.flight.answer {
            said.clone_into(&mut answer.said);
        }
    }

    /// Takes over an event that no input makes.
    pub(crate) fn adopt(&mut self, record: &EventRecord) {
        self.state.apply(record);
        self.flight = Flight::default();
    }
}

impl Turn<'_> {
    fn state(&self) -> &State {
        &self.machine.state
    }

    /// Makes an event, which is all that changes the state.
    fn record(&mut self, event: AgentEvent) {
        let number = self.machine.state.events + 1;
        // Times of a log never go back, even if the clock does.
        let at = self.now.max(self.machine.state.last_at);
        let record = EventRecord::new(number, at, event, &self.machine.redactor);
        self.machine.state.apply(&record);
        self.outputs.push(TurnOutput::Append(record));
    }

    fn take(&mut self, input: TurnInput) -> Result<(), TurnMisuse> {
        let has_begun = self.state().conversation.is_some();
        match input {
            TurnInput::Begin { .. } if has_begun => return Err(TurnMisuse::AlreadyBegun),
            TurnInput::Begin { conversation, settings, preamble } => {
                self.record(AgentEvent::Started { conversation, settings: *settings, preamble });
            }
            _ if !has_begun => return Err(TurnMisuse::NotBegun),
            TurnInput::Open { preamble, settings } => {
                self.machine.flight = Flight::default();
                self.record(AgentEvent::Opened { preamble, settings });
            }
            TurnInput::Say(blocks) => self.say(blocks)?,
            TurnInput::Answer(event) => self.answer_goes_on(event),
            TurnInput::AnswerFailed { failure, why } => self.answer_failed(failure, why),
            TurnInput::Assessed(assessments) => self.assessed(assessments),
            TurnInput::Replied(key, reply) => self.replied(&key, reply),
            TurnInput::Found(key, fate) => self.found(&key, fate),
            TurnInput::Decide { key, decision, by } => self.decide(key, decision, by)?,
            TurnInput::Cancel => self.cancel(),
            TurnInput::Resume { limits } => {
                if self.state().paused.is_none() {
                    return Err(TurnMisuse::NotPaused);
                }
                self.machine.flight.told = None;
                self.record(AgentEvent::Resumed { limits });
            }
            TurnInput::Note(text) => {
                self.record(AgentEvent::Noted { about: NoteReason::Outside, text });
            }
            TurnInput::Pin(text) => self.record(AgentEvent::Pinned { text }),
            TurnInput::Unpin(text) => self.record(AgentEvent::Unpinned { text }),
            TurnInput::Tick => self.tick(),
        }
        Ok(())
    }

    fn say(&mut self, blocks: Vec<Block>) -> Result<(), TurnMisuse> {
        let is_nothing = |block: &Block| block.as_text().is_some_and(|text| text.trim().is_empty());
        if blocks.iter().all(is_nothing) {
            return Err(TurnMisuse::NothingSaid);
        }
        self.record(AgentEvent::UserSaid { blocks });
        Ok(())
    }

    fn cancel(&mut self) {
        if self.state().phase == Phase::Idle {
            return;
        }
        let said = self.machine.flight.answer.take().map(|answer| {
            self.outputs.push(TurnOutput::StopAnswer);
            answer.said
        });
        // What is said of a summary is nothing that the model said to the user.
        let is_answer = self.state().phase == Phase::Asking;
        let said = said.filter(|_| is_answer).unwrap_or_default();
        self.record(AgentEvent::Cancelled { said: said.trim_end().to_owned() });
        self.end_open_calls(EndedBy::Cancel);
        self.record(AgentEvent::TurnEnded { end: TurnEnd::Cancelled });
        self.machine.flight = Flight::default();
        self.outputs.push(TurnOutput::End(TurnEnd::Cancelled));
    }

    /// Ends what is in flight if its time is over.
    fn tick(&mut self) {
        let Some(limit_ms) = self.state().limits().time_ms else { return };
        if !self.state().is_active() || !self.is_time_over(limit_ms) {
            return;
        }
        if self.machine.flight.answer.take().is_some() {
            self.outputs.push(TurnOutput::StopAnswer);
        }
        if self.state().phase == Phase::Calling {
            self.end_started_calls(EndedBy::Limit);
        }
        self.record(AgentEvent::Paused { reason: PauseReason::Time { limit_ms } });
    }

    fn is_time_over(&self, limit_ms: u64) -> bool {
        self.state().active_time(self.now) >= Duration::from_millis(limit_ms)
    }
}
