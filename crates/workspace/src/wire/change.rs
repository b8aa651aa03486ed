//! Paths that changed as documents.

use offshoot_protocol::{ChangeDoc, HunkDoc, LineDoc, LineSign, MetadataFieldDoc, SideDoc, Text};
use offshoot_text::lines::{Hunk, LineKind};
use offshoot_tree::Entry;
use offshoot_tree::diff::{Change, ChangeKind, FileDiff, MetadataField};

use super::entry::{checksum, mode, path};
use crate::words;

/// A path that changed, without its lines.
pub fn change(change: &Change) -> ChangeDoc {
    ChangeDoc {
        path: path(&change.path),
        kind: words::change_kind(change.kind()),
        from: change.moved.as_ref().map(|(from, _)| path(from)),
        similarity: change.moved.as_ref().map(|(_, similarity)| *similarity),
        metadata: metadata(change),
        before: change.before.as_deref().map(side),
        after: change.after.as_deref().map(side),
        binary: None,
        added_lines: None,
        removed_lines: None,
        hunks: None,
    }
}

/// What of the metadata changed. New content comes with a new time, so that is told only where there is none.
fn metadata(change: &Change) -> Vec<MetadataFieldDoc> {
    let times = change.kind() == ChangeKind::Metadata;
    let fields = change.metadata().into_iter();
    let fields = fields.filter(|field| times || *field != MetadataField::Time);
    fields.map(words::metadata_field).collect()
}

/// Adds what is known of the lines of a change; the lines themselves where `hunks` is set.
pub fn add_lines(document: &mut ChangeDoc, diff: &FileDiff, hunks: bool) {
    match diff {
        FileDiff::Text(text) => {
            document.binary = Some(false);
            document.added_lines = Some(text.added);
            document.removed_lines = Some(text.removed);
            document.hunks = hunks.then(|| text.hunks.iter().map(hunk).collect());
        }
        FileDiff::Binary | FileDiff::TooLarge => document.binary = Some(true),
        FileDiff::Nothing => {}
    }
}

pub(super) fn hunk(hunk: &Hunk) -> HunkDoc {
    let sign = |kind| match kind {
        LineKind::Context => LineSign::Context,
        LineKind::Removed => LineSign::Removed,
        LineKind::Added => LineSign::Added,
    };
    let lines = hunk.lines.iter().map(|line| LineDoc {
        sign: sign(line.kind),
        text: Text::new(&line.text),
        newline: line.newline,
    });
    HunkDoc {
        before_start: hunk.before_start,
        before_lines: hunk.before_lines,
        after_start: hunk.after_start,
        after_lines: hunk.after_lines,
        lines: lines.collect(),
    }
}

pub(super) fn side(entry: &Entry) -> SideDoc {
    SideDoc {
        entry: words::entry_kind(entry.kind()),
        mode: mode(entry),
        size: entry.size(),
        checksum: checksum(entry),
    }
}
