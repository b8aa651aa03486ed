//! What commits say.

use std::collections::BTreeMap;

use offshoot_store::Id;
use offshoot_vault::{Snapshot, Vault, WorkspaceRecord};

use crate::error::Result;
use crate::git::trailers::{EXEC, WORKSPACE, with_trailers};

/// The trailer that names the snapshot.
pub(super) const SNAPSHOT: &str = "Offshoot-Snapshot";

/// Makes messages of what is recorded about snapshots.
pub(super) struct Messages<'a> {
    vault: &'a Vault,
    workspace: &'a WorkspaceRecord,
    /// The commands by the snapshots that they made.
    execs: BTreeMap<Id, Id>,
}

impl<'a> Messages<'a> {
    pub(super) fn new(vault: &'a Vault, workspace: &'a WorkspaceRecord) -> Result<Self> {
        let execs = vault.execs(Some(workspace.id), None, u32::MAX)?;
        let execs = execs.into_iter().filter_map(|exec| Some((exec.after?, exec.id))).collect();
        Ok(Self { vault, workspace, execs })
    }

    /// Of a snapshot: what its maker said, or else what was done.
    pub(super) fn of(&self, snapshot: &Snapshot) -> Result<String> {
        let text = match snapshot.message.as_deref().map(str::trim).filter(|text| !text.is_empty())
        {
            Some(text) => text.to_owned(),
            None => self.vault.operation(&snapshot.operation)?.summary,
        };
        let text = if text.is_empty() { snapshot.reason.clone() } else { text };
        Ok(self.signed(&text, snapshot))
    }

    /// Of the state that the workspace started from, where git did not have it.
    pub(super) fn of_base(&self, base: &Snapshot) -> String {
        let text =
            format!("what workspace {} started from and was not committed", self.workspace.name);
        self.signed(&text, base)
    }

    fn signed(&self, text: &str, snapshot: &Snapshot) -> String {
        let mut trailers = Vec::new();
        trailers.extend(self.execs.get(&snapshot.id).map(|exec| (EXEC, exec.to_string())));
        trailers.push((WORKSPACE, self.workspace.name.clone()));
        trailers.push((SNAPSHOT, snapshot.id.to_string()));
        with_trailers(text, &trailers)
    }
}
