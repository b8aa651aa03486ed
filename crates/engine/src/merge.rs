//! Merging workspaces into one another.

use offshoot_tree::diff::ChangeKind;
use offshoot_vault::Vault;
pub use offshoot_workspace::{MergeOutcome, MergeTarget};
use offshoot_workspace::{MergeRequest, MergeService, Point};

use crate::error::Result;
use crate::offshoot::Offshoot;

impl Offshoot {
    /// Merges states into a workspace. Conflicts are part of the outcome.
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
