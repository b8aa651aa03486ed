//! Modes that close what is committed to the person whose folder it is.

use offshoot_tree::Entry;
use offshoot_tree::diff::Change;

use crate::error::{Result, ServiceError};

/// Fails where a commit would close something to its owner that was not closed before: nothing could capture it any more, so neither
/// an undo nor another commit could change it. Root reads everything.
pub(super) fn require_open(brought: &[Change]) -> Result<()> {
    if rustix::process::geteuid().is_root() {
        return Ok(());
    }
    let closes = |change: &&Change| {
        change.after.as_deref().is_some_and(is_closed)
            && !change.before.as_deref().is_some_and(is_closed)
    };
    let closed: Vec<String> =
        brought.iter().filter(closes).map(|change| change.path.to_string()).collect();
    if closed.is_empty() { Ok(()) } else { Err(ServiceError::ClosedToOwner(closed)) }
}

/// Whether the owner could not read it: of a directory what is in it, too.
fn is_closed(entry: &Entry) -> bool {
    let needed = match entry.kind() {
        offshoot_tree::EntryKind::Directory => 0o500,
        offshoot_tree::EntryKind::File => 0o400,
        _ => 0,
    };
    entry.meta.mode & needed != needed
}
