//! Merges and conflicts as documents.

use offshoot_protocol::{
    ConflictDoc, ConflictSideDoc, ConflictVersionDoc, ConflictVersionShowDoc, MergeDoc,
    MergeSideDoc, ResolveDoc, Text, WayOnDoc,
};
use offshoot_tree::{Entry, VaultPath, Version};

use super::change::{change, side};
use super::entry::path;
use super::git::repositories;
use super::history::snapshot;
use super::way_on::to_decide;
use crate::words;
use crate::{MergeOutcome, OpenConflict, Resolved};

/// Something that is to be decided.
pub fn conflict(conflict: &OpenConflict) -> ConflictDoc {
    let record = &conflict.record;
    let sides = record.sides.iter().map(|side| ConflictSideDoc {
        label: side.label.clone(),
        version: side.version.as_ref().map(version),
        patch: None,
    });
    ConflictDoc {
        path: path(&conflict.path),
        kinds: record.kinds.iter().copied().map(words::conflict_kind).collect(),
        shown: side(&conflict.shown),
        markers: record.has_markers(),
        base: record.base.as_ref().map(version),
        sides: sides.collect(),
        beside: record.beside.iter().map(path).collect(),
    }
}

fn version(version: &Version) -> ConflictVersionDoc {
    ConflictVersionDoc { path: path(&version.path), version: side(&version.entry) }
}

/// What one side of a conflict has.
pub fn conflict_version(
    at: &VaultPath,
    name: &str,
    entry: Option<&Entry>,
    content: Option<&[u8]>,
) -> ConflictVersionShowDoc {
    ConflictVersionShowDoc {
        path: path(at),
        side: name.to_owned(),
        version: entry.map(side),
        content: content.map(Text::new),
    }
}

/// Conflicts that were decided.
pub fn resolved(workspace: &str, resolved: &Resolved) -> ResolveDoc {
    ResolveDoc {
        workspace: workspace.to_owned(),
        resolved: resolved.paths.iter().map(path).collect(),
        whole: resolved.whole.iter().map(path).collect(),
        left: resolved.left,
        snapshot: snapshot(&resolved.edited.snapshot),
        operation: resolved.edited.operation.map(|id| id.to_string()),
        changes: resolved.edited.changes.iter().map(change).collect(),
    }
}

/// What to do after a merge.
pub fn merge_ways_on(outcome: &MergeOutcome, dry_run: bool) -> Vec<WayOnDoc> {
    match outcome.conflicts.is_empty() || dry_run {
        true => Vec::new(),
        false => vec![to_decide(&outcome.workspace)],
    }
}

/// What a merge came to.
pub fn merge(outcome: &MergeOutcome, dry_run: bool) -> MergeDoc {
    let sides = outcome.sides.iter().map(|side| MergeSideDoc {
        label: side.label.clone(),
        snapshot: side.snapshot.to_string(),
        included: side.included,
    });
    MergeDoc {
        workspace: outcome.workspace.clone(),
        created: outcome.created,
        dry_run,
        sides: sides.collect(),
        changes: outcome.changes.iter().map(change).collect(),
        conflicts: outcome.conflicts.iter().map(conflict).collect(),
        repositories: repositories(&outcome.git),
        snapshot: outcome.snapshot.as_ref().map(snapshot),
        operation: outcome.operation.map(|id| id.to_string()),
        ways_on: merge_ways_on(outcome, dry_run),
    }
}
