//! Workspaces and checkpoints as documents.

use offshoot_protocol::{CheckpointDoc, ListedWorkspaceDoc, UsageDoc, WorkspaceDoc};
use offshoot_store::Id;
use offshoot_vault::{Checkpoint, WorkspaceRecord};

use super::time::time;
use crate::workspace::{WorkspaceOverview, WorkspaceUsage};

/// The name of a workspace, or its id where it is gone.
pub fn workspace_name(id: &Id, all: &[WorkspaceRecord]) -> String {
    let found = all.iter().find(|workspace| workspace.id == *id);
    found.map_or_else(|| id.to_string(), |workspace| workspace.name.clone())
}

/// A workspace; `all` gives the names of parents.
pub fn workspace(workspace: &WorkspaceRecord, all: &[WorkspaceRecord]) -> WorkspaceDoc {
    let state = &workspace.state;
    WorkspaceDoc {
        id: workspace.id.to_string(),
        name: workspace.name.clone(),
        head: state.head.to_string(),
        base: state.base.to_string(),
        parent: state.parent.map(|id| workspace_name(&id, all)),
        created: time(state.created_ms),
        ephemeral: state.expires_ms.is_some(),
        expires: state.expires_ms.map(time),
    }
}

/// A workspace of a list; `all` gives the names of parents.
pub fn listed_workspace(found: &WorkspaceOverview, all: &[WorkspaceRecord]) -> ListedWorkspaceDoc {
    ListedWorkspaceDoc {
        workspace: workspace(&found.workspace, all),
        changed_paths: found.changed,
        listed_changes: found.listed.committed,
        held_changes: found.listed.held,
        last_used: time(found.used_ms),
        last_command: found.last_command.clone(),
        running: found.running,
    }
}

/// How much a workspace holds.
pub fn usage(usage: &WorkspaceUsage) -> UsageDoc {
    let WorkspaceUsage { total_bytes, own_bytes, shared_bytes, entries } = *usage;
    UsageDoc { total_bytes, own_bytes, shared_bytes, entries }
}

/// A checkpoint; `all` gives the name of its workspace.
pub fn checkpoint(checkpoint: &Checkpoint, all: &[WorkspaceRecord]) -> CheckpointDoc {
    CheckpointDoc {
        id: checkpoint.id.to_string(),
        name: checkpoint.name.clone(),
        workspace: workspace_name(&checkpoint.workspace, all),
        snapshot: checkpoint.state.snapshot.to_string(),
        automatic: checkpoint.state.automatic,
        created: time(checkpoint.state.created_ms),
        reason: checkpoint.state.reason.clone(),
    }
}
