//! Requests.

use serde_json::{Value, json};

use super::message::{write, write_parts};
use crate::catalog::{ModelInfo, ReasoningStyle};
use crate::error::{ErrorKind, ProviderError};
use crate::event::Omission;
use crate::id::ModelApi;
use crate::json::object;
use crate::request::{Request, ToolChoice};
use crate::wire::{Encoded, Omissions};

pub(super) fn encode(request: &Request, model: &ModelInfo) -> Result<Encoded, ProviderError> {
    // The name is a part of the address.
    let name = model.id.as_str();
    if name.is_empty() || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._".contains(&b)) {
        let message = format!("{name:?} is no name of a model");
        return Err(ProviderError::new(ErrorKind::NotFound, message));
    }
    let mut omitted = Omissions::default();
    let contents = write(&request.messages, &mut omitted);
    let system = write_parts(&request.system, &mut omitted);
    let thinking = match (request.reasoning, model.reasoning) {
        (None, _) => Value::Null,
        (Some(_), ReasoningStyle::None) => {
            omitted.add(Omission::ReasoningEffort);
            Value::Null
        }
        (Some(reasoning), ReasoningStyle::Effort) => {
            json!({"includeThoughts": true, "thinkingLevel": reasoning.effort()})
        }
        (Some(reasoning), _) => {
            json!({"includeThoughts": true, "thinkingBudget": reasoning.tokens()})
        }
    };
    if request.parallel_calls.is_some() {
        omitted.add(Omission::Option);
    }
    let schema = request.output.as_ref().map(|shape| shape.schema.clone());
    let generation = object([
        ("maxOutputTokens", json!(request.max_output)),
        ("temperature", json!(request.temperature)),
        ("topP", json!(request.top_p)),
        ("stopSequences", if request.stop.is_empty() { Value::Null } else { json!(request.stop) }),
        ("responseMimeType", schema.as_ref().map_or(Value::Null, |_| json!("application/json"))),
        ("responseJsonSchema", schema.unwrap_or_default()),
        ("thinkingConfig", thinking),
    ]);
    let declarations: Vec<Value> = request
        .tools
        .iter()
        .map(|tool| {
            json!({
                "name": tool.name,
                "description": tool.description,
                "parametersJsonSchema": tool.parameters,
            })
        })
        .collect();
    let has_tools = !declarations.is_empty();
    let instruction = if system.is_empty() { Value::Null } else { json!({"parts": system}) };
    let mut body = object([
        ("contents", Value::Array(contents)),
        ("systemInstruction", instruction),
        (
            "tools",
            if has_tools { json!([{"functionDeclarations": declarations}]) } else { Value::Null },
        ),
        ("toolConfig", if has_tools { choice(&request.tool_choice) } else { Value::Null }),
        (
            "generationConfig",
            if generation.is_empty() { Value::Null } else { Value::Object(generation) },
        ),
    ]);
    request.add_extra(ModelApi::Gemini, &mut body);
    Ok(Encoded {
        path: format!("/v1beta/models/{name}:streamGenerateContent?alt=sse"),
        headers: Vec::new(),
        body,
        omitted: omitted.into_vec(),
    })
}

fn choice(choice: &ToolChoice) -> Value {
    let config = match choice {
        ToolChoice::Auto => return Value::Null,
        ToolChoice::None => json!({"mode": "NONE"}),
        ToolChoice::Any => json!({"mode": "ANY"}),
        ToolChoice::Named(name) => json!({"mode": "ANY", "allowedFunctionNames": [name]}),
    };
    json!({"functionCallingConfig": config})
}
