//! What a commit of a workspace would do.

use offshoot_engine::commit::Preview;
use offshoot_engine::exec::{ExecutionResult, RunningService};
use offshoot_engine::vault::Vault;
use offshoot_engine::workspace::WorkspaceRecord;
use offshoot_protocol::Hint;

use super::Context;
use crate::error::Result;
use crate::invocation::next;
use crate::render::{line, overlap};

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

    /// Says which other workspaces changed the same lines as a command that has just ended. Where that cannot be found out, nothing is said: the
    /// commit finds it.
    pub(crate) fn note_overlaps(&self, vault: &Vault, result: &ExecutionResult) {
        const MOST_TOLD: usize = 3;
        let Some((id, _)) = result.workspace.as_ref().filter(|_| !result.changes.is_empty()) else {
            return;
        };
        let workspace = vault.workspace(id).ok().flatten();
        let found = workspace.and_then(|it| self.engine.overlaps(vault, &it).ok());
        let found = found.unwrap_or_default();
        let groups = overlap::groups(&found);
        groups.iter().take(MOST_TOLD).for_each(|group| self.output.note(overlap::notice(group)));
        let more = groups.len().saturating_sub(MOST_TOLD);
        if more > 0 {
            let all = next(Hint::command("offshoot status --all"));
            self.output
                .note(format!("{more} more workspaces changed the same; `{all}` lists them"));
        }
    }
}
