//! The history of a vault: what happened, and taking it back.

use offshoot_vault::{Actor, Id, Operation, Reverted, Scope, Snapshot, Vault};

use crate::error::Result;

/// One snapshot of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogEntry {
    /// The snapshot.
    pub snapshot: Snapshot,
    /// Names that point at it: workspaces, checkpoints, head.
    pub names: Vec<String>,
}

/// Reads the log, undoes and redoes.
#[derive(Debug)]
pub struct HistoryService<'a> {
    vault: &'a Vault,
    actor: Actor,
}

impl<'a> HistoryService<'a> {
    /// Works on a vault on behalf of somebody.
    pub fn new(vault: &'a Vault, actor: &Actor) -> Self {
        Self { vault, actor: actor.clone() }
    }

    /// A snapshot and what came before it, newest first, with the names that point at each.
    pub fn log(&self, from: &Snapshot, limit: usize) -> Result<Vec<LogEntry>> {
        let names = self.names()?;
        let named = |snapshot: Snapshot| {
            let here = names.iter().filter(|(id, _)| *id == snapshot.id);
            LogEntry { names: here.map(|(_, name)| name.clone()).collect(), snapshot }
        };
        let snapshots = self.vault.ancestry(from.id, limit)?;
        Ok(snapshots.into_iter().map(named).collect())
    }

    fn names(&self) -> Result<Vec<(Id, String)>> {
        let workspaces = self.vault.workspaces()?;
        let mut names = vec![(self.vault.head()?.id, "head".to_owned())];
        names.extend(workspaces.iter().map(|w| (w.state.head, w.name.clone())));
        for checkpoint in self.vault.checkpoints()? {
            let workspace = workspaces.iter().find(|w| w.id == checkpoint.workspace);
            let workspace = workspace.map_or("?", |w| w.name.as_str());
            names.push((checkpoint.state.snapshot, format!("{workspace}@{}", checkpoint.name)));
        }
        Ok(names)
    }

    /// The operation log, newest first.
    pub fn operations(&self, scope: Scope, limit: u32) -> Result<Vec<Operation>> {
        Ok(self.vault.operations(scope, None, limit)?)
    }

    /// Takes back the last operation of the scope that stands.
    pub fn undo(&self, scope: Scope) -> Result<Reverted> {
        Ok(self.vault.undo(scope, &self.actor)?)
    }

    /// Brings back what the last undo took back.
    pub fn redo(&self, scope: Scope) -> Result<Reverted> {
        Ok(self.vault.redo(scope, &self.actor)?)
    }

    /// Makes everything what it was right after an operation.
    pub fn restore(&self, operation: &Operation, scope: Scope) -> Result<Option<Id>> {
        Ok(self.vault.restore_operation(&operation.id, scope, &self.actor)?)
    }
}
