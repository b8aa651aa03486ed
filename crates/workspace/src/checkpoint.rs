//! Checkpoints: refs to snapshots, to come back to.

use offshoot_store::{Id, StoreError};
use offshoot_vault::{
    Actor, Checkpoint, CheckpointState, Snapshot, Transaction, Vault, VaultError, WorkspaceRecord,
    check_ref_name,
};

use crate::error::{Result, ServiceError};
use crate::moved_files::MovedFiles;
use crate::resolve::{BASE, HEAD, Point};
use crate::undecided;
use crate::workspace_lock::share_workspace;

/// A checkpoint about to be made.
#[derive(Clone, Debug)]
pub struct NewCheckpoint<'a> {
    /// Its name; one is made from its number where there is none.
    pub name: Option<&'a str>,
    /// Made by Offshoot, not asked for.
    pub automatic: bool,
    /// Why it is made.
    pub reason: &'a str,
}

/// What a restore did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    /// The snapshot that the workspace is at now.
    pub snapshot: Snapshot,
    /// The operation, unless the workspace was there already.
    pub operation: Option<Id>,
}

/// Makes, lists, restores and removes checkpoints.
#[derive(Debug)]
pub struct CheckpointService<'a> {
    vault: &'a Vault,
    actor: Actor,
}

impl<'a> CheckpointService<'a> {
    /// Works on a vault on behalf of somebody.
    pub fn new(vault: &'a Vault, actor: &Actor) -> Self {
        Self { vault, actor: actor.clone() }
    }

    /// Marks the newest state of a workspace: one ref is written, whatever the size of the tree.
    pub fn create(
        &self,
        workspace: &WorkspaceRecord,
        new: &NewCheckpoint<'_>,
    ) -> Result<Checkpoint> {
        if let Some(name) = new.name {
            check_ref_name(name)?;
            if name == BASE {
                return Err(ServiceError::NameTaken { what: "checkpoint", name: name.to_owned() });
            }
            if name == HEAD {
                return Err(ServiceError::Reserved(name.to_owned()));
            }
        }
        let made = self.vault.transact("checkpoint create", &self.actor, |tx| {
            let current = tx.workspace(&workspace.id)?;
            let current = current.ok_or_else(|| VaultError::from(gone(workspace)))?;
            let id = tx.new_id();
            // The id is unique, so two checkpoints of one second cannot collide on a name.
            let name = new.name.map_or_else(|| format!("cp-{}", id.short()), str::to_owned);
            let state = CheckpointState {
                snapshot: current.state.head,
                automatic: new.automatic,
                created_ms: tx.time_ms(),
                reason: new.reason.to_owned(),
            };
            let checkpoint = Checkpoint { id, workspace: current.id, name, state };
            tx.scope(current.id);
            tx.summary(format!("create checkpoint {} of {}", checkpoint.name, current.name));
            tx.set_checkpoint(&checkpoint)?;
            Ok(checkpoint)
        });
        Ok(made.map_err(|error| taken(error, new.name))?.value)
    }

    /// The checkpoints of a workspace, oldest first.
    pub fn list(&self, workspace: &WorkspaceRecord) -> Result<Vec<Checkpoint>> {
        let mut checkpoints = self.vault.checkpoints()?;
        checkpoints.retain(|checkpoint| checkpoint.workspace == workspace.id);
        Ok(checkpoints)
    }

    /// Takes a workspace back to a point in history: a pointer moves. Undo takes it forward again.
    pub fn restore(&self, workspace: &WorkspaceRecord, point: &Point) -> Result<Restored> {
        let past = undecided::admit(self.vault, &self.actor, point)?;
        let _shared = share_workspace(self.vault, workspace)?;
        let files = MovedFiles::new(self.vault);
        let files = files.expecting_move(&workspace.state.head, &point.snapshot.id);
        let restored = self.vault.transact("checkpoint restore", &self.actor, |tx| {
            let current = tx.workspace(&workspace.id)?;
            let mut current = current.ok_or_else(|| VaultError::from(gone(workspace)))?;
            current.state.head = point.snapshot.id;
            tx.scope(current.id);
            tx.summary(format!("restore {} to {}", current.name, point.label));
            undecided::note(tx, past.as_slice());
            tx.set_workspace(&current)?;
            files.note(tx)
        })?;
        Ok(Restored { snapshot: point.snapshot.clone(), operation: restored.operation })
    }

    /// Removes a checkpoint; its snapshot stays in the history.
    pub fn delete(&self, checkpoint: &Checkpoint) -> Result<Option<Id>> {
        let deleted = self.vault.transact("checkpoint delete", &self.actor, |tx| {
            tx.scope(checkpoint.workspace);
            tx.summary(format!("delete checkpoint {}", checkpoint.name));
            tx.remove_checkpoint(&checkpoint.id)
        })?;
        Ok(deleted.operation)
    }
}

/// Marks a state of a workspace that can be come back to, without having been asked. Returns its name.
pub(crate) fn add_automatic(
    tx: &mut Transaction<'_, '_>,
    workspace: &Id,
    snapshot: Id,
    reason: String,
) -> offshoot_vault::Result<String> {
    let id = tx.new_id();
    let name = format!("cp-{}", id.short());
    let state = CheckpointState { snapshot, automatic: true, created_ms: tx.time_ms(), reason };
    tx.set_checkpoint(&Checkpoint { id, workspace: *workspace, name: name.clone(), state })?;
    Ok(name)
}

fn taken(error: VaultError, name: Option<&str>) -> ServiceError {
    match (error, name) {
        (VaultError::Store(StoreError::NameTaken { .. }), Some(name)) => {
            ServiceError::NameTaken { what: "checkpoint", name: name.to_owned() }
        }
        (other, _) => other.into(),
    }
}

fn gone(workspace: &WorkspaceRecord) -> StoreError {
    StoreError::Stale { kind: "workspace".to_owned(), name: workspace.name.clone() }
}
