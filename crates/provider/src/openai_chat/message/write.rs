//! Messages, to JSON.

use serde_json::{Value, json};

use super::{API, IMAGES_OF};
use crate::catalog::Quirks;
use crate::event::Omission;
use crate::json::object;
use crate::message::{Block, Content, Fields, Image, Message, Native, ResultBlock, Role, restore};
use crate::results::with_failure;
use crate::wire::Omissions;

/// Messages as they stand in a request.
pub(in super::super) fn write(
    messages: &[Message],
    quirks: &Quirks,
    omitted: &mut Omissions,
) -> Vec<Value> {
    let mut written = Vec::new();
    for message in messages {
        match message.role {
            Role::User => write_user(message, quirks, omitted, &mut written),
            Role::Assistant => written.extend(write_assistant(message, quirks, omitted)),
        }
    }
    written
}

fn write_user(
    message: &Message,
    quirks: &Quirks,
    omitted: &mut Omissions,
    written: &mut Vec<Value>,
) {
    let mut parts = Vec::new();
    for result in message.results() {
        let (texts, images): (Vec<Block>, Vec<Block>) = with_failure(result)
            .into_iter()
            .partition(|block| !matches!(block.content, Content::Image(_)));
        written.push(write_result(result, &texts, quirks, omitted));
        if !images.is_empty() {
            parts.push(json!({"type": "text", "text": format!("{IMAGES_OF}{}:", result.id)}));
            parts.extend(images.iter().filter_map(|image| write_part(image, omitted)));
        }
    }
    let others =
        message.blocks.iter().filter(|block| !matches!(block.content, Content::ToolResult(_)));
    parts.extend(others.filter_map(|block| write_part(block, omitted)));
    if !parts.is_empty() {
        written.push(Value::Object(with_content("user", parts, message.native.as_ref())));
    }
}

fn write_result(
    result: &ResultBlock,
    texts: &[Block],
    quirks: &Quirks,
    omitted: &mut Omissions,
) -> Value {
    let parts: Vec<Value> = texts.iter().filter_map(|text| write_part(text, omitted)).collect();
    let content = match parts.as_slice() {
        _ if quirks.text_results => {
            let texts: Vec<&str> = texts.iter().filter_map(Block::as_text).collect();
            json!(texts.join("\n"))
        }
        [] => json!(""),
        parts => single_text(parts).unwrap_or_else(|| json!(parts)),
    };
    json!({"role": "tool", "tool_call_id": result.id, "content": content})
}

fn write_assistant(message: &Message, quirks: &Quirks, omitted: &mut Omissions) -> Option<Value> {
    let (mut parts, mut calls, mut reasoning) = (Vec::new(), Vec::new(), String::new());
    for block in &message.blocks {
        if block.seal.as_ref().is_some_and(|seal| seal.api != API) {
            omitted.add(Omission::Seal);
        }
        match &block.content {
            Content::ToolCall(call) => {
                let function = json!({"name": call.name, "arguments": call.arguments});
                let mut fields = object([
                    ("id", json!(call.id)),
                    ("type", json!("function")),
                    ("function", function),
                ]);
                block.restore(API, &mut fields);
                calls.push(Value::Object(fields));
            }
            Content::Reasoning { text, .. } if quirks.return_reasoning => reasoning.push_str(text),
            Content::Reasoning { .. } => omitted.add(Omission::Reasoning),
            // Calls of another kind than functions.
            Content::Unknown { api, value } if *api == API && is_call(value) => {
                calls.push(value.clone());
            }
            _ => parts.extend(write_part(block, omitted)),
        }
    }
    if parts.is_empty() && calls.is_empty() && reasoning.is_empty() {
        return None;
    }
    let mut fields = with_content("assistant", parts, message.native.as_ref());
    // Annotations stand beside the text.
    let mut annotations = Vec::new();
    for block in &message.blocks {
        if let Content::Text { citations, .. } = &block.content {
            for citation in citations {
                match citation.api == API {
                    true => annotations.push(citation.value.clone()),
                    false => omitted.add(Omission::Citation),
                }
            }
        }
    }
    if !annotations.is_empty() {
        fields.insert("annotations".to_owned(), Value::Array(annotations));
    }
    if !calls.is_empty() {
        fields.insert("tool_calls".to_owned(), Value::Array(calls));
    }
    if !reasoning.is_empty() {
        let field = quirks.reasoning_field.as_deref().unwrap_or("reasoning_content");
        fields.insert(field.to_owned(), json!(reasoning));
    }
    Some(Value::Object(fields))
}

fn is_call(value: &Value) -> bool {
    value.get("id").is_some() && value.get("type").is_some()
}

/// A message with content, which is a text alone if that says all.
fn with_content(role: &str, parts: Vec<Value>, native: Option<&Native>) -> Fields {
    let content = match parts.as_slice() {
        [] => Value::Null,
        parts => single_text(parts).unwrap_or_else(|| json!(parts)),
    };
    let mut fields = object([("role", json!(role))]);
    fields.insert("content".to_owned(), content);
    restore(native, API, &mut fields);
    fields
}

/// The text of the only part, if it has nothing but that.
fn single_text(parts: &[Value]) -> Option<Value> {
    match parts {
        [Value::Object(part)] if part.len() == 2 && part.get("type") == Some(&json!("text")) => {
            part.get("text").cloned()
        }
        _ => None,
    }
}

fn write_part(block: &Block, omitted: &mut Omissions) -> Option<Value> {
    let mut fields = match &block.content {
        Content::Text { text, .. } => {
            let is_refusal = block.native.as_ref().is_some_and(|native| {
                native.api == API && native.fields.get("type") == Some(&json!("refusal"))
            });
            let kind = if is_refusal { "refusal" } else { "text" };
            object([("type", json!(kind)), (kind, json!(text))])
        }
        Content::Image(image) => {
            let mut fields = match image {
                Image::Inline { media_type, data } => {
                    object([("url", json!(format!("data:{media_type};base64,{data}")))])
                }
                Image::Url { url } => object([("url", json!(url))]),
                Image::File { .. } => {
                    omitted.add(Omission::File);
                    return None;
                }
            };
            let own = block.native.as_ref().filter(|native| native.api == API);
            if let Some(detail) = own.and_then(|native| native.fields.get("detail")) {
                fields.insert("detail".to_owned(), detail.clone());
            }
            return Some(json!({"type": "image_url", "image_url": fields}));
        }
        Content::Unknown { api, value: Value::Object(fields) } if *api == API => fields.clone(),
        Content::Unknown { .. } => {
            omitted.add(Omission::Unknown);
            return None;
        }
        // Messages of the user have none of them, and those of the model are written elsewhere.
        Content::Reasoning { .. } | Content::ToolCall(_) | Content::ToolResult(_) => return None,
    };
    block.restore(API, &mut fields);
    Some(Value::Object(fields))
}
