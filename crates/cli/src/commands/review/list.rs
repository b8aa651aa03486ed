//! The changes of a workspace with the ids of their pieces.

use offshoot_engine::commit::HeldReason;
use offshoot_engine::diff::LineKind;
use offshoot_engine::review::{FoldedReview, Item, Piece, PieceKind};
use offshoot_engine::vault::Vault;
use offshoot_engine::wire;
use offshoot_engine::workspace::WorkspaceRecord;
use offshoot_protocol::ReviewListDoc;

use crate::context::Context;
use crate::error::Result;
use crate::render::listing::{EXPAND, metadata_line, place_text, status_metadata};
use crate::render::way_on;
use crate::render::{self, BAD, DIM, WARN, paint};

/// Prints them for programs: every one, with what a commit would say about repositories.
pub(crate) fn print_document(
    context: &Context,
    vault: &Vault,
    workspace: &WorkspaceRecord,
    items: &[Item],
) -> Result<()> {
    let preview = context.preview(vault, workspace, false)?;
    let metadata = preview.summary.telling_metadata();
    let document = ReviewListDoc {
        metadata_changes: metadata.into_iter().map(wire::change).collect(),
        refused: preview.refused.as_ref().map(ToString::to_string),
        repositories: way_on::repositories(&preview.proposal.git),
        outdated: preview.outdated.iter().map(wire::path).collect(),
        ..wire::review_list(workspace, items)
    };
    context.output.data(document, |_| String::new())
}

/// Prints them for people.
pub(crate) fn print(
    context: &Context,
    vault: &Vault,
    workspace: &WorkspaceRecord,
    review: &FoldedReview,
) -> Result<()> {
    let preview = context.preview(vault, workspace, false)?;
    let mut out = text(review);
    out.extend(
        metadata_line(&preview.summary.telling_metadata(), &status_metadata(&workspace.name))
            .map(|it| it + "\n"),
    );
    out.push_str(&render::git::notes(&preview.proposal.git, "yours"));
    if let Some(why) = &preview.refused {
        let line = format!("commit is refused: {}", render::line(&why.to_string()));
        out.push_str(&format!("{}\n", paint(BAD, &line)));
    }
    out.extend(render::outdated(&preview.outdated, &workspace.name));
    context.output.print_notes();
    context.output.text(&out)
}

fn text(review: &FoldedReview) -> String {
    let mut out = String::new();
    let single = review.groups.first().map_or(review.items.len(), |group| group.items.start);
    for item in &review.items[..single] {
        let (source, held) = (in_workspace(item), stays(item.held));
        out.push_str(&format!("{}{source}{held}\n", render::change(&item.change)));
        for piece in &item.pieces {
            out.push_str(&format!("  {}  {}\n", paint(WARN, &piece.id), described(item, piece)));
        }
    }
    for group in &review.groups {
        let items = &review.items[group.items.clone()];
        let changes = items.iter().map(|item| &item.change);
        let text = place_text(&group.at, &group.kind, changes);
        let held = items.iter().map(|item| item.held).reduce(|one, other| one.and(other)).flatten();
        out.push_str(&format!("{text}{}\n", stays(held)));
        out.push_str(&format!("  {}  all of it\n", paint(WARN, &group.id)));
    }
    if !review.groups.is_empty() {
        out.push_str(&format!("{}\n", paint(DIM, &format!("({EXPAND})"))));
    }
    if out.is_empty() { "nothing to review\n".to_owned() } else { out }
}

/// Where the workspace has what is committed at another path.
pub(crate) fn in_workspace(item: &Item) -> String {
    let text = item.source.as_ref().map(|path| format!("  ({path} in the workspace)"));
    paint(DIM, &text.unwrap_or_default())
}

fn stays(held: Option<HeldReason>) -> String {
    let text = held.map(|reason| {
        let why = reason.detail().map(|why| format!(", {why}")).unwrap_or_default();
        format!("  (stays: {}{why})", reason.word())
    });
    paint(DIM, &text.unwrap_or_default())
}

fn described(item: &Item, piece: &Piece) -> String {
    let (PieceKind::Lines(part), Some(text)) = (&piece.kind, &item.text) else {
        return piece.kind.word().to_string();
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
