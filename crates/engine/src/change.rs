//! What differs between two states of files, and what of it is folded in lists.

use std::rc::Rc;

use offshoot_tree::RootId;
use offshoot_tree::diff::detect_renames;
pub use offshoot_tree::diff::{BinaryForm, Change, ChangeKind};
use offshoot_vault::Vault;
pub use offshoot_workspace::{
    ChangeSummaryService, Folded, FoldedKind, Noise, Sorted, Summary, is_telling_metadata, sorted,
    without_frames,
};

use crate::error::Result;
use crate::offshoot::Offshoot;

impl Offshoot {
    /// Compares states of a vault, as the settings say.
    ///
    /// ```
    /// # fn example(workspace: &offshoot_engine::Workspace) -> offshoot_engine::Result<()> {
    /// let project = workspace.project();
    /// let (engine, vault) = (project.engine(), project.vault());
    /// let record = workspace.record()?;
    /// let (base, head) = (vault.snapshot(&record.state.base)?, vault.snapshot(&record.state.head)?);
    /// let summary = engine.changes(vault).between(&base.root, &head.root, false)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn changes<'v>(&self, vault: &'v Vault) -> ChangeSummaryService<'v> {
        ChangeSummaryService::new(vault, self.diff_options())
    }

    /// The same changes with a removed and an added file as one rename, where they resemble each other as much as the settings want.
    ///
    /// ```
    /// # fn example(workspace: &offshoot_engine::Workspace) -> offshoot_engine::Result<()> {
    /// let project = workspace.project();
    /// let (engine, vault) = (project.engine(), project.vault());
    /// let changes = engine.with_renames(vault, workspace.diff()?)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn with_renames(&self, vault: &Vault, changes: Vec<Change>) -> Result<Vec<Change>> {
        Ok(detect_renames(vault.objects()?, changes, &self.diff_options())?)
    }

    /// What is folded in lists of changes: build output, caches and git directories, by the ignore rules of these states.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// let (engine, vault) = (project.engine(), project.vault());
    /// let noise = engine.folding(vault, &[vault.head()?.root])?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn folding<'v>(&self, vault: &'v Vault, roots: &[RootId]) -> Result<Noise<'v>> {
        Ok(Noise::new(vault, roots, Rc::new(self.tracked(vault)?))?)
    }
}
