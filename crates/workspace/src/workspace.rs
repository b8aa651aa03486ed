//! Workspaces: forks of the vault's files that change on their own.

mod listed;
mod overview;

pub use listed::ListedChanges;
pub use overview::WorkspaceOverview;

use std::time::Duration;

use offshoot_store::{Id, StoreError};
use offshoot_tree::diff;
use offshoot_vault::{Actor, Vault, VaultError, WorkspaceRecord, WorkspaceState, check_ref_name};

use crate::error::{Result, ServiceError};
use crate::friendly::friendly_name;
use crate::moved_files::MovedFiles;
use crate::resolve::{HEAD, Point};
use crate::undecided;
use crate::workspace_lock::share_workspace;

/// A workspace about to be made.
#[derive(Clone, Debug)]
pub struct NewWorkspace<'a> {
    /// Its name; a friendly one is found where there is none.
    pub name: Option<&'a str>,
    /// Where it starts.
    pub from: &'a Point,
    /// For an ephemeral one: how long it lives without being used.
    pub lifetime: Option<Duration>,
}

/// How much a workspace holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkspaceUsage {
    /// Bytes of all its files.
    pub total_bytes: u64,
    /// How many entries it has.
    pub entries: u64,
    /// Bytes of content that its base does not have.
    pub own_bytes: u64,
    /// Bytes that it shares with its base.
    pub shared_bytes: u64,
}

/// Makes, lists, changes and removes workspaces.
#[derive(Debug)]
pub struct WorkspaceService<'a> {
    vault: &'a Vault,
    actor: Actor,
}

impl<'a> WorkspaceService<'a> {
    /// Works on a vault on behalf of somebody.
    pub fn new(vault: &'a Vault, actor: &Actor) -> Self {
        Self { vault, actor: actor.clone() }
    }

    /// Fails where a workspace cannot be created under a name: for whoever has work to do before it is.
    pub fn require_free(&self, name: &str) -> Result<()> {
        let name = checked(name)?;
        if self.vault.workspace_named(name)?.is_none() {
            return Ok(());
        }
        // It may be one whose time is over.
        self.sweep()?;
        match self.vault.workspace_named(name)? {
            Some(_) => Err(ServiceError::NameTaken { what: "workspace", name: name.to_owned() }),
            None => Ok(()),
        }
    }

    /// Forks a workspace: a pointer is copied, whatever the size of the tree.
    pub fn create(&self, new: &NewWorkspace<'_>) -> Result<WorkspaceRecord> {
        self.sweep()?;
        if let Some(name) = new.name {
            return self.create_named(checked(name)?, new);
        }
        loop {
            let existing = self.vault.workspaces()?;
            let name = friendly_name(|name| existing.iter().any(|w| w.name == name));
            match self.create_named(&name, new) {
                // Somebody else found the same name at the same time.
                Err(ServiceError::NameTaken { .. }) => {}
                other => return other,
            }
        }
    }

    fn create_named(&self, name: &str, new: &NewWorkspace<'_>) -> Result<WorkspaceRecord> {
        let past = undecided::admit(self.vault, &self.actor, new.from)?;
        let made = self.vault.transact("workspace create", &self.actor, |tx| {
            let created_ms = tx.time_ms();
            let workspace = WorkspaceRecord {
                id: tx.new_id(),
                name: name.to_owned(),
                state: WorkspaceState {
                    head: new.from.snapshot.id,
                    base: new.from.snapshot.id,
                    parent: new.from.workspace.as_ref().map(|w| w.id),
                    created_ms,
                    expires_ms: new.lifetime.map(|lifetime| expiry(created_ms, lifetime)),
                },
            };
            tx.scope(workspace.id);
            tx.summary(format!("create workspace {name} from {}", new.from.label));
            undecided::note(tx, past.as_slice());
            tx.set_workspace(&workspace)?;
            Ok(workspace)
        });
        Ok(made.map_err(|error| taken(error, name))?.value)
    }

    /// Gives a workspace another name.
    pub fn rename(&self, workspace: &WorkspaceRecord, name: &str) -> Result<WorkspaceRecord> {
        let name = checked(name)?;
        let renamed = self.vault.transact("workspace rename", &self.actor, |tx| {
            let mut current =
                tx.workspace(&workspace.id)?.ok_or(VaultError::Store(stale(workspace)))?;
            tx.summary(format!("rename workspace {} to {name}", current.name));
            name.clone_into(&mut current.name);
            tx.scope(current.id);
            tx.set_workspace(&current)?;
            Ok(current)
        });
        Ok(renamed.map_err(|error| taken(error, name))?.value)
    }

    /// Removes a workspace with its checkpoints and sessions. Undo brings it back.
    pub fn delete(&self, workspace: &WorkspaceRecord) -> Result<Option<Id>> {
        let _shared = share_workspace(self.vault, workspace)?;
        let deleted = self.vault.transact("workspace delete", &self.actor, |tx| {
            tx.summary(format!("delete workspace {}", workspace.name));
            tx.scope(workspace.id);
            tx.remove_workspace(&workspace.id)
        })?;
        Ok(deleted.operation)
    }

    /// Takes a workspace back to what it was forked from. Undo brings its changes back.
    pub fn reset(&self, workspace: &WorkspaceRecord) -> Result<Option<Id>> {
        let _shared = share_workspace(self.vault, workspace)?;
        let files = MovedFiles::new(self.vault);
        let files = files.expecting_move(&workspace.state.head, &workspace.state.base);
        let reset = self.vault.transact("discard", &self.actor, |tx| {
            let mut current =
                tx.workspace(&workspace.id)?.ok_or(VaultError::Store(stale(workspace)))?;
            current.state.head = current.state.base;
            tx.summary(format!("discard the changes of {}", current.name));
            tx.scope(current.id);
            tx.set_workspace(&current)?;
            files.note(tx)
        })?;
        Ok(reset.operation)
    }

    /// All workspaces, oldest first.
    pub fn list(&self) -> Result<Vec<WorkspaceRecord>> {
        Ok(self.vault.workspaces()?)
    }

    /// The workspace that was changed last.
    pub fn most_recent(&self) -> Result<Option<WorkspaceRecord>> {
        match self.vault.recently_used()?.first() {
            Some(id) => Ok(self.vault.workspace(id)?),
            None => Ok(None),
        }
    }

    /// How much a workspace holds and shares; costs as much as its changes.
    pub fn usage(&self, workspace: &WorkspaceRecord) -> Result<WorkspaceUsage> {
        let head = self.vault.snapshot(&workspace.state.head)?;
        let base = self.vault.snapshot(&workspace.state.base)?;
        let objects = self.vault.objects()?;
        let top = objects.root(&head.root)?;
        let mut seen = std::collections::HashSet::new();
        let mut own_bytes = 0;
        for change in diff::compare(objects, &base.root, &head.root)? {
            let same = change.before.as_deref().map(offshoot_tree::Entry::content_hash);
            if let Some(after) = change.after.filter(|entry| entry.directory().is_none())
                && Some(after.content_hash()) != same
                && seen.insert(after.content_hash())
            {
                own_bytes += after.size();
            }
        }
        let (total_bytes, entries) = top.directory().map_or((0, 0), |dir| (dir.bytes, dir.entries));
        let shared_bytes = total_bytes.saturating_sub(own_bytes);
        Ok(WorkspaceUsage { total_bytes, entries, own_bytes, shared_bytes })
    }

    /// Removes ephemeral workspaces whose time is over; returns their names.
    pub fn sweep(&self) -> Result<Vec<String>> {
        let now = Id::random().time_ms();
        let mut swept = Vec::new();
        for workspace in self.vault.workspaces()? {
            let Some(expires_ms) = workspace.state.expires_ms.filter(|expires| *expires <= now)
            else {
                continue;
            };
            // Every use moves the end of its life on by its lifetime.
            let lifetime = expires_ms.saturating_sub(workspace.state.created_ms);
            let used = self.vault.last_operation(offshoot_vault::Scope::Workspace(workspace.id))?;
            if used.is_some_and(|operation| operation.time_ms.saturating_add(lifetime) > now) {
                continue;
            }
            let shared = match share_workspace(self.vault, &workspace) {
                // It is in use.
                Err(ServiceError::Busy { .. }) => continue,
                shared => shared?,
            };
            let expired = self.vault.transact("workspace expire", &self.actor, |tx| {
                if tx.workspace(&workspace.id)?.as_ref() != Some(&workspace) {
                    // Used or removed since it was looked at.
                    return Ok(());
                }
                if tx.has_sessions(&workspace.id)? {
                    // A conversation is kept until somebody deletes it.
                    return Ok(());
                }
                tx.summary(format!("ephemeral workspace {} expired", workspace.name));
                tx.scope(workspace.id);
                tx.remove_workspace(&workspace.id)
            })?;
            drop(shared);
            if expired.operation.is_some() {
                swept.push(workspace.name);
            }
        }
        Ok(swept)
    }
}

fn expiry(created_ms: u64, lifetime: Duration) -> u64 {
    created_ms.saturating_add(u64::try_from(lifetime.as_millis()).unwrap_or(u64::MAX))
}

pub(crate) fn checked(name: &str) -> Result<&str> {
    check_ref_name(name)?;
    if name == HEAD {
        return Err(ServiceError::Reserved(name.to_owned()));
    }
    Ok(name)
}

pub(crate) fn taken(error: VaultError, name: &str) -> ServiceError {
    match error {
        VaultError::Store(StoreError::NameTaken { .. }) => {
            ServiceError::NameTaken { what: "workspace", name: name.to_owned() }
        }
        other => other.into(),
    }
}

fn stale(workspace: &WorkspaceRecord) -> StoreError {
    StoreError::Stale { kind: "workspace".to_owned(), name: workspace.name.clone() }
}
