//! What a commit of a workspace would do.

use offshoot_engine::commit::{Preview, PreviewService, Selection};
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
        let tracked = self.engine.tracked(vault)?;
        let is_tracked = |path: &_| Ok(tracked.has(path));
        let selection = Selection { tracked: &is_tracked, ..Selection::default() };
        Ok(self.previews(vault).preview(workspace, &selection, metadata)?)
    }

    /// Whether a pull would bring something into the workspace of a preview.
    pub(crate) fn pull_brings(
        &self,
        vault: &Vault,
        workspace: &WorkspaceRecord,
        preview: &Preview,
    ) -> Result<bool> {
        let tracked = self.engine.tracked(vault)?;
        let is_tracked = |path: &_| Ok(tracked.has(path));
        Ok(self.previews(vault).pull_brings(workspace, preview, &is_tracked)?)
    }

    fn previews<'v>(&self, vault: &'v Vault) -> PreviewService<'v> {
        PreviewService::new(vault, self.engine.merge_options(), self.engine.diff_options())
    }

    /// Says that a command is at work in a workspace: nobody knows yet what it changes.
    fn note_running(&self, vault: &Vault, workspace: &WorkspaceRecord) {
        let running = RunningService::new(vault).list(Some(workspace.id)).unwrap_or_default();
        if let Some(note) = running.iter().find(|note| !note.read_only) {
            let (name, command) = (&workspace.name, line(&note.command));
            self.output.note(format!(
                "a command runs in {name} ({command}): what it changes is shown when it has ended"
            ));
        }
    }
}
