//! What every command starts from: settings, home, vault, workspace, actor.

mod home;
pub(crate) mod moved;
pub(crate) mod noise;
pub(crate) mod policy;

pub(crate) use self::moved::{Belongs, unsure};

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use offshoot_protocol::{AbandonedWork, ExitCode};
use offshoot_vault::diff::DiffOptions;
use offshoot_vault::{
    Actor, Home, HomeError, ImportOptions, Listed, Vault, VaultError, VaultOptions, VaultPath,
    Workspace,
};
use offshoot_workspace::{
    Point, RecoverService, Resolver, Standing, WorkspaceOverview, WorkspaceService, similar,
};

use crate::args::{Cli, Global};
use crate::commands::commit::git;
use crate::commands::{goes_back, recover, workspace};
use crate::config::{self, Loaded, Sources};
use crate::error::{CliError, Result};
use crate::output::Output;
use crate::progress::import_progress;
use crate::render::{self, age, host_path};

/// The variable that names a workspace.
const WORKSPACE_VARIABLE: &str = "OFFSHOOT_WORKSPACE";

/// What every command starts from.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) settings: Loaded,
    pub(crate) home: Home,
    pub(crate) actor: Actor,
    pub(crate) output: Output,
    vault: Option<String>,
    /// Whether the vault was named on the command line.
    names_vault_here: bool,
    workspace: Option<String>,
    quiet: bool,
    /// The soft limit of open files that this process was started with.
    pub(crate) open_files: Option<u64>,
}

/// An open vault and its name.
#[derive(Debug)]
pub(crate) struct OpenVault {
    pub(crate) vault: Vault,
    pub(crate) name: String,
}

impl Context {
    pub(crate) fn new(cli: &Cli, open_files: Option<u64>) -> Result<Self> {
        let global = &cli.global;
        let named = cli.command.named().map(str::to_owned);
        let sources = Sources::from_process(global.config.clone());
        let (settings, skipped) = match config::load(&sources) {
            Ok(settings) => (settings, None),
            // What is wrong with the project's file may be what is to be taken back.
            Err(error) if goes_back(&cli.command) => match config::load_without_project(&sources) {
                Ok(settings) => (settings, Some(error)),
                Err(_) => return Err(error.into()),
            },
            Err(error) => return Err(error.into()),
        };
        let busy_timeout = settings.config.store.busy_timeout;
        let home = Home::new(home_dir(global)?, VaultOptions { busy_timeout, frees_space: false });
        let output = Output::new(global.json, global.quiet, settings.config.ui.color);
        if let Some(error) = skipped {
            output.note(format!("the settings of the project are left out: {error}"));
        }
        Ok(Self {
            settings,
            home,
            actor: actor(),
            output,
            vault: global.vault.clone().or_else(|| variable("OFFSHOOT_VAULT")),
            names_vault_here: global.vault.is_some(),
            workspace: global.workspace.clone().or(named).or_else(|| variable(WORKSPACE_VARIABLE)),
            quiet: global.quiet || global.json,
            open_files,
        })
    }

    /// Whether a vault was named, instead of being found by the current folder.
    pub(crate) fn names_vault(&self) -> bool {
        self.vault.is_some()
    }

    /// Whether the vault was named on the command line, so that the next command has to name it too.
    pub(crate) fn names_vault_here(&self) -> bool {
        self.names_vault_here
    }

    /// The vault that the command is about: named, or the one that this folder belongs to. What was interrupted in its folder
    /// is settled.
    pub(crate) fn vault(&self) -> Result<OpenVault> {
        let opened = self.vault_to_settle()?;
        self.settle_interrupted(&opened.vault);
        Ok(opened)
    }

    /// The same, for commands that settle by themselves, and fail where that fails.
    pub(crate) fn vault_to_settle(&self) -> Result<OpenVault> {
        let opened = self.vault_as_left()?;
        match opened.vault.cut_short() {
            Some(lost) => {
                let told = CliError::from(VaultError::CutShort(lost));
                self.output.note(format!("{}; {}", told.message, told.hint.unwrap_or_default()));
            }
            None => self.settle_left(&opened),
        }
        Ok(opened)
    }

    /// The same, without a word about what interrupted commands left in it.
    pub(crate) fn vault_as_left(&self) -> Result<OpenVault> {
        match &self.vault {
            Some(name) => self.vault_named(name),
            None => {
                let listed = self.bound_vault()?;
                let vault = self.home.open_listed(&listed)?;
                Ok(self.opened(vault, listed.name))
            }
        }
    }

    /// A vault that was opened; what is said from now on is said to somebody who stands in it.
    fn opened(&self, vault: Vault, name: String) -> OpenVault {
        // Where it cannot be told, the command itself has more to say about that.
        if let Ok(standing) = self.standing(&vault) {
            render::set_reader(standing);
        }
        OpenVault { vault, name }
    }

    /// Does what is wanted with what interrupted commands left.
    fn settle_left(&self, opened: &OpenVault) {
        // Where it cannot even be listed, the command itself has more to say about it.
        let Ok(left) = opened.vault.left() else { return };
        if left.is_empty() {
            return;
        }
        let abandoned = self.settings.config.recover.abandoned;
        if opened.vault.is_read_only() || abandoned == AbandonedWork::Offer {
            return;
        }
        let service = RecoverService::new(&opened.vault, &self.actor);
        for exec in left {
            let settled = match abandoned {
                AbandonedWork::Offer => None,
                AbandonedWork::Keep => {
                    service.keep(&exec, None).ok().map(|kept| recover::kept_note(&kept))
                }
                AbandonedWork::Discard => {
                    let dropped = service.drop(&exec).ok();
                    dropped.map(|note| {
                        format!("what interrupted exec {} left was dropped", note.exec.short())
                    })
                }
            };
            if let Some(text) = settled {
                self.output.hint(text);
            }
        }
    }

    /// Says that interrupted commands left something, in a workspace or in any: for commands that are about it.
    pub(crate) fn offer_left(&self, vault: &Vault, workspace: Option<&str>) {
        // Where it cannot even be listed, the command itself has more to say about it.
        let left = vault.left().unwrap_or_default();
        let notes = left.iter().filter_map(|exec| vault.left_note(exec));
        let is_meant = |name: &str| workspace.is_none_or(|workspace| workspace == name);
        let waiting: Vec<_> = notes.filter(|note| is_meant(&note.workspace_name)).collect();
        if let Some(first) = waiting.first() {
            self.output.hint(recover::offer(waiting.len(), first));
        }
    }

    pub(crate) fn vault_named(&self, name: &str) -> Result<OpenVault> {
        self.open_named(name, Home::open)
    }

    /// The vault to check, opened however damaged it is.
    pub(crate) fn vault_to_inspect(&self, name: Option<&str>) -> Result<OpenVault> {
        match name.or(self.vault.as_deref()) {
            Some(name) => self.open_named(name, Home::inspect),
            None => self.open_named(&self.bound_vault()?.name, Home::inspect),
        }
    }

    fn open_named(
        &self,
        name: &str,
        open: fn(&Home, &str) -> std::result::Result<Vault, HomeError>,
    ) -> Result<OpenVault> {
        let missing = match open(&self.home, name) {
            Ok(vault) => return Ok(self.opened(vault, name.to_owned())),
            Err(HomeError::NoVault(name)) => name,
            Err(error) => return Err(error.into()),
        };
        let names = self.vault_names()?;
        let error = CliError::from(HomeError::NoVault(missing));
        Err(error.suggest(similar(name, names.iter().map(String::as_str))))
    }

    /// The vault that this folder belongs to.
    fn bound_vault(&self) -> Result<Listed> {
        let here = current_dir()?;
        match self.belongs(&here)? {
            Belongs::To(listed, _) => return Ok(listed),
            Belongs::Perhaps(moved) => return Err(unsure(&moved, &here)),
            Belongs::Nowhere => {}
        }
        let names = self.vault_names()?;
        let hint = match names.as_slice() {
            [] => "`offshoot init` creates a vault for this folder".to_owned(),
            _ => {
                format!(
                    "`offshoot init` creates one, or name one with --vault: {}",
                    names.join(", ")
                )
            }
        };
        let message = format!("{} belongs to no vault", host_path(&here));
        Err(CliError::new(ExitCode::NotFound, message).hint(hint).candidates(names))
    }

    pub(crate) fn open_listed(&self, listed: &Listed) -> Result<OpenVault> {
        let vault = self.home.open_listed(listed)?;
        let opened = self.opened(vault, listed.name.clone());
        self.settle_left(&opened);
        Ok(opened)
    }

    /// An error about the home, with what can be done where the home itself cannot be written.
    pub(crate) fn home_error(&self, error: HomeError) -> CliError {
        let own = match &error {
            HomeError::Vault(VaultError::Io { path, .. }) => path.starts_with(self.home.dir()),
            _ => false,
        };
        let error = CliError::from(error);
        if !own {
            return error;
        }
        CliError { code: ExitCode::Storage, ..error }
            .hint("set OFFSHOOT_HOME to a place you can write to")
    }

    fn vault_names(&self) -> Result<Vec<String>> {
        Ok(self.home.list()?.into_iter().map(|listed| listed.name).collect())
    }

    /// The workspace for a command that changes something: it has to be named.
    pub(crate) fn workspace_to_change(&self, vault: &Vault) -> Result<Workspace> {
        for expired in WorkspaceService::new(vault, &self.actor).sweep()? {
            self.output.note(format!("ephemeral workspace {expired} expired and was cleaned up"));
        }
        if let Some(name) = &self.workspace {
            return Ok(Resolver::new(vault).workspace(name)?);
        }
        let mut found = vault.workspaces()?;
        if found.len() == 1
            && let Some(only) = found.pop()
        {
            self.output.note(format!("workspace {} (the only one)", only.name));
            return Ok(only);
        }
        Err(self.ask_for_workspace(vault)?)
    }

    /// All workspaces at a glance.
    pub(crate) fn overview(&self, vault: &Vault) -> Result<Vec<WorkspaceOverview>> {
        let (diff, merge) = (self.diff_options(), self.merge_options());
        let tracked = git::tracked(vault)?;
        Ok(WorkspaceService::new(vault, &self.actor).overview(diff, merge, tracked)?)
    }

    /// Asks which of several workspaces is meant.
    fn ask_for_workspace(&self, vault: &Vault) -> Result<CliError> {
        let found = self.overview(vault)?;
        if found.is_empty() {
            let hint = "`offshoot exec -w NAME CMD` creates one; `offshoot undo NAME` brings back a deleted one";
            return Ok(CliError::usage("the vault has no workspace").hint(hint));
        }
        let shown = found.iter().map(|one| {
            let (changes, age) = (workspace::changes(one.listed), age(one.used_ms));
            format!("{} ({changes}, {age})", one.workspace.name)
        });
        let hint = format!("one of: {}", shown.collect::<Vec<_>>().join(", "));
        let names = found.iter().map(|one| one.workspace.name.clone()).collect();
        let message = "there are several workspaces: name one with -w NAME or OFFSHOOT_WORKSPACE";
        Ok(CliError::usage(message).hint(hint).candidates(names))
    }

    /// Whether a further command means the workspace of this name without being told.
    pub(crate) fn means_workspace(&self, vault: &Vault, name: &str) -> bool {
        match variable(WORKSPACE_VARIABLE) {
            Some(standing) => standing == name,
            None => {
                vault.workspaces().is_ok_and(|all| matches!(&*all, [only] if only.name == name))
            }
        }
    }

    /// The name given for a workspace that may be gone, for undo and redo.
    pub(crate) fn workspace_name(&self) -> Option<&str> {
        self.workspace.as_deref()
    }

    /// The workspace for a command that only reads: the named one, or the one used last.
    pub(crate) fn workspace_to_read(&self, vault: &Vault) -> Result<Option<Workspace>> {
        if let Some(name) = &self.workspace {
            return Ok(Some(Resolver::new(vault).workspace(name)?));
        }
        let recent = WorkspaceService::new(vault, &self.actor).most_recent()?;
        if let Some(workspace) = &recent {
            let why = match vault.workspaces()?.len() {
                1 => "the only one",
                _ => "most recently used",
            };
            self.output.note(format!("workspace {} ({why})", workspace.name));
        }
        Ok(recent)
    }

    /// Where a command that only reads looks: at a REF, at a workspace, or at the main line.
    pub(crate) fn point(&self, vault: &Vault, at: Option<&str>) -> Result<Point> {
        let resolver = Resolver::new(vault);
        if let Some(text) = at {
            let named = self.workspace.as_ref().map(|name| resolver.workspace(name)).transpose()?;
            return Ok(resolver.point(text, named.as_ref())?);
        }
        match self.workspace_to_read(vault)? {
            Some(workspace) => Ok(resolver.workspace_point(&workspace)?),
            None => Ok(resolver.head()?),
        }
    }

    /// Where what people type starts. Whoever names a vault need not stand in it.
    pub(crate) fn standing(&self, vault: &Vault) -> Result<Standing> {
        match current_dir() {
            Ok(here) => Ok(Standing::new(vault, &here)?),
            // Paths from the top do not need to know.
            Err(_) => Ok(Standing::default()),
        }
    }

    /// A path of the vault, as somebody typed it.
    pub(crate) fn typed(&self, vault: &Vault, text: &OsStr) -> Result<VaultPath> {
        Ok(self.standing(vault)?.path(text.as_bytes())?)
    }

    /// Several of them.
    pub(crate) fn typed_all(&self, vault: &Vault, texts: &[OsString]) -> Result<Vec<VaultPath>> {
        let standing = self.standing(vault)?;
        let paths = texts.iter().map(|text| standing.path(text.as_bytes()));
        Ok(paths.collect::<offshoot_workspace::Result<_>>()?)
    }

    /// Whether nothing but what was asked for is printed.
    pub(crate) fn is_silent(&self) -> bool {
        self.quiet
    }

    pub(crate) fn diff_options(&self) -> DiffOptions {
        let diff = &self.settings.config.diff;
        DiffOptions {
            renames: diff.renames,
            rename_similarity: diff.rename_similarity,
            context: diff.context,
            max_text_bytes: diff.max_text_bytes,
        }
    }

    pub(crate) fn import_options(&self) -> ImportOptions {
        ImportOptions {
            threads: self.settings.config.import.threads.into(),
            never: vec![self.home.dir().to_owned()],
            everything: false,
            progress: import_progress(self.settings.config.ui.progress, self.quiet),
        }
    }
}

/// The user's home, as commands see it.
pub(crate) fn user_home() -> Option<PathBuf> {
    std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute())
}

pub(crate) fn current_dir() -> Result<PathBuf> {
    let here = std::env::current_dir().and_then(|here| here.canonicalize());
    here.map_err(|error| {
        CliError::new(ExitCode::NotFound, format!("the current folder is gone: {error}"))
    })
}

pub(crate) fn home_dir(global: &Global) -> Result<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    if let Some(home) = global.home.clone().or_else(|| set("OFFSHOOT_HOME").map(PathBuf::from)) {
        return absolute(&home);
    }
    if let Some(data) = set("XDG_DATA_HOME").map(PathBuf::from).filter(|dir| dir.is_absolute()) {
        return Ok(data.join("offshoot"));
    }
    match set("HOME") {
        Some(home) => absolute(&Path::new(&home).join(".local/share/offshoot")),
        None => Err(CliError::usage(
            "there is no place for vaults: neither OFFSHOOT_HOME nor HOME is set",
        )),
    }
}

fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path)
        .map_err(|error| CliError::usage(format!("{}: {error}", host_path(path))))
}

/// Who runs this: the user, and the agent that said it acts for them.
fn actor() -> Actor {
    Actor {
        user: variable("USER").or_else(|| variable("LOGNAME")).unwrap_or_else(account_name),
        agent: variable("OFFSHOOT_AGENT"),
        session: variable("OFFSHOOT_SESSION"),
    }
}

/// A variable of the environment; an empty one counts as unset.
fn variable(name: &str) -> Option<String> {
    let value = std::env::var_os(name).filter(|value| !value.is_empty());
    value.map(|value| value.to_string_lossy().into_owned())
}

/// The name of this process's account, or its number where it has none.
fn account_name() -> String {
    let uid = rustix::process::getuid().as_raw();
    account(uid).unwrap_or_else(|| format!("uid-{uid}"))
}

/// The name of an account.
pub(crate) fn account(uid: u32) -> Option<String> {
    let uid = uid.to_string();
    let accounts = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let mut fields = accounts.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let found = fields.find(|fields| fields.get(2) == Some(&uid.as_str()));
    found.map(|fields| fields[0].to_owned())
}
