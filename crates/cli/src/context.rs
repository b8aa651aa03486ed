//! What every command starts from: settings, home, vault, workspace, actor.

mod adopt;
pub(crate) mod noise;
mod preview;

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::Arc;

use offshoot_engine::actor::Actor;
use offshoot_engine::binding::Binding;
use offshoot_engine::error::ServiceError;
use offshoot_engine::file::{PathContext, VaultPath};
use offshoot_engine::reference::{Point, Resolver};
use offshoot_engine::settings::Config;
use offshoot_engine::vault::{ListedVault, Registry, Vault};
use offshoot_engine::workspace::WorkspaceRecord;
use offshoot_engine::{Notice, Offshoot, Topic};
use offshoot_protocol::{ExitCode, Hint};

use crate::error::{CliError, Result};
use crate::global::Global;
use crate::invocation::completed;
use crate::output::Output;
use crate::progress::import_progress;
use crate::render::{self, age, listed_changes};

/// The variable that names a workspace.
const WORKSPACE_VARIABLE: &str = "OFFSHOOT_WORKSPACE";

/// What every command starts from.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) engine: Offshoot,
    pub(crate) output: Arc<Output>,
    vault: Option<String>,
    workspace: Option<String>,
    quiet: bool,
}

/// What a command asks of what it starts from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Needs<'a> {
    /// The workspace that it names without an option.
    pub(crate) named: Option<&'a str>,
    /// It runs also where the settings of the project are wrong.
    pub(crate) lenient_settings: bool,
    /// It may use what a vault keeps in reserve on a full disk.
    pub(crate) frees_space: bool,
}

/// An open vault and its name.
#[derive(Debug)]
pub(crate) struct OpenVault {
    pub(crate) vault: Vault,
    pub(crate) name: String,
}

impl OpenVault {
    /// Its first folder; none where it was brought here without one.
    pub(crate) fn folder(&self) -> Result<Option<PathBuf>> {
        let bindings = self.vault.bindings()?;
        Ok(bindings.iter().find(|binding| binding.is_first()).map(Binding::host_path))
    }
}

impl Context {
    pub(crate) fn new(global: &Global, needs: Needs<'_>, open_files: Option<u64>) -> Result<Self> {
        let named = needs.named.map(str::to_owned);
        let quiet = global.quiet || global.json;
        let output = Arc::new(Output::new(global.json, global.quiet));
        let told = Arc::clone(&output);
        let engine = Offshoot::open(offshoot_engine::Options {
            overrides: global.config.clone(),
            // What is wrong with the project's file may be what is to be taken back.
            lenient_settings: needs.lenient_settings,
            open_files,
            frees_space: needs.frees_space,
            listener: Some(Arc::new(move |notice: &Notice| tell(&told, notice))),
            ..options(global)
        })?;
        output.set_color(engine.settings().config.ui.color);
        Ok(Self {
            engine,
            output,
            vault: global.vault.clone().or_else(|| variable("OFFSHOOT_VAULT")),
            workspace: global.workspace.clone().or(named).or_else(|| variable(WORKSPACE_VARIABLE)),
            quiet,
        })
    }

    /// The settings.
    pub(crate) fn config(&self) -> &Config {
        &self.engine.settings().config
    }

    /// Where vaults are kept.
    pub(crate) fn registry(&self) -> &Registry {
        self.engine.registry()
    }

    /// Who runs this.
    pub(crate) fn actor(&self) -> &Actor {
        self.engine.actor()
    }

    /// The vault that was named.
    pub(crate) fn vault_name(&self) -> Option<&str> {
        self.vault.as_deref()
    }

    /// Whether a vault was named, instead of being found by the current folder.
    pub(crate) fn names_vault(&self) -> bool {
        self.vault.is_some()
    }

    /// The vault that the command is about: named, or the one that this folder belongs to. What was interrupted in its folder
    /// is settled.
    pub(crate) fn vault(&self) -> Result<OpenVault> {
        let opened = self.vault_to_settle()?;
        self.engine.settle_interrupted(&opened.vault);
        Ok(opened)
    }

    /// The same, for commands that settle by themselves, and fail where that fails.
    pub(crate) fn vault_to_settle(&self) -> Result<OpenVault> {
        let opened = self.vault_as_left()?;
        self.engine.look_after(&opened.vault);
        Ok(opened)
    }

    /// The same, without a word about what interrupted commands left in it.
    pub(crate) fn vault_as_left(&self) -> Result<OpenVault> {
        match &self.vault {
            Some(name) => self.vault_named(name),
            None => {
                let listed = self.engine.bound_vault(&current_dir()?)?;
                let vault = self.registry().open_listed(&listed)?;
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

    pub(crate) fn vault_named(&self, name: &str) -> Result<OpenVault> {
        self.open_named(name, Registry::open)
    }

    /// The vault of this name; without one, the vault that the command is about.
    pub(crate) fn vault_or_named(&self, name: Option<&str>) -> Result<OpenVault> {
        match name {
            Some(name) => self.vault_named(name),
            None => self.vault(),
        }
    }

    /// The vault to check, opened however damaged it is.
    pub(crate) fn vault_to_inspect(&self, name: Option<&str>) -> Result<OpenVault> {
        match name.or(self.vault.as_deref()) {
            Some(name) => self.open_named(name, Registry::inspect),
            None => {
                self.open_named(&self.engine.bound_vault(&current_dir()?)?.name, Registry::inspect)
            }
        }
    }

    fn open_named(
        &self,
        name: &str,
        open: fn(
            &Registry,
            &str,
        ) -> std::result::Result<Vault, offshoot_engine::vault::RegistryError>,
    ) -> Result<OpenVault> {
        Ok(self.opened(self.engine.open_named(name, open)?, name.to_owned()))
    }

    pub(crate) fn open_listed(&self, listed: &ListedVault) -> Result<OpenVault> {
        let vault = self.registry().open_listed(listed)?;
        let opened = self.opened(vault, listed.name.clone());
        self.engine.settle_left(&opened.vault);
        Ok(opened)
    }

    /// The workspace for a command that changes something: it has to be named.
    pub(crate) fn workspace_to_change(&self, vault: &Vault) -> Result<WorkspaceRecord> {
        self.engine.sweep(vault)?;
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

    /// Refuses the name of a workspace in place of a path, where none was named otherwise: nothing would be found there.
    pub(crate) fn refuse_workspace(
        &self,
        vault: &Vault,
        typed: &[OsString],
        command: &str,
    ) -> Result<()> {
        let names = typed.iter().filter(|_| self.workspace.is_none()).filter_map(|it| it.to_str());
        for name in names {
            if vault.workspace_named(name)?.is_some() {
                return Err(CliError::usage(format!("{name} is a workspace, not a path"))
                    .hint(Hint::command(command).words("-w").arg(name)));
            }
        }
        Ok(())
    }

    /// Asks which of several workspaces is meant.
    fn ask_for_workspace(&self, vault: &Vault) -> Result<CliError> {
        let found = self.engine.overview(vault)?;
        if found.is_empty() {
            let hint = Hint::command("offshoot exec -w NAME CMD")
                .text(" creates one; ")
                .then("offshoot undo NAME")
                .text(" brings back a deleted one");
            return Ok(CliError::usage("the vault has no workspace").hint(hint));
        }
        let shown = found.iter().map(|one| {
            let (changes, age) = (listed_changes(one.listed), age(one.used_ms));
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
    pub(crate) fn workspace_to_read(&self, vault: &Vault) -> Result<Option<WorkspaceRecord>> {
        if let Some(name) = &self.workspace {
            return Ok(Some(Resolver::new(vault).workspace(name)?));
        }
        let recent = self.engine.workspaces(vault).most_recent()?;
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
    pub(crate) fn standing(&self, vault: &Vault) -> Result<PathContext> {
        match current_dir() {
            Ok(here) => Ok(PathContext::new(vault, &here)?),
            // Paths from the top do not need to know.
            Err(_) => Ok(PathContext::default()),
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
        Ok(paths.collect::<Result<_, ServiceError>>()?)
    }

    /// Whether nothing but what was asked for is printed.
    pub(crate) fn is_silent(&self) -> bool {
        self.quiet
    }
}

pub(crate) fn current_dir() -> Result<PathBuf> {
    let here = std::env::current_dir().and_then(|here| here.canonicalize());
    here.map_err(|error| {
        CliError::new(ExitCode::NotFound, format!("the current folder is gone: {error}"))
    })
}

/// What an engine is opened with for these arguments.
fn options(global: &Global) -> offshoot_engine::Options {
    let (when_hidden, home) = (global.quiet || global.json, global.home.clone());
    offshoot_engine::Options {
        registry: home,
        progress: Some(Arc::new(move |when| import_progress(when, when_hidden))),
        ..offshoot_engine::Options::from_process()
    }
}

/// Says what people should know.
fn tell(output: &Output, notice: &Notice) {
    let text = completed(notice.hint().clone()).to_string();
    match notice.topic {
        // Nothing to do with the command.
        Topic::Leftover => output.hint(text),
        Topic::Settled => output.at_once(&text),
        // This has to be said before a command runs, not after.
        Topic::CommitsLost => {
            output.note(text);
            if !output.is_json() {
                output.print_notes();
            }
        }
        // They quote errors.
        Topic::LogCutShort | Topic::Unsettled => output.note(render::paths_in(text)),
        _ => output.note(text),
    }
}

/// A variable of the environment; an empty one counts as unset.
fn variable(name: &str) -> Option<String> {
    let value = std::env::var_os(name).filter(|value| !value.is_empty());
    value.map(|value| value.to_string_lossy().into_owned())
}
