//! `offshoot integrate`: a coding agent that runs outside uses Offshoot for its commands.

mod agents;
mod edit;
mod json_text;
mod jsonc;
mod plan;
mod record;
mod toml_text;

use std::io::{IsTerminal, Write};

use clap::Args;
use offshoot_protocol::{
    IntegrateDoc, IntegrateInstructionsDoc, IntegrateListDoc, IntegratedAgent, IntegrationDoc,
    IntegrationPart, IntegrationScope, IntegrationState, Text,
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
    let mut records = Records::read(context)?;
    let mut parts = agents::parts(agent, scope, &records, context)?;
    parts.retain(|part| !(args.no_hook && part.part == IntegrationPart::Hook));
    let plan = if args.remove { plan::remove } else { plan::add };
    let steps: Vec<Step> = parts.iter().map(|part| plan(part, &records)).collect::<Result<_>>()?;
    for step in steps.iter().filter(|step| step.state == IntegrationState::Other) {
        let path = host_path(&step.path);
        context.output.note(match args.remove {
            true => format!("{path} has another entry of this name, which stays"),
            false => format!("{path} has another entry of this name already, which stays"),
        });
    }
    let changes = steps.iter().any(Step::changes);
    if changes && !args.yes && !confirmed(&steps, context)? {
        return Err(CliError::usage("nothing was written")
            .hint("add --yes to write it without being asked"));
    }
    for step in &steps {
        step.carry_out(&mut records)?;
    }
    let document = IntegrateDoc { agent, scope, files: steps.iter().map(Step::document).collect() };
    context.output.done(document, |_| told(agent, args, &steps))
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
    if !steps.iter().any(Step::changes) {
        return match args.remove {
            true => format!("nothing of Offshoot is in the settings of {agent}\n"),
            false => format!("{agent} uses Offshoot already\n"),
        };
    }
    // Who was asked has seen it.
    let mut text = if args.yes { shown(steps) } else { String::new() };
    if args.remove {
        text.push_str(&format!("{agent} does not use Offshoot any more\n"));
        return text;
    }
    text.push_str(&format!("{agent} uses Offshoot from its next start on\n"));
    let has_hook = steps.iter().any(|step| step.part == IntegrationPart::Hook);
    if agent == IntegratedAgent::Codex && has_hook {
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
