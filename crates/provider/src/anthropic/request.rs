//! Requests.

use http::{HeaderName, HeaderValue};
use serde_json::{Value, json};

use super::message::{write, write_blocks, write_mark};
use crate::catalog::{ModelInfo, ReasoningStyle};
use crate::error::{ErrorKind, ProviderError};
use crate::event::Omission;
use crate::id::ModelApi;
use crate::json::object;
use crate::message::{CacheMark, Fields};
use crate::request::{Caching, OutputShape, Reasoning, Request, ToolChoice};
use crate::wire::{Encoded, Omissions};

/// The version of the interface.
const VERSION: &str = "2023-06-01";

/// The interface wants a limit. So much is asked for if nobody says one, or less if the model writes less.
const MAX_OUTPUT: u64 = 32_000;

/// So many prefixes may be marked for a cache.
const MAX_MARKS: usize = 4;

/// The header that names the version of the interface.
pub(super) fn version() -> (HeaderName, HeaderValue) {
    (HeaderName::from_static("anthropic-version"), HeaderValue::from_static(VERSION))
}

pub(super) fn encode(request: &Request, model: &ModelInfo) -> Result<Encoded, ProviderError> {
    let mut omitted = Omissions::default();
    let usual = MAX_OUTPUT.min(model.output.unwrap_or(MAX_OUTPUT));
    let max_output = request.max_output.unwrap_or(usual);
    let mut system = write_blocks(&request.system, &mut omitted);
    let mut tools: Vec<Value> = request.tools.iter().map(tool).collect();
    let mut messages = write(&request.messages, &mut omitted);
    if let Caching::Automatic(mark) = request.caching {
        mark_all(mark, &mut tools, &mut system, &mut messages);
    }
    let list = |list: Vec<Value>| if list.is_empty() { Value::Null } else { Value::Array(list) };
    let mut body = object([
        ("model", json!(model.id)),
        ("max_tokens", json!(max_output)),
        ("stream", json!(true)),
        ("system", list(system)),
        ("messages", Value::Array(messages)),
        ("tool_choice", choice(request)),
        ("tools", list(tools)),
        ("temperature", json!(request.temperature)),
        ("top_p", json!(request.top_p)),
        ("stop_sequences", list(request.stop.iter().map(|text| json!(text)).collect())),
    ]);
    think(request, model, max_output, &mut body, &mut omitted);
    request.add_extra(ModelApi::Anthropic, &mut body);
    let marks = count_marks(&body);
    if marks > MAX_MARKS {
        let message = format!("{marks} prefixes are marked for the cache; {MAX_MARKS} may be");
        return Err(ProviderError::new(ErrorKind::BadRequest, message));
    }
    Ok(Encoded {
        path: "/v1/messages".to_owned(),
        headers: vec![version()],
        body,
        omitted: omitted.into_vec(),
    })
}

fn tool(tool: &crate::request::ToolSpec) -> Value {
    Value::Object(object([
        ("name", json!(tool.name)),
        ("description", json!(tool.description)),
        ("input_schema", tool.parameters.clone()),
        ("cache_control", tool.cache.map_or(Value::Null, write_mark)),
    ]))
}

fn choice(request: &Request) -> Value {
    if request.tools.is_empty() {
        return Value::Null;
    }
    let (kind, name) = match &request.tool_choice {
        ToolChoice::Auto if request.parallel_calls.is_none() => return Value::Null,
        ToolChoice::Auto => ("auto", Value::Null),
        ToolChoice::None => return json!({"type": "none"}),
        ToolChoice::Any => ("any", Value::Null),
        ToolChoice::Named(name) => ("tool", json!(name)),
    };
    let single = request.parallel_calls.map(|parallel| !parallel);
    Value::Object(object([
        ("type", json!(kind)),
        ("name", name),
        ("disable_parallel_tool_use", json!(single)),
    ]))
}

/// How much is thought, and which shape the answer has.
fn think(
    request: &Request,
    model: &ModelInfo,
    max_output: u64,
    body: &mut Fields,
    omitted: &mut Omissions,
) {
    let mut output = Fields::new();
    if let Some(OutputShape { schema, .. }) = &request.output {
        output.insert("format".to_owned(), json!({"type": "json_schema", "schema": schema}));
    }
    match (request.reasoning, model.reasoning) {
        (None, _) => {}
        (Some(_), ReasoningStyle::None) => omitted.add(Omission::ReasoningEffort),
        (Some(Reasoning::Off | Reasoning::Tokens(0)), _) => {
            body.insert("thinking".to_owned(), json!({"type": "disabled"}));
        }
        (Some(reasoning), ReasoningStyle::Effort) => {
            body.insert("thinking".to_owned(), json!({"type": "adaptive"}));
            output.insert("effort".to_owned(), json!(reasoning.effort()));
        }
        (Some(reasoning), ReasoningStyle::Usual | ReasoningStyle::Budget) => {
            // The interface takes 1024 and more, and less than the answer may have.
            let budget = reasoning.tokens().clamp(1024, max_output.saturating_sub(1).max(1024));
            let thinking = json!({"type": "enabled", "budget_tokens": budget});
            body.insert("thinking".to_owned(), thinking);
        }
    }
    if !output.is_empty() {
        body.insert("output_config".to_owned(), Value::Object(output));
    }
}

/// Marks the ends of the tools, the system prompt, and the two last messages of the user: the last one is written to the
/// cache, the one before is what the cache has from the turn before.
fn mark_all(mark: CacheMark, tools: &mut [Value], system: &mut [Value], messages: &mut [Value]) {
    for list in [&mut *tools, &mut *system] {
        list.iter_mut().for_each(unmark);
        list.last_mut().into_iter().for_each(|last| set_mark(last, mark));
    }
    let mut left = MAX_MARKS - 2;
    for message in messages.iter_mut().rev() {
        let is_user = message.get("role").and_then(Value::as_str) == Some("user");
        let Some(Value::Array(blocks)) = message.get_mut("content") else {
            continue;
        };
        blocks.iter_mut().for_each(unmark);
        if is_user
            && left > 0
            && let Some(last) = blocks.last_mut()
        {
            set_mark(last, mark);
            left -= 1;
        }
    }
}

fn unmark(block: &mut Value) {
    if let Some(fields) = block.as_object_mut() {
        fields.remove("cache_control");
    }
}

fn set_mark(block: &mut Value, mark: CacheMark) {
    if let Some(fields) = block.as_object_mut() {
        fields.insert("cache_control".to_owned(), write_mark(mark));
    }
}

fn count_marks(body: &Fields) -> usize {
    let lists = ["tools", "system", "messages"];
    lists.iter().filter_map(|name| body.get(*name)).map(count_marks_in).sum()
}

fn count_marks_in(value: &Value) -> usize {
    let own = usize::from(value.get("cache_control").is_some());
    let inside: usize = match value {
        Value::Array(list) => list.iter().map(count_marks_in).sum(),
        Value::Object(fields) => fields.get("content").map_or(0, count_marks_in),
        _ => 0,
    };
    own + inside
}
