//! The engine itself.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use offshoot_host::HostError;
use offshoot_protocol::ExitCode;
use offshoot_tree::diff::DiffOptions;
use offshoot_tree::merge::MergeOptions;
use offshoot_vault::{
    Actor, ImportOptions, VaultError, VaultOptions, VaultRegistry, VaultRegistryError,
};

use crate::error::{Error, Hint, Result};
use crate::notice::{Notice, Topic};
use crate::options::Options;
use crate::settings::{self, ApprovalSettings, Config, Loaded};

/// Everything that is the same for all that a caller does: where vaults are kept, settings, who acts, who is told. Cheap to
/// clone.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # use offshoot_engine::{Offshoot, Options};
/// # let scratch = tempfile::tempdir()?;
/// # let (vaults, folder) = (scratch.path().join("vaults"), scratch.path().join("project"));
/// # std::fs::create_dir(&folder)?;
/// # std::fs::write(folder.join("greeting"), "helo\n")?;
/// # let offshoot = Offshoot::open(Options::new(Vec::new()).registry(vaults))?;
/// let project = offshoot.project(&folder)?;
/// assert_eq!(offshoot.vault_names()?, ["project"]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Offshoot(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    options: Options,
    settings: Loaded,
    /// What the user's own file says about approvals.
    own_approvals: ApprovalSettings,
    registry: VaultRegistry,
    actor: Actor,
}

impl Offshoot {
    /// Reads settings. Nothing is made or changed.
    ///
    /// ```
    /// # fn main() -> offshoot_engine::Result<()> {
    /// use offshoot_engine::{Offshoot, Options};
    ///
    /// let offshoot = Offshoot::open(Options::new(Vec::new()).registry("/var/lib/offshoot"))?;
    /// assert!(offshoot.settings().config.exec.refresh);
    /// # Ok(())
    /// # }
    /// ```
    pub fn open(options: Options) -> Result<Self> {
        let sources = options.sources();
        let (settings, left_out) = match settings::load(&sources) {
            Ok(settings) => (settings, None),
            Err(error) if options.lenient_settings => {
                match settings::load_without_project(&sources) {
                    Ok(settings) => (settings, Some(error)),
                    Err(_) => return Err(error.into()),
                }
            }
            Err(error) => return Err(error.into()),
        };
        let vaults = VaultOptions {
            busy_timeout: settings.config.store.busy_timeout,
            frees_space: options.frees_space,
        };
        let registry = VaultRegistry::new(options.registry_directory()?, vaults);
        let (actor, own_approvals) = (options.actor(), settings::load_own(&sources)?.approvals);
        let opened = Self(Arc::new(Inner { options, settings, own_approvals, registry, actor }));
        for ignored in opened.settings().ignored() {
            opened.tell(Topic::Settings, ignored.to_string());
        }
        if let Some(error) = left_out {
            let text = format!("the settings of the project are left out: {error}");
            opened.tell(Topic::Settings, text);
        }
        Ok(opened)
    }

    /// The same for somebody who stands in another folder, with the settings that hold there.
    ///
    /// ```
    /// # fn example(offshoot: &offshoot_engine::Offshoot) -> offshoot_engine::Result<()> {
    /// let there = offshoot.at("/srv/me/project".as_ref())?;
    /// println!("commands get {:?}", there.settings().config.exec.timeout);
    /// # Ok(())
    /// # }
    /// ```
    pub fn at(&self, directory: &Path) -> Result<Self> {
        let directory = Some(directory.to_owned());
        if directory == self.0.options.directory {
            return Ok(self.clone());
        }
        Self::open(Options { directory, ..self.0.options.clone() })
    }

    /// What it was opened with.
    ///
    /// ```
    /// # fn example(offshoot: &offshoot_engine::Offshoot) -> offshoot_engine::Result<()> {
    /// if offshoot.options().variable("CI").is_some() {
    ///     println!("nobody can be asked");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn options(&self) -> &Options {
        &self.0.options
    }

    /// Settings, and who set them.
    ///
    /// ```
    /// # fn example(offshoot: &offshoot_engine::Offshoot) -> offshoot_engine::Result<()> {
    /// for setting in offshoot.settings().settings()? {
    ///     println!("{} = {}", setting.key, setting.value);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn settings(&self) -> &Loaded {
        &self.0.settings
    }

    /// Where vaults are kept.
    ///
    /// ```
    /// # fn example(offshoot: &offshoot_engine::Offshoot) -> offshoot_engine::Result<()> {
    /// println!("vaults are kept in {}", offshoot.registry().dir().display());
    /// # Ok(())
    /// # }
    /// ```
    pub fn registry(&self) -> &VaultRegistry {
        &self.0.registry
    }

    /// Who acts.
    ///
    /// ```
    /// # fn example(offshoot: &offshoot_engine::Offshoot) -> offshoot_engine::Result<()> {
    /// println!("{} acts", offshoot.actor().user);
    /// # Ok(())
    /// # }
    /// ```
    pub fn actor(&self) -> &Actor {
        &self.0.actor
    }

    /// The folder that the caller stands in.
    ///
    /// ```
    /// # fn example(offshoot: &offshoot_engine::Offshoot) -> offshoot_engine::Result<()> {
    /// let project = offshoot.project(offshoot.directory()?)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn directory(&self) -> Result<PathBuf> {
        self.0.options.directory.clone().ok_or_else(|| {
            Error::new(
                ExitCode::NotFound,
                "the current folder is gone: No such file or directory (os error 2)",
            )
        })
    }

    /// The settings alone.
    pub(crate) fn config(&self) -> &Config {
        &self.0.settings.config
    }

    /// What the user's own file says about approvals, whatever this was opened with.
    pub(crate) fn own_approvals(&self) -> &ApprovalSettings {
        &self.0.own_approvals
    }

    /// Tells what people should know.
    pub(crate) fn tell(&self, topic: Topic, text: impl Into<Hint>) {
        if let Some(listener) = &self.0.options.listener {
            listener(&Notice::new(topic, text));
        }
    }

    /// How changes are compared.
    ///
    /// ```
    /// # fn example(offshoot: &offshoot_engine::Offshoot) -> offshoot_engine::Result<()> {
    /// let wide = offshoot.diff_options().context.max(10);
    /// # Ok(())
    /// # }
    /// ```
    pub fn diff_options(&self) -> DiffOptions {
        let diff = &self.config().diff;
        DiffOptions {
            renames: diff.renames,
            rename_similarity: diff.rename_similarity,
            context: diff.context,
            max_text_bytes: diff.max_text_bytes,
        }
    }

    /// How states are merged, as it is configured for showing differences.
    pub(crate) fn merge_options(&self) -> MergeOptions {
        let diff = self.diff_options();
        MergeOptions {
            renames: diff.renames,
            rename_similarity: diff.rename_similarity,
            max_text_bytes: diff.max_text_bytes,
            ..MergeOptions::default()
        }
    }

    /// How folders are taken in.
    pub(crate) fn import_options(&self) -> ImportOptions {
        ImportOptions {
            threads: self.config().import.threads.into(),
            never: vec![self.registry().dir().to_owned()],
            everything: false,
            progress: self
                .0
                .options
                .progress
                .as_ref()
                .and_then(|show| show(self.config().ui.progress)),
        }
    }

    /// An error of the registry, with what can be done where it cannot be written itself.
    ///
    /// ```
    /// # fn example(offshoot: &offshoot_engine::Offshoot) -> offshoot_engine::Result<()> {
    /// let names = offshoot.registry().list().map_err(|error| offshoot.registry_error(error))?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn registry_error(&self, error: VaultRegistryError) -> Error {
        let own = match &error {
            VaultRegistryError::Vault(VaultError::Host(HostError::Io { path, .. })) => {
                path.starts_with(self.registry().dir())
            }
            _ => false,
        };
        let error = Error::from(error);
        if !own {
            return error;
        }
        Error { code: ExitCode::Storage, ..error }
            .hint("set OFFSHOOT_HOME to a place you can write to")
    }
}
