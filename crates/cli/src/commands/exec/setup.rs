//! Finding, or making, the vault that a command runs in.

use std::path::{Path, PathBuf};

use offshoot_engine::error::{FurtherHints, ServiceError};
use offshoot_engine::exec::{self, RuntimeOptions, Signals};
use offshoot_engine::sandbox::Rules;
use offshoot_engine::vault::{Belongs, unsure};
use offshoot_protocol::ErrorBody;

use super::ask::Ask;
use super::limits;
use crate::context::{Context, OpenVault, current_dir};
use crate::error::{CliError, Result, body};
use crate::interrupt::Watch;

/// An open vault and where in it the caller stands.
pub(super) struct OpenProject {
    pub(super) vault: OpenVault,
    /// The current folder below the bound one, or as it is in another folder of the vault.
    pub(super) below: Option<PathBuf>,
    /// The folder to look at before a workspace is forked from the main line.
    pub(super) folder: Option<PathBuf>,
}

/// What there is of a vault before anything is made.
pub(super) enum Found {
    /// A vault.
    Vault(Box<OpenProject>),
    /// None yet: this folder would become one.
    Project(PathBuf),
}

impl Found {
    /// The folder that it is the vault of.
    pub(super) fn project(&self) -> Result<Option<PathBuf>> {
        Ok(match self {
            Self::Vault(place) => place.vault.folder()?,
            Self::Project(project) => Some(project.clone()),
        })
    }
}

/// Finds the vault of this folder, and changes nothing.
pub(super) fn find(context: &Context) -> Result<Found> {
    let here = current_dir()?;
    if context.names_vault() {
        let vault = context.vault()?;
        let below = exec::start_directory(&vault.vault, &here)?;
        // A vault may have been brought here without its folder.
        let folder = vault.folder()?.filter(|folder| folder.is_dir());
        return Ok(Found::Vault(Box::new(OpenProject { vault, below, folder })));
    }
    let Some((listed, bound)) = context.engine.bound_to(&here)? else {
        return Ok(Found::Project(context.engine.project_of(&here)?));
    };
    let vault = context.open_listed(&listed)?;
    let below = exec::start_directory(&vault.vault, &here)?;
    Ok(Found::Vault(Box::new(OpenProject { vault, below, folder: Some(bound) })))
}

/// Makes the vault of a folder at its first use, unless the folder is one that was moved.
pub(super) fn adopt(context: &Context, project: &Path, watch: Watch) -> Result<OpenProject> {
    let here = current_dir()?;
    let (listed, folder) = match context.engine.belongs(&here)? {
        Belongs::To(listed, bound) => (listed, Some(bound)),
        Belongs::Perhaps(moved) => return Err(unsure(&moved, &here)),
        Belongs::Nowhere => (context.adopt(project, watch)?, None),
    };
    let vault = context.open_listed(&listed)?;
    let below = exec::start_directory(&vault.vault, &here)?;
    Ok(OpenProject { vault, below, folder })
}

pub(super) fn options(ask: &Ask<'_>, context: &Context, rules: Rules) -> Result<RuntimeOptions> {
    let signals = Signals::take_over()
        .map_err(|error| CliError::new(offshoot_protocol::ExitCode::Failure, error.to_string()))?;
    let caches = !ask.options.no_cache;
    let mut options = context.engine.runtime_options(rules, caches, Some(signals), explain);
    limits::apply(ask.options, &mut options);
    Ok(options)
}

fn explain(error: ServiceError, further: FurtherHints) -> ErrorBody {
    body(&CliError::from(error).further(further))
}
