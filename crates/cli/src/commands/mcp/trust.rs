//! `offshoot mcp trust` and `forget`: which definitions of tools are trusted.

use std::io::{IsTerminal, Write};

use clap::Args;
use offshoot_engine::tool_trust::differing_lines;
use offshoot_mcp::client::{ListedTool, ToolListing};
use offshoot_protocol::{ExitCode, Hint, McpForgetDoc, McpTrustDoc, ToolState};

use super::shown::{state, visible, visible_lines};
use super::tools::{connect, project};
use crate::context::Context;
use crate::error::{CliError, Result};
use crate::output::eprint;
use crate::render::{BAD, BOLD, DIM, GOOD, count, line, paint};

pub(super) const EXAMPLES: &str = "\
Examples:
  offshoot mcp trust notes            show what its tools are, and ask
  offshoot mcp trust notes --yes      trust them without being asked

It shows the whole definition of each new tool, and what differs in each that changed. What you
agree to is kept as a hash of each definition. A tool whose definition changes cannot be called,
and no agent sees it, until you trust it again. An agent cannot trust anything.";

#[derive(Debug, Args)]
pub(crate) struct TrustArgs {
    /// Which server
    #[arg(value_name = "SERVER")]
    server: String,
    /// Trust them without being asked
    #[arg(short, long)]
    yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ForgetArgs {
    /// Which server
    #[arg(value_name = "SERVER")]
    server: String,
}

pub(super) fn trust(args: &TrustArgs, context: &Context) -> Result<()> {
    context.engine.actor().require_person("trust the tools of a server")?;
    let client = connect(&args.server, context.workspace_name(), context)?;
    let listing = client.listing()?;
    let differs = !listing.is_trusted();
    if differs && !args.yes && !confirmed(&listing, context)? {
        return Err(CliError::usage("nothing was trusted")
            .hint("add --yes to trust it without being asked"));
    }
    if differs {
        client.trust(&listing)?;
    }
    client.close();
    let instructions = listing.instructions.as_ref();
    let document = McpTrustDoc {
        server: args.server.clone(),
        added: listing.names(ToolState::New),
        changed: listing.names(ToolState::Changed),
        removed: listing.names(ToolState::Removed),
        instructions: instructions.is_some_and(|(state, _)| *state != ToolState::Trusted),
    };
    let tools = listing.tools.iter().filter(|tool| tool.state != ToolState::Removed).count() as u64;
    context.output.done(document, |document| match differs {
        true => format!("trusts {} of {}\n", count(tools, "tool"), document.server),
        false => format!("{} is trusted already: {}\n", document.server, count(tools, "tool")),
    })
}

/// Shows what would be trusted and asks. Where nobody can answer, the answer is no.
fn confirmed(listing: &ToolListing, context: &Context) -> Result<bool> {
    if context.output.is_json() {
        return Ok(false);
    }
    eprint(&shown(listing));
    if !(std::io::stdin().is_terminal() && std::io::stderr().is_terminal()) {
        return Ok(false);
    }
    eprint("trust this? [y/N] ");
    let mut answer = String::new();
    drop(std::io::stderr().flush());
    let read = std::io::stdin().read_line(&mut answer);
    read.map_err(|error| CliError::usage(format!("cannot read the answer: {error}")))?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// What is not trusted yet: all that the server says, without a sign that a terminal obeys or that nobody sees.
fn shown(listing: &ToolListing) -> String {
    let mut text = String::new();
    let heading = |what: &str, of: ToolState| format!("{} ({})\n", paint(BOLD, what), state(of));
    if let Some((of, own)) =
        listing.instructions.as_ref().filter(|(of, _)| *of != ToolState::Trusted)
    {
        text.push_str(&heading("instructions", *of));
        match (&listing.trusted_instructions, of) {
            (Some(before), ToolState::Changed) => text.push_str(&difference(before, own)),
            _ => text.push_str(&indented(own)),
        }
    }
    for ListedTool { state: of, definition, trusted } in &listing.tools {
        match (of, trusted) {
            (ToolState::Trusted, _) => {}
            (ToolState::Changed, Some(before)) => {
                text.push_str(&heading(&visible(&definition.name), *of));
                text.push_str(&difference(&before.text(), &definition.text()));
            }
            (ToolState::Removed, _) => text.push_str(&heading(&visible(&definition.name), *of)),
            _ => {
                text.push_str(&heading(&visible(&definition.name), *of));
                text.push_str(&indented(&definition.text()));
            }
        }
    }
    text + &paint(DIM, "the texts are the server's own: they may lie\n")
}

fn indented(text: &str) -> String {
    visible_lines(text).lines().map(|line| format!("  {line}\n")).collect()
}

fn difference(before: &str, now: &str) -> String {
    let signed = |(sign, text): (char, String)| {
        let line = format!("  {sign} {}", visible(&text));
        let line = match sign {
            '+' => paint(GOOD, &line),
            '-' => paint(BAD, &line),
            _ => line,
        };
        line + "\n"
    };
    differing_lines(before, now).into_iter().map(signed).collect()
}

pub(super) fn forget(args: &ForgetArgs, context: &Context) -> Result<()> {
    let server = context.engine.tool_server(&args.server);
    let Some(tools) = context.engine.forget_tools(&args.server)? else {
        // A server that is named nowhere any more may still be trusted.
        server?;
        let message = format!("nothing of server {} is trusted", line(&args.server));
        let hint = Hint::command("offshoot mcp servers").text(" lists what is");
        return Err(CliError::new(ExitCode::NotFound, message).hint(hint));
    };
    if let Some(project) = project(&context.engine, false, context)? {
        project.record_forgotten_tools(&args.server)?;
    }
    let document = McpForgetDoc { server: args.server.clone(), tools };
    context.output.done(document, |document| {
        format!(
            "trusts none of {} any more; it was {}\n",
            line(&document.server),
            count(document.tools, "tool")
        )
    })
}
