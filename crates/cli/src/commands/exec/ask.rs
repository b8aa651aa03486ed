//! What is asked for, by `exec` or by `run`.

use offshoot_protocol::Network;
use std::time::Duration;

use offshoot_engine::exec::{CommandLine, ExecutionTimeout};
use offshoot_engine::preset::{Preset, PresetFit};

use super::options::Options;
use crate::commands::policy::question::Question;
use crate::context::Context;

/// One command that somebody asks for.
#[derive(Debug)]
pub(crate) struct Ask<'a> {
    /// What to run.
    pub(crate) command: CommandLine,
    /// Where and how.
    pub(crate) options: &'a Options,
    /// How long it may take, where that was said.
    pub(crate) timeout: Option<ExecutionTimeout>,
    /// How long it may take otherwise; zero for as long as it wants.
    pub(crate) default_timeout: Duration,
    /// It is the user's own shell, because they named no command.
    pub(crate) shell: bool,
    /// It is a person's session, which others can join.
    pub(crate) session: bool,
    /// What it can reach.
    pub(crate) net: Network,
    /// Somebody was asked about that.
    pub(crate) asked: bool,
    /// What the command can reach, where somebody said so.
    pub(crate) asked_net: Option<Network>,
    /// Rules of hosts that it reaches by the proxy.
    pub(crate) allow: Vec<String>,
    /// The preset that it runs by, as a coding agent.
    pub(crate) preset: Option<Preset>,
    /// That agent asks nothing.
    pub(crate) trusted: bool,
    /// It runs without walls.
    pub(crate) unconfined: bool,
    /// Its profile lets it change nothing.
    pub(crate) only_reads: bool,
    /// It could be given some of the network.
    pub(crate) may_reach: bool,
    /// The setting that says so.
    pub(crate) timeout_key: &'static str,
    /// What it reads.
    pub(crate) input: Input,
    /// Whether to add the changes as a patch.
    pub(crate) patch: bool,
    /// Whether to keep what it prints.
    pub(crate) record: bool,
    /// Whether what it prints reaches a terminal as it is.
    pub(crate) raw: bool,
    /// There is somebody at the terminal to decide about it.
    pub(crate) asks_person: bool,
}

/// What a command reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    /// Nothing.
    Nothing,
    /// The standard input of this process, as it comes.
    Stream,
    /// What is typed at the terminal of this process; the command has a terminal too.
    Terminal,
}

impl<'a> Ask<'a> {
    /// A command that reads nothing, with these options; nothing else is known yet.
    pub(crate) fn new(command: CommandLine, options: &'a Options, context: &Context) -> Self {
        Self {
            command,
            options,
            timeout: None,
            default_timeout: context.config().exec.timeout,
            shell: false,
            session: false,
            net: Network::None,
            asked: false,
            asked_net: None,
            allow: Vec::new(),
            preset: None,
            trusted: false,
            unconfined: false,
            only_reads: false,
            may_reach: true,
            timeout_key: "exec.timeout",
            input: Input::Nothing,
            patch: false,
            record: true,
            raw: false,
            asks_person: false,
        }
    }

    /// The same as a question, for where there is no vault yet.
    pub(super) fn question(&self) -> Question<'_> {
        Question {
            cwd: self.options.cwd.as_deref(),
            net: self.net,
            read_only: self.options.read_only || self.only_reads,
            unconfined: self.unconfined,
            terminal: self.input == Input::Terminal,
            stdin: self.input == Input::Stream,
            env: &self.options.env,
            preset: self.preset.as_ref(),
        }
    }

    /// What becomes of it by its preset.
    pub(super) fn fit(&self) -> Option<PresetFit<'_>> {
        let preset = self.preset.as_ref()?;
        let terminal = self.input == Input::Terminal;
        Some(PresetFit { preset, terminal, trusted: self.trusted })
    }

    /// How long the command may take.
    pub(super) fn time(&self) -> ExecutionTimeout {
        let default = match self.default_timeout {
            none if none.is_zero() => ExecutionTimeout::None,
            limit => ExecutionTimeout::Millis(u64::try_from(limit.as_millis()).unwrap_or(u64::MAX)),
        };
        self.timeout.unwrap_or(default)
    }
}
