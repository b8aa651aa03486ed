//! What comes next: asked of the state until nothing does.

use super::{Answering, Told, Turn, calls};
use crate::call::{AgentCallKey, Assessment, CallEffect, CallReport, EndedBy, PlannedCall};
use crate::context::room::{Room, room};
use crate::context::{estimate, render};
use crate::event::{AgentEvent, NoteReason};
use crate::pause::{PauseReason, TurnEnd};
use crate::state::{CallStatus, OpenCall, Phase};
use crate::turn::TurnOutput;

/// Times in a row that the conversation may be longer than the model reads.
const MOST_OVERFLOWS: u32 = 3;

/// One step of what comes next.
enum Step {
    /// Something happened.
    Record(AgentEvent),
    /// The machine tells the model something.
    Note(NoteReason),
    /// The model is asked, for an answer or a summary.
    Ask,
    /// The tools are asked about calls.
    Assess(Vec<PlannedCall>),
    /// A call is started.
    Start(AgentCallKey),
    /// A call of another process is looked up.
    LookUp(PlannedCall),
    /// A call of another process has no end that anybody knows.
    GiveUp(AgentCallKey),
    /// The user is told.
    Tell(Told),
    /// Nothing comes next, before something happens.
    Rest,
}

impl Turn<'_> {
    pub(super) fn advance(&mut self) {
        loop {
            match self.next() {
                Step::Record(event) => self.record_step(event),
                Step::Note(about) => self.note(about),
                Step::Ask => self.ask(),
                Step::Assess(calls) => {
                    self.machine.flight.assessing = true;
                    self.outputs.push(TurnOutput::Assess(calls));
                }
                Step::Start(key) => self.start(&key),
                Step::LookUp(call) => {
                    self.machine.flight.calls.insert(call.key.clone());
                    self.outputs.push(TurnOutput::LookUp(call));
                }
                Step::GiveUp(key) => self.end_unfinished(&key, EndedBy::Crash, true),
                Step::Tell(told) => self.tell(told),
                Step::Rest => return,
            }
        }
    }

    fn record_step(&mut self, event: AgentEvent) {
        let end = match &event {
            AgentEvent::TurnEnded { end } => Some(*end),
            _ => None,
        };
        self.record(event);
        self.outputs.extend(end.map(TurnOutput::End));
    }

    fn ask(&mut self) {
        let request = match self.state().phase {
            Phase::Summarising { upto } => render::summary_request(self.state(), upto),
            _ => render::request(self.state()),
        };
        self.machine.flight.answer = Some(Answering::default());
        self.outputs.push(TurnOutput::AskModel(Box::new(request)));
    }

    fn tell(&mut self, told: Told) {
        self.outputs.extend(match &told {
            Told::Paused => self.state().paused.clone().map(TurnOutput::Pause),
            Told::Questions(questions) => Some(TurnOutput::AskUser(questions.clone())),
        });
        self.machine.flight.told = Some(told);
    }

    fn next(&self) -> Step {
        let state = self.state();
        if state.conversation.is_none() {
            return Step::Rest;
        }
        if state.paused.is_some() {
            return match self.machine.flight.told {
                Some(Told::Paused) => Step::Rest,
                _ => Step::Tell(Told::Paused),
            };
        }
        match state.phase {
            Phase::Idle => Step::Rest,
            Phase::Ending if state.steering.is_empty() => {
                Step::Record(AgentEvent::TurnEnded { end: TurnEnd::Done })
            }
            Phase::Ready | Phase::Ending => self.ready(),
            Phase::Asking | Phase::Summarising { .. } => match self.machine.flight.answer {
                Some(_) => Step::Rest,
                None => Step::Ask,
            },
            Phase::Assessing => self.assessing(),
            Phase::Calling => self.calling(),
        }
    }

    fn ready(&self) -> Step {
        if let Some(reason) = self.passed_limit() {
            return Step::Record(AgentEvent::Paused { reason });
        }
        let state = self.state();
        let limits = state.limits();
        if let Some((_, times)) = state.repeats.worst()
            && times > 1
            && times >= limits.repeats.div_ceil(2)
            && !state.repeats_noted
        {
            return Step::Note(NoteReason::Repeats);
        }
        match room(state) {
            Room::Enough => {
                let tokens = estimate::of_request(&render::request(state));
                Step::Record(AgentEvent::Asked { step: state.steps + 1, tokens })
            }
            Room::Prune(calls) => Step::Record(AgentEvent::Pruned { calls }),
            Room::Summarise(upto) => Step::Record(AgentEvent::SummaryAsked { upto }),
            Room::Full { tokens, window } => Step::Record(AgentEvent::Paused {
                reason: PauseReason::ContextFull { tokens, window },
            }),
        }
    }

    fn passed_limit(&self) -> Option<PauseReason> {
        let state = self.state();
        let (limits, spent) = (state.limits(), &state.spent);
        if let Some(limit) = limits.steps.filter(|limit| state.recent_steps >= *limit) {
            return Some(PauseReason::Steps { limit });
        }
        if let Some(limit) = limits.tokens.filter(|limit| spent.tokens >= *limit) {
            return Some(PauseReason::Tokens { limit, spent: spent.tokens });
        }
        if let Some(limit) = limits.money {
            if spent.cost() >= limit {
                return Some(PauseReason::Money { limit, spent: spent.cost() });
            }
            if spent.unpriced > 0 && !state.unpriced_accepted {
                return Some(PauseReason::CostUnknown);
            }
        }
        if let Some(limit_ms) = limits.time_ms.filter(|limit| self.is_time_over(*limit)) {
            return Some(PauseReason::Time { limit_ms });
        }
        if state.failures >= limits.failures {
            return Some(PauseReason::Failures { answers: state.failures });
        }
        if state.nonsense >= limits.nonsense {
            let (answers, why) = (state.nonsense, state.unusable.clone());
            return Some(PauseReason::Nonsense { answers, why });
        }
        if let Some((tool, times)) = state.repeats.worst()
            && times >= limits.repeats
        {
            return Some(PauseReason::Repeats { tool: tool.to_owned(), times });
        }
        if state.overflows >= MOST_OVERFLOWS {
            let tokens = state.calibrated(state.asked_tokens);
            return Some(PauseReason::ContextFull { tokens, window: state.window() });
        }
        None
    }

    fn assessing(&self) -> Step {
        if self.machine.flight.assessing {
            return Step::Rest;
        }
        let state = self.state();
        let mut refused: Vec<Assessment> = Vec::new();
        let mut rest: Vec<PlannedCall> = Vec::new();
        for (index, call) in state.calls.iter().enumerate() {
            match calls::refusal(state, index, call) {
                Some(assessment) => refused.push(assessment),
                None => rest.push(self.with_original(&call.planned)),
            }
        }
        match rest.is_empty() {
            true => Step::Record(AgentEvent::Assessed { calls: refused }),
            false => Step::Assess(rest),
        }
    }

    /// The call with what the model wrote, as long as this process has it: what it does depends on that.
    pub(super) fn with_original(&self, planned: &PlannedCall) -> PlannedCall {
        let mut planned = planned.clone();
        planned.budget = self.state().limits().without(&self.state().spent);
        if let Some(original) = self.machine.flight.originals.get(&planned.key) {
            planned.call.arguments.clone_from(original);
        }
        planned
    }

    fn calling(&self) -> Step {
        let state = self.state();
        for call in &state.calls {
            let key = call.key().clone();
            match &call.status {
                CallStatus::Refused { why, by } => {
                    let (report, by) = (CallReport::failure(why), *by);
                    return Step::Record(AgentEvent::CallEnded { key, report, by });
                }
                CallStatus::Answered { text } => {
                    let (report, by) = (CallReport::text(text), EndedBy::User);
                    return Step::Record(AgentEvent::CallEnded { key, report, by });
                }
                CallStatus::Lost => return Step::GiveUp(key),
                CallStatus::Started if !self.machine.flight.calls.contains(&key) => {
                    return Step::LookUp(self.with_original(&call.planned));
                }
                CallStatus::Planned
                | CallStatus::Waiting { .. }
                | CallStatus::Started
                | CallStatus::Ended { .. } => {}
            }
        }
        if state.calls.iter().any(OpenCall::waits_for_user) {
            let questions = state.questions();
            // Calls that run go on meanwhile, and the user is asked once.
            let told = Told::Questions(questions);
            return match self.machine.flight.told.as_ref() == Some(&told) {
                true => Step::Rest,
                false => Step::Tell(told),
            };
        }
        self.start_next()
    }

    /// The next call in order: reads run beside reads, a write runs alone.
    fn start_next(&self) -> Step {
        let state = self.state();
        let most = state.limits().parallel.max(1);
        let mut running = 0;
        for call in state.calls.iter().filter(|call| !call.is_ended()) {
            let reads = call.effect == CallEffect::Reads;
            if call.is_started() {
                if !reads {
                    return Step::Rest;
                }
                running += 1;
                continue;
            }
            let may_start = if reads { running < most } else { running == 0 };
            return match may_start {
                true => Step::Start(call.key().clone()),
                false => Step::Rest,
            };
        }
        Step::Rest
    }
}
