//! Finding, or making, the vault that a command runs in.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use offshoot_policy::Policy;
use offshoot_protocol::ErrorBody;
use offshoot_sandbox::{Limits, Signals};
use offshoot_vault::{Binding, LinkLimit, Vault};
use offshoot_workspace::{
    CacheRules, Resolver, RuntimeOptions, ServiceError, WorkspaceService, check_folder,
};

use super::Ask;
use crate::commands::init;
use crate::context::{Belongs, Context, OpenVault, current_dir, unsure, user_home};
use crate::error::{CliError, Result};
use crate::interrupt::{self, Watch};

/// More names than this are not kept linked, however small their files are: each costs a call before every command.
const MOST_LINKED_NAMES: u64 = 10_000;

/// An open vault and where in it the caller stands.
pub(super) struct Place {
    pub(super) vault: OpenVault,
    /// The current folder below the bound one, or as it is in another folder of the vault.
    pub(super) below: Option<PathBuf>,
    /// The folder to look at before a workspace is forked from the main line.
    stale: Option<PathBuf>,
}

/// What there is of a vault before anything is made.
pub(super) enum Found {
    /// A vault.
    Vault(Box<Place>),
    /// None yet: this folder would become one.
    Project(PathBuf),
}

impl Found {
    /// The folder that it is the vault of.
    pub(super) fn project(&self) -> Result<Option<PathBuf>> {
        Ok(match self {
            Self::Vault(place) => {
                let bindings = place.vault.vault.bindings()?;
                bindings.iter().find(|binding| binding.is_first()).map(Binding::host_path)
            }
            Self::Project(project) => Some(project.clone()),
        })
    }
}

/// Finds the vault of this folder, and changes nothing.
pub(super) fn find(ask: &Ask<'_>, context: &Context) -> Result<Found> {
    let here = current_dir()?;
    if context.names_vault() {
        let vault = context.vault()?;
        let below = standing(&here, &vault.vault)?;
        let first = vault.vault.bindings()?.iter().find(|it| it.is_first()).map(Binding::host_path);
        // A vault may have been brought here without its folder.
        let stale = first.filter(|folder| refreshes(ask, context) && folder.is_dir());
        return Ok(Found::Vault(Box::new(Place { vault, below, stale })));
    }
    let bound = context.home.find_bound(&here).map_err(|error| context.home_error(error))?;
    let Some((listed, bound)) = bound else {
        return Ok(Found::Project(project_of(context, &here)?));
    };
    let vault = context.open_listed(&listed)?;
    let below = standing(&here, &vault.vault)?;
    let stale = refreshes(ask, context).then_some(bound);
    Ok(Found::Vault(Box::new(Place { vault, below, stale })))
}

/// Makes the vault of a folder at its first use, unless the folder is one that was moved.
pub(super) fn adopt(
    ask: &Ask<'_>,
    context: &Context,
    project: &Path,
    watch: Watch,
) -> Result<Place> {
    let here = current_dir()?;
    let (listed, stale) = match context.belongs(&here)? {
        Belongs::To(listed, bound) => (listed, refreshes(ask, context).then_some(bound)),
        Belongs::Perhaps(moved) => return Err(unsure(&moved, &here)),
        Belongs::Nowhere => (init::adopt(context, project, watch)?, None),
    };
    let vault = context.open_listed(&listed)?;
    let below = standing(&here, &vault.vault)?;
    Ok(Place { vault, below, stale })
}

/// What has to be in place before a command that may run finds or forks its workspace.
pub(super) fn prepare(context: &Context, place: &Place) -> Result<(), ServiceError> {
    let vault = &place.vault.vault;
    context.settle_interrupted(vault);
    for expired in WorkspaceService::new(vault, &context.actor).sweep()? {
        context.output.note(format!("ephemeral workspace {expired} expired and was cleaned up"));
    }
    let Some(bound) = &place.stale else { return Ok(()) };
    if let Some(name) = context.workspace_name()
        && Resolver::new(vault).has_workspace(name)?
    {
        return Ok(());
    }
    context.refresh(&place.vault, bound)
}

/// The vault that this folder belongs to, made of it at its first use.
pub(crate) fn open_or_adopt(context: &Context) -> Result<OpenVault> {
    let here = current_dir()?;
    if context.names_vault() {
        return context.vault();
    }
    match context.belongs(&here)? {
        Belongs::To(..) => return context.vault(),
        Belongs::Perhaps(moved) => return Err(unsure(&moved, &here)),
        Belongs::Nowhere => {}
    }
    let project = project_of(context, &here)?;
    let listed = init::adopt(context, &project, Watch::start(context, interrupt::NOTHING)?)?;
    context.open_listed(&listed)
}

/// The folder to take in at the first use: the git checkout that this folder is in, else the folder itself. Never all of a
/// home or of a machine by accident.
fn project_of(context: &Context, here: &Path) -> Result<PathBuf> {
    let checkout = here.ancestors().find(|folder| folder.join(".git").exists());
    let project = checkout.unwrap_or(here);
    check_folder(&context.home, project, user_home().as_deref(), false).map_err(|error| {
        CliError::from(ServiceError::from(error))
            .hint("go to a project's folder, or name a vault with --vault")
    })?;
    Ok(project.to_owned())
}

/// Where a command starts whose caller stands here: below the top of the workspace, or in one of the vault's other folders,
/// which are seen at their own paths.
fn standing(here: &Path, vault: &Vault) -> Result<Option<PathBuf>> {
    for binding in vault.bindings()? {
        if let Ok(below) = here.strip_prefix(binding.host_path()) {
            let place = if binding.is_first() { below } else { here };
            return Ok(Some(place.to_owned()));
        }
    }
    Ok(None)
}

/// A new workspace of the main line starts from what is in the folder now; one that is there already does not.
fn refreshes(ask: &Ask<'_>, context: &Context) -> bool {
    ask.options.from.is_none() && context.settings.config.exec.refresh
}

pub(super) fn options(
    ask: &Ask<'_>,
    context: &Context,
    policy: Arc<Policy>,
) -> Result<RuntimeOptions> {
    let (exec, cache) = (&context.settings.config.exec, &context.settings.config.cache);
    let limit = |value: u64| Some(value).filter(|value| *value > 0);
    let signals = Signals::take_over()
        .map_err(|error| CliError::new(offshoot_protocol::ExitCode::Failure, error.to_string()))?;
    Ok(RuntimeOptions {
        home: user_home(),
        hidden: vec![context.home.dir().to_owned()],
        limits: Limits {
            open_files: context.open_files,
            processes: limit(exec.max_processes),
            file_size: limit(exec.max_file_size),
            memory: limit(exec.max_memory),
        },
        broker: exec.broker,
        output_limit: usize::try_from(exec.output_limit).unwrap_or(usize::MAX),
        grace: exec.grace,
        links: LinkLimit { names: MOST_LINKED_NAMES, bytes: exec.hard_link_bytes },
        diff: context.diff_options(),
        signals: Some(signals),
        caches: (cache.enabled && !ask.options.no_cache)
            .then(|| CacheRules { skip: cache.skipped(), max_size: cache.max_size }),
        policy,
        explain,
    })
}

fn explain(error: ServiceError) -> ErrorBody {
    CliError::from(error).body()
}
