//! The folders that a vault is bound to, and the main line that follows them.

use std::path::Path;

use offshoot_vault::Vault;
pub use offshoot_vault::{Binding, bound_path};
use offshoot_workspace::{BindingService, CommitEvent, NewBinding, ServiceError};
pub use offshoot_workspace::{Bound, GitDirectory, Rebound, Refreshed};

use crate::error::{Hint, Result};
use crate::import::unreadable;
use crate::notice::Topic;
use crate::offshoot::Offshoot;
use crate::text::{bytes, host_path};

impl Offshoot {
    /// Adds a folder to a vault, under a name or under its own, and tells what could not be taken in.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// let (engine, vault) = (project.engine(), project.vault());
    /// let bound = engine.bind(vault, "/etc/app".as_ref(), Some("etc"))?;
    /// println!("{} lies at {}", bound.binding.name, bound.binding.at());
    /// # Ok(())
    /// # }
    /// ```
    pub fn bind(&self, vault: &Vault, directory: &Path, name: Option<&str>) -> Result<Bound> {
        let told = |event: &CommitEvent| self.tell_event(event);
        let user_home = self.options().user_home();
        let new = NewBinding { directory, name, user_home: user_home.as_deref() };
        let options = self.commit_options(&told);
        let bound = self.bindings(vault).add(self.registry(), &new, &options)?;
        self.tell_skipped(&bound.report);
        Ok(bound)
    }

    /// Takes a folder out of a vault. The folder stays as it is.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// let (engine, vault) = (project.engine(), project.vault());
    /// engine.unbind(vault, "etc")?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn unbind(&self, vault: &Vault, name: &str) -> Result<Rebound> {
        let told = |event: &CommitEvent| self.tell_event(event);
        let options = self.commit_options(&told);
        Ok(self.bindings(vault).remove(self.registry(), name, &options)?)
    }

    /// Binds a vault to a folder where that is now.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// let (engine, vault) = (project.engine(), project.vault());
    /// engine.rebind(vault, "/", "/srv/me/moved".as_ref())?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn rebind(&self, vault: &Vault, name: &str, directory: &Path) -> Result<Rebound> {
        let told = |event: &CommitEvent| self.tell_event(event);
        let user_home = self.options().user_home();
        let new = NewBinding { directory, name: None, user_home: user_home.as_deref() };
        let options = self.commit_options(&told);
        Ok(self.bindings(vault).relocate(self.registry(), name, &new, &options)?)
    }

    /// Takes the folders of a vault in as they are, even where others lie in their places now, and tells what could not be taken in.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// let (engine, vault) = (project.engine(), project.vault());
    /// let refreshed = engine.adopt_again(vault)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn adopt_again(&self, vault: &Vault) -> Result<Refreshed> {
        let told = |event: &CommitEvent| self.tell_event(event);
        let refreshed = self.bindings(vault).adopt(&self.commit_options(&told))?;
        self.tell_skipped(&refreshed.report);
        self.tell_left_git(&refreshed.git);
        Ok(refreshed)
    }

    /// Where the git directory of the folder is, where that is outside; tells where commits are lost.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// let (engine, vault) = (project.engine(), project.vault());
    /// let git = engine.git_directory(vault)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn git_directory(&self, vault: &Vault) -> Result<GitDirectory> {
        let user_home = self.options().user_home();
        let git = self.bindings(vault).git_directory(user_home.as_deref())?;
        self.tell_left_git(&git);
        Ok(git)
    }

    fn bindings<'v>(&self, vault: &'v Vault) -> BindingService<'v> {
        BindingService::new(vault, self.actor())
    }

    /// Makes the main line what is in the folder now, before something is forked from it; tells of it where it moved.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// let (engine, vault) = (project.engine(), project.vault());
    /// engine.refresh(vault, project.name(), "/srv/me/project".as_ref())?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn refresh(&self, vault: &Vault, name: &str, folder: &Path) -> Result<(), ServiceError> {
        if vault.is_read_only() {
            return Ok(());
        }
        let told = |event: &_| self.tell_event(event);
        let refreshed = self.bindings(vault).refresh(&self.commit_options(&told))?;
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
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// let (engine, vault) = (project.engine(), project.vault());
    /// let git = engine.take_git_directory(vault)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn take_git_directory(&self, vault: &Vault) -> Result<GitDirectory> {
        let told = |event: &CommitEvent| self.tell_event(event);
        let git = self.bindings(vault).take_git_directory(&self.commit_options(&told))?;
        self.tell_left_git(&git);
        Ok(git)
    }

    /// Tells that commits are lost, where they are.
    pub(crate) fn tell_left_git(&self, git: &GitDirectory) {
        if let GitDirectory::Left(left) = git {
            self.tell(
                Topic::CommitsLost,
                Hint::from(format!("warning: {left}")).and(left.way_out()),
            );
        }
    }

    /// Tells that a git directory was taken in just now.
    pub(crate) fn tell_taken_git(&self, git: &GitDirectory) {
        if matches!(git, GitDirectory::Bound { new: true, .. })
            && let Some(line) = git_directory(git)
        {
            self.tell(Topic::GitDirectory, line);
        }
    }
}

/// That a git directory was taken in, where it was.
///
/// ```
/// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
/// let (engine, vault) = (project.engine(), project.vault());
/// use offshoot_engine::binding::git_directory;
///
/// if let Some(line) = git_directory(&engine.git_directory(vault)?) {
///     println!("{line}");
/// }
/// # Ok(())
/// # }
/// ```
pub fn git_directory(git: &GitDirectory) -> Option<String> {
    let GitDirectory::Bound { binding, bytes: size, new: _ } = git else { return None };
    let (directory, size) = (host_path(&binding.host_path()), bytes(*size));
    Some(format!("git directory {directory} taken in as well, {size}"))
}
