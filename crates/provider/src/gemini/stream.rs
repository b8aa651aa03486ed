//! Answers.

use serde_json::Value;

use super::message::{read_citation, read_part};
use crate::assembly::Assembly;
use crate::error::{ErrorKind, ProviderError};
use crate::event::StopReason;
use crate::id::ModelApi;
use crate::json::{count, list, parse, text, text_at};
use crate::message::{Block, Content};
use crate::refusal::hint;
use crate::sse::ServerEvent;
use crate::usage::TokenUsage;
use crate::wire::Decoder;

const API: ModelApi = ModelApi::Gemini;

/// The block of text that grows now, and that of reasoning.
const TEXT: &str = "text";
const REASONING: &str = "reasoning";

/// Reads one answer: each event is a part of it, in the shape of the whole.
pub(super) struct Reader;

impl Decoder for Reader {
    fn event(&mut self, event: &ServerEvent, out: &mut Assembly) -> Result<(), ProviderError> {
        if event.data.trim() == "[DONE]" {
            return out.finish();
        }
        self.piece(&parse(&event.data)?, out)
    }

    fn whole(&mut self, body: &Value, out: &mut Assembly) -> Result<(), ProviderError> {
        // Without `alt=sse` the interface streams a list.
        let pieces = match body {
            Value::Array(pieces) => pieces.as_slice(),
            single => std::slice::from_ref(single),
        };
        if !pieces.iter().any(|piece| piece.get("candidates").is_some() || is_said(piece)) {
            let message = "the answer has no candidates";
            return Err(ProviderError::new(ErrorKind::Protocol, message));
        }
        for piece in pieces {
            self.piece(piece, out)?;
        }
        out.finish()
    }

    fn end(&mut self, out: &mut Assembly) -> Result<(), ProviderError> {
        out.finish()
    }
}

/// Whether a piece says why there is no answer.
fn is_said(piece: &Value) -> bool {
    piece.get("error").is_some() || piece.get("promptFeedback").is_some()
}

impl Reader {
    fn piece(&mut self, value: &Value, out: &mut Assembly) -> Result<(), ProviderError> {
        if value.get("error").is_some_and(|error| !error.is_null()) {
            return Err(super::error::read(None, value));
        }
        if let Some(reason) = text_at(value, "/promptFeedback/blockReason") {
            let message = format!("the prompt was blocked: {}", crate::error::shown(reason));
            return Err(ProviderError::new(ErrorKind::Refused, message));
        }
        out.started(text(value, "responseId"), text(value, "modelVersion"));
        read_usage(value, out);
        let Some(candidate) = list(value, "candidates").first() else {
            return Ok(());
        };
        for part in
            candidate.pointer("/content/parts").and_then(Value::as_array).into_iter().flatten()
        {
            self.part(read_part(part), out)?;
        }
        let sources = candidate.pointer("/citationMetadata/citationSources");
        if let Some(Value::Array(sources)) = sources {
            if !out.is_open(TEXT) {
                out.text(TEXT, "")?;
            }
            if let Some(block) = out.block(TEXT)
                && let Content::Text { citations, .. } = &mut block.content
            {
                citations.extend(sources.iter().map(read_citation));
            }
        }
        if let Some(grounding) = candidate.get("groundingMetadata") {
            out.unknown(API, serde_json::json!({"groundingMetadata": grounding}));
        }
        if let Some(reason) = text(candidate, "finishReason") {
            out.stopping(stop(reason, text(candidate, "finishMessage"))?);
        }
        Ok(())
    }

    /// A part of the answer. Texts that follow each other are one block, up to a signature.
    fn part(&mut self, block: Block, out: &mut Assembly) -> Result<(), ProviderError> {
        let (key, other) = match &block.content {
            Content::Text { .. } => (TEXT, REASONING),
            Content::Reasoning { .. } => (REASONING, TEXT),
            _ => {
                out.close_all();
                return out.whole("part", block);
            }
        };
        out.close(other);
        if block.native.is_some() {
            out.close(key);
            return out.whole(key, block);
        }
        match &block.content {
            Content::Text { text, .. } => out.text(key, text)?,
            Content::Reasoning { text, .. } => out.reasoning(key, text)?,
            _ => {}
        }
        if let (Some(seal), Some(grown)) = (block.seal, out.block(key)) {
            grown.seal = Some(seal);
            out.close(key);
        }
        Ok(())
    }
}

fn read_usage(value: &Value, out: &mut Assembly) {
    let Some(usage) = value.get("usageMetadata") else {
        return;
    };
    let sum = |one: Option<u64>, other: Option<u64>| match (one, other) {
        (None, None) => None,
        (one, other) => Some(one.unwrap_or(0).saturating_add(other.unwrap_or(0))),
    };
    let thoughts = count(usage, "/thoughtsTokenCount");
    let report = TokenUsage {
        output: sum(count(usage, "/candidatesTokenCount"), thoughts),
        reasoning: thoughts,
        ..TokenUsage::default()
    };
    let input = sum(count(usage, "/promptTokenCount"), count(usage, "/toolUsePromptTokenCount"));
    out.usage(&report.with_input(input, count(usage, "/cachedContentTokenCount")));
}

fn stop(reason: &str, message: Option<&str>) -> Result<StopReason, ProviderError> {
    Ok(match reason {
        "STOP" => StopReason::End,
        "MAX_TOKENS" => StopReason::Length,
        "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "LANGUAGE"
        | "IMAGE_SAFETY" => StopReason::Refused,
        "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" => {
            // The model wrote no call that can be read; it most often does the next time.
            let message = crate::error::shown(message.unwrap_or(reason));
            let error = ProviderError::new(ErrorKind::Protocol, message);
            let hint =
                hint(ErrorKind::Protocol).unwrap_or("the model wrote a call that cannot be read");
            return Err(error.with_hint(hint));
        }
        other => StopReason::Other(other.to_owned()),
    })
}
