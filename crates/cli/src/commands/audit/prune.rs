//! `offshoot audit prune`: removing old events.

use std::io::{IsTerminal, Write};

use clap::Args;
use offshoot_engine::wire;
use offshoot_protocol::{AuditPruneDoc, Hint};

use crate::commands::execs::moment;
use crate::context::Context;
use crate::error::{CliError, Result};
use crate::render;

#[derive(Debug, Args)]
pub(crate) struct PruneArgs {
    /// Remove events of before a time, or older than a duration such as 90d
    #[arg(long, value_name = "TIME", value_parser = moment)]
    before: u64,
    /// Remove them without asking
    #[arg(long)]
    yes: bool,
}

pub(super) fn run(args: &PruneArgs, context: &Context) -> Result<()> {
    let vault = &context.vault()?.vault;
    let events = vault.prunable_audit(args.before)?;
    if events > 0 && !args.yes && !confirmed(events, context)? {
        let text = format!("{} stay in the log", render::count(events, "event"));
        return Err(CliError::usage(text).hint(
            Hint::from("add --yes to remove them without being asked; ")
                .then("offshoot audit export FILE")
                .text(" keeps a copy"),
        ));
    }
    let removed = match events {
        0 => 0,
        _ => vault.prune_audit(args.before, context.engine.actor())?,
    };
    let document = AuditPruneDoc {
        events: removed,
        before: wire::time(args.before),
        head: vault.audit_head()?.0.to_string(),
    };
    context
        .output
        .done(document, |document| format!("{} removed\n", render::count(document.events, "event")))
}

fn confirmed(events: u64, context: &Context) -> Result<bool> {
    let interactive = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    if context.output.is_json() || !interactive {
        return Ok(false);
    }
    let events = render::count(events, "event");
    crate::output::eprint(&format!("remove {events} from the audit log for good? [y/N] "));
    let mut answer = String::new();
    drop(std::io::stderr().flush());
    let read = std::io::stdin().read_line(&mut answer);
    read.map_err(|error| CliError::usage(format!("cannot read the answer: {error}")))?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
