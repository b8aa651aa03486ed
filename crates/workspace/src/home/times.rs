//! The times that files have when they come home.

use offshoot_vault::diff::{self, Change};
use offshoot_vault::{EntryKind, Mtime, RootId, TreeEditor, Vault};

use super::select::store;
use crate::error::Result;

/// Which times files get that come home.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Times {
    /// A file whose bytes change in the folder gets the time of the commit, so that builds there notice; all others keep theirs.
    #[default]
    Now,
    /// All keep the times that the merge gives them.
    Recorded,
}

/// Gives files whose bytes change in the folder the current time.
pub(super) fn stamp(
    vault: &Vault,
    folder: &RootId,
    merged: &RootId,
    times: Times,
) -> Result<RootId> {
    if times == Times::Recorded || folder == merged {
        return Ok(*merged);
    }
    let objects = vault.objects()?;
    let now = Mtime::now();
    let changes = diff::compare(objects, folder, merged)?;
    let mut stamped = changes.iter().filter(|change| is_rewritten(change)).peekable();
    if stamped.peek().is_none() {
        return Ok(*merged);
    }
    let mut editor = TreeEditor::open(objects, merged, now)?;
    for change in stamped {
        if let Some(mut entry) = change.after.as_deref().cloned() {
            entry.meta.mtime = now;
            editor.put(&change.path, entry)?;
        }
    }
    store(vault, editor)
}

fn is_rewritten(change: &Change) -> bool {
    match (&change.before, &change.after) {
        (Some(before), Some(after)) => {
            let files = before.kind() == EntryKind::File && after.kind() == EntryKind::File;
            files && before.content_hash() != after.content_hash()
        }
        _ => false,
    }
}
