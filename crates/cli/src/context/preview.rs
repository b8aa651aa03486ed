//! What a commit of a workspace would do.

use offshoot_engine::commit::Preview;
use offshoot_engine::exec::RunningService;
use offshoot_engine::vault::Vault;
use offshoot_engine::workspace::WorkspaceRecord;

use super::Context;
use crate::error::Result;
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
}
