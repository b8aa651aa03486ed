//! Results of tools, which are objects here.

use serde_json::{Map, Value, json};

use super::read::read_part;
use super::write::write_image;
use crate::id::ModelApi;
use crate::json::object;
use crate::message::{Block, Content, ResultBlock};
use crate::wire::Omissions;

const API: ModelApi = ModelApi::Gemini;

/// What a result has for an image that stands beside it.
const REFERENCE: &str = "$ref";

/// A result as the interface has it: text as text, several blocks as a list, images beside it.
pub(super) fn write(result: &ResultBlock, omitted: &mut Omissions) -> Value {
    let mut parts = Vec::new();
    let mut said = Vec::new();
    for block in &result.blocks {
        match &block.content {
            Content::Text { text, .. } => said.push(json!(text)),
            Content::Image(image) => {
                let Some(mut fields) = write_image(image, omitted) else {
                    continue;
                };
                let name = format!("image-{}", parts.len());
                for inner in fields.values_mut().filter_map(Value::as_object_mut) {
                    inner.insert("displayName".to_owned(), json!(name));
                }
                parts.push(Value::Object(fields));
                said.push(json!({ REFERENCE: name }));
            }
            Content::Unknown { api, value } if *api == API => said.push(value.clone()),
            _ => omitted.add(crate::event::Omission::Unknown),
        }
    }
    let said = match said.as_slice() {
        [Value::String(text)] => json!(text),
        _ => Value::Array(said),
    };
    let response = match result.failed {
        true => json!({"error": said}),
        false => json!({"output": said}),
    };
    Value::Object(object([
        ("id", json!(result.id)),
        ("name", json!(result.name)),
        ("response", response),
        ("parts", if parts.is_empty() { Value::Null } else { Value::Array(parts) }),
    ]))
}

/// A result that stands in a request; nothing if it is not of the shape that this crate writes.
pub(super) fn read(value: &Value) -> Option<ResultBlock> {
    let text = |name| value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let response = value.get("response")?.as_object().filter(|response| response.len() == 1)?;
    let (failed, said) = match (response.get("error"), response.get("output")) {
        (Some(said), None) => (true, said),
        (None, Some(said)) => (false, said),
        _ => return None,
    };
    let parts = value.get("parts").and_then(Value::as_array);
    let image = |name: &str| {
        let part = parts.into_iter().flatten().find(|part| named(part, name))?;
        let mut part = part.clone();
        for inner in part.as_object_mut()?.values_mut().filter_map(Value::as_object_mut) {
            inner.remove("displayName");
        }
        Some(read_part(&part))
    };
    let block = |value: &Value| match value {
        Value::String(text) => Block::text(text),
        other => {
            let name = other.get(REFERENCE).and_then(Value::as_str);
            let unknown = || Block::new(Content::Unknown { api: API, value: other.clone() });
            name.and_then(image).unwrap_or_else(unknown)
        }
    };
    let blocks = match said {
        Value::Array(list) => list.iter().map(block).collect(),
        single => vec![block(single)],
    };
    Some(ResultBlock { id: text("id"), name: text("name"), blocks, failed })
}

fn named(part: &Value, name: &str) -> bool {
    let none = Map::new();
    let fields = part.as_object().unwrap_or(&none);
    fields.values().any(|inner| inner.get("displayName").and_then(Value::as_str) == Some(name))
}
