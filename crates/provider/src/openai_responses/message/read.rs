//! Messages, from items.

use serde_json::{Value, json};

use super::{API, ITEM};
use crate::assembly::made_up_id;
use crate::json::{list, take_text, text};
use crate::message::{
    Block, CallBlock, Citation, Content, Fields, Image, Message, Native, ResultBlock, Role, Seal,
};
use crate::results::{name, take_failure};

/// Messages that stand in a request: items of one role that follow each other are one message.
pub(in super::super) fn read(items: &[Value]) -> Vec<Message> {
    let mut read: Vec<Message> = Vec::new();
    for item in items {
        let role = match (text(item, "role"), text(item, "type").unwrap_or_default()) {
            (Some("assistant"), _) => Role::Assistant,
            (Some("user"), _) => Role::User,
            (Some(_), _) => continue,
            (None, kind) if kind.ends_with("_output") => Role::User,
            (None, _) => Role::Assistant,
        };
        let blocks = read_item(item);
        match read.last_mut() {
            Some(last) if last.role == role => last.blocks.extend(blocks),
            _ => read.push(Message { role, blocks, native: None }),
        }
    }
    name(&mut read);
    read
}

/// The blocks of an item.
pub(in super::super) fn read_item(item: &Value) -> Vec<Block> {
    let unknown = || vec![Block::new(Content::Unknown { api: API, value: item.clone() })];
    let Some(object) = item.as_object() else {
        return unknown();
    };
    let mut fields = object.clone();
    let kind = take_text(&mut fields, "type");
    match kind.as_deref() {
        Some("message") | None if fields.contains_key("role") => read_message(fields),
        Some("function_call") => {
            let id = take_text(&mut fields, "call_id").unwrap_or_else(made_up_id);
            let arguments = take_text(&mut fields, "arguments").unwrap_or_default();
            match take_text(&mut fields, "name") {
                Some(name) => {
                    let content = Content::ToolCall(CallBlock { id, name, arguments });
                    vec![Block { native: Native::of(API, fields), ..Block::new(content) }]
                }
                None => unknown(),
            }
        }
        Some("function_call_output") => {
            let id = take_text(&mut fields, "call_id").unwrap_or_default();
            let mut blocks = match fields.remove("output") {
                Some(Value::String(text)) if text.is_empty() => Vec::new(),
                Some(Value::String(text)) => vec![Block::text(text)],
                Some(Value::Array(parts)) => parts.iter().map(read_part).collect(),
                _ => Vec::new(),
            };
            let failed = take_failure(&mut blocks);
            let result = ResultBlock { id, name: String::new(), blocks, failed };
            let content = Content::ToolResult(result);
            vec![Block { native: Native::of(API, fields), ..Block::new(content) }]
        }
        Some("reasoning") => vec![read_reasoning(fields)],
        _ => unknown(),
    }
}

fn read_message(mut fields: Fields) -> Vec<Block> {
    fields.remove("role");
    let mut blocks = match fields.remove("content") {
        Some(Value::String(text)) => vec![Block::text(text)],
        Some(Value::Array(parts)) => parts.iter().map(read_part).collect(),
        _ => Vec::new(),
    };
    if let Some(first) = blocks.first_mut()
        && !fields.is_empty()
    {
        let native = first.native.get_or_insert_with(|| Native { api: API, fields: Fields::new() });
        native.fields.insert(ITEM.to_owned(), Value::Object(fields));
    }
    blocks
}

fn read_reasoning(mut fields: Fields) -> Block {
    let texts = |name: &str, fields: &Fields| -> Vec<String> {
        let parts = fields.get(name).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        parts.iter().filter_map(|part| text(part, "text")).map(str::to_owned).collect()
    };
    let seal = take_text(&mut fields, "encrypted_content").map(|data| Seal { api: API, data });
    if fields.get("encrypted_content").is_some_and(Value::is_null) {
        fields.remove("encrypted_content");
    }
    let mut all = texts("summary", &fields);
    all.extend(texts("content", &fields));
    let text = all.join("\n\n");
    // A summary of one text, or of none, is written again from the text.
    let plain = match text.is_empty() {
        true => json!([]),
        false => json!([{"type": "summary_text", "text": text}]),
    };
    if fields.get("summary") == Some(&plain) {
        fields.remove("summary");
    }
    let content = Content::Reasoning { text, redacted: false };
    Block { content, seal, cache: None, native: Native::of(API, fields) }
}

fn read_part(part: &Value) -> Block {
    let unknown = || Block::new(Content::Unknown { api: API, value: part.clone() });
    let Some(object) = part.as_object() else {
        return unknown();
    };
    let mut fields = object.clone();
    let kind = take_text(&mut fields, "type").unwrap_or_default();
    let content = match kind.as_str() {
        "input_text" | "output_text" => take_text(&mut fields, "text").map(|text| {
            let citations = list(part, "annotations").iter().map(read_annotation).collect();
            fields.remove("annotations");
            // An empty list says nothing.
            fields.retain(|name, value| name != "logprobs" || *value != json!([]));
            Content::Text { text, citations }
        }),
        "refusal" => take_text(&mut fields, "refusal").map(|text| {
            fields.insert("type".to_owned(), json!("refusal"));
            Content::Text { text, citations: Vec::new() }
        }),
        "input_image" => {
            let url = take_text(&mut fields, "image_url").map(|url| read_image(&url));
            let file = || take_text(&mut fields, "file_id").map(|id| Image::File { api: API, id });
            url.or_else(file).map(Content::Image)
        }
        _ => None,
    };
    match content {
        Some(content) => Block { native: Native::of(API, fields), ..Block::new(content) },
        None => unknown(),
    }
}

fn read_image(url: &str) -> Image {
    match url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,")) {
        Some((media_type, data)) => {
            Image::Inline { media_type: media_type.to_owned(), data: data.into() }
        }
        None => Image::Url { url: url.to_owned() },
    }
}

/// A note on where a text comes from.
pub(in super::super) fn read_annotation(value: &Value) -> Citation {
    let text = |name| text(value, name).map(str::to_owned);
    Citation {
        api: API,
        title: text("title").or_else(|| text("filename")),
        url: text("url"),
        quote: None,
        value: value.clone(),
    }
}
