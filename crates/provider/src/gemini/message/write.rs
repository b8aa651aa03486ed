//! Messages, to contents.

use serde_json::{Value, json};

use super::result;
use crate::event::Omission;
use crate::id::ModelApi;
use crate::json::object;
use crate::message::{Block, Content, Fields, Image, Message, Role, arguments_to_object, restore};
use crate::wire::Omissions;

const API: ModelApi = ModelApi::Gemini;

/// Where a part has what the vendor wants back.
pub(super) const SIGNATURE: &str = "thoughtSignature";

/// Messages as they stand in a request.
pub(in super::super) fn write(messages: &[Message], omitted: &mut Omissions) -> Vec<Value> {
    let mut contents = Vec::new();
    for message in messages {
        let parts = write_parts(&message.blocks, omitted);
        if parts.is_empty() {
            continue;
        }
        let role = match message.role {
            Role::User => "user",
            Role::Assistant => "model",
        };
        let mut fields = object([("role", json!(role)), ("parts", Value::Array(parts))]);
        restore(message.native.as_ref(), API, &mut fields);
        contents.push(Value::Object(fields));
    }
    contents
}

/// Blocks as they stand in a message.
pub(in super::super) fn write_parts(blocks: &[Block], omitted: &mut Omissions) -> Vec<Value> {
    blocks.iter().filter_map(|block| write_part(block, omitted)).collect()
}

fn write_part(block: &Block, omitted: &mut Omissions) -> Option<Value> {
    let mut fields = match &block.content {
        Content::Text { text, citations } => {
            // Requests have no place for them.
            if citations.iter().any(|citation| citation.api != API) {
                omitted.add(Omission::Citation);
            }
            object([("text", json!(text))])
        }
        Content::Image(image) => write_image(image, omitted)?,
        Content::Reasoning { text, .. } => {
            // Thoughts of others would be taken for the answer.
            if block.seal.as_ref().is_some_and(|seal| seal.api != API) {
                omitted.add(Omission::Reasoning);
                return None;
            }
            object([("text", json!(text)), ("thought", json!(true))])
        }
        Content::ToolCall(call) => {
            let mut called = object([
                ("id", json!(call.id)),
                ("name", json!(call.name)),
                ("args", arguments_to_object(&call.arguments)),
            ]);
            restore_inner(block, "functionCall", &mut called);
            object([("functionCall", Value::Object(called))])
        }
        Content::ToolResult(result) => {
            let response = result::write(result, omitted);
            object([("functionResponse", response)])
        }
        Content::Unknown { api, value: Value::Object(fields) } if *api == API => fields.clone(),
        Content::Unknown { .. } => {
            omitted.add(Omission::Unknown);
            return None;
        }
    };
    if block.seal.as_ref().is_some_and(|seal| seal.api != API) {
        omitted.add(Omission::Seal);
    }
    if let Some(signature) = block.seal_of(API) {
        fields.insert(SIGNATURE.to_owned(), json!(signature));
    }
    block.restore(API, &mut fields);
    Some(Value::Object(fields))
}

/// Puts back fields of an object within a part.
fn restore_inner(block: &Block, name: &str, inner: &mut Fields) {
    let own = block.native.as_ref().filter(|native| native.api == API);
    let fields = own.and_then(|native| native.fields.get(name)).and_then(Value::as_object);
    for (name, value) in fields.into_iter().flatten() {
        inner.entry(name).or_insert_with(|| value.clone());
    }
}

pub(super) fn write_image(image: &Image, omitted: &mut Omissions) -> Option<Fields> {
    Some(match image {
        Image::Inline { media_type, data } => {
            object([("inlineData", json!({"mimeType": media_type, "data": &**data}))])
        }
        Image::Url { url } => object([("fileData", json!({"fileUri": url}))]),
        Image::File { api, id } if *api == API => {
            object([("fileData", json!({"fileUri": id, "mimeType": "image/*"}))])
        }
        Image::File { .. } => {
            omitted.add(Omission::File);
            return None;
        }
    })
}
