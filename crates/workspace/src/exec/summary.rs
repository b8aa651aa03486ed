//! What is told of a command and of what it changed, in short.

use offshoot_vault::Entry;
use offshoot_vault::diff::{Change, ChangeKind};

/// A message of a snapshot is at most this long.
const LONGEST_MESSAGE: usize = 200;
/// A directory whose time alone changed: that its entries changed is told by them.
pub(crate) fn is_directory_time(change: &Change) -> bool {
    let (Some(before), Some(after)) = (&change.before, &change.after) else { return false };
    let same_but_for_time = |before: &Entry, after: &Entry| {
        let (old, new) = (&before.meta, &after.meta);
        (old.mode, old.uid, old.gid, &old.xattrs) == (new.mode, new.uid, new.gid, &new.xattrs)
    };
    change.kind() == ChangeKind::Metadata
        && before.directory().is_some()
        && after.directory().is_some()
        && same_but_for_time(before, after)
        && before.conflict == after.conflict
}

/// A command as the message of a snapshot.
pub(crate) fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST_MESSAGE) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
