//! What an engine is opened with.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use offshoot_vault::{Actor, Progress, VaultOptions, VaultRegistry as Registry};

use crate::actor::own_account;
use crate::error::{Error, Result};
use crate::notice::Notice;
use crate::settings::{Sources, When};

/// Who is told what people should know.
///
/// ```
/// use std::sync::Arc;
/// use offshoot_engine::{Listener, Notice};
///
/// let listener: Arc<Listener> = Arc::new(|notice: &Notice| println!("{notice}"));
/// ```
pub type Listener = dyn Fn(&Notice) + Send + Sync;
/// Who shows how far the taking in of a folder is; asked anew for each.
///
/// ```
/// use std::sync::Arc;
/// use offshoot_engine::ShowProgress;
///
/// let silent: Arc<ShowProgress> = Arc::new(|_| None);
/// ```
pub type ShowProgress = dyn Fn(When) -> Option<Arc<dyn Progress>> + Send + Sync;

/// What an engine is opened with. Nothing of it is looked up later in the process: [`Options::from_process`] is the one place
/// that reads its environment.
///
/// ```
/// use offshoot_engine::{Options, Topic};
///
/// let options = Options::from_process().registry("/var/lib/offshoot").listener(|notice| {
///     if notice.topic == Topic::Leftover {
///         println!("{notice}");
///     }
/// });
/// ```
#[derive(Clone)]
pub struct Options {
    /// The variables: where settings, the user's home and programs are found, and what commands may be given.
    pub environment: Vec<(OsString, OsString)>,
    /// The folder that the caller stands in.
    pub directory: Option<PathBuf>,
    /// Where vaults are kept; without it where the environment says.
    pub registry: Option<PathBuf>,
    /// Settings that go before all others, as `KEY=VALUE`.
    pub overrides: Vec<String>,
    /// Goes without the settings of the project where they are wrong, and tells so: what is wrong may be what is to be taken back.
    pub lenient_settings: bool,
    /// Who acts; without it the user that the environment names.
    pub actor: Option<Actor>,
    /// The limit of open files that commands get, where this process raised its own.
    pub open_files: Option<u64>,
    /// Whether what is done may take the space that is held in reserve: to free more.
    pub frees_space: bool,
    /// The `offshoot` program, where each command is to run in a worker process of its own.
    pub worker: Option<PathBuf>,
    /// Who is told what people should know.
    pub listener: Option<Arc<Listener>>,
    /// Who shows progress.
    pub progress: Option<Arc<ShowProgress>>,
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Variables may hold secrets.
        f.debug_struct("Options")
            .field("directory", &self.directory)
            .field("registry", &self.registry)
            .field("overrides", &self.overrides)
            .finish_non_exhaustive()
    }
}

impl Options {
    /// With these variables, standing nowhere.
    ///
    /// ```
    /// use offshoot_engine::Options;
    ///
    /// let options = Options::new(vec![("PATH".into(), "/usr/bin:/bin".into())]);
    /// assert_eq!(options.directory, None);
    /// ```
    pub fn new(environment: Vec<(OsString, OsString)>) -> Self {
        Self {
            environment,
            directory: None,
            registry: None,
            overrides: Vec::new(),
            lenient_settings: false,
            actor: None,
            open_files: None,
            frees_space: false,
            worker: None,
            listener: None,
            progress: None,
        }
    }

    /// What this process was started with: its variables and its current directory.
    ///
    /// ```
    /// use offshoot_engine::Options;
    ///
    /// let options = Options::from_process();
    /// assert_eq!(options.environment.len(), std::env::vars_os().count());
    /// ```
    pub fn from_process() -> Self {
        // A current directory that is gone has no project; whatever needs it says so itself.
        let directory = std::env::current_dir().and_then(|here| here.canonicalize()).ok();
        Self { directory, ..Self::new(std::env::vars_os().collect()) }
    }

    /// Keeps vaults here.
    ///
    /// ```
    /// use offshoot_engine::Options;
    ///
    /// let options = Options::new(Vec::new()).registry("/var/lib/offshoot");
    /// ```
    #[must_use]
    pub fn registry(mut self, directory: impl Into<PathBuf>) -> Self {
        self.registry = Some(directory.into());
        self
    }

    /// Runs each command in a process of its own, which is this `offshoot` program. Threads of the caller's process, which run
    /// them otherwise, start faster as long as that is small; a process with much memory is copied for each of them.
    ///
    /// ```
    /// use offshoot_engine::Options;
    ///
    /// let options = Options::from_process().worker("/usr/bin/offshoot");
    /// # let _ = options;
    /// ```
    #[must_use]
    pub fn worker(mut self, program: impl Into<PathBuf>) -> Self {
        self.worker = Some(program.into());
        self
    }

    /// Tells this one what people should know.
    ///
    /// ```
    /// use offshoot_engine::Options;
    ///
    /// let options = Options::new(Vec::new()).listener(|notice| println!("{notice}"));
    /// ```
    #[must_use]
    pub fn listener(mut self, listener: impl Fn(&Notice) + Send + Sync + 'static) -> Self {
        self.listener = Some(Arc::new(listener));
        self
    }

    /// A variable; an empty one counts as unset.
    ///
    /// ```
    /// use offshoot_engine::Options;
    ///
    /// let options = Options::new(vec![("LANG".into(), "C".into()), ("CI".into(), "".into())]);
    /// assert_eq!(options.variable("LANG"), Some("C".as_ref()));
    /// assert_eq!(options.variable("CI"), None);
    /// ```
    pub fn variable(&self, name: &str) -> Option<&OsStr> {
        let found = self.environment.iter().rev().find(|(set, _)| set == name);
        found.map(|(_, value)| value.as_os_str()).filter(|value| !value.is_empty())
    }

    /// The user's home, as commands see it.
    ///
    /// ```
    /// use offshoot_engine::Options;
    ///
    /// let options = Options::new(vec![("HOME".into(), "/srv/me".into())]);
    /// assert_eq!(options.user_home(), Some("/srv/me".into()));
    /// ```
    pub fn user_home(&self) -> Option<PathBuf> {
        self.variable("HOME").map(PathBuf::from).filter(|home| home.is_absolute())
    }

    /// Where settings are read from.
    ///
    /// ```
    /// use offshoot_engine::{Options, settings};
    ///
    /// let options = Options { overrides: vec!["diff.context=7".to_owned()], ..Options::new(Vec::new()) };
    /// assert_eq!(settings::load(&options.sources())?.config.diff.context, 7);
    /// # Ok::<(), settings::ConfigError>(())
    /// ```
    pub fn sources(&self) -> Sources {
        Sources::new(self.environment.clone(), self.directory.clone(), self.overrides.clone())
    }

    /// The directory in which vaults are kept.
    ///
    /// ```
    /// use offshoot_engine::Options;
    ///
    /// let options = Options::new(vec![("HOME".into(), "/srv/me".into())]);
    /// assert_eq!(options.registry_directory()?, std::path::Path::new("/srv/me/.local/share/offshoot"));
    /// # Ok::<(), offshoot_engine::Error>(())
    /// ```
    pub fn registry_directory(&self) -> Result<PathBuf> {
        let named = self.registry.clone();
        if let Some(named) = named.or_else(|| self.variable("OFFSHOOT_HOME").map(PathBuf::from)) {
            return absolute(&named);
        }
        let data = self.variable("XDG_DATA_HOME").map(PathBuf::from);
        if let Some(data) = data.filter(|directory| directory.is_absolute()) {
            return Ok(data.join("offshoot"));
        }
        match self.variable("HOME") {
            Some(home) => absolute(&Path::new(home).join(".local/share/offshoot")),
            None => Err(Error::usage(
                "there is no place for vaults: neither OFFSHOOT_HOME nor HOME is set",
            )),
        }
    }

    /// Vaults for somebody who only looks, reads no settings, and waits no longer than this for whoever writes just now.
    ///
    /// ```
    /// use std::time::Duration;
    /// use offshoot_engine::Options;
    ///
    /// let vaults = Options::new(Vec::new()).registry("/var/lib/offshoot").peek(Duration::from_millis(5))?;
    /// # Ok::<(), offshoot_engine::Error>(())
    /// ```
    pub fn peek(&self, patience: Duration) -> Result<Registry> {
        let vaults = VaultOptions { busy_timeout: patience, frees_space: false };
        Ok(Registry::new(self.registry_directory()?, vaults))
    }

    /// The agent that started this process, whoever acts in it.
    pub(crate) fn calling_agent(&self) -> Option<String> {
        self.variable("OFFSHOOT_AGENT").map(|value| value.to_string_lossy().into_owned())
    }

    /// Who acts: the user, and the agent that said it acts for them.
    pub(crate) fn actor(&self) -> Actor {
        let text = |name| self.variable(name).map(|value| value.to_string_lossy().into_owned());
        self.actor.clone().unwrap_or_else(|| Actor {
            user: text("USER").or_else(|| text("LOGNAME")).unwrap_or_else(own_account),
            agent: self.calling_agent(),
            session: text("OFFSHOOT_SESSION"),
        })
    }
}

fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path)
        .map_err(|error| Error::usage(format!("{}: {error}", crate::text::host_path(path))))
}
