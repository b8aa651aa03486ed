//! Which vault a folder belongs to, also where it was moved.

use std::path::{Path, PathBuf};

use offshoot_protocol::ExitCode;
use offshoot_vault::{Listed, MovedFolder};
use offshoot_workspace::{BindingService, HomeEvent, NewBinding, shown_name};

use super::{Context, user_home};
use crate::error::{CliError, Result};
use crate::render::host_path;

/// Which vault a folder belongs to.
#[derive(Debug)]
pub(crate) enum Belongs {
    /// This one, by the folder that it is bound to.
    To(Listed, PathBuf),
    /// To none; but it looks like the folder of one, which is gone.
    Perhaps(Box<MovedFolder>),
    /// To none.
    Nowhere,
}

impl Context {
    /// The vault that a folder belongs to. Where the folder was moved, the vault's binding follows it, and that is said.
    pub(crate) fn belongs(&self, here: &Path) -> Result<Belongs> {
        let bound = self.home.find_bound(here).map_err(|error| self.home_error(error))?;
        if let Some((listed, bound)) = bound {
            return Ok(Belongs::To(listed, bound));
        }
        let moved = self.home.find_moved(here).map_err(|error| self.home_error(error))?;
        match moved {
            None => Ok(Belongs::Nowhere),
            Some(moved) if !moved.certain => Ok(Belongs::Perhaps(Box::new(moved))),
            Some(moved) => {
                self.follow(&moved)?;
                Ok(Belongs::To(moved.vault, moved.folder))
            }
        }
    }

    /// Binds a vault to its folder where that is now.
    fn follow(&self, moved: &MovedFolder) -> Result<()> {
        let vault = self.home.open_listed(&moved.vault)?;
        let service = BindingService::new(&vault, &self.actor);
        let user_home = user_home();
        let new =
            NewBinding { directory: &moved.folder, name: None, user_home: user_home.as_deref() };
        let told = |event: &HomeEvent| self.tell(event);
        let options = self.home_options(&told);
        service.relocate(&self.home, shown_name(&moved.binding), &new, &options)?;
        let (old, new) = (host_path(&moved.binding.host_path()), host_path(&moved.folder));
        let name = &moved.vault.name;
        self.output.note(format!("{new} was {old}: vault {name} follows it here"));
        Ok(())
    }
}

/// Refuses to decide whether a folder is one that was moved.
pub(crate) fn unsure(moved: &MovedFolder, here: &Path) -> CliError {
    let (folder, old) = (host_path(&moved.folder), host_path(&moved.binding.host_path()));
    let vault = &moved.vault.name;
    let message = format!(
        "{folder} belongs to no vault, but it has the files of {old}, which is gone, the folder of vault {vault}"
    );
    let hint = format!(
        "`{}` continues with that vault, `offshoot init` makes a new one",
        way(moved, here)
    );
    CliError::new(ExitCode::NotFound, message).hint(hint).candidates(vec![vault.clone()])
}

/// How to go on with the vault whose folder is gone, for somebody who just made another.
pub(crate) fn instead(moved: &MovedFolder, here: &Path, made: &str) -> String {
    let old = host_path(&moved.binding.host_path());
    format!(
        "this folder has the files of {old}, which is gone; to continue with its vault {} instead: `offshoot vault delete {made} --yes`, then `{}`",
        moved.vault.name,
        way(moved, here)
    )
}

/// The command that says where the folder is now.
fn way(moved: &MovedFolder, here: &Path) -> String {
    let (vault, name) = (&moved.vault.name, shown_name(&moved.binding));
    let folder = if moved.folder == here { ".".to_owned() } else { host_path(&moved.folder) };
    format!("offshoot --vault {vault} binding move {name} {folder}")
}
