//! Answers.

use std::collections::HashSet;

use serde_json::Value;

use super::message::{read_annotation, read_item};
use crate::assembly::{Assembly, made_up_id};
use crate::error::{ErrorKind, ProviderError};
use crate::event::StopReason;
use crate::id::ModelApi;
use crate::json::{count, list, parse, text, text_at};
use crate::message::{Block, CallBlock, Content};
use crate::sse::ServerEvent;
use crate::usage::TokenUsage;
use crate::wire::Decoder;

const API: ModelApi = ModelApi::OpenaiResponses;

/// Reads one answer. Items grow by deltas and come again whole when they are done; what is whole counts.
#[derive(Default)]
pub(super) struct Reader {
    /// Items that are done.
    done: HashSet<u64>,
    /// Whether reasoning of an item got its first part.
    parts: HashSet<String>,
}

impl Decoder for Reader {
    fn event(&mut self, event: &ServerEvent, out: &mut Assembly) -> Result<(), ProviderError> {
        if event.data.trim() == "[DONE]" {
            return out.finish();
        }
        let value = parse(&event.data)?;
        let item = count(&value, "/output_index").unwrap_or(0);
        let key = key(item, count(&value, "/content_index").unwrap_or(0));
        let delta = text(&value, "delta").unwrap_or_default();
        match text(&value, "type").unwrap_or(&event.name) {
            "response.created" | "response.in_progress" | "response.queued" => {
                let response = value.get("response").unwrap_or(&Value::Null);
                out.started(text(response, "id"), text(response, "model"));
            }
            "response.output_item.added" => {
                self.begin(item, value.get("item").unwrap_or(&Value::Null), out)?;
            }
            "response.output_text.delta" | "response.refusal.delta" => out.text(&key, delta)?,
            "response.output_text.annotation.added" => {
                if let Some(block) = out.block(&key)
                    && let Content::Text { citations, .. } = &mut block.content
                    && let Some(annotation) = value.get("annotation")
                {
                    citations.push(read_annotation(annotation));
                }
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                let part = count(&value, "/summary_index").or(count(&value, "/content_index"));
                self.reasoning(item, part.unwrap_or(0), delta, out)?;
            }
            "response.function_call_arguments.delta" => {
                out.arguments(&self::key(item, 0), delta)?;
            }
            "response.output_item.done" => {
                self.complete(item, value.get("item").unwrap_or(&Value::Null), out)?;
            }
            "response.completed" | "response.incomplete" | "response.failed" => {
                let response = value.get("response").unwrap_or(&Value::Null);
                self.end_with(response, out)?;
            }
            "error" => return Err(super::error::read(None, &value)),
            // What these say comes again with the item.
            "response.content_part.added"
            | "response.content_part.done"
            | "response.output_text.done"
            | "response.refusal.done"
            | "response.reasoning_summary_part.added"
            | "response.reasoning_summary_part.done"
            | "response.reasoning_summary_text.done"
            | "response.reasoning_text.done"
            | "response.function_call_arguments.done" => {}
            _ if value.get("error").is_some_and(|error| !error.is_null()) => {
                return Err(super::error::read(None, &value));
            }
            _ => out.unknown(API, value),
        }
        Ok(())
    }

    fn whole(&mut self, body: &Value, out: &mut Assembly) -> Result<(), ProviderError> {
        if !body.get("output").is_some_and(Value::is_array) {
            if body.get("error").is_some_and(|error| !error.is_null()) {
                return Err(super::error::read(None, body));
            }
            let message = "the answer is no response: it has no output";
            return Err(ProviderError::new(ErrorKind::Protocol, message));
        }
        out.started(text(body, "id"), text(body, "model"));
        self.end_with(body, out)
    }

    fn end(&mut self, out: &mut Assembly) -> Result<(), ProviderError> {
        out.finish()
    }
}

impl Reader {
    /// An item begins. Those that this crate does not know come whole when they are done.
    fn begin(&mut self, item: u64, value: &Value, out: &mut Assembly) -> Result<(), ProviderError> {
        match text(value, "type") {
            Some("function_call") => {
                let id = text(value, "call_id").map_or_else(made_up_id, str::to_owned);
                let name = text(value, "name").unwrap_or_default().to_owned();
                let arguments = text(value, "arguments").unwrap_or_default().to_owned();
                let call = CallBlock { id, name, arguments };
                out.begin(&key(item, 0), Block::new(Content::ToolCall(call)))
            }
            Some("reasoning") => out.begin(&key(item, 0), Block::reasoning("")),
            _ => Ok(()),
        }
    }

    fn reasoning(
        &mut self,
        item: u64,
        part: u64,
        delta: &str,
        out: &mut Assembly,
    ) -> Result<(), ProviderError> {
        let is_new = self.parts.insert(format!("{item} {part}"));
        let has_text = matches!(
            out.block(&key(item, 0)).map(|block| &block.content),
            Some(Content::Reasoning { text, .. }) if !text.is_empty()
        );
        if is_new && has_text {
            out.reasoning(&key(item, 0), "\n\n")?;
        }
        out.reasoning(&key(item, 0), delta)
    }

    /// An item is done, and comes whole.
    fn complete(
        &mut self,
        item: u64,
        value: &Value,
        out: &mut Assembly,
    ) -> Result<(), ProviderError> {
        if !self.done.insert(item) {
            return Ok(());
        }
        for (part, block) in (0..).zip(read_item(value)) {
            let key = key(item, part);
            match out.block(&key) {
                Some(grown) => {
                    let begun = std::mem::replace(grown, block);
                    // A call keeps the name that was told, if the server made none up twice.
                    if let (Content::ToolCall(told), Content::ToolCall(call)) =
                        (begun.content, &mut grown.content)
                    {
                        call.id = told.id;
                    }
                    out.close(&key);
                }
                None => out.whole(&key, block)?,
            }
        }
        Ok(())
    }

    /// The response as a whole: what did not come in pieces, and why it ends.
    fn end_with(&mut self, response: &Value, out: &mut Assembly) -> Result<(), ProviderError> {
        if text(response, "status") == Some("failed")
            || response.get("error").is_some_and(|error| !error.is_null())
        {
            return Err(super::error::read(None, response));
        }
        out.started(text(response, "id"), text(response, "model"));
        for (item, value) in (0..).zip(list(response, "output")) {
            self.complete(item, value, out)?;
        }
        if let Some(usage) = response.get("usage").filter(|usage| usage.is_object()) {
            let report = TokenUsage {
                output: count(usage, "/output_tokens"),
                reasoning: count(usage, "/output_tokens_details/reasoning_tokens"),
                ..TokenUsage::default()
            };
            let cached = count(usage, "/input_tokens_details/cached_tokens");
            out.usage(&report.with_input(count(usage, "/input_tokens"), cached));
        }
        out.stopping(match text_at(response, "/incomplete_details/reason") {
            Some("max_output_tokens") => StopReason::Length,
            Some("content_filter") => StopReason::Refused,
            Some(other) => StopReason::Other(other.to_owned()),
            None => StopReason::End,
        });
        out.finish()
    }
}

/// The name of a block: its item, and the part of that.
fn key(item: u64, part: u64) -> String {
    format!("{item} {part}")
}
