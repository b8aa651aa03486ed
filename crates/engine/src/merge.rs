//! Merging workspaces into one another.

use offshoot_tree::diff::ChangeKind;
use offshoot_vault::Vault;
pub use offshoot_workspace::{MergeOutcome, MergeTarget};
use offshoot_workspace::{MergeRequest, MergeService, Point};

use crate::error::Result;
use crate::offshoot::Offshoot;

impl Offshoot {
    /// Merges states into a workspace. Conflicts are part of the outcome.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// let (engine, vault) = (project.engine(), project.vault());
    /// use offshoot_engine::merge::MergeTarget;
    /// use offshoot_engine::reference::Resolver;
    ///
    /// let side = Resolver::new(vault).point("fix", None)?;
    /// let outcome = engine.merge(vault, &[side], MergeTarget::New("both"), Some("Both fixes"))?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn merge(
        &self,
        vault: &Vault,
        sides: &[Point],
        into: MergeTarget<'_>,
        message: Option<&str>,
    ) -> Result<MergeOutcome> {
        let request = MergeRequest { sides, into, message, options: self.merge_options() };
        self.listed(vault, MergeService::new(vault, self.actor()).merge(&request)?)
    }

    /// What a merge would do. Nothing is changed.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// let (engine, vault) = (project.engine(), project.vault());
    /// use offshoot_engine::merge::MergeTarget;
    /// use offshoot_engine::reference::Resolver;
    ///
    /// let side = Resolver::new(vault).point("fix", None)?;
    /// let fits = engine.preview_merge(vault, &[side], MergeTarget::New("both"))?.conflicts.is_empty();
    /// # Ok(())
    /// # }
    /// ```
    pub fn preview_merge(
        &self,
        vault: &Vault,
        sides: &[Point],
        into: MergeTarget<'_>,
    ) -> Result<MergeOutcome> {
        let request = MergeRequest { sides, into, message: None, options: self.merge_options() };
        self.listed(vault, MergeService::new(vault, self.actor()).preview(&request)?)
    }

    /// Lists what a merge changed as every other list does: renames in one, times not at all.
    fn listed(&self, vault: &Vault, mut outcome: MergeOutcome) -> Result<MergeOutcome> {
        let kept = outcome.changes.into_iter().filter(|it| it.kind() != ChangeKind::Metadata);
        outcome.changes = self.with_renames(vault, kept.collect())?;
        Ok(outcome)
    }
}
