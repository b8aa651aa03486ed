//! `offshoot audit log`: events, found by who, when and what.

use std::thread;
use std::time::Duration;

use clap::Args;
use offshoot_engine::audit::{AuditEntry, AuditFilter};
use offshoot_engine::id::Id;
use offshoot_engine::reference::Resolver;
use offshoot_engine::vault::Vault;
use offshoot_engine::wire;
use offshoot_protocol::Document;

use crate::commands::execs::moment;
use crate::context::Context;
use crate::error::Result;
use crate::output::{claim_answer, finish_write, print_json};
use crate::render::{self, DIM, NAME, paint};

/// How often to look for new events.
const LOOK: Duration = Duration::from_millis(200);

#[derive(Debug, Args)]
pub(crate) struct LogArgs {
    /// Show at most this many, the newest
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50)]
    limit: usize,
    /// Show only events since a time, or within a duration such as 2h
    #[arg(long, value_name = "TIME", value_parser = moment)]
    since: Option<u64>,
    /// Show only events before a time
    #[arg(long, value_name = "TIME", value_parser = moment)]
    until: Option<u64>,
    /// Show only events of a kind, such as exec or commit
    #[arg(long, value_name = "KIND")]
    kind: Option<String>,
    /// Show only what a user did
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
    /// Show only what an agent did
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Show only what was done in a session
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Show only what changed a file, or anything in a directory
    #[arg(long, value_name = "PATH")]
    path: Option<String>,
    /// Show only what is about a command: the start of its id
    #[arg(long, value_name = "EXEC")]
    exec: Option<String>,
    /// Go on with new events as they come
    #[arg(short = 'f', long)]
    follow: bool,
}

impl LogArgs {
    fn filter(&self, workspace: Option<Id>) -> AuditFilter {
        AuditFilter {
            workspace,
            since_ms: self.since,
            until_ms: self.until,
            kind: self.kind.clone(),
            user: self.user.clone(),
            agent: self.agent.clone(),
            session: self.session.clone(),
            path: self.path.as_ref().map(|path| format!("/{}", path.trim_start_matches('/'))),
            exec: self.exec.as_ref().map(|exec| exec.to_lowercase()),
        }
    }
}

pub(super) fn run(args: &LogArgs, context: &Context) -> Result<()> {
    let vault = &context.vault()?.vault;
    let named = context.workspace_name().map(|name| Resolver::new(vault).workspace_ever(name));
    let filter = args.filter(named.transpose()?.map(|(id, _)| id));
    let service = context.engine.audit(vault);
    // Asked first: what comes meanwhile is shown when it is followed.
    let mut seen = vault.audit_head()?.0.seq;
    let (mut entries, more) = service.list(&filter, args.limit)?;
    entries.retain(|entry| entry.event.seq <= seen || !args.follow);
    if more && !args.follow && !context.output.is_json() {
        context.output.note("there are older ones; -n N shows more");
    }
    claim_answer();
    context.output.print_notes();
    show(context, vault, &entries)?;
    if !args.follow {
        return Ok(());
    }
    loop {
        thread::sleep(LOOK);
        let (entries, last) = service.after(seen, &filter)?;
        seen = last;
        show(context, vault, &entries)?;
    }
}

/// Prints events as they are now, a line each.
fn show(context: &Context, vault: &Vault, entries: &[AuditEntry]) -> Result<()> {
    if entries.is_empty() {
        return Ok(());
    }
    if !context.output.is_json() {
        return context.output.text(&entries.iter().map(line).collect::<String>());
    }
    let workspaces = vault.workspaces()?;
    for entry in entries {
        let document = Document::new(wire::audit_event(entry, &workspaces), Vec::new());
        finish_write(print_json(&document))?;
    }
    Ok(())
}

fn line(entry: &AuditEntry) -> String {
    let actor = &entry.actor;
    let mut by = render::line(&actor.user);
    for part in actor.agent.iter().chain(&actor.session) {
        by.push_str(&format!("/{}", render::line(part)));
    }
    let files = match entry.files().count() as u64 {
        0 => String::new(),
        count => paint(DIM, &format!(" ({})", render::count(count, "file"))),
    };
    format!(
        "{}  {}  {}  {by}  {}{files}\n",
        paint(DIM, &format!("{:>6}", entry.event.seq)),
        render::time(entry.event.time_ms),
        paint(NAME, &format!("{:<18}", entry.kind)),
        render::line(&render::paths_in(entry.summary.clone())),
    )
}
