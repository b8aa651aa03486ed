//! Messages, to items and back.

mod read;
mod write;

pub(super) use read::{read, read_annotation, read_item};
pub(super) use write::write;

use crate::id::ModelApi;

const API: ModelApi = ModelApi::OpenaiResponses;

/// Where a block keeps the fields of the item that it begins.
const ITEM: &str = "item";
