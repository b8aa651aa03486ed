//! Messages, from JSON.

use serde_json::{Value, json};

use super::{API, IMAGES_OF};
use crate::json::{list, take_text, text, text_at};
use crate::message::{
    Block, CallBlock, Citation, Content, Fields, Image, Message, Native, ResultBlock, Role,
};
use crate::results::{name, take_failure};

/// Messages that stand in a request, without the system prompt.
pub(in super::super) fn read(messages: &[Value]) -> Vec<Message> {
    let mut read: Vec<Message> = Vec::new();
    // Results and what the user says behind them are one message.
    let mut has_results = false;
    for message in messages {
        match text(message, "role").unwrap_or_default() {
            "assistant" => {
                has_results = false;
                read.push(read_assistant(message));
            }
            "tool" => {
                let result = read_result(message);
                match read.last_mut() {
                    Some(last) if has_results => last.blocks.push(result),
                    _ => read.push(Message::user([result])),
                }
                has_results = true;
            }
            "user" => {
                let blocks = read_parts(message.get("content"));
                let native = rest(message, &["role", "content"]);
                match read.last_mut() {
                    Some(last) if has_results => {
                        let others = move_images(last, blocks);
                        last.blocks.extend(others);
                        last.native = native;
                    }
                    _ => read.push(Message { role: Role::User, blocks, native }),
                }
                has_results = false;
            }
            _ => has_results = false,
        }
    }
    name(&mut read);
    read
}

/// Moves images into the results that they belong to.
fn move_images(message: &mut Message, blocks: Vec<Block>) -> Vec<Block> {
    let mut target: Option<String> = None;
    let mut others = Vec::new();
    for block in blocks {
        let named =
            block.as_text().and_then(|text| text.strip_prefix(IMAGES_OF)?.strip_suffix(':'));
        if let Some(id) = named
            && message.results().any(|result| result.id == id)
        {
            target = Some(id.to_owned());
            continue;
        }
        let is_image = matches!(block.content, Content::Image(_));
        let result = message.blocks.iter_mut().find_map(|known| match &mut known.content {
            Content::ToolResult(result) if Some(&result.id) == target.as_ref() => Some(result),
            _ => None,
        });
        match result {
            Some(result) if is_image => result.blocks.push(block),
            _ => {
                target = None;
                others.push(block);
            }
        }
    }
    others
}

fn read_result(message: &Value) -> Block {
    let mut blocks = read_parts(message.get("content"));
    blocks.retain(|block| block.as_text() != Some(""));
    let failed = take_failure(&mut blocks);
    let id = text(message, "tool_call_id").unwrap_or_default().to_owned();
    Block::new(Content::ToolResult(ResultBlock { id, name: String::new(), blocks, failed }))
}

fn read_assistant(message: &Value) -> Message {
    let mut blocks = Vec::new();
    if let Some(text) = reasoning(message).filter(|text| !text.is_empty()) {
        blocks.push(Block::reasoning(text));
    }
    let mut parts = read_parts(message.get("content"));
    if let Some(refusal) = text(message, "refusal") {
        parts.push(read_part(&json!({"type": "refusal", "refusal": refusal})));
    }
    if let Some(first) = parts.iter_mut().find(|part| part.as_text().is_some())
        && let Content::Text { citations, .. } = &mut first.content
    {
        citations.extend(list(message, "annotations").iter().map(read_annotation));
    }
    blocks.append(&mut parts);
    blocks.extend(list(message, "tool_calls").iter().map(read_call));
    let known = [
        "role",
        "content",
        "refusal",
        "annotations",
        "tool_calls",
        "reasoning",
        "reasoning_content",
    ];
    Message { role: Role::Assistant, blocks, native: rest(message, &known) }
}

/// The reasoning of a message or of a piece of one, wherever the server has it.
pub(in super::super) fn reasoning(message: &Value) -> Option<&str> {
    text(message, "reasoning_content").or_else(|| text(message, "reasoning"))
}

/// What an object has beyond what is known; nothing that is null.
fn rest(object: &Value, known: &[&str]) -> Option<Native> {
    let fields = object.as_object().into_iter().flatten();
    let fields: Fields = fields
        .filter(|(name, value)| !known.contains(&name.as_str()) && !value.is_null())
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    Native::of(API, fields)
}

/// A call of a whole message.
pub(in super::super) fn read_call(call: &Value) -> Block {
    let Some(called) = text_at(call, "/function/name") else {
        return Block::new(Content::Unknown { api: API, value: call.clone() });
    };
    // Some servers have an object where a text belongs.
    let arguments = match call.pointer("/function/arguments") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) | None => String::new(),
        Some(other) => other.to_string(),
    };
    let id = text(call, "id").filter(|id| !id.is_empty());
    let id = id.map_or_else(crate::assembly::made_up_id, str::to_owned);
    let content = Content::ToolCall(CallBlock { id, name: called.to_owned(), arguments });
    let native = rest(call, &["id", "type", "function", "index"]);
    Block { native, ..Block::new(content) }
}

/// Content, which may be a text alone.
pub(in super::super) fn read_parts(content: Option<&Value>) -> Vec<Block> {
    match content {
        Some(Value::String(text)) => vec![Block::text(text)],
        Some(Value::Array(parts)) => parts.iter().map(read_part).collect(),
        _ => Vec::new(),
    }
}

fn read_part(part: &Value) -> Block {
    let unknown = || Block::new(Content::Unknown { api: API, value: part.clone() });
    let Some(object) = part.as_object() else {
        return unknown();
    };
    let mut fields = object.clone();
    match take_text(&mut fields, "type").as_deref() {
        Some("text") => match take_text(&mut fields, "text") {
            Some(text) => Block { native: Native::of(API, fields), ..Block::text(text) },
            None => unknown(),
        },
        Some("refusal") => match take_text(&mut fields, "refusal") {
            Some(text) => {
                fields.insert("type".to_owned(), json!("refusal"));
                Block { native: Native::of(API, fields), ..Block::text(text) }
            }
            None => unknown(),
        },
        Some("image_url") => match text_at(part, "/image_url/url") {
            Some(url) => {
                let native = part.get("image_url").and_then(|image| rest(image, &["url"]));
                Block { native, ..Block::new(Content::Image(read_image(url))) }
            }
            None => unknown(),
        },
        _ => unknown(),
    }
}

fn read_image(url: &str) -> Image {
    let inline = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
    match inline {
        Some((media_type, data)) => {
            Image::Inline { media_type: media_type.to_owned(), data: data.into() }
        }
        None => Image::Url { url: url.to_owned() },
    }
}

/// A note on where a text comes from.
pub(in super::super) fn read_annotation(value: &Value) -> Citation {
    let text = |name| text_at(value, &format!("/url_citation/{name}")).map(str::to_owned);
    Citation { api: API, title: text("title"), url: text("url"), quote: None, value: value.clone() }
}
