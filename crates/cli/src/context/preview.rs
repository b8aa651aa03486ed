//! What a commit of a workspace would do.

use std::collections::HashSet;

use offshoot_engine::commit::Preview;
use offshoot_engine::exec::{ExecutionResult, RunningService};
use offshoot_engine::live::overlap_notices;
use offshoot_engine::vault::Vault;
use offshoot_engine::workspace::WorkspaceRecord;

use super::Context;
use crate::error::Result;
use crate::invocation::said;
use crate::render::line;

impl Context {
    /// What a commit of a workspace would do.
    pub(crate) fn preview(
        &self,
        vault: &Vault,
        workspace: &WorkspaceRecord,
        metadata: bool,
    ) -> Result<Preview> {
        self.note_running(vault, workspace);
        self.engine.preview(vault, workspace, metadata)
    }

    /// Says that a command is at work in a workspace: nobody knows yet what it changes.
    pub(crate) fn note_running(&self, vault: &Vault, workspace: &WorkspaceRecord) {
        let running = RunningService::new(vault).list(Some(workspace.id)).unwrap_or_default();
        if let Some(note) = running.iter().find(|note| !note.read_only) {
            let (name, command) = (&workspace.name, line(&note.command));
            self.output.note(format!(
                "a command runs in {name} ({command}): what it changes is shown when it has ended"
            ));
        }
    }

    /// Which other workspaces changed the same lines of what a command that has just ended changed. Where that cannot be found out, nothing
    /// is said: the commit finds it.
    pub(crate) fn overlaps(&self, vault: &Vault, result: &ExecutionResult) -> Vec<String> {
        let Some((id, _)) = result.workspace.as_ref().filter(|_| !result.changes.is_empty()) else {
            return Vec::new();
        };
        let workspace = vault.workspace(id).ok().flatten();
        let found = workspace.and_then(|it| self.engine.overlaps(vault, &it).ok());
        let mut found = found.unwrap_or_default();
        let changed: HashSet<_> = result.changes.iter().map(|change| &change.path).collect();
        found.retain(|overlap| changed.contains(&overlap.path));
        overlap_notices(&found).into_iter().map(said).collect()
    }
}
