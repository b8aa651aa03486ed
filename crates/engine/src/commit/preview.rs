//! What a commit would do.

use offshoot_vault::{Vault, Workspace as WorkspaceRecord};
use offshoot_workspace::{CommitPreview, PreviewService, Selection};

use crate::error::Result;
use crate::offshoot::Offshoot;

impl Offshoot {
    /// What a commit of a workspace would do, with changes of times, owners and attributes where `metadata` says so. Nothing is changed.
    pub fn preview(
        &self,
        vault: &Vault,
        workspace: &WorkspaceRecord,
        metadata: bool,
    ) -> Result<CommitPreview> {
        let tracked = self.tracked(vault)?;
        let is_tracked = |path: &_| Ok(tracked.has(path));
        let selection = Selection { tracked: &is_tracked, ..Selection::default() };
        Ok(self.previews(vault).preview(workspace, &selection, metadata)?)
    }

    /// Whether a pull would bring something into the workspace of a preview.
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
