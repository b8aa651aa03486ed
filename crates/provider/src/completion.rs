//! A whole answer.

use futures::StreamExt;

use crate::error::ProviderError;
use crate::event::{AnswerEvent, Started, StopReason};
use crate::message::{Block, Message};
use crate::provider::EventStream;
use crate::usage::{Cost, TokenUsage};

/// A whole answer: what its events add up to.
#[derive(Clone, Debug, PartialEq)]
pub struct Completion {
    /// Who answered.
    pub started: Option<Started>,
    /// What was said, as it belongs into the history.
    pub message: Message,
    /// Why it ended.
    pub stop: StopReason,
    /// What it took.
    pub usage: TokenUsage,
    /// What that costs, if it is known. Answers that broke off are not in it.
    pub cost: Option<Cost>,
    /// How many times it began anew.
    pub restarts: u32,
}

impl Completion {
    /// Adds up a stream of events. An answer that began anew counts from there.
    pub async fn of(mut events: EventStream) -> Result<Self, ProviderError> {
        let mut collector = Collector::default();
        while let Some(event) = events.next().await {
            collector.add(event?);
        }
        collector.finish().ok_or_else(ProviderError::cut_short)
    }
}

/// Adds up events, for those who show them meanwhile.
#[derive(Clone, Debug, Default)]
pub struct Collector {
    started: Option<Started>,
    blocks: Vec<(usize, Block)>,
    usage: TokenUsage,
    cost: Option<Cost>,
    stop: Option<StopReason>,
    restarts: u32,
}

impl Collector {
    /// Adds an event.
    pub fn add(&mut self, event: AnswerEvent) {
        match event {
            AnswerEvent::Started(started) => self.started = Some(started),
            AnswerEvent::BlockEnd { block, content } => self.blocks.push((block, *content)),
            AnswerEvent::Usage { usage, cost } => {
                self.usage = usage;
                self.cost = cost;
            }
            AnswerEvent::Restarted(_) => {
                *self = Self { restarts: self.restarts + 1, ..Self::default() };
            }
            AnswerEvent::Stopped(stop) => self.stop = Some(stop),
            AnswerEvent::TextDelta { .. }
            | AnswerEvent::ReasoningDelta { .. }
            | AnswerEvent::ToolCallStart { .. }
            | AnswerEvent::ToolCallDelta { .. }
            | AnswerEvent::Unknown { .. } => {}
        }
    }

    /// The whole answer, if it came to its end.
    pub fn finish(mut self) -> Option<Completion> {
        // Blocks end in another order than they begin if calls are written at the same time.
        self.blocks.sort_by_key(|(number, _)| *number);
        Some(Completion {
            started: self.started,
            message: Message::assistant(self.blocks.into_iter().map(|(_, block)| block)),
            stop: self.stop?,
            usage: self.usage,
            cost: self.cost,
            restarts: self.restarts,
        })
    }
}
