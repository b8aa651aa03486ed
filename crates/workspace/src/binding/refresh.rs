//! Bringing the main line up to date with the folders.

use offshoot_vault::{Binding, ImportReport, Snapshot};

use super::git::take;
use super::git_directory::GitDirectory;
use super::host::require_same;
use super::service::BindingService;
use crate::commit::{CommitOptions, Direction, Folders};
use crate::error::Result;

/// What bringing the main line up to date did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refreshed {
    /// The main line now.
    pub head: Snapshot,
    /// Whether it moved.
    pub changed: bool,
    /// What was found.
    pub report: ImportReport,
    /// Where the first folder's git directory is, which is taken in where it lies outside.
    pub git: GitDirectory,
}

impl BindingService<'_> {
    /// Makes the main line what is in the vault's folders now; only files that changed are read. What was interrupted in the
    /// folders is settled first: nothing is captured from a folder that is half changed. Fails where another folder lies in the
    /// place of a bound one.
    pub fn refresh(&self, options: &CommitOptions<'_>) -> Result<Refreshed> {
        self.take_in(options, require_same)
    }

    /// The same for folders that somebody asked to take as they are: whatever lies in the places of the bound ones is bound from here on.
    /// What was interrupted in those that lay there before is given up.
    pub fn adopt(&self, options: &CommitOptions<'_>) -> Result<Refreshed> {
        let options = CommitOptions { settle: Some(Direction::Leave), ..options.clone() };
        self.take_in(&options, |_| Ok(()))
    }

    fn take_in(
        &self,
        options: &CommitOptions<'_>,
        check: fn(&[Binding]) -> Result<()>,
    ) -> Result<Refreshed> {
        let mut folders = Folders::lock(self.vault, &self.actor, options)?;
        check(folders.bindings())?;
        let _held = self.vault.hold()?;
        let before = self.vault.head()?.id;
        let git = take(self.vault, &self.actor, &mut folders, options)?;
        let captured = folders.capture()?;
        let (head, _) = folders.follow(&captured)?;
        let changed = head.id != before;
        Ok(Refreshed { head, changed, report: captured.report, git })
    }
}
