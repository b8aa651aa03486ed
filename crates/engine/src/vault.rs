//! Vaults: the history of a project's files, the registry that keeps them, and which of them a folder belongs to.

mod adopt;
mod locate;

use std::path::Path;

pub use adopt::Adoption;
pub use locate::{Belongs, instead, unsure};
use offshoot_vault::FromArchive;
pub use offshoot_vault::{
    ArchiveOptions, CheckDepth, Created, ListedVault, Vault, VaultError, VaultRegistry as Registry,
    VaultRegistryError as RegistryError,
};
use offshoot_workspace::{CommitEvent, ServiceError, delete_vault};

use crate::binding::git_directory;
use crate::error::Result;
use crate::notice::Topic;
use crate::offshoot::Offshoot;

impl Offshoot {
    /// Makes a vault, of a folder or empty, and tells what could not be taken in.
    ///
    /// ```
    /// # fn example(offshoot: &offshoot_engine::Offshoot) -> offshoot_engine::Result<()> {
    /// let created = offshoot.create_vault("empty", None)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn create_vault(&self, name: &str, folder: Option<&Path>) -> Result<Created> {
        let options = self.import_options();
        let created = self.registry().create(name, folder, &options, self.actor());
        let created = created.map_err(|error| self.registry_error(error))?;
        drop(options);
        self.tell_skipped(&created.report);
        let git = self.take_git_directory(&created.vault)?;
        if let Some(line) = git_directory(&git) {
            self.tell(Topic::GitDirectory, line);
        }
        Ok(created)
    }

    /// Whether there is a vault of this name, however damaged.
    ///
    /// ```
    /// # fn example(offshoot: &offshoot_engine::Offshoot) -> offshoot_engine::Result<()> {
    /// if !offshoot.has_vault("project")? {
    ///     println!("there is none yet");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn has_vault(&self, name: &str) -> Result<bool> {
        self.registry().has(name).map_err(|error| self.registry_error(error))
    }

    /// Deletes a vault with all its history and its audit log. That cannot be undone; the folder stays as it is. An agent is refused.
    ///
    /// ```
    /// # fn example(offshoot: &offshoot_engine::Offshoot) -> offshoot_engine::Result<()> {
    /// offshoot.delete_vault("project")?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn delete_vault(&self, name: &str) -> Result<()> {
        self.actor().require_person("delete a vault with its audit log")?;
        let told = |event: &CommitEvent| self.tell_event(event);
        let options = self.commit_options(&told);
        let deleted = delete_vault(self.registry(), name, self.actor(), &options);
        deleted.map_err(|error| match error {
            ServiceError::Registry(error) => self.registry_error(error),
            other => other.into(),
        })
    }

    /// Gives a vault another name.
    ///
    /// ```
    /// # fn example(offshoot: &offshoot_engine::Offshoot) -> offshoot_engine::Result<()> {
    /// offshoot.rename_vault("project", "product")?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn rename_vault(&self, from: &str, to: &str) -> Result<()> {
        let failed = |error| self.registry_error(error);
        self.registry().rename(from, to).map_err(failed)?;
        let vault = self.registry().open(to).map_err(failed)?;
        vault.record_event("vault rename", self.actor(), |tx| {
            tx.summary(format!("rename vault {from} to {to}"));
            Ok(())
        })?;
        Ok(())
    }

    /// Makes a vault of an archive, under the name that it has there or under another. It is bound to no folder, whatever the
    /// archive says; `was_bound` has what that was.
    ///
    /// ```
    /// # fn example(offshoot: &offshoot_engine::Offshoot) -> offshoot_engine::Result<()> {
    /// use offshoot_engine::vault::ArchiveOptions;
    ///
    /// let options = ArchiveOptions { name: Some("copy"), ..ArchiveOptions::default() };
    /// let imported = offshoot.import_vault("project.vault".as_ref(), &options)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn import_vault(
        &self,
        archive: &Path,
        options: &ArchiveOptions<'_>,
    ) -> Result<FromArchive> {
        let options = ArchiveOptions { actor: options.actor.or(Some(self.actor())), ..*options };
        self.registry().import(archive, &options).map_err(|error| self.registry_error(error))
    }
}
