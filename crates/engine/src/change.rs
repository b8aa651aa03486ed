//! What differs between two states of files, and what of it is folded in lists.

use std::rc::Rc;

use offshoot_tree::RootId;
use offshoot_tree::diff::detect_renames;
pub use offshoot_tree::diff::{Change, ChangeKind};
use offshoot_vault::Vault;
pub use offshoot_workspace::{
    ChangeSummaryService, Folded, FoldedKind, Noise, Sorted, Summary, is_telling_metadata,
    without_frames,
};

use crate::error::Result;
use crate::offshoot::Offshoot;

impl Offshoot {
    /// Compares states of a vault, as the settings say.
    pub fn changes<'v>(&self, vault: &'v Vault) -> ChangeSummaryService<'v> {
        ChangeSummaryService::new(vault, self.diff_options())
    }

    /// The same changes with a removed and an added file as one rename, where they resemble each other as much as the settings want.
    pub fn with_renames(&self, vault: &Vault, changes: Vec<Change>) -> Result<Vec<Change>> {
        Ok(detect_renames(vault.objects()?, changes, &self.diff_options())?)
    }

    /// What is folded in lists of changes: build output, caches and git directories, by the ignore rules of these states.
    pub fn folding<'v>(&self, vault: &'v Vault, roots: &[RootId]) -> Result<Noise<'v>> {
        Ok(Noise::new(vault, roots, Rc::new(self.tracked(vault)?))?)
    }
}
