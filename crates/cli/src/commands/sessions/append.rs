//! `offshoot sessions append`: events from standard input.

use std::io::Read;
use std::path::PathBuf;

use clap::Args;
use offshoot_engine::id::Id;
use offshoot_engine::session::{NewSessionEvent, SessionState, SessionTotals, SessionUpdate};
use offshoot_engine::vault::Vault;
use offshoot_protocol::SessionAppendedDoc;
use serde::Deserialize;
use serde_json::Value;

use super::which::{NameArgs, document, find};
use crate::context::Context;
use crate::error::{CliError, Result};
use crate::render::{self, host_path};
use crate::words::words;

#[derive(Debug, Args)]
pub(crate) struct AppendArgs {
    #[command(flatten)]
    which: NameArgs,
    /// Number that the first event is to have
    #[arg(long, value_name = "NUMBER")]
    next: u64,
    /// Read events from this file [default: standard input]
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// How the session stands then
    #[arg(long, value_parser = words::<SessionState>())]
    state: Option<SessionState>,
    /// The model from now on
    #[arg(long)]
    model: Option<String>,
    /// What the session cost until now, as a decimal number
    #[arg(long)]
    cost: Option<String>,
}

/// A line of what is read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    kind: String,
    #[serde(default)]
    body: Value,
    #[serde(default)]
    snapshot: Option<Id>,
}

pub(crate) fn run(args: &AppendArgs, context: &Context, vault: &Vault) -> Result<()> {
    let session = find(&args.which, context, vault)?;
    let text = read(args)?;
    let mut events = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let parsed: Line = serde_json::from_str(line)
            .map_err(|error| CliError::usage(format!("line {} is no event: {error}", at + 1)))?;
        let body = parsed.body.to_string();
        events.push(NewSessionEvent { kind: parsed.kind, body, snapshot: parsed.snapshot });
    }
    let totals = SessionTotals { cost: args.cost.clone(), ..SessionTotals::default() };
    let model = args.model.clone();
    let update = SessionUpdate { state: args.state, provider: None, model, totals };
    let id = session.record.id;
    context.engine.append(vault, &id, args.next, (&events, &update))?;
    let session = context.engine.sessions(vault).find(&id.to_string(), None)?;
    let appended = events.len() as u64;
    let document = SessionAppendedDoc { session: document(&session, context, vault)?, appended };
    context.output.done(document, |document| {
        let appended = render::count(document.appended, "event");
        format!("{appended} appended to session {}\n", document.session.name)
    })
}

fn read(args: &AppendArgs) -> Result<String> {
    let Some(path) = &args.from else {
        let mut text = String::new();
        let read = std::io::stdin().read_to_string(&mut text);
        read.map_err(|error| CliError::usage(format!("cannot read standard input: {error}")))?;
        return Ok(text);
    };
    std::fs::read_to_string(path)
        .map_err(|error| CliError::usage(format!("cannot read {}: {error}", host_path(path))))
}
