//! The changes of a workspace with the ids of their pieces.

use offshoot_protocol::ReviewListDoc;
use offshoot_vault::diff::text::LineKind;
use offshoot_vault::{Vault, Workspace};
use offshoot_workspace::{Piece, PieceKind, ReviewItem, wire};

use crate::context::Context;
use crate::error::Result;
use crate::render::{self, BAD, DIM, WARN, paint};

/// Prints them, with what a commit would say about repositories.
pub(crate) fn print(
    context: &Context,
    vault: &Vault,
    workspace: &Workspace,
    items: &[ReviewItem],
) -> Result<()> {
    let preview = context.preview(vault, workspace, false)?;
    let refused = preview.refused.as_ref().map(ToString::to_string);
    let document = ReviewListDoc {
        refused: refused.clone(),
        repositories: wire::repositories(&preview.proposal.git),
        ..wire::review_list(workspace, items)
    };
    context.output.data(document, |_| {
        let refused = refused.map(|why| format!("commit is refused: {}", render::line(&why)));
        let refused = refused.map(|line| format!("{}\n", paint(BAD, &line)));
        let notes = render::git::notes(&preview.proposal.git, "yours");
        format!("{}{notes}{}", text(items), refused.unwrap_or_default())
    })
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
