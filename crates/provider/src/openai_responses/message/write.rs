//! Messages, to items.

use serde_json::{Value, json};

use super::{API, ITEM};
use crate::event::Omission;
use crate::json::object;
use crate::message::{Block, Content, Fields, Image, Message, Role};
use crate::results::with_failure;
use crate::wire::Omissions;

/// Messages as they stand in a request. One message may be several items.
pub(in super::super) fn write(messages: &[Message], omitted: &mut Omissions) -> Vec<Value> {
    let mut items = Vec::new();
    for message in messages {
        let mut item = Item { role: message.role, fields: Fields::new(), parts: Vec::new() };
        for block in &message.blocks {
            if let Some(part) = write_part(block, message.role, omitted) {
                let own = own_item(block);
                if own.is_some() {
                    item.finish(&mut items);
                }
                item.fields.extend(own.into_iter().flatten());
                item.parts.push(part);
            } else if let Some(whole) = write_item(block, omitted) {
                item.finish(&mut items);
                items.push(whole);
            }
        }
        item.finish(&mut items);
    }
    items
}

/// An item that is a message, as it grows.
struct Item {
    role: Role,
    fields: Fields,
    parts: Vec<Value>,
}

impl Item {
    fn finish(&mut self, items: &mut Vec<Value>) {
        let mut fields = std::mem::take(&mut self.fields);
        let parts = std::mem::take(&mut self.parts);
        if parts.is_empty() {
            return;
        }
        let role = match self.role {
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        fields.insert("type".to_owned(), json!("message"));
        fields.insert("role".to_owned(), json!(role));
        fields.insert("content".to_owned(), Value::Array(parts));
        items.push(Value::Object(fields));
    }
}

/// The fields of the item that a block begins.
fn own_item(block: &Block) -> Option<Fields> {
    let native = block.native.as_ref().filter(|native| native.api == API)?;
    native.fields.get(ITEM)?.as_object().cloned()
}

fn restore(block: &Block, fields: &mut Fields) {
    block.restore(API, fields);
    fields.remove(ITEM);
}

/// A part of a message, if the block is one.
fn write_part(block: &Block, role: Role, omitted: &mut Omissions) -> Option<Value> {
    let mut fields = match &block.content {
        Content::Text { text, citations } => {
            let is_refusal = block.native.as_ref().is_some_and(|native| {
                native.api == API && native.fields.get("type") == Some(&json!("refusal"))
            });
            match role {
                Role::User => object([("type", json!("input_text")), ("text", json!(text))]),
                Role::Assistant if is_refusal => {
                    object([("type", json!("refusal")), ("refusal", json!(text))])
                }
                Role::Assistant => {
                    let own = citations.iter().filter(|citation| citation.api == API);
                    let own: Vec<Value> = own.map(|citation| citation.value.clone()).collect();
                    if own.len() < citations.len() {
                        omitted.add(Omission::Citation);
                    }
                    object([
                        ("type", json!("output_text")),
                        ("text", json!(text)),
                        ("annotations", Value::Array(own)),
                    ])
                }
            }
        }
        Content::Image(image) => {
            let (name, value) = match image {
                Image::Inline { media_type, data } => {
                    ("image_url", json!(format!("data:{media_type};base64,{data}")))
                }
                Image::Url { url } => ("image_url", json!(url)),
                Image::File { api, id } if *api == API => ("file_id", json!(id)),
                Image::File { .. } => {
                    omitted.add(Omission::File);
                    return None;
                }
            };
            object([("type", json!("input_image")), (name, value)])
        }
        Content::Unknown { api, value: Value::Object(fields) }
            if *api == API && is_part(value_type(fields)) =>
        {
            fields.clone()
        }
        _ => return None,
    };
    restore(block, &mut fields);
    Some(Value::Object(fields))
}

fn value_type(fields: &Fields) -> &str {
    fields.get("type").and_then(Value::as_str).unwrap_or_default()
}

/// Whether what has that type is a part of a message, and no item.
fn is_part(kind: &str) -> bool {
    kind.starts_with("input_") || kind.starts_with("output_") || kind == "refusal"
}

/// An item of its own, if the block is one.
fn write_item(block: &Block, omitted: &mut Omissions) -> Option<Value> {
    let mut fields = match &block.content {
        Content::ToolCall(call) => object([
            ("type", json!("function_call")),
            ("call_id", json!(call.id)),
            ("name", json!(call.name)),
            ("arguments", json!(call.arguments)),
        ]),
        Content::ToolResult(result) => {
            let blocks = with_failure(result);
            let parts: Vec<Value> =
                blocks.iter().filter_map(|block| write_part(block, Role::User, omitted)).collect();
            let output = match parts.as_slice() {
                [] => json!(""),
                [Value::Object(part)] if part.len() == 2 && value_type(part) == "input_text" => {
                    part.get("text").cloned().unwrap_or_default()
                }
                parts => json!(parts),
            };
            object([
                ("type", json!("function_call_output")),
                ("call_id", json!(result.id)),
                ("output", output),
            ])
        }
        Content::Reasoning { text, .. } => {
            let own = block.native.as_ref().is_some_and(|native| native.api == API);
            let seal = block.seal_of(API);
            // What is neither encrypted nor known by an id means nothing to the interface.
            if seal.is_none() && !own {
                omitted.add(Omission::Reasoning);
                return None;
            }
            let summary = match text.is_empty() {
                true => json!([]),
                false => json!([{"type": "summary_text", "text": text}]),
            };
            let mut fields =
                object([("type", json!("reasoning")), ("encrypted_content", json!(seal))]);
            block.restore(API, &mut fields);
            fields.entry("summary").or_insert(summary);
            fields
        }
        Content::Unknown { api, value: Value::Object(fields) } if *api == API => fields.clone(),
        Content::Unknown { .. } => {
            omitted.add(Omission::Unknown);
            return None;
        }
        Content::Text { .. } | Content::Image(_) => return None,
    };
    if block.seal.as_ref().is_some_and(|seal| seal.api != API) {
        omitted.add(Omission::Seal);
    }
    restore(block, &mut fields);
    Some(Value::Object(fields))
}
