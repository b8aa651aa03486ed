//! What a script says about requests.

use serde::Deserialize;

use crate::message::{Block, Message};
use crate::request::Request;

/// What has to hold of a request.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Condition {
    /// A part of the text of the last message.
    last_contains: Option<String>,
    /// A part of the system prompt.
    system_contains: Option<String>,
    /// The model.
    model: Option<String>,
    /// Tools that the request has, among others.
    tools: Option<Vec<String>>,
    /// How many messages it has.
    messages: Option<usize>,
    /// A part of the result of a tool in the last message.
    result_contains: Option<String>,
    /// Whether a tool in the last message failed.
    tool_failed: Option<bool>,
}

impl Condition {
    /// What does not hold, if anything.
    pub(super) fn differs(&self, request: &Request) -> Option<String> {
        let last = request.messages.last();
        let text = last.map(Message::text).unwrap_or_default();
        let results: String = last
            .into_iter()
            .flat_map(Message::results)
            .flat_map(|result| &result.blocks)
            .filter_map(Block::as_text)
            .collect();
        let failed = last.is_some_and(|last| last.results().any(|result| result.failed));
        let contains = |what: &str, text: &str, part: &Option<String>| {
            let part = part.as_ref().filter(|part| !text.contains(part.as_str()))?;
            Some(format!("{what} is {:?}, without {part:?}", crate::error::shown(text)))
        };
        contains("the last message", &text, &self.last_contains)
            .or_else(|| {
                contains("the system prompt", &request.system_text(), &self.system_contains)
            })
            .or_else(|| contains("the last result", &results, &self.result_contains))
            .or_else(|| {
                let wanted =
                    self.model.as_ref().filter(|model| *model != request.model.as_str())?;
                Some(format!("the model is {}, not {wanted}", request.model))
            })
            .or_else(|| {
                let has = |name: &String| request.tools.iter().any(|tool| tool.name == *name);
                let missing = self.tools.iter().flatten().find(|name| !has(name))?;
                Some(format!("there is no tool {missing}"))
            })
            .or_else(|| {
                let count = request.messages.len();
                let wanted = self.messages.filter(|wanted| *wanted != count)?;
                Some(format!("there are {count} messages, not {wanted}"))
            })
            .or_else(|| {
                let wanted = self.tool_failed.filter(|wanted| *wanted != failed)?;
                Some(match wanted {
                    true => "no tool failed".to_owned(),
                    false => "a tool failed".to_owned(),
                })
            })
    }
}
