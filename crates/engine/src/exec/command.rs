//! What somebody wants to run, and how.

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::Duration;

use offshoot_protocol::{CheckpointMode, DriverChoice, Network};
use offshoot_sandbox::Terminal;
use offshoot_vault::CallKey;
use offshoot_workspace::{ApprovalWait, CommandLine, ExecutionTimeout, Preset, Viewer};

use super::environment;

/// A command to run in a workspace. Everything but the command itself has a default, mostly by the settings.
///
/// ```
/// use std::time::Duration;
/// use offshoot_engine::exec::Command;
///
/// let test = Command::new(["cargo", "test"]).timeout(Duration::from_secs(600)).variable("RUST_BACKTRACE=1");
/// let line = Command::shell("make && make check");
/// # let _ = (test, line);
/// ```
#[derive(Debug)]
pub struct Command {
    pub(crate) line: CommandLine,
    pub(crate) directory: Option<PathBuf>,
    pub(crate) variables: Vec<OsString>,
    pub(crate) input: Input,
    pub(crate) timeout: Option<ExecutionTimeout>,
    pub(crate) network: Option<Network>,
    pub(crate) allow: Vec<String>,
    pub(crate) sandbox: Option<String>,
    pub(crate) preset: Option<String>,
    pub(crate) show: Vec<PathBuf>,
    pub(crate) read_only: bool,
    pub(crate) checkpoint: CheckpointMode,
    pub(crate) driver: Option<DriverChoice>,
    pub(crate) verify: bool,
    pub(crate) patch: bool,
    pub(crate) wait: Option<Duration>,
    pub(crate) keep: bool,
    pub(crate) wait_approval: ApprovalWait,
    pub(crate) caches: bool,
    pub(crate) record: bool,
    pub(crate) rules: Vec<PathBuf>,
    pub(crate) session: bool,
    pub(crate) joins: bool,
    pub(crate) mark_prompt: bool,
    pub(crate) call: Option<CallKey>,
}

/// What a command reads.
///
/// ```
/// use offshoot_engine::exec::{Command, Input};
///
/// let sort = Command::new(["sort"]).input(Input::Bytes(b"b\na\n".to_vec()));
/// ```
#[derive(Debug, Default)]
pub enum Input {
    /// Nothing.
    #[default]
    Nothing,
    /// These bytes.
    Bytes(Vec<u8>),
    /// What comes from a descriptor.
    From(OwnedFd),
    /// What is typed at a terminal; the command has one too, with the modes that this one has when the command starts. Put
    /// this one into raw mode at `Event::Started`, so that every key goes inside, and back when the command has ended.
    Terminal(Terminal),
}

impl Command {
    /// A program and its arguments.
    ///
    /// ```
    /// use offshoot_engine::exec::Command;
    ///
    /// let list = Command::new(["ls", "-l"]);
    /// // Where a command is wanted, the arguments are enough.
    /// let same = Command::from(["ls", "-l"]);
    /// ```
    pub fn new<I>(arguments: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<OsString>,
    {
        Self::of(CommandLine::Argv(arguments.into_iter().map(Into::into).collect()))
    }

    /// A text for the shell.
    ///
    /// ```
    /// use offshoot_engine::exec::Command;
    ///
    /// let build = Command::shell("make && make check");
    /// ```
    pub fn shell(text: impl Into<OsString>) -> Self {
        Self::of(CommandLine::Shell(text.into()))
    }

    /// A command line of either kind.
    ///
    /// ```
    /// use offshoot_engine::exec::{Command, CommandLine};
    ///
    /// let build = Command::of(CommandLine::Shell("make".into()));
    /// ```
    pub fn of(line: CommandLine) -> Self {
        Self {
            line,
            directory: None,
            variables: Vec::new(),
            input: Input::Nothing,
            timeout: None,
            network: None,
            allow: Vec::new(),
            sandbox: None,
            preset: None,
            show: Vec::new(),
            read_only: false,
            checkpoint: CheckpointMode::Auto,
            driver: None,
            verify: false,
            patch: false,
            wait: None,
            keep: false,
            wait_approval: ApprovalWait::None,
            caches: true,
            record: true,
            rules: Vec::new(),
            session: false,
            joins: false,
            mark_prompt: false,
            call: None,
        }
    }

    /// Starts in this directory: relative to the workspace, or an absolute path inside.
    ///
    /// ```
    /// use offshoot_engine::exec::Command;
    ///
    /// let test = Command::new(["npm", "test"]).directory("web");
    /// ```
    #[must_use]
    pub fn directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// Sets a variable, as `NAME=VALUE`, or passes one of the caller on, as `NAME`. Of the caller's own a command gets only
    /// those that it needs to find programs and to print as people read; keys and tokens are not among them.
    ///
    /// ```
    /// use offshoot_engine::exec::Command;
    ///
    /// let test = Command::new(["cargo", "test"]).variable("RUST_BACKTRACE=1").variable("HTTP_PROXY");
    /// ```
    #[must_use]
    pub fn variable(mut self, item: impl Into<OsString>) -> Self {
        self.variables.push(item.into());
        self
    }

    /// Gives it something to read.
    ///
    /// ```
    /// use offshoot_engine::exec::{Command, Input};
    ///
    /// let count = Command::new(["wc", "-c"]).input(Input::Bytes(b"data".to_vec()));
    /// ```
    #[must_use]
    pub fn input(mut self, input: Input) -> Self {
        self.input = input;
        self
    }

    /// Ends it after this time, instead of `exec.timeout`.
    ///
    /// ```
    /// use std::time::Duration;
    /// use offshoot_engine::exec::Command;
    ///
    /// let test = Command::new(["cargo", "test"]).timeout(Duration::from_secs(600));
    /// ```
    #[must_use]
    pub fn timeout(self, limit: Duration) -> Self {
        let millis = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
        self.time(ExecutionTimeout::Millis(millis))
    }

    /// Lets it take so long, or as long as it wants.
    ///
    /// ```
    /// use offshoot_engine::exec::{Command, ExecutionTimeout};
    ///
    /// let serve = Command::new(["npm", "start"]).time(ExecutionTimeout::None);
    /// ```
    #[must_use]
    pub fn time(mut self, time: ExecutionTimeout) -> Self {
        self.timeout = Some(time);
        self
    }

    /// Says what it can reach, instead of `exec.net`.
    ///
    /// ```
    /// use offshoot_engine::exec::{Command, Network};
    ///
    /// let install = Command::new(["npm", "ci"]).network(Network::Host);
    /// ```
    #[must_use]
    pub fn network(mut self, network: Network) -> Self {
        self.network = Some(network);
        self
    }

    /// Lets it reach a host by the network proxy, beside those that its profile allows.
    ///
    /// ```
    /// use offshoot_engine::exec::Command;
    ///
    /// let install = Command::new(["npm", "ci"]).allow("registries").allow("example.com:8443");
    /// ```
    #[must_use]
    pub fn allow(mut self, rule: impl Into<String>) -> Self {
        self.network = Some(Network::Proxy);
        self.allow.push(rule.into());
        self
    }

    /// Runs it by a profile, instead of the user's own.
    ///
    /// ```
    /// use offshoot_engine::exec::Command;
    ///
    /// let untrusted = Command::new(["make"]).sandbox("strict");
    /// ```
    #[must_use]
    pub fn sandbox(mut self, profile: impl Into<String>) -> Self {
        self.sandbox = Some(profile.into());
        self
    }

    /// Runs it by the preset of a coding agent: with its variables and its hosts, in a home that the vault keeps, without a limit of time. What was
    /// said before is not changed. Arguments are not added; [`PresetFit`](crate::preset::PresetFit) has them.
    ///
    /// ```
    /// # fn example(offshoot: &offshoot_engine::Offshoot) -> offshoot_engine::Result<()> {
    /// use offshoot_engine::exec::Command;
    ///
    /// let claude = offshoot.presets().get("claude").map_err(offshoot_engine::Error::usage)?;
    /// let command = Command::new(["claude", "-p", "hello"]).preset(&claude, &offshoot.viewer());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn preset(mut self, preset: &Preset, caller: &Viewer) -> Self {
        let is_named = |variables: &[OsString], name: &str| {
            variables.iter().any(|item| environment::name(item) == name)
        };
        for (name, value) in &preset.env.set {
            if !is_named(&self.variables, name) {
                self.variables.push(format!("{name}={value}").into());
            }
        }
        for name in &preset.env.pass {
            let has = caller
                .variables
                .iter()
                .any(|(set, value)| set == name.as_str() && !value.is_empty());
            if has && !is_named(&self.variables, name) {
                self.variables.push(name.into());
            }
        }
        self.timeout = self.timeout.or(Some(ExecutionTimeout::None));
        self.preset = Some(preset.name.clone());
        self
    }

    /// Shows it something of the host, read-only and at its own path, beside what its profile shows.
    ///
    /// ```
    /// use offshoot_engine::exec::Command;
    ///
    /// let train = Command::new(["python", "train.py"]).show("/data/models");
    /// ```
    #[must_use]
    pub fn show(mut self, path: impl Into<PathBuf>) -> Self {
        self.show.push(path.into());
        self
    }

    /// Makes every write to the workspace fail. It can run beside others.
    ///
    /// ```
    /// use offshoot_engine::exec::Command;
    ///
    /// let search = Command::new(["rg", "TODO"]).read_only(true);
    /// ```
    #[must_use]
    pub fn read_only(mut self, read_only: bool) -> Self {
        self.read_only = read_only;
        self
    }

    /// Says when a checkpoint is made before it.
    ///
    /// ```
    /// use offshoot_engine::exec::{CheckpointMode, Command};
    ///
    /// let clean = Command::new(["make", "clean"]).checkpoint(CheckpointMode::Always);
    /// ```
    #[must_use]
    pub fn checkpoint(mut self, mode: CheckpointMode) -> Self {
        self.checkpoint = mode;
        self
    }

    /// Says how the workspace is made a directory, instead of `exec.driver`.
    ///
    /// ```
    /// use offshoot_engine::exec::{Command, DriverChoice};
    ///
    /// let build = Command::new(["make"]).driver(DriverChoice::Copy);
    /// ```
    #[must_use]
    pub fn driver(mut self, driver: DriverChoice) -> Self {
        self.driver = Some(driver);
        self
    }

    /// Compares the files of the workspace with their hashes first; nothing runs where one is damaged.
    ///
    /// ```
    /// use offshoot_engine::exec::Command;
    ///
    /// let release = Command::new(["make", "release"]).verify(true);
    /// ```
    #[must_use]
    pub fn verify(mut self, verify: bool) -> Self {
        self.verify = verify;
        self
    }

    /// Adds its changes as a patch to what it answers.
    ///
    /// ```
    /// use offshoot_engine::exec::Command;
    ///
    /// let format = Command::new(["cargo", "fmt"]).patch(true);
    /// ```
    #[must_use]
    pub fn patch(mut self, patch: bool) -> Self {
        self.patch = patch;
        self
    }

    /// Waits so long for a workspace in which something else runs.
    ///
    /// ```
    /// use std::time::Duration;
    /// use offshoot_engine::exec::Command;
    ///
    /// let build = Command::new(["make"]).wait(Duration::from_secs(30));
    /// ```
    #[must_use]
    pub fn wait(mut self, limit: Duration) -> Self {
        self.wait = Some(limit);
        self
    }

    /// Keeps a workspace that is made for it, even where nothing changes.
    ///
    /// ```
    /// use offshoot_engine::exec::Command;
    ///
    /// let look = Command::new(["true"]).keep(true);
    /// ```
    #[must_use]
    pub fn keep(mut self, keep: bool) -> Self {
        self.keep = keep;
        self
    }

    /// Waits for a person where one has to decide: for as long as that takes, or so long.
    ///
    /// ```
    /// use offshoot_engine::exec::{ApprovalWait, Command};
    ///
    /// let command = Command::new(["make", "deploy"]).wait_approval(ApprovalWait::Forever);
    /// ```
    #[must_use]
    pub fn wait_approval(mut self, wait: ApprovalWait) -> Self {
        self.wait_approval = wait;
        self
    }

    /// Says whether it gets the package caches of the vault.
    ///
    /// ```
    /// use offshoot_engine::exec::Command;
    ///
    /// let clean = Command::new(["cargo", "build"]).caches(false);
    /// ```
    #[must_use]
    pub fn caches(mut self, caches: bool) -> Self {
        self.caches = caches;
        self
    }

    /// Says whether what it prints is kept.
    ///
    /// ```
    /// use offshoot_engine::exec::Command;
    ///
    /// let secret = Command::new(["gpg", "--export-secret-keys"]).record(false);
    /// ```
    #[must_use]
    pub fn record(mut self, record: bool) -> Self {
        self.record = record;
        self
    }

    /// Adds rules that hold for it alone, and can only restrict it: files in TOML or Rego.
    ///
    /// ```
    /// use offshoot_engine::exec::Command;
    ///
    /// let test = Command::new(["npm", "test"]).rules(["strict.toml".into()]);
    /// ```
    #[must_use]
    pub fn rules(mut self, files: impl IntoIterator<Item = PathBuf>) -> Self {
        self.rules.extend(files);
        self
    }

    /// Makes it a person's session at its terminal, which others can join; `joins` lets it join one that keeps its workspace
    /// busy.
    ///
    /// ```
    /// use offshoot_engine::exec::Command;
    ///
    /// let shell = Command::new(["bash"]).session(true);
    /// ```
    #[must_use]
    pub fn session(mut self, joins: bool) -> Self {
        self.session = true;
        self.joins = joins;
        self
    }

    /// Says what an agent calls it in a session: nothing runs twice under one key, and
    /// [`Project::call`](crate::Project::call) says what became of it.
    ///
    /// ```
    /// # fn example(session: &offshoot_engine::session::Session) {
    /// use offshoot_engine::exec::Command;
    ///
    /// let test = Command::new(["cargo", "test"]).call(session.call_key("call-17"));
    /// # }
    /// ```
    #[must_use]
    pub fn call(mut self, key: CallKey) -> Self {
        self.call = Some(key);
        self
    }

    /// Says that it is a shell, whose prompt says which workspace it is in, where the shell allows that.
    ///
    /// ```
    /// use offshoot_engine::exec::Command;
    ///
    /// let shell = Command::new(["bash"]).session(false).mark_prompt(true);
    /// ```
    #[must_use]
    pub fn mark_prompt(mut self, mark: bool) -> Self {
        self.mark_prompt = mark;
        self
    }
}

impl<T: Into<OsString>, const N: usize> From<[T; N]> for Command {
    fn from(arguments: [T; N]) -> Self {
        Self::new(arguments)
    }
}

impl<T: Into<OsString>> From<Vec<T>> for Command {
    fn from(arguments: Vec<T>) -> Self {
        Self::new(arguments)
    }
}
