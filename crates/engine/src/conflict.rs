//! What two sides changed differently, and how it is resolved.

pub use offshoot_tree::RecordedSide;
pub use offshoot_tree::merge::Conflict;
use offshoot_vault::Vault;
pub use offshoot_workspace::{ConflictService, OpenConflict, Resolution, ResolveOptions};

use crate::offshoot::Offshoot;

impl Offshoot {
    /// Lists and resolves the conflicts of a vault's workspaces.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// let (engine, vault) = (project.engine(), project.vault());
    /// for open in engine.conflicts(vault).list(&vault.head()?.root, &[])? {
    ///     println!("{}", open.path);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn conflicts<'v>(&self, vault: &'v Vault) -> ConflictService<'v> {
        ConflictService::new(vault, self.actor())
    }
}
