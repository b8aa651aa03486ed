//! Puts the pieces of an answer together, and tells them as events.

use serde_json::Value;

use crate::catalog::ModelInfo;
use crate::error::{ErrorKind, ProviderError};
use crate::event::{AnswerEvent, Started, StopReason};
use crate::id::ModelApi;
use crate::limits::AnswerLimits;
use crate::message::{Block, CallBlock, Content};
use crate::usage::TokenUsage;

/// The answer so far.
pub(crate) struct Assembly {
    limits: AnswerLimits,
    model: ModelInfo,
    /// Who answers, until that is told.
    started: Option<Started>,
    /// What was not yet taken.
    events: Vec<AnswerEvent>,
    /// Blocks that may still grow, by the names that the interface has for them.
    open: Vec<Open>,
    /// The number of the next block.
    next: usize,
    has_calls: bool,
    usage: Option<TokenUsage>,
    stop: Option<StopReason>,
    is_finished: bool,
}

struct Open {
    key: String,
    number: usize,
    block: Block,
}

impl Assembly {
    pub(crate) fn new(started: Started, model: ModelInfo, limits: AnswerLimits) -> Self {
        Self {
            limits,
            model,
            started: Some(started),
            events: Vec::new(),
            open: Vec::new(),
            next: 0,
            has_calls: false,
            usage: None,
            stop: None,
            is_finished: false,
        }
    }

    /// Takes the events that have come.
    pub(crate) fn take(&mut self) -> Vec<AnswerEvent> {
        std::mem::take(&mut self.events)
    }

    /// Whether all of the answer came.
    pub(crate) fn is_finished(&self) -> bool {
        self.is_finished
    }

    /// Whether it was said why the answer ends.
    pub(crate) fn is_stopping(&self) -> bool {
        self.stop.is_some()
    }

    /// Whether anything of the answer came.
    pub(crate) fn has_begun(&self) -> bool {
        self.started.is_none()
    }

    /// Whether any block has begun.
    pub(crate) fn has_blocks(&self) -> bool {
        self.next > 0
    }

    /// Tells once who answers.
    pub(crate) fn started(&mut self, id: Option<&str>, model: Option<&str>) {
        if let Some(mut started) = self.started.take() {
            started.response_id = id.filter(|id| !id.is_empty()).map(str::to_owned);
            if let Some(model) = model.filter(|model| !model.is_empty()) {
                started.model = model.into();
            }
            self.events.push(AnswerEvent::Started(started));
        }
    }

    /// Whether a block of that name may still grow.
    pub(crate) fn is_open(&self, key: &str) -> bool {
        self.open.iter().any(|open| open.key == key)
    }

    /// A block that may still grow.
    pub(crate) fn block(&mut self, key: &str) -> Option<&mut Block> {
        self.open.iter_mut().find(|open| open.key == key).map(|open| &mut open.block)
    }

    /// Begins a block. What it already says is told.
    pub(crate) fn begin(&mut self, key: &str, block: Block) -> Result<(), ProviderError> {
        self.close(key);
        self.started(None, None);
        if self.next >= self.limits.blocks {
            let message = format!("the answer has more than {} blocks", self.limits.blocks);
            return Err(ProviderError::new(ErrorKind::TooLarge, message));
        }
        let number = self.next;
        self.next += 1;
        match &block.content {
            Content::Text { text, .. } if !text.is_empty() => {
                self.events.push(AnswerEvent::TextDelta { block: number, text: text.clone() });
            }
            Content::Reasoning { text, .. } if !text.is_empty() => {
                let text = text.clone();
                self.events.push(AnswerEvent::ReasoningDelta { block: number, text });
            }
            Content::ToolCall(CallBlock { id, name, arguments }) => {
                self.has_calls = true;
                self.check_arguments(name, arguments.len())?;
                let (id, name) = (id.clone(), name.clone());
                self.events.push(AnswerEvent::ToolCallStart { block: number, id, name });
                if !arguments.is_empty() {
                    let arguments = arguments.clone();
                    self.events.push(AnswerEvent::ToolCallDelta { block: number, arguments });
                }
            }
            _ => {}
        }
        self.open.push(Open { key: key.to_owned(), number, block });
        Ok(())
    }

    /// A block that came whole.
    pub(crate) fn whole(&mut self, key: &str, block: Block) -> Result<(), ProviderError> {
        self.begin(key, block)?;
        self.close(key);
        Ok(())
    }

    /// More text of a block, which begins if it has not.
    pub(crate) fn text(&mut self, key: &str, delta: &str) -> Result<(), ProviderError> {
        if !self.is_open(key) {
            self.begin(key, Block::text(""))?;
        }
        for open in self.open.iter_mut().filter(|open| open.key == key) {
            if let Content::Text { text, .. } = &mut open.block.content
                && !delta.is_empty()
            {
                text.push_str(delta);
                let (block, text) = (open.number, delta.to_owned());
                self.events.push(AnswerEvent::TextDelta { block, text });
            }
        }
        Ok(())
    }

    /// More reasoning of a block, which begins if it has not.
    pub(crate) fn reasoning(&mut self, key: &str, delta: &str) -> Result<(), ProviderError> {
        if !self.is_open(key) {
            self.begin(key, Block::reasoning(""))?;
        }
        for open in self.open.iter_mut().filter(|open| open.key == key) {
            if let Content::Reasoning { text, .. } = &mut open.block.content
                && !delta.is_empty()
            {
                text.push_str(delta);
                let (block, text) = (open.number, delta.to_owned());
                self.events.push(AnswerEvent::ReasoningDelta { block, text });
            }
        }
        Ok(())
    }

    /// More arguments of a call, which must have begun.
    pub(crate) fn arguments(&mut self, key: &str, delta: &str) -> Result<(), ProviderError> {
        let limit = self.limits.arguments;
        let Some(open) = self.open.iter_mut().find(|open| open.key == key) else {
            let message = "the answer goes on with a call that has not begun";
            return Err(ProviderError::new(ErrorKind::Protocol, message));
        };
        let Content::ToolCall(call) = &mut open.block.content else {
            let message = "the answer has arguments for what is no call";
            return Err(ProviderError::new(ErrorKind::Protocol, message));
        };
        if delta.is_empty() {
            return Ok(());
        }
        if call.arguments.len() + delta.len() > limit {
            return Err(too_long(&call.name, limit));
        }
        call.arguments.push_str(delta);
        let (block, arguments) = (open.number, delta.to_owned());
        self.events.push(AnswerEvent::ToolCallDelta { block, arguments });
        Ok(())
    }

    /// A block is complete, if it has begun.
    pub(crate) fn close(&mut self, key: &str) {
        if let Some(at) = self.open.iter().position(|open| open.key == key) {
            let open = self.open.remove(at);
            self.end(open);
        }
    }

    /// All blocks are complete.
    pub(crate) fn close_all(&mut self) {
        for open in std::mem::take(&mut self.open) {
            self.end(open);
        }
    }

    fn end(&mut self, mut open: Open) {
        if let Content::ToolCall(call) = &mut open.block.content
            && call.arguments.trim().is_empty()
        {
            call.arguments = "{}".to_owned();
        }
        let (block, content) = (open.number, Box::new(open.block));
        self.events.push(AnswerEvent::BlockEnd { block, content });
    }

    /// Adds what a report says of usage.
    pub(crate) fn usage(&mut self, report: &TokenUsage) {
        self.usage.get_or_insert_default().update(report);
    }

    /// Tells what is not known.
    pub(crate) fn unknown(&mut self, api: ModelApi, value: Value) {
        self.started(None, None);
        self.events.push(AnswerEvent::Unknown { api, value });
    }

    /// Notes why the answer ends, which comes before the end itself.
    pub(crate) fn stopping(&mut self, reason: StopReason) {
        self.stop = Some(reason);
    }

    /// The answer is complete, if it was said why it ends.
    pub(crate) fn finish(&mut self) -> Result<(), ProviderError> {
        if self.is_finished {
            return Ok(());
        }
        let Some(stop) = self.stop.take() else {
            return Err(ProviderError::cut_short());
        };
        self.started(None, None);
        self.close_all();
        if let Some(usage) = self.usage {
            let cost = self.model.cost(&usage);
            self.events.push(AnswerEvent::Usage { usage, cost });
        }
        // Some servers say the same whether there are calls or not.
        let stop = match stop {
            StopReason::End if self.has_calls => StopReason::ToolCalls,
            stop => stop,
        };
        self.events.push(AnswerEvent::Stopped(stop));
        self.is_finished = true;
        Ok(())
    }

    fn check_arguments(&self, name: &str, size: usize) -> Result<(), ProviderError> {
        match size > self.limits.arguments {
            true => Err(too_long(name, self.limits.arguments)),
            false => Ok(()),
        }
    }
}

/// A name for a call of a server that gives none.
pub(crate) fn made_up_id() -> String {
    format!("call_{:016x}", fastrand::u64(..))
}

fn too_long(name: &str, limit: usize) -> ProviderError {
    let name = crate::error::shown(name);
    let message = format!("the arguments of a call of {name} have more than {limit} bytes");
    ProviderError::new(ErrorKind::TooLarge, message)
}
