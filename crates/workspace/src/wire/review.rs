//! Changes to decide about.

use offshoot_protocol::{ReviewItemDoc, ReviewListDoc, ReviewOriginDoc, ReviewPieceDoc};
use offshoot_vault::WorkspaceRecord;

use super::change::hunk;
use super::entry::path;
use super::time::time;
use crate::commit::HeldReason;
use crate::review::{Origin, PieceKind, ReviewItem, ReviewPiece};
use crate::words;

/// Unchanged lines around a hunk.
const CONTEXT: u32 = 3;

/// What a workspace changed, in pieces.
pub fn review_list(workspace: &WorkspaceRecord, items: &[ReviewItem]) -> ReviewListDoc {
    ReviewListDoc {
        workspace: workspace.name.clone(),
        base: workspace.state.base.to_string(),
        snapshot: workspace.state.head.to_string(),
        items: items.iter().map(review_item).collect(),
        metadata_changes: Vec::new(),
        refused: None,
        repositories: Vec::new(),
        outdated: Vec::new(),
    }
}

/// A path to decide about.
pub fn review_item(item: &ReviewItem) -> ReviewItemDoc {
    ReviewItemDoc {
        path: path(&item.change.path),
        kind: words::change_kind(item.change.kind()),
        from: item.change.moved.as_ref().map(|(from, _)| path(from)),
        in_workspace: item.source.as_ref().map(path),
        last_changed_by: item.origin.as_ref().map(origin),
        held: item.held.map(HeldReason::word),
        held_detail: item.held.and_then(HeldReason::detail).map(str::to_owned),
        pieces: item.pieces.iter().map(|piece| review_piece(item, piece)).collect(),
    }
}

fn review_piece(item: &ReviewItem, piece: &ReviewPiece) -> ReviewPieceDoc {
    let shown = match (&piece.kind, &item.text) {
        (PieceKind::Lines(part), Some(text)) => Some(hunk(&text.shown(part, CONTEXT))),
        _ => None,
    };
    ReviewPieceDoc { id: piece.id.clone(), piece: piece.kind.word(), hunk: shown }
}

fn origin(origin: &Origin) -> ReviewOriginDoc {
    ReviewOriginDoc {
        snapshot: origin.snapshot.to_string(),
        exec: origin.exec.map(|id| id.to_string()),
        reason: origin.reason.clone(),
        message: origin.message.clone(),
        time: time(origin.time_ms),
    }
}
