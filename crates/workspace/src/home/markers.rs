//! Texts that still have the markers of a conflict.

use offshoot_vault::diff::Change;
use offshoot_vault::merge::conflict::has_markers;
use offshoot_vault::{Body, Entry, Objects, Tree, Vault};

use super::select::SelectionStates;
use crate::error::{Result, ServiceError};

/// Longer files are not merged by lines, so nobody put markers into them.
const LONGEST: u64 = 16 << 20;

/// Fails where a file that comes home has markers, and neither the folder's file nor the base's had any.
pub(super) fn require_none(
    vault: &Vault,
    states: &SelectionStates,
    brought: &[Change],
) -> Result<()> {
    let objects = vault.objects()?;
    let base = Tree::open(objects, &states.base)?;
    let mut marked = Vec::new();
    for change in brought {
        let Some(after) = &change.after else { continue };
        if !marked_in(objects, after)? {
            continue;
        }
        let before = [change.before.clone(), base.get(&change.path)?];
        let mut known = false;
        for entry in before.iter().flatten() {
            known |= marked_in(objects, entry)?;
        }
        if !known {
            marked.push(change.path.to_string());
        }
    }
    if marked.is_empty() { Ok(()) } else { Err(ServiceError::Markers(marked)) }
}

fn marked_in(objects: &Objects, entry: &Entry) -> Result<bool> {
    match entry.body {
        Body::File { size, blob } if size <= LONGEST => Ok(has_markers(&objects.blob(&blob)?)),
        _ => Ok(false),
    }
}
