//! Named states of a workspace, to come back to.

pub use offshoot_vault::Checkpoint;
use offshoot_vault::Vault;
pub use offshoot_workspace::{CheckpointService, NewCheckpoint};

use crate::offshoot::Offshoot;

impl Offshoot {
    /// Makes, lists and restores checkpoints of a vault's workspaces.
    ///
    /// ```
    /// # fn example(workspace: &offshoot_engine::Workspace) -> offshoot_engine::Result<()> {
    /// let project = workspace.project();
    /// let (engine, vault) = (project.engine(), project.vault());
    /// for checkpoint in engine.checkpoints(vault).list(&workspace.record()?)? {
    ///     println!("{}", checkpoint.name);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn checkpoints<'v>(&self, vault: &'v Vault) -> CheckpointService<'v> {
        CheckpointService::new(vault, self.actor())
    }
}
