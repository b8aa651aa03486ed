//! Changes to files, and their versions, as documents.

use offshoot_protocol::{EditDoc, ImportDoc, VersionDoc};
use offshoot_tree::VaultPath;

use super::change::change;
use super::entry::entry;
use super::history::snapshot;
use crate::edit::Edited;
use crate::file::FileVersion;

/// A change to the files of a workspace.
pub fn edit(workspace: &str, edited: &Edited, import: Option<ImportDoc>) -> EditDoc {
    EditDoc {
        workspace: workspace.to_owned(),
        snapshot: snapshot(&edited.snapshot),
        operation: edited.operation.map(|id| id.to_string()),
        changes: edited.changes.iter().map(change).collect(),
        import,
    }
}

/// A version of a file.
pub fn version(at: &VaultPath, version: &FileVersion) -> VersionDoc {
    VersionDoc {
        snapshot: snapshot(&version.snapshot),
        entry: version.entry.as_ref().map(|found| entry(at, found)),
    }
}
