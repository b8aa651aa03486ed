//! `offshoot hook`: what a coding agent that runs outside asks before each shell command.
//!
//! Nothing that the agent would ask about is allowed in its place: what policy lets run gets no answer, and the agent's own settings
//! decide. What cannot be read or judged is refused.

use std::ffi::OsString;
use std::io::Read;
use std::path::PathBuf;

use clap::Args;
use offshoot_engine::exec::{CommandLine, INSIDE};
use offshoot_engine::policy::{PolicyDecision, Verdict};
use offshoot_protocol::{IntegratedAgent, Notation};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::commands::policy::check::outside;
use crate::context::Context;
use crate::error::Result;
use crate::output::print_bytes;
use crate::words::names_of;

/// More than any command; what is longer is refused.
const LARGEST: u64 = 16 << 20;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  echo '{\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"make\"}}' | offshoot hook claude\n\n`offshoot integrate AGENT` has an agent call this before each shell command."
)]
pub(crate) struct HookArgs {
    /// Agent whose question is on standard input
    #[arg(value_name = "AGENT", value_parser = names_of(IntegratedAgent::ALL))]
    agent: IntegratedAgent,
}

/// What an agent asks.
#[derive(Debug, Deserialize)]
struct Asked {
    #[serde(default)]
    tool_name: String,
    #[serde(default)]
    tool_input: Value,
    #[serde(default)]
    cwd: Option<PathBuf>,
}

/// What it is told; nothing where it may go on as usual.
#[derive(Debug, PartialEq, Eq)]
enum Answer {
    GoOn,
    Ask(String),
    Deny(String),
}

pub(crate) fn run(args: &HookArgs, context: &Context) -> Result<()> {
    let answer = match std::env::var_os(INSIDE).is_some_and(|inside| !inside.is_empty()) {
        // An agent that runs in a workspace has its settings with it: everything that it starts is inside already.
        true => Answer::GoOn,
        false => answer(context),
    };
    match in_words_of(args.agent, answer) {
        Some(answer) => print_bytes(format!("{answer}\n").as_bytes()),
        None => Ok(()),
    }
}

fn answer(context: &Context) -> Answer {
    let mut text = String::new();
    let read = std::io::stdin().take(LARGEST).read_to_string(&mut text);
    let asked: Asked = match read.map_err(|error| error.to_string()).and_then(|_| {
        serde_json::from_str(&text).map_err(|error| Notation::Json.explain(&error.to_string()))
    }) {
        Ok(asked) => asked,
        Err(error) => return Answer::Deny(format!("Offshoot cannot read the question: {error}")),
    };
    if !asked.tool_name.eq_ignore_ascii_case("bash") {
        return Answer::GoOn;
    }
    let Some(command) = command(&asked.tool_input) else {
        return Answer::Deny("Offshoot finds no command in the question".to_owned());
    };
    match outside(&command, asked.cwd.as_deref(), context) {
        Ok(verdict) => decided(&verdict),
        Err(error) => Answer::Deny(format!("Offshoot cannot judge the command: {}", error.message)),
    }
}

/// The command of a tool call: a line of shell, or its words.
fn command(input: &Value) -> Option<CommandLine> {
    match input.get("command").or_else(|| input.get("cmd"))? {
        Value::String(line) => Some(CommandLine::Shell(line.into())),
        Value::Array(words) => {
            let words = words.iter().map(|word| word.as_str().map(OsString::from));
            words.collect::<Option<Vec<_>>>().map(CommandLine::Argv)
        }
        _ => None,
    }
}

fn decided(verdict: &Verdict) -> Answer {
    let reason = &verdict.reason;
    match verdict.decision {
        PolicyDecision::Allow => Answer::GoOn,
        PolicyDecision::AllowWithCheckpoint => Answer::Deny(format!(
            "Offshoot: {reason}. Out here this could not be undone: run it with the `exec` tool of the MCP server `offshoot` instead."
        )),
        PolicyDecision::RequireApproval => Answer::Ask(format!(
            "Offshoot: this needs an approval: {reason}. With the `exec` tool of the MCP server `offshoot` it is tried in a workspace first."
        )),
        PolicyDecision::Deny => Answer::Deny(format!(
            "Offshoot: denied by policy: {reason}. The `exec` tool refuses it as well; ask your user."
        )),
    }
}

/// The answer as the agent's protocol has it.
fn in_words_of(agent: IntegratedAgent, answer: Answer) -> Option<Value> {
    let (decision, reason) = match (agent, answer) {
        (_, Answer::GoOn) => return None,
        (_, Answer::Deny(reason)) => ("deny", reason),
        (IntegratedAgent::Claude, Answer::Ask(reason)) => ("ask", reason),
        // Their hooks cannot have a person asked, and an answer that they do not know would let the command run.
        (_, Answer::Ask(reason)) => ("deny", reason),
    };
    Some(match agent {
        IntegratedAgent::Opencode => json!({"decision": decision, "reason": reason}),
        IntegratedAgent::Claude | IntegratedAgent::Codex => json!({"hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": decision,
            "permissionDecisionReason": reason,
        }}),
    })
}
