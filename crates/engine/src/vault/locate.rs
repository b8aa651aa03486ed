//! Which vault a folder belongs to, also where it was moved.

use std::path::{Path, PathBuf};

use offshoot_protocol::{ExitCode, Hint};
use offshoot_vault::{ListedVault, MovedFolder, Vault, VaultRegistry, VaultRegistryError};
use offshoot_workspace::{shown_name, similar};

use crate::error::{Error, Result};
use crate::notice::Topic;
use crate::offshoot::Offshoot;
use crate::text::host_path;

/// Which vault a folder belongs to.
///
/// ```
/// # fn example(offshoot: &offshoot_engine::Offshoot) -> offshoot_engine::Result<()> {
/// use offshoot_engine::vault::Belongs;
///
/// match offshoot.belongs("/srv/me/project".as_ref())? {
///     Belongs::To(listed, _) => println!("it is vault {}", listed.name),
///     Belongs::Perhaps(moved) => println!("it may be vault {}", moved.vault.name),
///     Belongs::Nowhere => println!("it has none"),
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub enum Belongs {
    /// This one, by the folder that it is bound to.
    To(ListedVault, PathBuf),
    /// To none; but it looks like the folder of one, which is gone.
    Perhaps(Box<MovedFolder>),
    /// To none.
    Nowhere,
}

impl Offshoot {
    /// The vault that a folder belongs to. Where the folder was moved, the vault's binding follows it, and that is told.
    ///
    /// ```
    /// # fn example(offshoot: &offshoot_engine::Offshoot) -> offshoot_engine::Result<()> {
    /// let belongs = offshoot.belongs(&offshoot.directory()?)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn belongs(&self, here: &Path) -> Result<Belongs> {
        if let Some((listed, bound)) = self.bound_to(here)? {
            return Ok(Belongs::To(listed, bound));
        }
        let moved = self.registry().find_moved(here).map_err(|error| self.registry_error(error))?;
        match moved {
            None => Ok(Belongs::Nowhere),
            Some(moved) if !moved.certain => Ok(Belongs::Perhaps(Box::new(moved))),
            Some(moved) => {
                self.follow(&moved)?;
                Ok(Belongs::To(moved.vault, moved.folder))
            }
        }
    }

    /// The vault that a folder lies in a folder of, and that folder. One that was moved is not looked for.
    ///
    /// ```
    /// # fn example(offshoot: &offshoot_engine::Offshoot) -> offshoot_engine::Result<()> {
    /// if let Some((listed, folder)) = offshoot.bound_to(&offshoot.directory()?)? {
    ///     println!("{} is vault {}", folder.display(), listed.name);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn bound_to(&self, here: &Path) -> Result<Option<(ListedVault, PathBuf)>> {
        self.registry().find_bound(here).map_err(|error| self.registry_error(error))
    }

    /// The vault that a folder belongs to, or an error that says what to do.
    ///
    /// ```
    /// # fn example(offshoot: &offshoot_engine::Offshoot) -> offshoot_engine::Result<()> {
    /// println!("{}", offshoot.bound_vault(&offshoot.directory()?)?.name);
    /// # Ok(())
    /// # }
    /// ```
    pub fn bound_vault(&self, here: &Path) -> Result<ListedVault> {
        match self.belongs(here)? {
            Belongs::To(listed, _) => return Ok(listed),
            Belongs::Perhaps(moved) => return Err(unsure(&moved, here)),
            Belongs::Nowhere => {}
        }
        let names = self.vault_names()?;
        // Nobody wants a vault of a whole machine or home.
        let init = match self.check_project(here, false) {
            Ok(()) => Hint::command("offshoot init").text(" creates a vault for this folder"),
            Err(_) => Hint::from("go to a project's folder"),
        };
        let hint = match names.as_slice() {
            [] => init,
            _ => init
                .text(", ")
                .then("offshoot --vault NAME ...")
                .text(format!(" names one of: {}", names.join(", "))),
        };
        let message = format!("{} belongs to no vault", host_path(here));
        Err(Error::new(ExitCode::NotFound, message).hint(hint).candidates(names))
    }

    /// The names of all vaults.
    ///
    /// ```
    /// # fn example(offshoot: &offshoot_engine::Offshoot) -> offshoot_engine::Result<()> {
    /// for name in offshoot.vault_names()? {
    ///     println!("{name}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn vault_names(&self) -> Result<Vec<String>> {
        Ok(self.registry().list()?.into_iter().map(|listed| listed.name).collect())
    }

    /// Opens the vault of a name in some way; where there is none, similar names are suggested.
    ///
    /// ```
    /// # fn example(offshoot: &offshoot_engine::Offshoot) -> offshoot_engine::Result<()> {
    /// use offshoot_engine::vault::Registry;
    ///
    /// let damaged = offshoot.open_named("project", Registry::inspect)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn open_named(
        &self,
        name: &str,
        open: fn(&VaultRegistry, &str) -> std::result::Result<Vault, VaultRegistryError>,
    ) -> Result<Vault> {
        let missing = match open(self.registry(), name) {
            Ok(vault) => return Ok(vault),
            Err(VaultRegistryError::NoVault(name)) => name,
            Err(error) => return Err(error.into()),
        };
        let names = self.vault_names()?;
        let error = Error::from(VaultRegistryError::NoVault(missing));
        Err(error.suggest(similar(name, names.iter().map(String::as_str))))
    }

    /// Binds a vault to its folder where that is now.
    fn follow(&self, moved: &MovedFolder) -> Result<()> {
        let vault = self.registry().open_listed(&moved.vault)?;
        self.rebind(&vault, shown_name(&moved.binding), &moved.folder)?;
        let (old, new) = (host_path(&moved.binding.host_path()), host_path(&moved.folder));
        let name = &moved.vault.name;
        self.tell(Topic::FolderMoved, format!("{new} was {old}: vault {name} follows it here"));
        Ok(())
    }
}

/// Refuses to decide whether a folder is one that was moved.
///
/// ```
/// # fn example(offshoot: &offshoot_engine::Offshoot) -> offshoot_engine::Result<()> {
/// use offshoot_engine::vault::{Belongs, unsure};
///
/// let here = offshoot.directory()?;
/// if let Belongs::Perhaps(moved) = offshoot.belongs(&here)? {
///     return Err(unsure(&moved, &here));
/// }
/// # Ok(())
/// # }
/// ```
pub fn unsure(moved: &MovedFolder, here: &Path) -> Error {
    let (folder, old) = (host_path(&moved.folder), host_path(&moved.binding.host_path()));
    let vault = &moved.vault.name;
    let message = format!(
        "{folder} belongs to no vault, but it has the files of {old}, which is gone, the folder of vault {vault}"
    );
    let hint = way(Hint::default(), moved, here)
        .text(" continues with that vault, ")
        .then("offshoot init")
        .text(" makes a new one");
    Error::new(ExitCode::NotFound, message).hint(hint).candidates(vec![vault.clone()])
}

/// How to go on with the vault whose folder is gone, for somebody who just made another.
///
/// ```
/// # fn example(offshoot: &offshoot_engine::Offshoot) -> offshoot_engine::Result<()> {
/// use offshoot_engine::vault::{Belongs, instead};
///
/// let here = offshoot.directory()?;
/// if let Belongs::Perhaps(moved) = offshoot.belongs(&here)? {
///     println!("{}", instead(&moved, &here, "project-2"));
/// }
/// # Ok(())
/// # }
/// ```
pub fn instead(moved: &MovedFolder, here: &Path, made: &str) -> Hint {
    let (old, vault) = (host_path(&moved.binding.host_path()), &moved.vault.name);
    let text = format!(
        "this folder has the files of {old}, which is gone; to continue with its vault {vault} instead: "
    );
    let hint = Hint::from(text).then("offshoot vault delete").arg(made).words("--yes");
    way(hint.text(", then "), moved, here)
}

/// The command that says where the folder is now.
fn way(hint: Hint, moved: &MovedFolder, here: &Path) -> Hint {
    let (vault, name) = (&moved.vault.name, shown_name(&moved.binding));
    let folder = if moved.folder == here { ".".to_owned() } else { host_path(&moved.folder) };
    hint.then("offshoot binding move --vault").arg(vault).arg(name).arg(folder)
}
