//! Answers.

use serde_json::Value;

use super::message::{read_block, read_citation};
use crate::assembly::Assembly;
use crate::error::{ErrorKind, ProviderError};
use crate::event::StopReason;
use crate::id::ModelApi;
use crate::json::{count, list, parse, text, text_at};
use crate::message::{Content, Seal};
use crate::sse::ServerEvent;
use crate::usage::TokenUsage;
use crate::wire::Decoder;

const API: ModelApi = ModelApi::Anthropic;

/// Reads one answer.
#[derive(Default)]
pub(super) struct Reader {
    /// JSON of blocks that this crate does not know, as it comes.
    unknown_input: std::collections::HashMap<String, String>,
}

impl Decoder for Reader {
    fn event(&mut self, event: &ServerEvent, out: &mut Assembly) -> Result<(), ProviderError> {
        let value = parse(&event.data)?;
        let key = value.get("index").map(Value::to_string).unwrap_or_default();
        match text(&value, "type").unwrap_or(&event.name) {
            "ping" => {}
            "message_start" => {
                let message = value.get("message").unwrap_or(&Value::Null);
                out.started(text(message, "id"), text(message, "model"));
                out.usage(&usage(message.get("usage").unwrap_or(&Value::Null)));
            }
            "content_block_start" => self.begin(&key, &value, out)?,
            "content_block_delta" => self.delta(&key, value, out)?,
            "content_block_stop" => {
                self.complete(&key, out);
                out.close(&key);
            }
            "message_delta" => {
                if let Some(reason) = text_at(&value, "/delta/stop_reason") {
                    out.stopping(stop(reason));
                }
                out.usage(&usage(value.get("usage").unwrap_or(&Value::Null)));
            }
            "message_stop" => out.finish()?,
            "error" => return Err(super::error::read(None, &value)),
            _ => out.unknown(API, value),
        }
        Ok(())
    }

    fn whole(&mut self, body: &Value, out: &mut Assembly) -> Result<(), ProviderError> {
        if text(body, "type") == Some("error") {
            return Err(super::error::read(None, body));
        }
        if !body.get("content").is_some_and(Value::is_array) {
            let message = "the answer is no message: it has no content";
            return Err(ProviderError::new(ErrorKind::Protocol, message));
        }
        out.started(text(body, "id"), text(body, "model"));
        out.usage(&usage(body.get("usage").unwrap_or(&Value::Null)));
        for block in list(body, "content") {
            out.whole("", read_block(block))?;
        }
        out.stopping(text(body, "stop_reason").map_or(StopReason::End, stop));
        out.finish()
    }

    fn end(&mut self, out: &mut Assembly) -> Result<(), ProviderError> {
        // Without `message_stop`, a reason is enough: nothing of the answer can follow it.
        out.finish()
    }
}

impl Reader {
    fn begin(&mut self, key: &str, value: &Value, out: &mut Assembly) -> Result<(), ProviderError> {
        let mut block = read_block(value.get("content_block").unwrap_or(&Value::Null));
        if let Content::ToolCall(call) = &mut block.content
            && call.arguments == "{}"
        {
            // The arguments follow.
            call.arguments.clear();
        }
        out.begin(key, block)
    }

    fn delta(&mut self, key: &str, value: Value, out: &mut Assembly) -> Result<(), ProviderError> {
        let delta = value.get("delta").unwrap_or(&Value::Null);
        let piece = |name| text(delta, name).unwrap_or_default();
        match text(delta, "type").unwrap_or_default() {
            "text_delta" => out.text(key, piece("text"))?,
            "thinking_delta" => out.reasoning(key, piece("thinking"))?,
            "input_json_delta" => match out.block(key).map(|block| &block.content) {
                Some(Content::Unknown { .. }) => {
                    let input = self.unknown_input.entry(key.to_owned()).or_default();
                    input.push_str(piece("partial_json"));
                }
                _ => out.arguments(key, piece("partial_json"))?,
            },
            "signature_delta" => {
                if let Some(block) = out.block(key) {
                    let data = piece("signature");
                    match &mut block.seal {
                        Some(seal) => seal.data.push_str(data),
                        seal => *seal = Some(Seal { api: API, data: data.to_owned() }),
                    }
                }
            }
            "citations_delta" => {
                if let Some(block) = out.block(key)
                    && let Content::Text { citations, .. } = &mut block.content
                {
                    citations
                        .push(read_citation(delta.get("citation").cloned().unwrap_or_default()));
                }
            }
            _ => out.unknown(API, value),
        }
        Ok(())
    }

    /// Gives a block that this crate does not know the input that came in pieces.
    fn complete(&mut self, key: &str, out: &mut Assembly) {
        let Some(input) = self.unknown_input.remove(key) else {
            return;
        };
        if let Some(block) = out.block(key)
            && let Content::Unknown { value: Value::Object(fields), .. } = &mut block.content
        {
            let input = serde_json::from_str(&input).unwrap_or(Value::String(input));
            fields.insert("input".to_owned(), input);
        }
    }
}

fn usage(usage: &Value) -> TokenUsage {
    let written = count(usage, "/cache_creation_input_tokens");
    let for_an_hour = count(usage, "/cache_creation/ephemeral_1h_input_tokens");
    let for_minutes = count(usage, "/cache_creation/ephemeral_5m_input_tokens")
        .or_else(|| Some(written?.saturating_sub(for_an_hour.unwrap_or(0))));
    TokenUsage {
        input: count(usage, "/input_tokens"),
        cache_read: count(usage, "/cache_read_input_tokens"),
        cache_write: for_minutes,
        cache_write_1h: for_an_hour,
        output: count(usage, "/output_tokens"),
        reasoning: count(usage, "/output_tokens_details/thinking_tokens"),
    }
}

fn stop(reason: &str) -> StopReason {
    match reason {
        "end_turn" => StopReason::End,
        "tool_use" => StopReason::ToolCalls,
        "max_tokens" => StopReason::Length,
        "model_context_window_exceeded" => StopReason::Context,
        "stop_sequence" => StopReason::StopText,
        "refusal" => StopReason::Refused,
        "pause_turn" => StopReason::Paused,
        other => StopReason::Other(other.to_owned()),
    }
}
