//! A folder becomes a vault at its first use.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use offshoot_protocol::{ExitCode, Hint};
use offshoot_vault::{Created, ImportReport, ListedVault, VaultRegistryError, name_from};
use offshoot_workspace::{BindingError, GitDirectory, ServiceError, check_folder};

use crate::binding::git_directory;
use crate::error::{Error, Result};
use crate::import::{self, skipped};
use crate::notice::Topic;
use crate::offshoot::Offshoot;
use crate::text::host_path;

/// How often a name is looked for that nobody else takes meanwhile.
const ATTEMPTS: usize = 32;

/// A vault that was made of a folder, or that somebody else made of it meanwhile.
///
/// ```
/// # fn example(offshoot: &offshoot_engine::Offshoot) -> offshoot_engine::Result<()> {
/// use offshoot_engine::vault::Adoption;
///
/// match offshoot.make_vault(None, "/srv/me/project".as_ref())? {
///     Adoption::Created(created) => println!("vault {} is new", created.name),
///     Adoption::Found(listed) => println!("somebody else made vault {}", listed.name),
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub enum Adoption {
    /// A new one.
    Created(Box<Created>),
    /// Somebody else's.
    Found(ListedVault),
}

impl Offshoot {
    /// The folder to take in at the first use: the git checkout that this folder is in, else the folder itself. Never all of a
    /// home or of a machine by accident.
    ///
    /// ```
    /// # fn example(offshoot: &offshoot_engine::Offshoot) -> offshoot_engine::Result<()> {
    /// let checkout = offshoot.project_of("/srv/me/project/src".as_ref())?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn project_of(&self, here: &Path) -> Result<PathBuf> {
        let checkout = here.ancestors().find(|folder| folder.join(".git").exists());
        let project = checkout.unwrap_or(here);
        let user_home = self.options().user_home();
        check_folder(self.registry(), project, user_home.as_deref(), false).map_err(|error| {
            Error::from(ServiceError::from(error))
                .hint("go to a project's folder, or name a vault with --vault")
        })?;
        Ok(project.to_owned())
    }

    /// Fails where a folder is no project, unless it is wanted all the same.
    ///
    /// ```
    /// # fn example(offshoot: &offshoot_engine::Offshoot) -> offshoot_engine::Result<()> {
    /// offshoot.check_project("/srv/me/project".as_ref(), false)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn check_project(&self, directory: &Path, force: bool) -> Result<()> {
        let user_home = self.options().user_home();
        let checked = check_folder(self.registry(), directory, user_home.as_deref(), force);
        checked.map_err(|error| {
            let can_force = matches!(error, BindingError::Refused { can_force: true, .. });
            let error = Error::from(ServiceError::from(error));
            match can_force {
                true => error.hint(
                    Hint::command("offshoot init --force")
                        .arg(directory.to_string_lossy())
                        .text(" takes it in all the same"),
                ),
                false => error,
            }
        })
    }

    /// Makes a vault of a folder, under a name or under one that is free.
    ///
    /// ```
    /// # fn example(offshoot: &offshoot_engine::Offshoot) -> offshoot_engine::Result<()> {
    /// let made = offshoot.make_vault(Some("project"), "/srv/me/project".as_ref())?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn make_vault(&self, wanted: Option<&str>, directory: &Path) -> Result<Adoption> {
        let mut attempts = 0;
        loop {
            attempts += 1;
            let name = match wanted {
                Some(name) => name.to_owned(),
                None => self.free_name(directory)?,
            };
            let options = self.import_options();
            let registry = self.registry();
            let created = registry.create(&name, Some(directory), &options, self.actor());
            drop(options);
            let error = match created {
                Ok(created) => return Ok(Adoption::Created(Box::new(created))),
                Err(error) => error,
            };
            let overtaken = matches!(
                error,
                VaultRegistryError::NameTaken(_) | VaultRegistryError::AlreadyBound { .. }
            );
            if wanted.is_some() || !overtaken || attempts == ATTEMPTS {
                return Err(self.registry_error(error));
            }
            // Another process was faster: with this folder, and its vault is as good, or with the name alone.
            if let Some((listed, bound)) = registry.find_bound(directory)?
                && bound == directory
            {
                return Ok(Adoption::Found(listed));
            }
        }
    }

    /// Completes a vault that was made of a folder at its first use, and tells of it.
    ///
    /// ```
    /// # fn example(offshoot: &offshoot_engine::Offshoot) -> offshoot_engine::Result<()> {
    /// let folder = "/srv/me/project".as_ref();
    /// let listed = offshoot.adopted(offshoot.make_vault(None, folder)?, folder)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn adopted(&self, made: Adoption, directory: &Path) -> Result<ListedVault> {
        let created = match made {
            Adoption::Found(listed) => return Ok(listed),
            Adoption::Created(created) => created,
        };
        self.tell_skipped(&created.report);
        let (what, folder) = (import::summary(&created.report), host_path(directory));
        let text = format!("created vault {} for {folder}: {what}", created.name);
        self.tell(Topic::VaultCreated, text);
        let git = self.take_git_directory(&created.vault)?;
        if let GitDirectory::Bound { .. } = &git
            && let Some(line) = git_directory(&git)
        {
            self.tell(Topic::GitDirectory, line);
        }
        let bound = self.registry().find_bound(directory);
        let bound = bound.map_err(|error| self.registry_error(error))?;
        let gone =
            || Error::new(ExitCode::Conflict, format!("the vault of {folder} is gone again"));
        bound.map(|(listed, _)| listed).ok_or_else(gone)
    }

    /// Tells what could not be taken in: never silently.
    ///
    /// ```
    /// # fn example(offshoot: &offshoot_engine::Offshoot) -> offshoot_engine::Result<()> {
    /// let created = offshoot.create_vault("docs", Some("/usr/share/doc".as_ref()))?;
    /// offshoot.tell_skipped(&created.report);
    /// # Ok(())
    /// # }
    /// ```
    pub fn tell_skipped(&self, report: &ImportReport) {
        for line in skipped(report) {
            self.tell(Topic::Skipped, line);
        }
    }

    fn free_name(&self, directory: &Path) -> Result<String> {
        let wanted = name_from(directory.file_name().unwrap_or_default().as_bytes());
        let taken = self.vault_names()?;
        let numbered = (2..).map(|number| format!("{wanted}-{number}"));
        let mut names = std::iter::once(wanted.clone()).chain(numbered);
        Ok(names.find(|name| !taken.contains(name)).unwrap_or(wanted))
    }
}
