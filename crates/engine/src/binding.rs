//! The folders that a vault is bound to, and the main line that follows them.

use std::path::Path;

use offshoot_vault::Vault;
pub use offshoot_vault::{Binding, bound_path};
pub use offshoot_workspace::{BindingService, GitDirectory, NewBinding, Refreshed};
use offshoot_workspace::{HomeEvent, ServiceError};

use crate::error::Result;
use crate::import::unreadable;
use crate::notice::Topic;
use crate::offshoot::Offshoot;
use crate::text::{bytes, host_path};

impl Offshoot {
    /// Makes the main line what is in the folder now, before something is forked from it; tells of it where it moved.
    pub fn refresh(&self, vault: &Vault, name: &str, folder: &Path) -> Result<(), ServiceError> {
        if vault.is_read_only() {
            return Ok(());
        }
        let service = BindingService::new(vault, self.actor());
        let told = |event: &_| self.tell_event(event);
        let refreshed = service.refresh(&self.home_options(&told))?;
        for line in unreadable(&refreshed.report) {
            self.tell(Topic::Skipped, line);
        }
        // That commits are lost is among the warnings of a command.
        self.tell_taken_git(&refreshed.git);
        if refreshed.changed {
            let folder = host_path(folder);
            let text = format!("vault {name} was brought up to date with {folder}");
            self.tell(Topic::Refreshed, text);
        }
        Ok(())
    }

    /// Takes in the git directory of a vault that was just made, where it lies outside of the folder.
    pub fn take_git_directory(&self, vault: &Vault) -> Result<GitDirectory> {
        let told = |event: &HomeEvent| self.tell_event(event);
        let service = BindingService::new(vault, self.actor());
        let git = service.take_git_directory(&self.home_options(&told))?;
        self.tell_left_git(&git);
        Ok(git)
    }

    /// Tells that commits are lost, where they are.
    pub fn tell_left_git(&self, git: &GitDirectory) {
        if let GitDirectory::Left(left) = git {
            self.tell(Topic::CommitsLost, format!("warning: {left}; {}", left.way_out()));
        }
    }

    /// Tells that a git directory was taken in just now.
    pub fn tell_taken_git(&self, git: &GitDirectory) {
        if matches!(git, GitDirectory::Bound { new: true, .. })
            && let Some(line) = git_directory(git)
        {
            self.tell(Topic::GitDirectory, line);
        }
    }
}

/// That a git directory was taken in, where it was.
pub fn git_directory(git: &GitDirectory) -> Option<String> {
    let GitDirectory::Bound { binding, bytes: size, new: _ } = git else { return None };
    let (directory, size) = (host_path(&binding.host_path()), bytes(*size));
    Some(format!("git directory {directory} taken in as well, {size}"))
}
