//! What is committed as programs see it.

use offshoot_protocol::{ClashDoc, CommitDoc, HeldDoc, PullDoc, WayOnDoc};
use offshoot_store::Id;
use offshoot_tree::merge::Conflict;

use super::binding::git_directory;
use super::change::change;
use super::entry::path;
use super::git::repositories;
use super::way_on::{to_decide, to_pull, to_undo};
use crate::commit::{CommitOutcome, Held, HeldReason, Pulled};
use crate::words;

/// What a commit did, or would do.
pub fn commit(outcome: &CommitOutcome) -> CommitDoc {
    CommitDoc {
        workspace: outcome.workspace.clone(),
        committed: outcome.operation.is_some(),
        dry_run: outcome.dry_run,
        message: outcome.message.clone(),
        changes: outcome.brought.iter().map(change).collect(),
        metadata_changes: outcome.metadata.iter().map(change).collect(),
        held: outcome.held.iter().map(held).collect(),
        meanwhile: outcome.meanwhile,
        conflicts: clashes(&outcome.conflicts),
        kept_conflicts: clashes(&outcome.kept_conflicts),
        execs: outcome.execs.iter().map(Id::to_string).collect(),
        snapshot: outcome.snapshot.as_ref().map(Id::to_string),
        operation: outcome.operation.as_ref().map(Id::to_string),
        repositories: repositories(&outcome.git),
        workspace_repositories: repositories(&outcome.workspace_git),
        git: None,
        ways_on: commit_ways_on(outcome),
    }
}

/// What to do after a commit.
pub fn commit_ways_on(outcome: &CommitOutcome) -> Vec<WayOnDoc> {
    let name = &outcome.workspace;
    let decide = (!outcome.conflicts.is_empty()).then(|| to_pull(name));
    decide.into_iter().chain(outcome.operation.map(|_| to_undo(name))).collect()
}

/// What a pull did.
pub fn pull(pulled: &Pulled) -> PullDoc {
    PullDoc {
        workspace: pulled.workspace.clone(),
        head: pulled.head.to_string(),
        head_moved: pulled.head_moved,
        captured: pulled.captured.iter().map(change).collect(),
        changes: pulled.changes.iter().map(change).collect(),
        metadata_changes: pulled.metadata.iter().map(change).collect(),
        conflicts: clashes(&pulled.conflicts),
        repositories: repositories(&pulled.git),
        snapshot: pulled.snapshot.as_ref().map(Id::to_string),
        operation: pulled.operation.as_ref().map(Id::to_string),
        git_directory: git_directory(&pulled.git_directory),
        ways_on: pull_ways_on(pulled),
    }
}

/// What to do after a pull.
pub fn pull_ways_on(pulled: &Pulled) -> Vec<WayOnDoc> {
    let Some(name) = &pulled.workspace else { return Vec::new() };
    let decide = (!pulled.conflicts.is_empty()).then(|| to_decide(name));
    decide.into_iter().chain(pulled.operation.map(|_| to_undo(name))).collect()
}

/// A change that stays in the workspace.
pub fn held(held: &Held) -> HeldDoc {
    HeldDoc {
        path: path(&held.change.path),
        reason: held.reason.word(),
        detail: held.reason.detail().map(str::to_owned),
        kind: match held.reason {
            HeldReason::Trusted(file) => Some(file.kind),
            _ => None,
        },
        option: held.reason.option().map(str::to_owned),
    }
}

/// What does not fit.
pub fn clashes(conflicts: &[Conflict]) -> Vec<ClashDoc> {
    let clash = |conflict: &Conflict| ClashDoc {
        path: path(&conflict.path),
        conflict: words::conflict_kind(conflict.kind),
    };
    conflicts.iter().map(clash).collect()
}
