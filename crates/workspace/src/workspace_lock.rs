//! Keeping others out of a workspace.

use std::time::Duration;

use offshoot_vault::{Vault, VaultError, WorkspaceLock, WorkspaceRecord, WorkspaceShare};

use crate::error::{Result, ServiceError};

/// Takes a workspace for oneself: no command runs in it meanwhile.
pub(crate) fn lock_workspace(
    vault: &Vault,
    workspace: &WorkspaceRecord,
    wait: Duration,
    verb: &str,
) -> Result<WorkspaceLock> {
    let holder = format!("process {}: offshoot {verb}", std::process::id());
    let locked = vault.lock_workspace(&workspace.id, Some(wait), &holder);
    locked.map_err(|error| busy(workspace, error))
}

/// Keeps a workspace from commands while its refs are changed. What a command wrote could not become its next state if that had moved, so this is
/// refused while one runs.
pub(crate) fn share_workspace(
    vault: &Vault,
    workspace: &WorkspaceRecord,
) -> Result<WorkspaceShare> {
    vault.share_workspace(&workspace.id).map_err(|error| busy(workspace, error))
}

fn busy(workspace: &WorkspaceRecord, error: VaultError) -> ServiceError {
    match error {
        VaultError::WorkspaceBusy { holder, .. } => {
            ServiceError::Busy { workspace: workspace.name.clone(), holder }
        }
        other => other.into(),
    }
}
