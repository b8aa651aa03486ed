//! Messages, to JSON and back.

use serde_json::{Value, json};

use crate::event::Omission;
use crate::id::ModelApi;
use crate::json::{object, take_text};
use crate::message::{
    Block, CacheMark, CallBlock, Citation, Content, Fields, Image, Message, Native, ResultBlock,
    Role, Seal, arguments_from_object, arguments_to_object, restore,
};
use crate::wire::Omissions;

const API: ModelApi = ModelApi::Anthropic;

/// Messages as they stand in a request.
pub(super) fn write(messages: &[Message], omitted: &mut Omissions) -> Vec<Value> {
    let mut written = Vec::new();
    for message in messages {
        let content = write_blocks(&message.blocks, omitted);
        // The interface refuses messages that say nothing.
        if content.is_empty() {
            continue;
        }
        let role = match message.role {
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        let mut object = object([("role", json!(role)), ("content", Value::Array(content))]);
        restore(message.native.as_ref(), API, &mut object);
        written.push(Value::Object(object));
    }
    written
}

pub(super) fn write_blocks(blocks: &[Block], omitted: &mut Omissions) -> Vec<Value> {
    blocks.iter().filter_map(|block| write_block(block, omitted)).collect()
}

fn write_block(block: &Block, omitted: &mut Omissions) -> Option<Value> {
    let mut fields = match &block.content {
        Content::Text { text, citations } => {
            let own: Vec<Value> = citations
                .iter()
                .filter(|citation| citation.api == API)
                .map(|citation| citation.value.clone())
                .collect();
            if own.len() < citations.len() {
                omitted.add(Omission::Citation);
            }
            let citations = if own.is_empty() { Value::Null } else { Value::Array(own) };
            object([("type", json!("text")), ("text", json!(text)), ("citations", citations)])
        }
        Content::Image(image) => {
            let source = match image {
                Image::Inline { media_type, data } => {
                    json!({"type": "base64", "media_type": media_type, "data": &**data})
                }
                Image::Url { url } => json!({"type": "url", "url": url}),
                Image::File { api, id } if *api == API => json!({"type": "file", "file_id": id}),
                Image::File { .. } => {
                    omitted.add(Omission::File);
                    return None;
                }
            };
            object([("type", json!("image")), ("source", source)])
        }
        Content::Reasoning { text, redacted } => match block.seal_of(API) {
            Some(data) if *redacted => {
                object([("type", json!("redacted_thinking")), ("data", json!(data))])
            }
            Some(signature) => object([
                ("type", json!("thinking")),
                ("thinking", json!(text)),
                ("signature", json!(signature)),
            ]),
            // Without its signature the interface refuses it.
            None => {
                omitted.add(Omission::Reasoning);
                return None;
            }
        },
        Content::ToolCall(call) => object([
            ("type", json!("tool_use")),
            ("id", json!(call.id)),
            ("name", json!(call.name)),
            ("input", arguments_to_object(&call.arguments)),
        ]),
        Content::ToolResult(result) => object([
            ("type", json!("tool_result")),
            ("tool_use_id", json!(result.id)),
            ("content", Value::Array(write_blocks(&result.blocks, omitted))),
            ("is_error", if result.failed { json!(true) } else { Value::Null }),
        ]),
        Content::Unknown { api, value: Value::Object(fields) } if *api == API => fields.clone(),
        Content::Unknown { .. } => {
            omitted.add(Omission::Unknown);
            return None;
        }
    };
    if block.seal.as_ref().is_some_and(|seal| seal.api != API) {
        omitted.add(Omission::Seal);
    }
    if let Some(mark) = block.cache
        && !matches!(block.content, Content::Reasoning { .. })
    {
        fields.insert("cache_control".to_owned(), write_mark(mark));
    }
    block.restore(API, &mut fields);
    Some(Value::Object(fields))
}

pub(super) fn write_mark(mark: CacheMark) -> Value {
    match mark {
        CacheMark::Minutes => json!({"type": "ephemeral"}),
        CacheMark::Hour => json!({"type": "ephemeral", "ttl": "1h"}),
    }
}

/// Messages that stand in a request. Results of tools learn the names of their tools.
pub(super) fn read(messages: &[Value]) -> Vec<Message> {
    let mut read: Vec<Message> = messages.iter().map(read_message).collect();
    crate::results::name(&mut read);
    read
}

fn read_message(message: &Value) -> Message {
    let mut fields = message.as_object().cloned().unwrap_or_default();
    let role = match fields.remove("role").as_ref().and_then(Value::as_str) {
        Some("assistant") => Role::Assistant,
        _ => Role::User,
    };
    let blocks = read_content(fields.remove("content").as_ref());
    Message { role, blocks, native: Native::of(API, fields) }
}

/// Content, which may be a text alone.
fn read_content(content: Option<&Value>) -> Vec<Block> {
    match content {
        Some(Value::String(text)) => vec![Block::text(text)],
        Some(Value::Array(blocks)) => blocks.iter().map(read_block).collect(),
        _ => Vec::new(),
    }
}

/// A block of a message.
pub(super) fn read_block(value: &Value) -> Block {
    let unknown = || Block::new(Content::Unknown { api: API, value: value.clone() });
    let Some(object) = value.as_object() else {
        return unknown();
    };
    let mut fields = object.clone();
    let kind = take_text(&mut fields, "type").unwrap_or_default();
    let cache = read_mark(&mut fields);
    let mut seal = None;
    let content = match kind.as_str() {
        "text" => take_text(&mut fields, "text").map(|text| {
            let citations = match fields.remove("citations") {
                Some(Value::Array(citations)) => citations.into_iter().map(read_citation).collect(),
                _ => Vec::new(),
            };
            Content::Text { text, citations }
        }),
        "image" => fields.get("source").and_then(read_source).map(|image| {
            fields.remove("source");
            Content::Image(image)
        }),
        "thinking" => take_text(&mut fields, "thinking").map(|text| {
            seal = take_text(&mut fields, "signature").map(|data| Seal { api: API, data });
            Content::Reasoning { text, redacted: false }
        }),
        "redacted_thinking" => take_text(&mut fields, "data").map(|data| {
            seal = Some(Seal { api: API, data });
            Content::Reasoning { text: String::new(), redacted: true }
        }),
        "tool_use" => {
            let id = take_text(&mut fields, "id").unwrap_or_else(crate::assembly::made_up_id);
            take_text(&mut fields, "name").map(|name| {
                let input = fields.remove("input").unwrap_or_default();
                Content::ToolCall(CallBlock { id, name, arguments: arguments_from_object(&input) })
            })
        }
        "tool_result" => take_text(&mut fields, "tool_use_id").map(|id| {
            let blocks = read_content(fields.remove("content").as_ref());
            let failed = fields.remove("is_error").and_then(|failed| failed.as_bool());
            let failed = failed.unwrap_or(false);
            Content::ToolResult(ResultBlock { id, name: String::new(), blocks, failed })
        }),
        _ => None,
    };
    match content {
        Some(content) => Block { content, seal, cache, native: Native::of(API, fields) },
        None => unknown(),
    }
}

fn read_mark(fields: &mut Fields) -> Option<CacheMark> {
    let mark = fields.remove("cache_control")?;
    let ttl = mark.get("ttl").and_then(Value::as_str).unwrap_or("5m");
    match (mark.get("type").and_then(Value::as_str), ttl) {
        (Some("ephemeral"), "5m") => Some(CacheMark::Minutes),
        (Some("ephemeral"), "1h") => Some(CacheMark::Hour),
        _ => {
            fields.insert("cache_control".to_owned(), mark);
            None
        }
    }
}

fn read_source(source: &Value) -> Option<Image> {
    let text = |name| crate::json::text(source, name);
    match text("type")? {
        "base64" => Some(Image::Inline {
            media_type: text("media_type")?.to_owned(),
            data: text("data")?.into(),
        }),
        "url" => Some(Image::Url { url: text("url")?.to_owned() }),
        "file" => Some(Image::File { api: API, id: text("file_id")?.to_owned() }),
        _ => None,
    }
}

/// A citation, of a text or as it comes in a stream.
pub(super) fn read_citation(value: Value) -> Citation {
    let text = |names: [&str; 2]| {
        names.into_iter().find_map(|name| crate::json::text(&value, name)).map(str::to_owned)
    };
    Citation {
        api: API,
        title: text(["title", "document_title"]),
        url: text(["url", "source"]),
        quote: text(["cited_text", "cited_text"]),
        value,
    }
}
