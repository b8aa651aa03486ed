//! The host directories that a vault is bound to.

mod change;
mod error;

pub use change::{Bound, NewBinding, Rebound};
pub use error::BindingError;

pub(crate) use change::shown_name;

use offshoot_vault::{
    Actor, Binding, ImportOptions, ImportReport, Imported, NewSnapshot, Snapshot, Vault,
    display_bytes,
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

    /// Makes the main line what is in the vault's folders now; only files that changed are read.
    pub fn refresh(&self, options: &ImportOptions) -> Result<Refreshed> {
        let _held = self.vault.hold()?;
        let bindings = self.vault.bindings()?;
        let imported = capture(self.vault, &bindings, options)?;
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
            tx.summary(format!("import {}", named(&bindings)));
            Ok(snapshot)
        })?;
        Ok(Refreshed { head: committed.value, changed: true, report: imported.report })
    }
}

/// Reads what is in the folders now as one state of files, stored but not part of any history: the first is the top of the
/// tree, each other one lies where its binding says. Whoever calls it holds the vault until that is recorded.
pub fn capture(vault: &Vault, bindings: &[Binding], options: &ImportOptions) -> Result<Imported> {
    Ok(vault.import_bound(bindings, options)?)
}

/// The folders, for people.
fn named(bindings: &[Binding]) -> String {
    let paths: Vec<String> = bindings.iter().map(|binding| display_bytes(&binding.path)).collect();
    paths.join(", ")
}
