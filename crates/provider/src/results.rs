//! Results of tools, for interfaces that lack some of what they have.

use std::collections::HashMap;

use crate::message::{Block, Content, Message, ResultBlock};

/// The first part of a result, where an interface cannot say that the tool failed.
pub(crate) const FAILED: &str = "The tool failed:";

/// Gives results the names of the tools that were called, where the interface does not repeat them.
pub(crate) fn name(messages: &mut [Message]) {
    let mut names: HashMap<String, String> = HashMap::new();
    for message in messages {
        for block in &mut message.blocks {
            match &mut block.content {
                Content::ToolCall(call) => {
                    names.insert(call.id.clone(), call.name.clone());
                }
                Content::ToolResult(result) if result.name.is_empty() => {
                    result.name = names.get(&result.id).cloned().unwrap_or_default();
                }
                _ => {}
            }
        }
    }
}

/// The blocks of a result, with the words that say that the tool failed.
pub(crate) fn with_failure(result: &ResultBlock) -> Vec<Block> {
    let mut blocks = result.blocks.clone();
    if result.failed {
        blocks.insert(0, Block::text(FAILED));
    }
    blocks
}

/// Takes out the words that say that the tool failed.
pub(crate) fn take_failure(blocks: &mut Vec<Block>) -> bool {
    let failed = blocks.first().and_then(Block::as_text) == Some(FAILED);
    if failed {
        blocks.remove(0);
    }
    failed
}
