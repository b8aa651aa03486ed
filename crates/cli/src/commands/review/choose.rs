//! Decisions given as arguments.

use offshoot_protocol::ExitCode;
use offshoot_workspace::{Decision, ReviewItem};

use crate::context::vault_path;
use crate::error::{CliError, Result};

/// Makes a decision about everything that is named: ids of pieces with commas between them, or a path.
pub(crate) fn decide(
    items: &mut [ReviewItem],
    named: &[String],
    decision: &Decision,
) -> Result<()> {
    for text in named {
        // A path may have commas in it; an id never starts with a slash.
        if text.starts_with('/') {
            decide_path(items, text, decision)?;
            continue;
        }
        for id in text.split(',').map(str::trim).filter(|id| !id.is_empty()) {
            decide_piece(items, id, decision)?;
        }
    }
    Ok(())
}

fn decide_path(items: &mut [ReviewItem], text: &str, decision: &Decision) -> Result<()> {
    let path = vault_path(text.as_ref())?;
    let mut found = false;
    for item in items.iter_mut().filter(|item| item.change.path.is_within(&path)) {
        found = true;
        item.pieces.iter_mut().for_each(|piece| piece.decision = decision.clone());
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
