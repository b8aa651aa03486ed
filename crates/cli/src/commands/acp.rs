//! `offshoot acp`: an agent for an editor, confined in a workspace.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser};
use offshoot_acp::{AcpSettings, serve};
use offshoot_engine::Offshoot;
use offshoot_engine::exec::CommandLine;
use offshoot_engine::preset::{Preset, PresetFit};
use offshoot_protocol::{ExitCode, Hint};

use super::exec::options::{Net, NetParser, net, shown, variable};
use crate::complete;
use crate::context::Context;
use crate::error::{CliError, Result};
use crate::output;

const EXAMPLES: &str = "\
Examples:
  offshoot acp gemini                             what an editor starts in place of the agent
  offshoot acp claude                             the same for Claude Code, by its adapter
  offshoot acp -- gemini --acp --model NAME       with arguments of your own
  offshoot acp --net allow=example.com -- my-agent
  offshoot acp -w fix opencode                    use workspace fix, forked if there is none

An editor that speaks the Agent Client Protocol starts this as its agent and talks to it over
standard input and output. Each session gets a workspace and a process of the agent in it, confined
as by `offshoot exec`. An agent that has a preset gets its login, its hosts and its home by it, as
with `offshoot run`. Your folder is not touched: when the session is closed, see what changed with
`offshoot review -w NAME` and bring it into the folder with `offshoot commit -w NAME`.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AcpArgs {
    /// The agent by the name of its preset, such as gemini
    #[arg(value_name = "AGENT", conflicts_with = "command", add = complete::presets())]
    agent: Option<String>,
    /// The command of the agent, with its arguments
    #[arg(last = true, value_name = "CMD")]
    command: Vec<OsString>,
    /// Run it by this preset, or by none; `offshoot presets list` lists them [default: by the program]
    #[arg(long, value_name = "PRESET", conflicts_with = "agent", add = complete::presets())]
    preset: Option<String>,
    /// Choose what the agent can reach; allow= can be repeated [default: exec.net]
    #[arg(long, value_name = "NET", value_parser = NetParser)]
    net: Vec<Net>,
    /// Run it by this profile, such as strict; `offshoot sandbox show` lists them [default: workspace]
    #[arg(long, value_name = "PROFILE")]
    sandbox: Option<String>,
    /// Show it this file or directory of the host; what it writes there is thrown away
    #[arg(long, value_name = "PATH")]
    show: Vec<PathBuf>,
    /// Pass a variable on, or set one: NAME or NAME=VALUE
    #[arg(short, long, value_name = "NAME[=VALUE]", value_parser = OsStringValueParser::new().try_map(variable))]
    env: Vec<OsString>,
    /// Add rules for the agent, which can only restrict it: a TOML or Rego file
    #[arg(long, value_name = "FILE")]
    policy: Vec<PathBuf>,
    /// Allow at once what policy allows, where the agent asks for permission; without it the editor asks
    #[arg(long)]
    auto_allow: bool,
}

/// Serves the editor until it closes standard input.
pub(crate) fn run(args: &AcpArgs, context: &Context) -> Result<()> {
    if context.names_vault() {
        return Err(CliError::usage("acp takes the vault of the folder that the editor opens")
            .hint("leave out --vault and OFFSHOOT_VAULT"));
    }
    let (command, preset) = agent(args, context)?;
    if let Some(preset) = &preset {
        announce(preset, args, context);
    }
    let settings = AcpSettings {
        command,
        preset,
        workspace: context.workspace_name().map(str::to_owned),
        network: net(&args.net)?,
        sandbox: args.sandbox.clone(),
        show: args.show.iter().map(|path| shown(path)).collect::<Result<_>>()?,
        variables: args.env.clone(),
        rules: args.policy.clone(),
        auto_allow: args.auto_allow,
    };
    let program = std::env::current_exe()
        .map_err(|error| CliError::usage(format!("cannot find this program: {error}")))?;
    // What agents wrote is recorded even if this process is killed.
    let options = context.engine.options().clone().worker(program);
    let log = Arc::new(|line: &str| output::eprint(&format!("{line}\n")));
    let editor = (std::io::stdin(), std::io::stdout());
    serve(Offshoot::open(options)?, settings, editor, log)
}

/// The command of the agent, and its preset.
fn agent(args: &AcpArgs, context: &Context) -> Result<(Vec<OsString>, Option<Preset>)> {
    let Some(name) = &args.agent else {
        if args.command.is_empty() {
            return Err(CliError::usage("which agent?")
                .hint("try `offshoot acp gemini`, or give the command of the agent behind --"));
        }
        let line = CommandLine::Argv(args.command.clone());
        let preset = context.engine.preset_for_acp(&line, args.preset.as_deref())?;
        return Ok((args.command.clone(), preset));
    };
    let none = CommandLine::Argv(Vec::new());
    let preset = context.engine.preset_for(&none, Some(name))?;
    let Some((preset, acp)) = preset.and_then(|it| it.acp.clone().map(|acp| (it, acp))) else {
        let message = format!("preset {name} does not say how this agent speaks to editors");
        return Err(CliError::usage(message).hint(
            Hint::from("give its command: ")
                .then("offshoot acp --preset")
                .arg(name)
                .words("-- CMD"),
        ));
    };
    let program = acp.command.first().map(String::as_str).unwrap_or_default();
    if let Some(package) = acp.package.as_ref().filter(|_| !is_installed(program, context)) {
        let message =
            format!("{program}, by which {} speaks to editors, is not installed", preset.summary);
        return Err(CliError::new(ExitCode::NotFound, message)
            .hint(format!("install it: npm install -g {package}")));
    }
    Ok((acp.command.iter().map(OsString::from).collect(), Some(preset)))
}

/// Whether a program is found by its name.
fn is_installed(program: &str, context: &Context) -> bool {
    let viewer = context.engine.viewer();
    let path = viewer.variables.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value);
    path.is_some_and(|path| std::env::split_paths(path).any(|at| at.join(program).is_file()))
}

/// Says by which preset the agent runs, where editors keep what agents say besides.
fn announce(preset: &Preset, args: &AcpArgs, context: &Context) {
    let name = &preset.name;
    output::eprint(&format!("offshoot: preset {name}; `offshoot presets show {name}` says more\n"));
    let fit = PresetFit { preset, terminal: false, trusted: false };
    if fit.is_logged_in(&context.engine.viewer(), &args.env) == Some(false) {
        let login = preset.login.as_ref().map(|login| login.command.as_str()).unwrap_or_default();
        let summary = &preset.summary;
        output::eprint(&format!("offshoot: {summary} does not seem to be logged in: {login}\n"));
    }
}
