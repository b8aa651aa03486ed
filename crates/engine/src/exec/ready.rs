//! What is in place before a command finds or forks its workspace.

use std::path::{Path, PathBuf};

use offshoot_vault::Vault;
use offshoot_workspace::{ExecutionWorkspace, Resolver, ServiceError};

use crate::error::Result;
use crate::offshoot::Offshoot;

impl Offshoot {
    /// Makes a vault ready for a command that may run: settles what was interrupted and removes expired workspaces. Where a workspace
    /// will be forked from the main line, that becomes what is in the folder now, unless the settings say otherwise.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// let (engine, vault) = (project.engine(), project.vault());
    /// use offshoot_engine::exec::ExecutionWorkspace;
    ///
    /// let place = ExecutionWorkspace::Fork { from: None, lifetime: None };
    /// engine.make_ready(vault, project.name(), &place, project.folder()?.as_deref())?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn make_ready(
        &self,
        vault: &Vault,
        name: &str,
        place: &ExecutionWorkspace,
        folder: Option<&Path>,
    ) -> Result<(), ServiceError> {
        self.settle_interrupted(vault);
        self.sweep(vault)?;
        let forks = match place {
            ExecutionWorkspace::Workspace(name) => !Resolver::new(vault).has_workspace(name)?,
            ExecutionWorkspace::Existing { .. } => false,
            ExecutionWorkspace::Fork { from, .. } => from.is_none(),
        };
        match folder.filter(|_| forks && self.config().exec.refresh) {
            Some(folder) => self.refresh(vault, name, folder),
            None => Ok(()),
        }
    }
}

/// Where a command starts whose caller stands here: below the top of the workspace, or in one of the vault's other folders,
/// which are seen at their own paths.
///
/// ```
/// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
/// let (engine, vault) = (project.engine(), project.vault());
/// use offshoot_engine::exec;
///
/// let below = exec::start_directory(vault, &engine.directory()?)?;
/// # Ok(())
/// # }
/// ```
pub fn start_directory(vault: &Vault, here: &Path) -> Result<Option<PathBuf>> {
    for binding in vault.bindings()? {
        if let Ok(below) = here.strip_prefix(binding.host_path()) {
            let place = if binding.is_first() { below } else { here };
            return Ok(Some(place.to_owned()));
        }
    }
    Ok(None)
}
