//! Requests.

use serde_json::{Value, json};

use super::message::write;
use crate::catalog::{ModelInfo, Quirks, ReasoningStyle};
use crate::event::Omission;
use crate::id::ModelApi;
use crate::json::object;
use crate::request::{OutputShape, Request, ToolChoice};
use crate::wire::{Encoded, Omissions};

pub(super) fn encode(request: &Request, model: &ModelInfo, quirks: &Quirks) -> Encoded {
    let mut omitted = Omissions::default();
    let mut messages = Vec::new();
    if !request.system.is_empty() {
        messages.push(json!({"role": quirks.system_role, "content": request.system_text()}));
    }
    messages.extend(write(&request.messages, quirks, &mut omitted));
    let effort = match (request.reasoning, model.reasoning) {
        (Some(_), ReasoningStyle::None) => {
            omitted.add(Omission::ReasoningEffort);
            Value::Null
        }
        (Some(reasoning), _) => json!(reasoning.effort()),
        (None, _) => Value::Null,
    };
    let tools: Vec<Value> = request.tools.iter().map(tool).collect();
    let has_tools = !tools.is_empty();
    let parallel = request.parallel_calls.filter(|_| has_tools && quirks.parallel_tool_calls);
    let mut body = object([
        ("model", json!(model.id)),
        ("messages", Value::Array(messages)),
        ("stream", json!(true)),
        ("tools", if has_tools { Value::Array(tools) } else { Value::Null }),
        ("tool_choice", if has_tools { choice(&request.tool_choice) } else { Value::Null }),
        ("parallel_tool_calls", json!(parallel)),
        ("reasoning_effort", effort),
        ("temperature", json!(request.temperature)),
        ("top_p", json!(request.top_p)),
        ("stop", if request.stop.is_empty() { Value::Null } else { json!(request.stop) }),
        ("response_format", request.output.as_ref().map_or(Value::Null, shape)),
    ]);
    if quirks.stream_usage {
        body.insert("stream_options".to_owned(), json!({"include_usage": true}));
    }
    if let Some(most) = request.max_output {
        body.insert(quirks.max_tokens_field.clone(), json!(most));
    }
    request.add_extra(ModelApi::OpenaiChat, &mut body);
    Encoded {
        path: "/chat/completions".to_owned(),
        headers: Vec::new(),
        body,
        omitted: omitted.into_vec(),
    }
}

fn tool(tool: &crate::request::ToolSpec) -> Value {
    let function = json!({
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
    });
    json!({"type": "function", "function": function})
}

fn choice(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Auto => Value::Null,
        ToolChoice::None => json!("none"),
        ToolChoice::Any => json!("required"),
        ToolChoice::Named(name) => json!({"type": "function", "function": {"name": name}}),
    }
}

fn shape(OutputShape { name, schema }: &OutputShape) -> Value {
    let schema = json!({"name": name, "schema": schema, "strict": true});
    json!({"type": "json_schema", "json_schema": schema})
}
