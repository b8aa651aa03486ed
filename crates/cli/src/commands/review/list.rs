//! The changes of a workspace with the ids of their pieces.

use offshoot_vault::Workspace;
use offshoot_vault::diff::text::LineKind;
use offshoot_workspace::{Piece, PieceKind, ReviewItem, wire};

use crate::context::Context;
use crate::error::Result;
use crate::render::{self, DIM, WARN, paint};

/// Prints them.
pub(crate) fn print(context: &Context, workspace: &Workspace, items: &[ReviewItem]) -> Result<()> {
    context.output.data(wire::review_list(workspace, items), |_| text(items))
}

fn text(items: &[ReviewItem]) -> String {
    let mut out = String::new();
    for item in items {
        let stays = item.held.map(|reason| format!("  (stays: {})", reason.word()));
        let stays = paint(DIM, &stays.unwrap_or_default());
        out.push_str(&format!("{}{stays}\n", render::change(&item.change)));
        for piece in &item.pieces {
            out.push_str(&format!("  {}  {}\n", paint(WARN, &piece.id), described(item, piece)));
        }
    }
    if out.is_empty() { "nothing to review\n".to_owned() } else { out }
}

fn described(item: &ReviewItem, piece: &Piece) -> String {
    let (PieceKind::Lines(part), Some(text)) = (&piece.kind, &item.text) else {
        return piece.kind.word().to_owned();
    };
    let hunk = text.shown(part, 0);
    let count = |kind| hunk.lines.iter().filter(|line| line.kind == kind).count();
    let first = hunk.lines.iter().find(|line| line.kind != LineKind::Context);
    let sample = first.map(|line| render::harmless(&line.text)).unwrap_or_default();
    let sample: String = sample.trim().chars().take(50).collect();
    let (added, removed) = (count(LineKind::Added), count(LineKind::Removed));
    let place = part.after.start + 1;
    format!("hunk at line {place}, +{added} -{removed}  {}", paint(DIM, &sample))
}
