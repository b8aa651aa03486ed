//! `offshoot acp`: an agent for an editor, confined in a workspace.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser};
use offshoot_acp::{AcpSettings, serve};
use offshoot_engine::Offshoot;

use super::exec::options::{Net, NetParser, net, shown, variable};
use crate::context::Context;
use crate::error::{CliError, Result};
use crate::output;

const EXAMPLES: &str = "\
Examples:
  offshoot acp -- gemini --experimental-acp       what an editor starts in place of the agent
  offshoot acp --net host -- goose acp            let the agent reach the network
  offshoot acp -e GEMINI_API_KEY --net allow=generativelanguage.googleapis.com -- gemini --experimental-acp
  offshoot acp -w fix -- my-agent                 use workspace fix, which is forked if there is none

An editor that speaks the Agent Client Protocol starts this as its agent and talks to it over standard
input and output. Each session gets a workspace and a process of the agent in it, confined as by
`offshoot exec`. Your folder is not touched: when the session is closed, see what changed with
`offshoot review -w NAME` and bring it into the folder with `offshoot commit -w NAME`.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AcpArgs {
    /// The agent to start, with its arguments
    #[arg(last = true, value_name = "AGENT")]
    agent: Vec<OsString>,
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
    if args.agent.is_empty() {
        return Err(CliError::usage("which agent? its command goes behind --")
            .hint("try `offshoot acp -- gemini --experimental-acp`"));
    }
    if context.names_vault() {
        return Err(CliError::usage("acp takes the vault of the folder that the editor opens")
            .hint("leave out --vault and OFFSHOOT_VAULT"));
    }
    let settings = AcpSettings {
        command: args.agent.clone(),
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
