//! Messages, from contents.

use serde_json::Value;

use super::result;
use super::write::SIGNATURE;
use crate::assembly::made_up_id;
use crate::id::ModelApi;
use crate::json::{take_text, text};
use crate::message::{
    Block, CallBlock, Citation, Content, Fields, Image, Message, Native, Role, Seal,
    arguments_from_object,
};

const API: ModelApi = ModelApi::Gemini;

/// Messages that stand in a request.
pub(in super::super) fn read(contents: &[Value]) -> Vec<Message> {
    let mut read: Vec<Message> = contents.iter().map(read_content).collect();
    crate::results::name(&mut read);
    read
}

fn read_content(content: &Value) -> Message {
    let mut fields = content.as_object().cloned().unwrap_or_default();
    let role = match take_text(&mut fields, "role").as_deref() {
        Some("model") => Role::Assistant,
        _ => Role::User,
    };
    let blocks = match fields.remove("parts") {
        Some(Value::Array(parts)) => parts.iter().map(read_part).collect(),
        _ => Vec::new(),
    };
    Message { role, blocks, native: Native::of(API, fields) }
}

/// A part of a message.
pub(in super::super) fn read_part(part: &Value) -> Block {
    let unknown = || Block::new(Content::Unknown { api: API, value: part.clone() });
    let Some(object) = part.as_object() else {
        return unknown();
    };
    let mut fields = object.clone();
    let seal = take_text(&mut fields, SIGNATURE).map(|data| Seal { api: API, data });
    let is_thought = fields.get("thought").and_then(Value::as_bool).unwrap_or(false);
    let content = if let Some(text) = take_text(&mut fields, "text") {
        fields.remove("thought");
        match is_thought {
            true => Content::Reasoning { text, redacted: false },
            false => Content::Text { text, citations: Vec::new() },
        }
    } else if let Some(call) = fields.remove("functionCall") {
        match read_call(call, &mut fields) {
            Some(call) => Content::ToolCall(call),
            None => return unknown(),
        }
    } else if let Some(answer) = fields.remove("functionResponse") {
        match result::read(&answer) {
            Some(result) => Content::ToolResult(result),
            None => return unknown(),
        }
    } else if let Some(image) = read_image(&fields) {
        fields.remove("inlineData");
        fields.remove("fileData");
        Content::Image(image)
    } else {
        return unknown();
    };
    Block { content, seal, cache: None, native: Native::of(API, fields) }
}

/// A call. What it has beyond the call stays with the part.
fn read_call(call: Value, rest: &mut Fields) -> Option<CallBlock> {
    let Value::Object(mut fields) = call else {
        return None;
    };
    let name = take_text(&mut fields, "name")?;
    let id = take_text(&mut fields, "id").filter(|id| !id.is_empty());
    let arguments = arguments_from_object(&fields.remove("args").unwrap_or_default());
    if !fields.is_empty() {
        rest.insert("functionCall".to_owned(), Value::Object(fields));
    }
    Some(CallBlock { id: id.unwrap_or_else(made_up_id), name, arguments })
}

/// An image that has nothing but what the model of messages knows.
fn read_image(fields: &Fields) -> Option<Image> {
    if let Some(inline) = fields.get("inlineData") {
        let media_type = text(inline, "mimeType")?;
        let is_image = media_type.starts_with("image/") && inline.as_object()?.len() == 2;
        return is_image.then_some(Image::Inline {
            media_type: media_type.to_owned(),
            data: text(inline, "data")?.into(),
        });
    }
    let file = fields.get("fileData")?;
    let uri = text(file, "fileUri")?.to_owned();
    match (text(file, "mimeType"), file.as_object()?.len()) {
        (None, 1) => Some(Image::Url { url: uri }),
        (Some("image/*"), 2) => Some(Image::File { api: API, id: uri }),
        _ => None,
    }
}

/// A source of the answer.
pub(in super::super) fn read_citation(value: &Value) -> Citation {
    let text = |name| text(value, name).map(str::to_owned);
    Citation { api: API, title: text("title"), url: text("uri"), quote: None, value: value.clone() }
}
