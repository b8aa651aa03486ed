//! What a commit would do.

use offshoot_vault::{Vault, WorkspaceRecord};
use offshoot_workspace::{CommitPreview, PreviewService, Selection};

use super::Commit;
use crate::error::Result;
use crate::offshoot::Offshoot;

impl Offshoot {
    /// What a commit of a workspace would do, with changes of times, owners and attributes where `metadata` says so. Nothing is changed.
    ///
    /// ```
    /// # fn example(workspace: &offshoot_engine::Workspace) -> offshoot_engine::Result<()> {
    /// let project = workspace.project();
    /// let (engine, vault) = (project.engine(), project.vault());
    /// let preview = engine.preview(vault, &workspace.record()?, false)?;
    /// println!("{} would be committed", preview.summary.changes.len());
    /// # Ok(())
    /// # }
    /// ```
    pub fn preview(
        &self,
        vault: &Vault,
        workspace: &WorkspaceRecord,
        metadata: bool,
    ) -> Result<CommitPreview> {
        let tracked = self.tracked(vault)?;
        let is_tracked = |path: &_| Ok(tracked.has(path));
        let selection =
            Selection { tracked: &is_tracked, git: Some(&tracked), ..Selection::default() };
        Ok(self.previews(vault).preview(workspace, &selection, metadata)?)
    }

    /// What just this commit would do. Nothing is changed.
    ///
    /// ```
    /// # fn example(workspace: &offshoot_engine::Workspace) -> offshoot_engine::Result<()> {
    /// let project = workspace.project();
    /// let (engine, vault) = (project.engine(), project.vault());
    /// use offshoot_engine::commit::Commit;
    ///
    /// let commit = Commit::new("Fix the parser");
    /// for held in engine.preview_of(vault, &workspace.record()?, &commit)?.proposal.stays() {
    ///     println!("{} stays: {}", held.change.path, held.reason.word());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn preview_of(
        &self,
        vault: &Vault,
        workspace: &WorkspaceRecord,
        commit: &Commit,
    ) -> Result<CommitPreview> {
        let tracked = self.tracked(vault)?;
        let is_tracked = |path: &_| Ok(tracked.has(path));
        let selection =
            Selection { tracked: &is_tracked, git: Some(&tracked), ..commit.selection() };
        Ok(self.previews(vault).preview(workspace, &selection, false)?)
    }

    /// Whether a pull would bring something into the workspace of a preview.
    ///
    /// ```
    /// # fn example(workspace: &offshoot_engine::Workspace) -> offshoot_engine::Result<()> {
    /// let project = workspace.project();
    /// let (engine, vault) = (project.engine(), project.vault());
    /// let record = workspace.record()?;
    /// let preview = engine.preview(vault, &record, false)?;
    /// let stale = engine.pull_brings(vault, &record, &preview)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn pull_brings(
        &self,
        vault: &Vault,
        workspace: &WorkspaceRecord,
        preview: &CommitPreview,
    ) -> Result<bool> {
        let tracked = self.tracked(vault)?;
        let is_tracked = |path: &_| Ok(tracked.has(path));
        Ok(self.previews(vault).pull_brings(workspace, preview, &is_tracked)?)
    }

    fn previews<'v>(&self, vault: &'v Vault) -> PreviewService<'v> {
        PreviewService::new(vault, self.merge_options(), self.diff_options())
    }
}
