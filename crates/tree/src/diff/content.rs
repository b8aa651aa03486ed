//! The lines of a change.

use std::io::{self, Read, Write};
use std::path::Path;

use offshoot_text::lines::{TextDiff, TextOptions, diff_text, is_binary};
use offshoot_text::patch::{PatchContent, PatchOptions, PatchSide, write_patch};

use crate::diff::change::{Change, DiffOptions};
use crate::entry::{Body, Entry};
use crate::error::{Result, TreeError, io_error};
use crate::hash::BlobId;
use crate::objects::Objects;
use crate::path::VaultPath;

/// How a file differs inside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileDiff {
    /// Line by line.
    Text(TextDiff),
    /// One side is not text.
    Binary,
    /// One side is too long to compare by lines.
    TooLarge,
    /// Neither side is a file or a link.
    Nothing,
}

/// What a patch says of files that cannot be compared line by line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryForm {
    /// That they differ: for people.
    Named,
    /// All that they hold: for `git apply`.
    Whole,
}

/// One side of a change: bytes where they can be compared.
enum Content {
    Bytes(Vec<u8>),
    TooLarge { size: u64, hash: [u8; 32] },
}

fn content(objects: &Objects, entry: &Entry, options: &DiffOptions) -> Result<Option<Content>> {
    Ok(match &entry.body {
        Body::File { size, blob } if *size > options.max_text_bytes => {
            Some(Content::TooLarge { size: *size, hash: blob.0 })
        }
        Body::File { blob, .. } => Some(Content::Bytes(objects.blob(blob)?)),
        Body::Symlink { target } => Some(Content::Bytes(target.clone())),
        Body::Directory(_) | Body::Fifo => None,
    })
}

/// How the content of a change differs, line by line where it is text.
pub fn file_diff(objects: &Objects, change: &Change, options: &DiffOptions) -> Result<FileDiff> {
    let side = |entry: Option<&Entry>| match entry {
        Some(entry) => content(objects, entry, options),
        None => Ok(None),
    };
    let (before, after) = (side(change.before.as_deref())?, side(change.after.as_deref())?);
    if before.is_none() && after.is_none() {
        return Ok(FileDiff::Nothing);
    }
    let empty = || Content::Bytes(Vec::new());
    Ok(match (before.unwrap_or_else(empty), after.unwrap_or_else(empty)) {
        (Content::Bytes(before), Content::Bytes(after)) => {
            if is_binary(&before) || is_binary(&after) {
                FileDiff::Binary
            } else {
                let text = TextOptions { context: options.context };
                FileDiff::Text(diff_text(&before, &after, &text))
            }
        }
        _ => FileDiff::TooLarge,
    })
}

/// Writes a change as a patch that git reads; directories and pipes have none.
pub fn write_change(
    objects: &Objects,
    change: &Change,
    options: &DiffOptions,
    binary: BinaryForm,
    out: &mut dyn Write,
) -> Result<()> {
    let old_path = change.moved.as_ref().map_or(&change.path, |(from, _)| from);
    let before = Side::load(objects, old_path, change.before.as_deref(), options)?;
    let after = Side::load(objects, &change.path, change.after.as_deref(), options)?;
    let similarity = change.moved.as_ref().map(|(_, similarity)| *similarity);
    let (before, after) = (before.as_ref().map(Side::patch), after.as_ref().map(Side::patch));
    let open = |hash: &[u8; 32]| -> io::Result<Box<dyn Read>> {
        Ok(Box::new(objects.reader(&BlobId(*hash)).map_err(io::Error::other)?))
    };
    let options = PatchOptions {
        text: TextOptions { context: options.context },
        binary: (binary == BinaryForm::Whole).then_some(&open),
    };
    let written = write_patch(out, before.as_ref(), after.as_ref(), similarity, &options);
    // What could not be read is told as such.
    written.map_err(|error| match error.downcast::<TreeError>() {
        Ok(error) => error,
        Err(error) => io_error("write", Path::new("the patch"))(error),
    })
}

struct Side {
    path: Vec<u8>,
    mode: u32,
    content: Content,
}

impl Side {
    fn load(
        objects: &Objects,
        path: &VaultPath,
        entry: Option<&Entry>,
        options: &DiffOptions,
    ) -> Result<Option<Self>> {
        let Some(entry) = entry else { return Ok(None) };
        let mode = match entry.body {
            Body::Symlink { .. } => 0o120_000,
            _ if entry.is_executable() => 0o100_755,
            _ => 0o100_644,
        };
        let content = content(objects, entry, options)?;
        Ok(content.map(|content| Self { path: path.relative(), mode, content }))
    }

    fn patch(&self) -> PatchSide<'_> {
        let content = match &self.content {
            Content::Bytes(bytes) => PatchContent::Bytes(bytes),
            Content::TooLarge { size, hash } => PatchContent::Opaque { size: *size, hash: *hash },
        };
        PatchSide { path: &self.path, mode: self.mode, content }
    }
}
