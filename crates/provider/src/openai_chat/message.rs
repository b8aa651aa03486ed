//! Messages, to JSON and back.

mod read;
mod write;

pub(super) use read::{read, read_annotation, read_call, read_parts, reasoning};
pub(super) use write::write;

use crate::id::ModelApi;

const API: ModelApi = ModelApi::OpenaiChat;

/// The text before the images of a tool's result, which go into a message of the user.
const IMAGES_OF: &str = "Images of tool result ";
