//! Requests.

use serde_json::{Value, json};

use super::message::write;
use crate::catalog::{ModelInfo, ReasoningStyle};
use crate::event::Omission;
use crate::id::ModelApi;
use crate::json::object;
use crate::message::Fields;
use crate::request::{OutputShape, Request, ToolChoice};
use crate::wire::{Encoded, Omissions};

pub(super) fn encode(request: &Request, model: &ModelInfo) -> Encoded {
    let mut omitted = Omissions::default();
    let input = write(&request.messages, &mut omitted);
    let mut reasoning = Value::Null;
    let mut include = Value::Null;
    if model.reasoning != ReasoningStyle::None {
        // Nothing is kept at the vendor, so that reasoning has to come with the answer, and goes back with the next request.
        include = json!(["reasoning.encrypted_content"]);
        if let Some(much) = request.reasoning {
            reasoning = json!({"effort": much.effort(), "summary": "auto"});
        }
    } else if request.reasoning.is_some() {
        omitted.add(Omission::ReasoningEffort);
    }
    if !request.stop.is_empty() {
        omitted.add(Omission::Option);
    }
    let tools: Vec<Value> = request.tools.iter().map(tool).collect();
    let has_tools = !tools.is_empty();
    let system = match request.system.is_empty() {
        true => Value::Null,
        false => json!(request.system_text()),
    };
    let mut body: Fields = object([
        ("model", json!(model.id)),
        ("instructions", system),
        ("input", Value::Array(input)),
        ("stream", json!(true)),
        ("store", json!(false)),
        ("include", include),
        ("tools", if has_tools { Value::Array(tools) } else { Value::Null }),
        ("tool_choice", if has_tools { choice(&request.tool_choice) } else { Value::Null }),
        ("parallel_tool_calls", json!(request.parallel_calls.filter(|_| has_tools))),
        ("max_output_tokens", json!(request.max_output)),
        ("reasoning", reasoning),
        ("temperature", json!(request.temperature)),
        ("top_p", json!(request.top_p)),
        ("text", request.output.as_ref().map_or(Value::Null, shape)),
    ]);
    request.add_extra(ModelApi::OpenaiResponses, &mut body);
    Encoded {
        path: "/responses".to_owned(),
        headers: Vec::new(),
        body,
        omitted: omitted.into_vec(),
    }
}

fn tool(tool: &crate::request::ToolSpec) -> Value {
    json!({
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
        // Else the vendor takes schemas only that list all of their fields as required.
        "strict": false,
    })
}

fn choice(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Auto => Value::Null,
        ToolChoice::None => json!("none"),
        ToolChoice::Any => json!("required"),
        ToolChoice::Named(name) => json!({"type": "function", "name": name}),
    }
}

fn shape(OutputShape { name, schema }: &OutputShape) -> Value {
    json!({"format": {"type": "json_schema", "name": name, "schema": schema, "strict": true}})
}
