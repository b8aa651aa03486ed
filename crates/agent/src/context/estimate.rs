//! How many tokens something has, before a server counted them.

use offshoot_provider::{Block, Content, Message, Request};

/// Bytes of a token, before calibration.
const BYTES: usize = 4;
/// Tokens that an image has at most vendors, about.
const IMAGE: u64 = 1500;
/// Tokens that a message or a block costs besides its text.
const FRAME: u64 = 4;

/// The tokens of a text.
pub(crate) fn of_text(text: &str) -> u64 {
    text.len().div_ceil(BYTES) as u64
}

/// The tokens of a request.
pub(crate) fn of_request(request: &Request) -> u64 {
    let tools: u64 = request
        .tools
        .iter()
        .map(|tool| {
            let texts =
                tool.name.len() + tool.description.len() + tool.parameters.to_string().len();
            FRAME + texts.div_ceil(BYTES) as u64
        })
        .sum();
    let system: u64 = request.system.iter().map(of_block).sum();
    let messages: u64 = request.messages.iter().map(of_message).sum();
    tools + system + messages
}

pub(crate) fn of_message(message: &Message) -> u64 {
    FRAME + message.blocks.iter().map(of_block).sum::<u64>()
}

pub(crate) fn of_block(block: &Block) -> u64 {
    let content = match &block.content {
        Content::Text { text, .. } | Content::Reasoning { text, .. } => of_text(text),
        Content::Image(_) => IMAGE,
        Content::ToolCall(call) => of_text(&call.name) + of_text(&call.arguments),
        Content::ToolResult(result) => result.blocks.iter().map(of_block).sum(),
        Content::Unknown { value, .. } => of_text(&value.to_string()),
    };
    let seal = block.seal.as_ref().map_or(0, |seal| of_text(&seal.data));
    FRAME + content + seal
}
