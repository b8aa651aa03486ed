//! Decisions given as arguments.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

use offshoot_engine::file::{PathContext, VaultPath};
use offshoot_engine::review::{Decision, FoldedReview, Item, PieceKind, decide_all};
use offshoot_protocol::{ExitCode, Hint};

use crate::error::{CliError, Result};
use crate::render;

/// Makes a decision about everything that is named: ids of pieces or of what is folded, with commas between them, or a path.
pub(crate) fn decide(
    review: &mut FoldedReview,
    named: &[OsString],
    decision: &Decision,
    standing: &PathContext,
) -> Result<()> {
    for name in named {
        if name.is_empty() {
            return Err(CliError::usage("an empty text names no change"));
        }
        // A path may have commas in it; an id never has a slash.
        if let Ok(path) = standing.path(name.as_bytes())
            && decide_path(&mut review.items, &path, decision)
        {
            continue;
        }
        let text = name.to_string_lossy();
        if text.contains('/') {
            return Err(missing(format!("nothing changed at {}", render::line(&text))));
        }
        for id in text.split(',').map(str::trim).filter(|id| !id.is_empty()) {
            if !review.decide(id, decision) {
                decide_piece(&mut review.items, id, decision)?;
            }
        }
    }
    Ok(())
}

/// Makes a decision about everything at a path or below it; false where nothing changed there. What lies below something that became
/// a directory, or is none any more, is decided with that.
fn decide_path(items: &mut [Item], path: &VaultPath, decision: &Decision) -> bool {
    let mut found = false;
    let is_there = |item: &&mut Item| {
        item.change.path.is_within(path)
            || item.workspace_path().is_within(path)
            || item.replaces_all_below(path)
    };
    for item in items.iter_mut().filter(is_there) {
        found = true;
        decide_all(std::slice::from_mut(item), decision);
    }
    found
}

fn decide_piece(items: &mut [Item], id: &str, decision: &Decision) -> Result<()> {
    let find = |items: &mut [Item]| {
        let mut pieces = items.iter_mut().flat_map(|item| &mut item.pieces);
        let piece = pieces.find(|piece| piece.id == id)?;
        piece.decision = decision.clone();
        Some(())
    };
    if find(items).is_some() {
        return Ok(());
    }
    // The id of a single change counts without `--split` too, in a hunk that nothing was decided about yet.
    for item in items.iter_mut() {
        let mut divided = item.clone();
        split_all(&mut divided);
        let fits = |piece: &offshoot_engine::review::Piece| piece.id == id;
        if divided.pieces.iter().any(fits) {
            *item = divided;
        }
    }
    find(items).ok_or_else(|| missing(format!("no change has the id or path \"{id}\"")))
}

/// Divides hunks into changes, and those no further.
pub(super) fn split_all(item: &mut Item) {
    for at in (0..item.pieces.len()).rev() {
        let is_change = match (&item.pieces[at].kind, &item.text) {
            (PieceKind::Lines(part), Some(text)) => text.changes().contains(part),
            _ => true,
        };
        if !is_change {
            item.split(at);
        }
    }
}

fn missing(message: String) -> CliError {
    CliError::new(ExitCode::NotFound, message)
        .hint(Hint::command("offshoot review --list").text(" shows what there is"))
}
