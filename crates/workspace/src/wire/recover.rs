//! Running and interrupted commands as documents.

use offshoot_protocol::{
    ExecState, ExecSummaryDoc, RecoverDroppedDoc, RecoverKeptDoc, RecoverShowDoc, RecoverableDoc,
    RunningDoc, Text,
};
use offshoot_store::Id;
use offshoot_vault::{ExecNote, WorkspaceRecord};

use super::change::change;
use super::history::{actor, snapshot};
use super::import::skip_reason;
use super::time::time;
use super::workspace::checkpoint;
use crate::recover::{Inspected, Recoverable, RecoveredWork};

/// What an interrupted command left.
pub fn recoverable(found: &Recoverable) -> RecoverableDoc {
    let note = &found.note;
    let workspace = found.workspace.as_ref();
    RecoverableDoc {
        exec: note.exec.to_string(),
        workspace: workspace.map_or_else(|| note.workspace_name.clone(), |w| w.name.clone()),
        workspace_exists: workspace.is_some(),
        snapshot: note.snapshot.to_string(),
        command: note.command.clone(),
        started: time(note.started_ms),
        files: found.size.map(|size| size.files),
        directories: found.size.map(|size| size.directories),
        bytes: found.size.map(|size| size.bytes),
        power_cut: note.went_through_a_boot(),
        sealed: note.layer.is_some(),
        actor: actor(&note.actor),
    }
}

/// The same in detail.
pub fn inspected(inspected: &Inspected) -> RecoverShowDoc {
    let skipped = inspected.preview.skipped.iter().map(|skipped| {
        let path = offshoot_tree::display_bytes(&skipped.path);
        format!("/{path}: {}", skip_reason(&skipped.why).1)
    });
    RecoverShowDoc {
        found: recoverable(&inspected.found),
        changed_files: inspected.preview.changes.iter().map(change).collect(),
        not_kept: skipped.collect(),
        stdout: Text::new(&inspected.output.0),
        stderr: Text::new(&inspected.output.1),
    }
}

/// What was kept of an interrupted command.
pub fn kept(kept: &RecoveredWork, all: &[WorkspaceRecord]) -> RecoverKeptDoc {
    RecoverKeptDoc {
        exec: kept.note.exec.to_string(),
        workspace: kept.workspace.name.clone(),
        forked: kept.forked && kept.snapshot.is_some(),
        checkpoint: kept.checkpoint.as_ref().map(|made| checkpoint(made, all)),
        snapshot: kept.snapshot.as_ref().map(snapshot),
        changed_files: kept.changes.iter().map(change).collect(),
        power_cut: kept.note.went_through_a_boot(),
        operation: kept.operation.as_ref().map(Id::to_string),
    }
}

/// What was thrown away.
pub fn dropped(notes: &[ExecNote]) -> RecoverDroppedDoc {
    RecoverDroppedDoc { execs: notes.iter().map(|note| note.exec.to_string()).collect() }
}

/// A command that runs.
pub fn running(note: &ExecNote, vault: &str, now_ms: u64) -> RunningDoc {
    RunningDoc {
        exec: note.exec.to_string(),
        vault: vault.to_owned(),
        workspace: note.workspace_name.clone(),
        pid: note.process.pid,
        init_pid: note.init.map(|init| init.pid),
        started: time(note.started_ms),
        running_ms: now_ms.saturating_sub(note.started_ms),
        command: note.command.clone(),
        preset: note.preset.clone(),
        readonly: note.read_only,
        joined: note.joined.map(|session| session.to_string()),
        actor: actor(&note.actor),
    }
}

/// A command that runs, in a list of those that ran.
pub fn running_summary(note: &ExecNote, now_ms: u64) -> ExecSummaryDoc {
    ExecSummaryDoc {
        exec: note.exec.to_string(),
        workspace: Some(note.workspace_name.clone()),
        started: time(note.started_ms),
        total_ms: now_ms.saturating_sub(note.started_ms),
        state: ExecState::Running,
        command: note.command.clone(),
        exit_code: None,
        signal: None,
        changed: 0,
        actor: actor(&note.actor),
    }
}
