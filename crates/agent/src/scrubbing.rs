//! Everything that an event says, without credentials.

use offshoot_provider::{
    Block, CallBlock, Citation, Content, Fields, Image, Message, Native, ResultBlock, ToolSpec,
};
use offshoot_scrub::Redactor;
use serde_json::Value;

use crate::call::{Assessment, CallPermission, CallReport, UserDecision};
use crate::event::AgentEvent;
use crate::pause::PauseReason;
use crate::settings::Preamble;

/// Can be scrubbed in its place.
pub(crate) trait Scrubs {
    /// Replaces credentials.
    fn scrub(&mut self, redactor: &Redactor);
}

impl Scrubs for String {
    fn scrub(&mut self, redactor: &Redactor) {
        if let std::borrow::Cow::Owned(clean) = redactor.redact(self) {
            *self = clean;
        }
    }
}

impl<T: Scrubs> Scrubs for Vec<T> {
    fn scrub(&mut self, redactor: &Redactor) {
        self.iter_mut().for_each(|item| item.scrub(redactor));
    }
}

impl<T: Scrubs> Scrubs for Option<T> {
    fn scrub(&mut self, redactor: &Redactor) {
        self.iter_mut().for_each(|item| item.scrub(redactor));
    }
}

impl Scrubs for Value {
    fn scrub(&mut self, redactor: &Redactor) {
        match self {
            Self::String(text) => text.scrub(redactor),
            Self::Array(items) => items.iter_mut().for_each(|item| item.scrub(redactor)),
            Self::Object(fields) => fields.scrub(redactor),
            Self::Null | Self::Bool(_) | Self::Number(_) => {}
        }
    }
}

impl Scrubs for Fields {
    fn scrub(&mut self, redactor: &Redactor) {
        for (name, value) in self.iter_mut() {
            let Value::String(text) = value else {
                value.scrub(redactor);
                continue;
            };
            // The name may tell that the value is a credential, which its looks do not.
            let line = Value::String(text.clone()).to_string();
            if redactor.is_clean(&format!("{}: {line}", Value::String(name.clone()))) {
                text.scrub(redactor);
            } else {
                offshoot_scrub::REDACTED.clone_into(text);
            }
        }
        // A name is a text like any other.
        let dirty: Vec<String> =
            self.keys().filter(|name| !redactor.is_clean(name)).cloned().collect();
        for name in dirty {
            if let Some(value) = self.remove(&name) {
                self.insert(redactor.redact(&name).into_owned(), value);
            }
        }
    }
}

impl Scrubs for Message {
    fn scrub(&mut self, redactor: &Redactor) {
        // Vendors refuse reasoning that was changed.
        self.blocks.retain(|block| match &block.content {
            Content::Reasoning { text, .. } => redactor.is_clean(text),
            _ => true,
        });
        self.blocks.scrub(redactor);
        self.native.scrub(redactor);
    }
}

impl Scrubs for Block {
    fn scrub(&mut self, redactor: &Redactor) {
        match &mut self.content {
            Content::Text { text, citations } => {
                text.scrub(redactor);
                citations.scrub(redactor);
            }
            Content::Reasoning { text, .. } => text.scrub(redactor),
            Content::ToolCall(call) => call.scrub(redactor),
            Content::ToolResult(ResultBlock { blocks, .. }) => blocks.scrub(redactor),
            Content::Unknown { value, .. } => value.scrub(redactor),
            Content::Image(Image::Url { url }) => url.scrub(redactor),
            Content::Image(Image::Inline { .. } | Image::File { .. }) => {}
        }
        self.native.scrub(redactor);
    }
}

impl Scrubs for Citation {
    fn scrub(&mut self, redactor: &Redactor) {
        self.title.scrub(redactor);
        self.url.scrub(redactor);
        self.quote.scrub(redactor);
        self.value.scrub(redactor);
    }
}

impl Scrubs for Native {
    fn scrub(&mut self, redactor: &Redactor) {
        self.fields.scrub(redactor);
    }
}

impl Scrubs for CallBlock {
    fn scrub(&mut self, redactor: &Redactor) {
        self.name.scrub(redactor);
        self.id.scrub(redactor);
        // In JSON as a whole, line breaks and quotes are escaped, and a credential may look different.
        match serde_json::from_str::<Value>(&self.arguments) {
            Ok(mut value) => {
                let before = value.clone();
                value.scrub(redactor);
                if value != before {
                    self.arguments = value.to_string();
                }
            }
            Err(_) => self.arguments.scrub(redactor),
        }
    }
}

impl Scrubs for ToolSpec {
    fn scrub(&mut self, redactor: &Redactor) {
        self.description.scrub(redactor);
        self.parameters.scrub(redactor);
    }
}

impl Scrubs for Preamble {
    fn scrub(&mut self, redactor: &Redactor) {
        self.layers.iter_mut().for_each(|layer| layer.text_mut().scrub(redactor));
        self.tools.scrub(redactor);
    }
}

impl Scrubs for CallReport {
    fn scrub(&mut self, redactor: &Redactor) {
        self.blocks.scrub(redactor);
    }
}

impl Scrubs for Assessment {
    fn scrub(&mut self, redactor: &Redactor) {
        match &mut self.permission {
            CallPermission::Allowed => {}
            CallPermission::Asks { why } | CallPermission::Refused { why } => why.scrub(redactor),
        }
    }
}

impl Scrubs for UserDecision {
    fn scrub(&mut self, redactor: &Redactor) {
        match self {
            Self::Allow => {}
            Self::Deny { why } => why.scrub(redactor),
            Self::Answer { text } => text.scrub(redactor),
        }
    }
}

impl Scrubs for PauseReason {
    fn scrub(&mut self, redactor: &Redactor) {
        match self {
            Self::ModelFailed { why } | Self::ToolBroken { why } => why.scrub(redactor),
            Self::Repeats { tool, .. } => tool.scrub(redactor),
            Self::Steps { .. }
            | Self::Tokens { .. }
            | Self::Money { .. }
            | Self::CostUnknown
            | Self::Time { .. }
            | Self::Failures { .. }
            | Self::Nonsense { .. }
            | Self::Refused
            | Self::ContextFull { .. } => {}
        }
    }
}

impl Scrubs for AgentEvent {
    fn scrub(&mut self, redactor: &Redactor) {
        match self {
            // Settings have no text but the name of a model, which is chosen from a list.
            Self::Started { preamble, .. } | Self::Opened { preamble, .. } => {
                preamble.scrub(redactor)
            }
            Self::UserSaid { blocks } => blocks.scrub(redactor),
            Self::Answered { message, .. } => message.scrub(redactor),
            Self::AnswerFailed { why: text, .. }
            | Self::Noted { text, .. }
            | Self::Cancelled { said: text }
            | Self::Summarised { text, .. }
            | Self::Pinned { text }
            | Self::Unpinned { text } => text.scrub(redactor),
            Self::Assessed { calls } => calls.scrub(redactor),
            Self::CallBlocked { text, choices, .. } => {
                text.scrub(redactor);
                choices.scrub(redactor);
            }
            Self::Decided { decision, by, .. } => {
                decision.scrub(redactor);
                by.scrub(redactor);
            }
            Self::CallEnded { report, .. } => report.scrub(redactor),
            Self::Paused { reason } => reason.scrub(redactor),
            Self::Asked { .. }
            | Self::CallStarted { .. }
            | Self::CallFound { .. }
            | Self::Resumed { .. }
            | Self::Pruned { .. }
            | Self::SummaryAsked { .. }
            | Self::Forked { .. }
            | Self::TurnEnded { .. } => {}
        }
    }
}
