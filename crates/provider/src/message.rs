//! Messages of a conversation: one model for all interfaces, which loses nothing of any.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::id::ModelApi;

/// Fields of a JSON object.
pub type Fields = Map<String, Value>;

/// One message: who says it, and what.
///
/// ```
/// use offshoot_provider::{Block, Message, Role};
///
/// let message = Message::user([Block::text("What is in this folder?")]);
/// assert_eq!(message.role, Role::User);
/// assert_eq!(message.text(), "What is in this folder?");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Who says it. Results of tools are the user's.
    pub role: Role,
    /// What is said, in order.
    pub blocks: Vec<Block>,
    /// What the vendor's message has beyond its blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native: Option<Native>,
}

/// Who says a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The person or program that asks, and its tools.
    User,
    /// The model.
    Assistant,
}

/// A piece of a message, with what belongs to it for a vendor or a cache.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Block {
    /// What it says.
    pub content: Content,
    /// What the vendor signed or encrypted, and wants back unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seal: Option<Seal>,
    /// Ends a prefix of the prompt that is to be cached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheMark>,
    /// What the vendor's block has beyond this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native: Option<Native>,
}

/// What a block says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "type")]
pub enum Content {
    /// Text.
    Text {
        /// The text.
        text: String,
        /// What it is taken from.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        citations: Vec<Citation>,
    },
    /// An image.
    Image(Image),
    /// What a model thought.
    Reasoning {
        /// What can be read of it, which may be nothing.
        text: String,
        /// Whether the vendor keeps the text to itself.
        #[serde(default)]
        redacted: bool,
    },
    /// A tool is to be called.
    ToolCall(CallBlock),
    /// What a tool answered.
    ToolResult(ResultBlock),
    /// A block that this model does not know, as it is.
    Unknown {
        /// The interface that it comes from, and alone goes back to.
        api: ModelApi,
        /// The block.
        value: Value,
    },
}

/// An image.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "source")]
pub enum Image {
    /// The image itself.
    Inline {
        /// Such as `image/png`.
        media_type: String,
        /// The bytes in base64; shared, because conversations are copied.
        #[serde(with = "shared_text")]
        data: Arc<str>,
    },
    /// An address that the vendor fetches it from.
    Url {
        /// The address.
        url: String,
    },
    /// A file that was uploaded to the vendor.
    File {
        /// The interface that the file was uploaded by.
        api: ModelApi,
        /// Its name there.
        id: String,
    },
}

/// The call of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallBlock {
    /// Names the call in its result.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments, as the model wrote them; most often JSON.
    pub arguments: String,
}

/// The result of a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResultBlock {
    /// The call that it answers.
    pub id: String,
    /// The tool, which Gemini wants to be told again.
    #[serde(default)]
    pub name: String,
    /// What the tool answered: texts and images.
    pub blocks: Vec<Block>,
    /// Whether the tool failed.
    #[serde(default)]
    pub failed: bool,
}

/// Where a text comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Citation {
    /// The interface that it comes from, and alone goes back to.
    pub api: ModelApi,
    /// The title of the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The address of the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The words of the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
    /// The citation as the vendor has it.
    pub value: Value,
}

/// What a vendor signed or encrypted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seal {
    /// The interface that it comes from, and alone goes back to.
    pub api: ModelApi,
    /// The signature or what is encrypted.
    pub data: String,
}

/// How long a prefix of a prompt is to be cached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CacheMark {
    /// Five minutes after it was last used.
    #[serde(rename = "5m")]
    Minutes,
    /// An hour after it was last used.
    #[serde(rename = "1h")]
    Hour,
}

/// Fields of a vendor's JSON that the model of messages does not know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Native {
    /// The interface that they come from, and alone go back to.
    pub api: ModelApi,
    /// The fields.
    pub fields: Fields,
}

impl Message {
    /// What the user says.
    pub fn user(blocks: impl IntoIterator<Item = Block>) -> Self {
        Self { role: Role::User, blocks: blocks.into_iter().collect(), native: None }
    }

    /// What the model says.
    pub fn assistant(blocks: impl IntoIterator<Item = Block>) -> Self {
        Self { role: Role::Assistant, blocks: blocks.into_iter().collect(), native: None }
    }

    /// All text of the message.
    pub fn text(&self) -> String {
        self.blocks.iter().filter_map(Block::as_text).collect()
    }

    /// The calls of tools in the message.
    pub fn calls(&self) -> impl Iterator<Item = &CallBlock> {
        self.blocks.iter().filter_map(|block| match &block.content {
            Content::ToolCall(call) => Some(call),
            _ => None,
        })
    }

    /// The results of tools in the message.
    pub fn results(&self) -> impl Iterator<Item = &ResultBlock> {
        self.blocks.iter().filter_map(|block| match &block.content {
            Content::ToolResult(result) => Some(result),
            _ => None,
        })
    }
}

impl Block {
    /// A block that only says something.
    pub fn new(content: Content) -> Self {
        Self { content, seal: None, cache: None, native: None }
    }

    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(Content::Text { text: text.into(), citations: Vec::new() })
    }

    /// An image, whose bytes are given in base64.
    pub fn image(media_type: impl Into<String>, data: impl Into<Arc<str>>) -> Self {
        Self::new(Content::Image(Image::Inline {
            media_type: media_type.into(),
            data: data.into(),
        }))
    }

    /// What a model thought.
    pub fn reasoning(text: impl Into<String>) -> Self {
        Self::new(Content::Reasoning { text: text.into(), redacted: false })
    }

    /// The call of a tool.
    pub fn call(
        id: impl Into<String>,
        name: impl Into<String>,
        arguments: impl Into<String>,
    ) -> Self {
        Self::new(Content::ToolCall(CallBlock {
            id: id.into(),
            name: name.into(),
            arguments: arguments.into(),
        }))
    }

    /// What a tool answered to a call.
    pub fn result(call: &CallBlock, blocks: impl IntoIterator<Item = Self>) -> Self {
        Self::new(Content::ToolResult(ResultBlock {
            id: call.id.clone(),
            name: call.name.clone(),
            blocks: blocks.into_iter().collect(),
            failed: false,
        }))
    }

    /// Why a tool failed.
    pub fn failure(call: &CallBlock, why: impl Into<String>) -> Self {
        Self::new(Content::ToolResult(ResultBlock {
            id: call.id.clone(),
            name: call.name.clone(),
            blocks: vec![Self::text(why)],
            failed: true,
        }))
    }

    /// The block with a cache mark.
    #[must_use]
    pub fn cached(mut self, mark: CacheMark) -> Self {
        self.cache = Some(mark);
        self
    }

    /// The text, if it is one.
    pub fn as_text(&self) -> Option<&str> {
        match &self.content {
            Content::Text { text, .. } => Some(text),
            _ => None,
        }
    }

    /// The seal, if it comes from an interface.
    pub(crate) fn seal_of(&self, api: ModelApi) -> Option<&str> {
        self.seal.as_ref().filter(|seal| seal.api == api).map(|seal| seal.data.as_str())
    }

    /// Puts back the fields that came from an interface.
    pub(crate) fn restore(&self, api: ModelApi, object: &mut Fields) {
        restore(self.native.as_ref(), api, object);
    }
}

impl Native {
    /// The fields, if there are any.
    pub(crate) fn of(api: ModelApi, fields: Fields) -> Option<Self> {
        (!fields.is_empty()).then_some(Self { api, fields })
    }
}

/// Puts back the fields that came from an interface, unless the object has them.
pub(crate) fn restore(native: Option<&Native>, api: ModelApi, object: &mut Fields) {
    for native in native.into_iter().filter(|native| native.api == api) {
        for (name, value) in &native.fields {
            object.entry(name).or_insert_with(|| value.clone());
        }
    }
}

/// What interfaces that want an object get for arguments that are none.
const INVALID: &str = "invalid_arguments";

/// The arguments of a call as an object.
pub(crate) fn arguments_to_object(arguments: &str) -> Value {
    match serde_json::from_str(arguments) {
        Ok(Value::Object(object)) => Value::Object(object),
        _ if arguments.trim().is_empty() => Value::Object(Fields::new()),
        _ => serde_json::json!({ INVALID: arguments }),
    }
}

/// The arguments of a call in an object.
pub(crate) fn arguments_from_object(value: &Value) -> String {
    match value {
        Value::Object(object) if object.len() == 1 => match object.get(INVALID) {
            Some(Value::String(text)) => text.clone(),
            _ => value.to_string(),
        },
        Value::Null => "{}".to_owned(),
        _ => value.to_string(),
    }
}

/// Texts that are shared, as texts.
mod shared_text {
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(text: &Arc<str>, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(text)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Arc<str>, D::Error> {
        String::deserialize(from).map(Arc::from)
    }
}
