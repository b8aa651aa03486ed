//! Answers of models, whatever they are.

use offshoot_provider::{
    AnswerEvent, Block, Collector, Completion, Content, Cost, Message, StopReason, TokenUsage,
};

use super::{Turn, texts};
use crate::call::AgentCallKey;
use crate::context::{estimate, render};
use crate::event::{AgentEvent, ModelFailure, NoteReason};
use crate::pause::PauseReason;
use crate::scrubbing::Scrubs;
use crate::state::{Phase, State};

/// An answer that comes.
#[derive(Debug, Default)]
pub(super) struct Answering {
    collector: Collector,
    /// Its text so far.
    pub(super) said: String,
    /// Bytes of its pieces, and of its finished blocks.
    pieces: u64,
    blocks: u64,
}

/// An answer that came.
#[derive(Debug)]
pub(crate) struct FinishedAnswer {
    pub(crate) message: Message,
    pub(crate) stop: StopReason,
    pub(crate) usage: TokenUsage,
    pub(crate) cost: Option<Cost>,
    /// Places of the calls whose arguments were changed, if that was done already.
    pub(crate) redacted: Vec<usize>,
}

impl From<Completion> for FinishedAnswer {
    fn from(completion: Completion) -> Self {
        let Completion { message, stop, usage, cost, .. } = completion;
        Self { message, stop, usage, cost, redacted: Vec::new() }
    }
}

impl Turn<'_> {
    pub(super) fn answer_goes_on(&mut self, event: AnswerEvent) {
        let longest = self.state().limits().answer_bytes;
        // What comes from an answer that was stopped is not wanted.
        let Some(answer) = &mut self.machine.flight.answer else { return };
        match &event {
            AnswerEvent::TextDelta { text, .. } => {
                answer.pieces += text.len() as u64;
                answer.said.push_str(text);
            }
            AnswerEvent::ReasoningDelta { text, .. } => answer.pieces += text.len() as u64,
            AnswerEvent::ToolCallDelta { arguments, .. } => {
                answer.pieces += arguments.len() as u64;
            }
            AnswerEvent::BlockEnd { content, .. } => {
                // Only finished blocks count for the history, but pieces may come without an end.
                answer.blocks += estimate::of_block(content) * 4;
            }
            AnswerEvent::Restarted(_) => {
                answer.said.clear();
                (answer.pieces, answer.blocks) = (0, 0);
            }
            AnswerEvent::Started(_)
            | AnswerEvent::ToolCallStart { .. }
            | AnswerEvent::Usage { .. }
            | AnswerEvent::Unknown { .. }
            | AnswerEvent::Stopped(_) => {}
        }
        if answer.pieces.max(answer.blocks) > longest {
            let why = format!("the answer is longer than {longest} bytes");
            return self.answer_failed(ModelFailure::AnswerTooLong, why);
        }
        let is_last = matches!(event, AnswerEvent::Stopped(_));
        answer.collector.add(event);
        if is_last {
            let collector = std::mem::take(&mut answer.collector);
            if let Some(completion) = collector.finish() {
                self.finish_answer(completion.into());
            }
        }
    }

    pub(super) fn answer_failed(&mut self, failure: ModelFailure, why: String) {
        if self.machine.flight.answer.take().is_none() {
            return;
        }
        if failure == ModelFailure::AnswerTooLong {
            self.outputs.push(crate::turn::TurnOutput::StopAnswer);
        }
        let phase = self.state().phase;
        self.record(AgentEvent::AnswerFailed { failure, why: why.clone() });
        if let (Phase::Summarising { upto }, true) = (phase, failure != ModelFailure::Other) {
            let text = render::without_summary(self.state(), upto);
            let (usage, cost, by_model) = (TokenUsage::default(), None, false);
            return self.record(AgentEvent::Summarised { upto, text, usage, cost, by_model });
        }
        match failure {
            // What comes next makes room.
            ModelFailure::ContextTooLong => {}
            ModelFailure::AnswerTooLong => self.note(NoteReason::TooLong),
            ModelFailure::Refused => {
                self.record(AgentEvent::Paused { reason: PauseReason::Refused });
            }
            ModelFailure::Other => {
                self.record(AgentEvent::Paused { reason: PauseReason::ModelFailed { why } });
            }
        }
    }

    pub(super) fn note(&mut self, about: NoteReason) {
        self.record(AgentEvent::Noted { about, text: texts::note(about) });
    }

    pub(super) fn finish_answer(&mut self, answer: FinishedAnswer) {
        self.machine.flight.answer = None;
        let FinishedAnswer { message, stop, usage, cost, redacted } = answer;
        match self.state().phase {
            Phase::Summarising { upto } => {
                let text = message.text();
                let text = match text.trim().is_empty() {
                    true => render::without_summary(self.state(), upto),
                    false => text,
                };
                self.record(AgentEvent::Summarised { upto, text, usage, cost, by_model: true });
            }
            Phase::Asking => self.answered(message, stop, usage, cost, redacted),
            _ => {}
        }
    }

    fn answered(
        &mut self,
        message: Message,
        stop: StopReason,
        usage: TokenUsage,
        cost: Option<Cost>,
        mut redacted: Vec<usize>,
    ) {
        let mut message = with_sound_blocks(message, self.state());
        let originals: Vec<String> = message.calls().map(|call| call.arguments.clone()).collect();
        message.scrub(&self.machine.redactor);
        let changed = message.calls().zip(&originals).enumerate();
        redacted.extend(changed.filter(|(_, (now, was))| now.arguments != **was).map(|(at, _)| at));
        redacted.sort_unstable();
        redacted.dedup();
        let has_calls = !originals.is_empty();
        if let Some(conversation) = self.state().conversation.clone() {
            let step = self.state().steps;
            for at in &redacted {
                if let Some(original) = originals.get(*at) {
                    let key = AgentCallKey::new(&conversation, step, *at);
                    self.machine.flight.originals.insert(key, original.clone());
                }
            }
        }
        let entries = self.state().entries.len();
        self.record(AgentEvent::Answered { message, stop: stop.clone(), usage, cost, redacted });
        if has_calls {
            return;
        }
        let said_nothing = self.state().entries.len() == entries;
        match stop {
            StopReason::Refused => self.record(AgentEvent::Paused { reason: PauseReason::Refused }),
            StopReason::Paused => {}
            StopReason::Context => {
                let why = "the answer does not fit into what the model reads".to_owned();
                let failure = ModelFailure::ContextTooLong;
                self.record(AgentEvent::AnswerFailed { failure, why });
            }
            StopReason::Length => self.note(match said_nothing {
                true => NoteReason::Empty,
                false => NoteReason::Cut,
            }),
            _ if said_nothing => self.note(NoteReason::Empty),
            StopReason::End
            | StopReason::ToolCalls
            | StopReason::StopText
            | StopReason::Other(_) => {}
        }
    }
}

/// The message without blocks that no model says, and with ids that no call had before.
fn with_sound_blocks(mut message: Message, state: &State) -> Message {
    message.blocks.retain(|block| !matches!(block.content, Content::ToolResult(_)));
    let mut used: Vec<String> = Vec::new();
    let mut index = 0;
    for block in &mut message.blocks {
        let Block { content: Content::ToolCall(call), seal, native, .. } = block else { continue };
        if call.id.trim().is_empty() || state.used_ids.contains(&call.id) || used.contains(&call.id)
        {
            call.id = format!("call_{}_{index}", state.steps);
            // What a vendor signed, or has of its own, is about the id that was.
            (*seal, *native) = (None, None);
        }
        used.push(call.id.clone());
        index += 1;
    }
    message
}
