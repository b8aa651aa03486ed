//! The times of files that are committed, or come into a workspace.

use offshoot_host::Mtime;
use offshoot_tree::diff::Change;
use offshoot_tree::{Entry, EntryKind, RootId, TreeEditor, diff};
use offshoot_vault::Vault;

use crate::edited_tree::store_edited;
use crate::error::Result;

/// Gives files that another state has with other bytes the current time, so that builds notice what they were made of. What this stores is
/// not durable before a transaction follows.
pub(crate) fn stamp(vault: &Vault, before: &RootId, merged: &RootId) -> Result<RootId> {
    if before == merged {
        return Ok(*merged);
    }
    let objects = vault.objects()?;
    let now = Mtime::now();
    let changes = diff::compare(objects, before, merged)?;
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
    store_edited(vault, editor)
}

/// Whether nothing of a file changed but its time. That alone is never committed: whatever writes a file anew gives it another time, and so does
/// what is brought into a workspace.
pub(crate) fn is_time_alone(change: &Change) -> bool {
    let (Some(before), Some(after)) = (&change.before, &change.after) else { return false };
    if change.moved.is_some() || after.kind() == EntryKind::Directory {
        return false;
    }
    let mut same = Entry::clone(after);
    same.meta.mtime = before.meta.mtime;
    same == **before
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
