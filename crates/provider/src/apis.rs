//! The interfaces that there are.

use serde_json::Value;

use crate::catalog::Quirks;
use crate::event::Omission;
use crate::id::ModelApi;
use crate::message::Message;
use crate::wire::Wire;
use crate::{anthropic, gemini, openai_chat, openai_responses};

impl ModelApi {
    /// The interface, as a server with these quirks speaks it.
    pub(crate) fn wire(self, quirks: &Quirks) -> Box<dyn Wire> {
        match self {
            Self::OpenaiChat => Box::new(openai_chat::Wire::new(quirks.clone())),
            Self::OpenaiResponses => Box::new(openai_responses::Wire),
            Self::Anthropic => Box::new(anthropic::Wire),
            Self::Gemini => Box::new(gemini::Wire),
        }
    }

    /// Messages in the JSON of this interface, and what it cannot take of them.
    pub fn write_messages(self, messages: &[Message]) -> (Vec<Value>, Vec<Omission>) {
        self.wire(&Quirks::default()).write_messages(messages)
    }

    /// Messages from the JSON of this interface.
    pub fn read_messages(self, messages: &[Value]) -> Vec<Message> {
        self.wire(&Quirks::default()).read_messages(messages)
    }
}
