//! `offshoot policy check` and `offshoot policy explain`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser};
use offshoot_engine::binding::Binding;
use offshoot_engine::exec::CommandLine;
use offshoot_engine::policy::{Verdict, judge};
use offshoot_engine::wire;
use offshoot_protocol::{Network, PolicyVerdictDoc};

use super::question::Question;
use super::text;
use crate::commands::exec::options::{Net, NetParser, Options, variable};
use crate::commands::exec::{Ask, Input, judged};
use crate::complete;
use crate::context::{Context, current_dir};
use crate::error::Result;

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Command to judge, with its arguments
    #[arg(trailing_var_arg = true, value_name = "CMD", required_unless_present = "shell")]
    command: Vec<OsString>,
    /// Judge this line of shell instead of a command
    #[arg(long, value_name = "TEXT", conflicts_with = "command")]
    shell: Option<OsString>,
    /// Assume this directory of the workspace [default: the current one]
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// Assume that the command can reach this [default: exec.net, or the hosts of its preset]
    #[arg(long, value_name = "NET", value_parser = NetParser)]
    net: Vec<Net>,
    /// Assume `exec --read-only`
    #[arg(long)]
    read_only: bool,
    /// Assume `exec --sandbox PROFILE`
    #[arg(long, value_name = "PROFILE")]
    sandbox: Option<String>,
    /// Assume `run` with a person at the terminal
    #[arg(long)]
    terminal: bool,
    /// Assume that it reads standard input, as with `exec -i`
    #[arg(short = 'i', long, conflicts_with = "terminal")]
    stdin: bool,
    /// Assume this preset of a coding agent, or none [default: by the program]
    #[arg(long, value_name = "PRESET", add = complete::presets())]
    preset: Option<String>,
    /// Assume `exec --trust-agent`
    #[arg(long)]
    trust_agent: bool,
    /// Assume this variable: NAME or NAME=VALUE
    #[arg(short, long, value_name = "NAME[=VALUE]", value_parser = OsStringValueParser::new().try_map(variable))]
    env: Vec<OsString>,
    /// Add rules, which can only restrict: a TOML or Rego file
    #[arg(long, value_name = "FILE")]
    policy: Vec<PathBuf>,
}

impl CheckArgs {
    /// What `exec` would be given.
    fn options(&self) -> Options {
        Options {
            cwd: self.cwd.clone(),
            net: self.net.clone(),
            sandbox: self.sandbox.clone(),
            preset: self.preset.clone(),
            trust_agent: self.trust_agent,
            read_only: self.read_only,
            env: self.env.clone(),
            policy: self.policy.clone(),
            ..Options::default()
        }
    }
}

pub(crate) fn check(args: &CheckArgs, context: &Context) -> Result<()> {
    let (verdict, document) = ask(args, context)?;
    context.output.checked(document, |document| text::line(&verdict, document))
}

pub(crate) fn explain(args: &CheckArgs, context: &Context) -> Result<()> {
    let (verdict, document) = ask(args, context)?;
    let rules = context.engine.user_rule_file();
    context
        .output
        .data(document, |document| text::explanation(&verdict, document, rules.as_deref()))
}

fn ask(args: &CheckArgs, context: &Context) -> Result<(Verdict, PolicyVerdictDoc)> {
    let (workspace, folders) = places(context)?;
    let files = context.engine.policy(Some(&workspace), &args.policy);
    files.current()?;
    let command = match &args.shell {
        Some(text) => CommandLine::Shell(text.clone()),
        None => CommandLine::Argv(args.command.clone()),
    };
    let options = args.options();
    let mut ask = Ask::new(command, &options, context);
    if args.terminal {
        ask.input = Input::Terminal;
    } else if args.stdin {
        ask.input = Input::Stream;
    }
    let verdict = judged(&mut ask, context, (&workspace, folders))?;
    let document = wire::policy_verdict(&ask.command, &verdict, files.present());
    Ok((verdict, document))
}

/// Whether policy lets a command read a path.
pub(crate) fn lets_read(path: &Path, context: &Context) -> Result<bool> {
    let command = CommandLine::Argv(vec!["cat".into(), path.into()]);
    Ok(plain(&command, None, Network::default(), context)?.decision.runs())
}

/// What policy says of a command that somebody else is about to run outside, where the network is.
pub(crate) fn outside(
    command: &CommandLine,
    cwd: Option<&Path>,
    context: &Context,
) -> Result<Verdict> {
    plain(command, cwd, Network::Host, context)
}

fn plain(
    command: &CommandLine,
    cwd: Option<&Path>,
    net: Network,
    context: &Context,
) -> Result<Verdict> {
    let (workspace, folders) = places(context)?;
    let policy = context.engine.policy(Some(&workspace), &[]).current()?;
    let question = Question {
        cwd,
        net,
        read_only: false,
        unconfined: false,
        terminal: false,
        stdin: false,
        env: &[],
        preset: None,
    };
    Ok(judge(&policy, command, &question.surroundings(context, &workspace, folders)?))
}

/// Where a workspace would be seen, at the folder of the vault that is named or that this folder belongs to, and where further folders
/// of it.
pub(crate) fn places(context: &Context) -> Result<(PathBuf, Vec<PathBuf>)> {
    let here = current_dir()?;
    let opened = match context.names_vault() {
        true => Some(context.vault_as_left()?),
        // Without a vault the question is still a good one.
        false => {
            let bound = context.registry().find_bound(&here).ok().flatten();
            bound.map(|(listed, _)| context.open_listed(&listed)).transpose()?
        }
    };
    if let Some(opened) = opened {
        let bindings = opened.vault.bindings()?;
        let (first, further): (Vec<_>, Vec<_>) = bindings.iter().partition(|one| one.is_first());
        let folders = further.into_iter().map(Binding::host_path).collect();
        return Ok((first.first().map_or(here, |binding| binding.host_path()), folders));
    }
    let checkout = here.ancestors().find(|folder| folder.join(".git").exists());
    Ok((checkout.unwrap_or(&here).to_owned(), Vec::new()))
}
