//! Answers.

use serde_json::{Value, json};

use super::message::{read_annotation, read_call, read_parts, reasoning};
use crate::assembly::{Assembly, made_up_id};
use crate::error::{ErrorKind, ProviderError};
use crate::event::StopReason;
use crate::id::ModelApi;
use crate::json::{count, list, parse, text, text_at};
use crate::message::{Block, CallBlock, Content, Fields, Native};
use crate::sse::ServerEvent;
use crate::usage::TokenUsage;
use crate::wire::Decoder;

const API: ModelApi = ModelApi::OpenaiChat;

/// The block of text that grows now, and that of reasoning.
const TEXT: &str = "text";
const REASONING: &str = "reasoning";

/// Reads one answer.
#[derive(Default)]
pub(super) struct Reader {
    calls: Vec<Call>,
}

/// A call that grows.
struct Call {
    index: u64,
    id: String,
    key: String,
}

impl Decoder for Reader {
    fn event(&mut self, event: &ServerEvent, out: &mut Assembly) -> Result<(), ProviderError> {
        if event.data.trim() == "[DONE]" {
            // Some servers give no reason for the end; that they say that it is the end is enough.
            if !out.is_stopping() && !out.has_blocks() {
                let message = "the answer has no choices";
                return Err(ProviderError::new(ErrorKind::Protocol, message));
            }
            if !out.is_stopping() {
                out.stopping(StopReason::End);
            }
            return out.finish();
        }
        let value = parse(&event.data)?;
        if value.get("error").is_some_and(|error| !error.is_null()) || event.name == "error" {
            return Err(super::error::read(None, &value));
        }
        if !value.get("choices").is_some_and(Value::is_array) && value.get("usage").is_none() {
            out.unknown(API, value);
            return Ok(());
        }
        out.started(text(&value, "id"), text(&value, "model"));
        read_usage(&value, out);
        // The last piece may have usage alone, and one may come with nothing. Only one answer was asked for.
        let Some(choice) = list(&value, "choices").first() else {
            return Ok(());
        };
        self.delta(choice.get("delta").unwrap_or(&Value::Null), out)?;
        if let Some(reason) = text(choice, "finish_reason") {
            out.stopping(stop(reason)?);
        }
        Ok(())
    }

    fn whole(&mut self, body: &Value, out: &mut Assembly) -> Result<(), ProviderError> {
        if body.get("error").is_some_and(|error| !error.is_null()) {
            return Err(super::error::read(None, body));
        }
        let Some(choice) = list(body, "choices").first() else {
            let message = "the answer has no choices";
            return Err(ProviderError::new(ErrorKind::Protocol, message));
        };
        out.started(text(body, "id"), text(body, "model"));
        read_usage(body, out);
        let message = choice.get("message").unwrap_or(&Value::Null);
        if let Some(text) = reasoning(message).filter(|text| !text.is_empty()) {
            out.whole(REASONING, Block::reasoning(text))?;
        }
        for mut part in read_parts(message.get("content")) {
            if part.as_text() == Some("") {
                continue;
            }
            if let Content::Text { citations, .. } = &mut part.content {
                citations.extend(list(message, "annotations").iter().map(read_annotation));
            }
            out.whole(TEXT, part)?;
        }
        if let Some(refusal) = text(message, "refusal") {
            out.whole(TEXT, refused(refusal))?;
        }
        for call in list(message, "tool_calls") {
            out.whole("call", read_call(call))?;
        }
        let reason = text(choice, "finish_reason").map_or(Ok(StopReason::End), stop)?;
        out.stopping(reason);
        out.finish()
    }

    fn end(&mut self, out: &mut Assembly) -> Result<(), ProviderError> {
        // A server may leave out `[DONE]` if it gave a reason.
        out.finish()
    }
}

impl Reader {
    fn delta(&mut self, delta: &Value, out: &mut Assembly) -> Result<(), ProviderError> {
        if let Some(piece) = reasoning(delta).filter(|piece| !piece.is_empty()) {
            out.close(TEXT);
            out.reasoning(REASONING, piece)?;
        }
        let pieces = match delta.get("content") {
            Some(Value::String(text)) if !text.is_empty() => vec![Block::text(text)],
            Some(Value::Array(parts)) => read_parts(Some(&json!(parts))),
            _ => Vec::new(),
        };
        for piece in pieces {
            out.close(REASONING);
            match piece.as_text() {
                Some(text) => out.text(TEXT, text)?,
                None => out.whole("part", piece)?,
            }
        }
        if let Some(refusal) = text(delta, "refusal").filter(|refusal| !refusal.is_empty()) {
            match out.is_open("refusal") {
                true => out.text("refusal", refusal)?,
                false => out.begin("refusal", refused(refusal))?,
            }
        }
        let annotations = list(delta, "annotations");
        if let Some(block) = out.block(TEXT)
            && let Content::Text { citations, .. } = &mut block.content
        {
            citations.extend(annotations.iter().map(read_annotation));
        }
        for call in list(delta, "tool_calls") {
            self.call(call, out)?;
        }
        Ok(())
    }

    fn has(&self, fits: impl Fn(&Call) -> bool) -> bool {
        self.calls.iter().any(fits)
    }

    /// A piece of a call. Servers number calls; some forget to, and tell them apart by their names alone.
    fn call(&mut self, piece: &Value, out: &mut Assembly) -> Result<(), ProviderError> {
        let id = text(piece, "id").filter(|id| !id.is_empty());
        let name = text_at(piece, "/function/name").filter(|name| !name.is_empty());
        let index = count(piece, "/index");
        let arguments = match piece.pointer("/function/arguments") {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Null) | None => String::new(),
            Some(other) => other.to_string(),
        };
        let known = match (index, id) {
            (Some(index), Some(id)) if self.has(|call| call.id == id && call.index == index) => {
                self.calls.iter().find(|call| call.id == id && call.index == index)
            }
            // The same id at another index is another call, if it has a name.
            (_, Some(id)) if (index.is_none() || name.is_none()) && self.has(|it| it.id == id) => {
                self.calls.iter().find(|call| call.id == id)
            }
            // Another id at the same index is another call, if it has a name.
            (_, Some(_)) if name.is_some() => None,
            (Some(index), _) => self.calls.iter().rfind(|call| call.index == index),
            (None, None) if name.is_none() => self.calls.last(),
            (None, _) => None,
        };
        if let Some(call) = known {
            let key = call.key.clone();
            return out.arguments(&key, &arguments);
        }
        let Some(name) = name else {
            if piece.get("function").is_none() {
                return out.whole(
                    "call",
                    Block::new(Content::Unknown { api: API, value: piece.clone() }),
                );
            }
            let message = "the answer goes on with a call that has no name";
            return Err(ProviderError::new(ErrorKind::Protocol, message));
        };
        out.close(TEXT);
        out.close(REASONING);
        let call = Call {
            index: index.unwrap_or(u64::MAX),
            id: id.map_or_else(made_up_id, str::to_owned),
            key: format!("call {}", self.calls.len()),
        };
        let content = Content::ToolCall(CallBlock {
            id: call.id.clone(),
            name: name.to_owned(),
            arguments: String::new(),
        });
        let mut others = piece.as_object().cloned().unwrap_or_default();
        others.retain(|name, value| {
            !["id", "type", "function", "index"].contains(&name.as_str()) && !value.is_null()
        });
        let key = call.key.clone();
        self.calls.push(call);
        out.begin(&key, Block { native: Native::of(API, others), ..Block::new(content) })?;
        out.arguments(&key, &arguments)
    }
}

fn refused(text: &str) -> Block {
    let mut fields = Fields::new();
    fields.insert("type".to_owned(), json!("refusal"));
    Block { native: Native::of(API, fields), ..Block::text(text) }
}

fn read_usage(value: &Value, out: &mut Assembly) {
    let Some(usage) = value.get("usage").filter(|usage| usage.is_object()) else {
        return;
    };
    let report = TokenUsage {
        output: count(usage, "/completion_tokens"),
        reasoning: count(usage, "/completion_tokens_details/reasoning_tokens"),
        ..TokenUsage::default()
    };
    let cached = count(usage, "/prompt_tokens_details/cached_tokens");
    out.usage(&report.with_input(count(usage, "/prompt_tokens"), cached));
}

fn stop(reason: &str) -> Result<StopReason, ProviderError> {
    Ok(match reason {
        "stop" => StopReason::End,
        "tool_calls" | "function_call" => StopReason::ToolCalls,
        "length" => StopReason::Length,
        "content_filter" => StopReason::Refused,
        "error" => {
            let message = "the server broke off its answer";
            return Err(ProviderError::new(ErrorKind::Overloaded, message));
        }
        other => StopReason::Other(other.to_owned()),
    })
}
