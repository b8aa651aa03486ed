//! The host directories that a vault was made from.

use std::path::Path;

use offshoot_vault::{
    Actor, ImportOptions, ImportReport, NewSnapshot, Snapshot, Vault, display_bytes,
};

use crate::error::Result;

/// What bringing the main line up to date did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refreshed {
    /// The main line now.
    pub head: Snapshot,
    /// Whether it moved.
    pub changed: bool,
    /// What was found.
    pub report: ImportReport,
}

/// Takes what is on the host into the vault's main line.
#[derive(Debug)]
pub struct BindingService<'a> {
    vault: &'a Vault,
    actor: Actor,
}

impl<'a> BindingService<'a> {
    /// Works on a vault on behalf of somebody.
    pub fn new(vault: &'a Vault, actor: &Actor) -> Self {
        Self { vault, actor: actor.clone() }
    }

    /// Makes the main line what is in the directory now; only files that changed are read.
    pub fn refresh(&self, directory: &Path, options: &ImportOptions) -> Result<Refreshed> {
        let _held = self.vault.hold()?;
        let imported = self.vault.import(directory, options)?;
        let before = self.vault.head()?;
        if imported.root == before.root {
            return Ok(Refreshed { head: before, changed: false, report: imported.report });
        }
        let committed = self.vault.transact("import", &self.actor, |tx| {
            imported.record(tx)?;
            let parents = tx.head()?.into_iter().collect();
            let snapshot = tx.add_snapshot(NewSnapshot {
                root: imported.root,
                content: imported.content,
                parents,
                reason: "import".to_owned(),
                message: None,
            })?;
            tx.set_head(snapshot.id)?;
            let directory = display_bytes(directory.as_os_str().as_encoded_bytes());
            tx.summary(format!("import {directory}"));
            Ok(snapshot)
        })?;
        Ok(Refreshed { head: committed.value, changed: true, report: imported.report })
    }
}
