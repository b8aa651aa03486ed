//! `offshoot integrate`: a coding agent that runs outside uses Offshoot for its commands.

mod agents;
mod edit;
mod json_text;
mod jsonc;
mod plan;
mod record;
mod toml_keys;
mod toml_text;

use std::io::{IsTerminal, Write};

use clap::Args;
use offshoot_protocol::{
    ExitCode, IntegrateDoc, IntegrateInstructionsDoc, IntegrateListDoc, IntegratedAgent,
    IntegrationDoc, IntegrationPart, IntegrationScope, IntegrationState, Text,
};

use self::plan::Step;
use self::record::Records;
use crate::context::Context;
use crate::error::{CliError, Result};
use crate::output::eprint;
use crate::render::{self, BAD, DIM, GOOD, NAME, host_path, line, paint, table};
use crate::words::{names_of, words};

const EXAMPLES: &str = "\
Examples:
  offshoot integrate                        which agents use Offshoot
  offshoot integrate claude                 show what is written, ask, write it
  offshoot integrate codex --scope project  for everybody who works on this project
  offshoot integrate claude --no-hook       the MCP server alone
  offshoot integrate codex --environment    run all tools of Codex in a workspace, and Codex outside
  offshoot integrate claude --remove        take it back
  offshoot integrate claude --check         exit code 1 if something is missing
  offshoot integrate --agents-md >> AGENTS.md

The agent gets the MCP server `offshoot mcp`, and a hook that asks policy about each shell command:
what only reads runs as usual, what changes something belongs into the `exec` tool of Offshoot.
Files keep every other byte; --remove brings back what was there before.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct IntegrateArgs {
    /// Agent that is to use Offshoot
    #[arg(value_name = "AGENT", value_parser = names_of(IntegratedAgent::ALL))]
    agent: Option<IntegratedAgent>,
    /// Choose whose configuration of the agent is meant
    #[arg(long, value_name = "SCOPE", value_parser = words::<IntegrationScope>())]
    scope: Option<IntegrationScope>,
    /// Add no hook, only the MCP server
    #[arg(long, requires = "agent")]
    no_hook: bool,
    /// Have Codex run its tools in the workspace `codex`, in place of the MCP server and the hook
    #[arg(long, requires = "agent", conflicts_with = "no_hook")]
    environment: bool,
    /// Take back what was written
    #[arg(long, requires = "agent")]
    remove: bool,
    /// Write without asking
    #[arg(long, requires = "agent")]
    yes: bool,
    /// Say whether everything is there, and change nothing
    #[arg(long, conflicts_with_all = ["remove", "yes"])]
    check: bool,
    /// Print a text for AGENTS.md that tells agents how to use Offshoot
    #[arg(long, conflicts_with_all = ["agent", "scope", "check"])]
    agents_md: bool,
}

/// What agents are told.
const INSTRUCTIONS: &str = include_str!("integrate/agents.md");

pub(crate) fn run(args: &IntegrateArgs, context: &Context) -> Result<()> {
    if args.agents_md {
        let document = IntegrateInstructionsDoc { text: INSTRUCTIONS.to_owned() };
        return context.output.data(document, |document| document.text.clone());
    }
    match args.agent {
        Some(agent) if !args.check => change(agent, args, context),
        _ => list(args, context),
    }
}

fn change(agent: IntegratedAgent, args: &IntegrateArgs, context: &Context) -> Result<()> {
    context.engine.actor().require_person("change the settings of agents")?;
    let scope = args.scope.unwrap_or_default();
    let (_, steps) = planned(agent, scope, args, context)?;
    for step in steps.iter().filter(|step| step.state == IntegrationState::Other) {
        let path = host_path(&step.path);
        context.output.note(match (step.is_file, args.remove) {
            (true, _) => format!("{path} is not as Offshoot writes it, and stays"),
            (false, true) => format!("{path} has another entry of this name, which stays"),
            (false, false) => format!("{path} has another entry of this name already, which stays"),
        });
    }
    let changes = steps.iter().any(Step::changes);
    if changes && !args.yes && !confirmed(&steps, context)? {
        return Err(CliError::usage("nothing was written")
            .hint("add --yes to write it without being asked"));
    }
    let _alone = Records::lock(context)?;
    // Another process may have changed something meanwhile. Whoever was asked has seen this and nothing else.
    let (mut records, now) = planned(agent, scope, args, context)?;
    if changes && !args.yes && now != steps {
        let message = "the settings were changed just now: nothing was written";
        return Err(CliError::new(ExitCode::Conflict, message).hint("try again"));
    }
    let steps = now;
    plan::carry_out(agent, &steps, &mut records)?;
    let document = IntegrateDoc { agent, scope, files: steps.iter().map(Step::document).collect() };
    context.output.done(document, |_| told(agent, args, &steps))
}

/// What is to be done, by what is recorded and by the files as they are now.
fn planned(
    agent: IntegratedAgent,
    scope: IntegrationScope,
    args: &IntegrateArgs,
    context: &Context,
) -> Result<(Records, Vec<Step>)> {
    let records = Records::read(context)?;
    let mut parts = agents::parts(agent, scope, &records, context)?;
    parts.retain(|part| !(args.no_hook && part.part == IntegrationPart::Hook));
    let environment = agents::environment(agent, scope, context)?;
    if args.environment && environment.is_empty() {
        let message = "only Codex can run its tools elsewhere, by the settings of the user";
        return Err(CliError::usage(message).hint("offshoot integrate codex --environment"));
    }
    if args.remove {
        // Its settings are looked for only where it was put: the user may have the same.
        let is_noted = environment.first().is_some_and(|part| records.of(&part.path).is_some());
        parts.extend(environment.into_iter().filter(|_| is_noted));
        let steps = parts.iter().map(|part| plan::remove(part, &records)).collect::<Result<_>>()?;
        return Ok((records, steps));
    }
    // Each way in has no use for the other: the hook would refuse what runs inside anyway.
    let (wanted, other) = match args.environment {
        true => (environment, parts),
        false => (parts, environment),
    };
    let is_there = |part: &agents::Part| match plan::state(part) {
        Ok(state) => state == IntegrationState::Present && records.of(&part.path).is_some(),
        Err(_) => false,
    };
    if other.iter().any(is_there) {
        let message = format!("{agent} uses Offshoot in another way already");
        let hint = format!("`offshoot integrate {agent} --remove` takes that back; then try again");
        return Err(CliError::new(ExitCode::Conflict, message).hint(hint));
    }
    let steps: Vec<Step> =
        wanted.iter().map(|part| plan::add(part, &records)).collect::<Result<_>>()?;
    let taken = |step: &&Step| step.state == IntegrationState::Other;
    if let Some(step) = steps.iter().find(taken).filter(|_| args.environment) {
        let message = format!("{} says something else already", host_path(&step.path));
        let hint = "environments, `sandbox_mode` and `features.daemon_auto_start` of your own have to go first; nothing was changed";
        return Err(CliError::new(ExitCode::Conflict, message).hint(hint));
    }
    Ok((records, steps))
}

/// Shows what would be written and asks. Where nobody can answer, the answer is no.
fn confirmed(steps: &[Step], context: &Context) -> Result<bool> {
    if context.output.is_json() {
        return Ok(false);
    }
    eprint(&shown(steps));
    if !(std::io::stdin().is_terminal() && std::io::stderr().is_terminal()) {
        return Ok(false);
    }
    eprint("write this? [y/N] ");
    let mut answer = String::new();
    drop(std::io::stderr().flush());
    let read = std::io::stdin().read_line(&mut answer);
    read.map_err(|error| CliError::usage(format!("cannot read the answer: {error}")))?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// What is written, file by file.
fn shown(steps: &[Step]) -> String {
    let mut text = String::new();
    for step in steps.iter().filter(|step| step.changes()) {
        let path = paint(NAME, &host_path(&step.path));
        text.push_str(&format!("{path} ({})\n", step.verb()));
        for changed in step.diff().lines() {
            let style = match changed.as_bytes().first() {
                Some(b'+') => GOOD,
                Some(b'-') => BAD,
                _ => DIM,
            };
            text.push_str(&format!("{}\n", paint(style, &line(changed))));
        }
    }
    text
}

fn told(agent: IntegratedAgent, args: &IntegrateArgs, steps: &[Step]) -> String {
    let stays = || steps.iter().filter(|step| step.state == IntegrationState::Other);
    let leaves = args.remove && stays().next().is_some();
    if !leaves && !steps.iter().any(Step::changes) {
        return match args.remove {
            true => format!("nothing of Offshoot is in the settings of {agent}\n"),
            false => format!("{agent} uses Offshoot already\n"),
        };
    }
    // Who was asked has seen it.
    let mut text = if args.yes { shown(steps) } else { String::new() };
    if args.remove {
        for step in stays() {
            let path = host_path(&step.path);
            let what = match step.is_file {
                true => path,
                false => format!("the entry of Offshoot in {path}"),
            };
            text.push_str(&format!(
                "delete {what} yourself: {agent} may use Offshoot as long as it is there\n"
            ));
        }
        if stays().next().is_none() {
            text.push_str(&format!("{agent} does not use Offshoot any more\n"));
        }
        return text;
    }
    text.push_str(&format!("{agent} uses Offshoot from its next start on\n"));
    let has_hook = steps.iter().any(|step| step.part == IntegrationPart::Hook);
    if args.environment {
        let workspace = agents::CODEX_WORKSPACE;
        text.push_str(&format!(
            "its tools run in workspace {workspace} of the project that it works in\n"
        ));
    }
    if agent == IntegratedAgent::Codex && has_hook && !args.environment {
        text.push_str("codex runs the hook once you trust it there: /hooks\n");
    }
    text
}

fn list(args: &IntegrateArgs, context: &Context) -> Result<()> {
    let records = Records::read(context)?;
    let mut integrations = Vec::new();
    let is_asked = |agent: &IntegratedAgent| args.agent.is_none_or(|asked| asked == *agent);
    // Whoever checks asks about one scope.
    let scope = args.scope.or_else(|| args.check.then(IntegrationScope::default));
    for agent in IntegratedAgent::ALL.iter().copied().filter(is_asked) {
        let scopes = IntegrationScope::ALL.iter().copied();
        for scope in scopes.filter(|one| scope.is_none_or(|asked| asked == *one)) {
            let parts = agents::parts(agent, scope, &records, context)?;
            let asked = |part: &agents::Part| !(args.no_hook && part.part == IntegrationPart::Hook);
            // The one way in or the other: what was asked about, else what is there.
            let environment = agents::environment(agent, scope, context)?;
            let is_there = |part: &agents::Part| {
                !matches!(plan::state(part), Ok(IntegrationState::Absent | IntegrationState::Other))
            };
            let parts = match environment.first() {
                Some(first) if args.environment || is_there(first) => environment,
                None if args.environment => continue,
                _ => parts,
            };
            integrations.extend(parts.iter().filter(|part| asked(part)).map(|part| {
                let (state, problem) = match plan::state(part) {
                    Ok(state) => (state, None),
                    Err(error) => (IntegrationState::Unreadable, Some(error.message)),
                };
                let path = Text::new(part.path.as_os_str().as_encoded_bytes());
                IntegrationDoc { agent, scope, part: part.part, path, state, problem }
            }));
        }
    }
    let document = IntegrateListDoc { integrations };
    match args.check {
        true => context.output.checked(document, listed),
        false => context.output.data(document, listed),
    }
}

fn listed(document: &IntegrateListDoc) -> String {
    let rows = document.integrations.iter().map(|one| {
        let state = match one.state {
            IntegrationState::Present => paint(GOOD, one.state.as_str()),
            IntegrationState::Absent => paint(DIM, one.state.as_str()),
            _ => paint(BAD, one.state.as_str()),
        };
        vec![
            paint(NAME, one.agent.as_str()),
            one.scope.to_string(),
            one.part.to_string(),
            state,
            render::text(&one.path),
        ]
    });
    table(&["AGENT", "SCOPE", "PART", "STATE", "FILE"], rows.collect())
}
