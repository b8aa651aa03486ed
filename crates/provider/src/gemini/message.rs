//! Messages, to contents and back.

mod read;
mod result;
mod write;

pub(super) use read::{read, read_citation, read_part};
pub(super) use write::{write, write_parts};
