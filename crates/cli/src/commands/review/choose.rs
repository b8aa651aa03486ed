//! Decisions given as arguments.

use offshoot_protocol::ExitCode;
use offshoot_workspace::{Decision, FoldedReview, ReviewItem, decide_all};

use crate::context::vault_path;
use crate::error::{CliError, Result};

/// Makes a decision about everything that is named: ids of pieces or of what is folded, with commas between them, or a path.
pub(crate) fn decide(
    review: &mut FoldedReview,
    named: &[String],
    decision: &Decision,
) -> Result<()> {
    for text in named {
        // A path may have commas in it; an id never starts with a slash.
        if text.starts_with('/') {
            decide_path(&mut review.items, text, decision)?;
            continue;
        }
        for id in text.split(',').map(str::trim).filter(|id| !id.is_empty()) {
            if !review.decide(id, decision) {
                decide_piece(&mut review.items, id, decision)?;
            }
        }
    }
    Ok(())
}

fn decide_path(items: &mut [ReviewItem], text: &str, decision: &Decision) -> Result<()> {
    let path = vault_path(text.as_ref())?;
    let mut found = false;
    for item in items.iter_mut().filter(|item| item.change.path.is_within(&path)) {
        found = true;
        decide_all(std::slice::from_mut(item), decision);
    }
    if found { Ok(()) } else { Err(missing(format!("nothing changed at {path}"))) }
}

fn decide_piece(items: &mut [ReviewItem], id: &str, decision: &Decision) -> Result<()> {
    let find = |items: &mut [ReviewItem]| {
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
        super::split_all(&mut divided);
        let fits = |piece: &offshoot_workspace::Piece| piece.id == id;
        if divided.pieces.iter().any(fits) {
            *item = divided;
        }
    }
    find(items).ok_or_else(|| missing(format!("no change has the id \"{id}\"")))
}

fn missing(message: String) -> CliError {
    CliError::new(ExitCode::NotFound, message).hint("`offshoot review --list` shows what there is")
}
