//! `offshoot audit log`: events, found by who, when and what.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::thread;
use std::time::Duration;

use clap::Args;
use clap::builder::PossibleValuesParser;
use offshoot_engine::audit::{AUDIT_KINDS, AuditEntry, AuditFilter};
use offshoot_engine::id::Id;
use offshoot_engine::reference::Resolver;
use offshoot_engine::vault::Vault;
use offshoot_engine::wire;
use offshoot_protocol::Document;

use crate::commands::execs::moment;
use crate::commands::timeline::{removed, unapproved};
use crate::context::Context;
use crate::error::Result;
use crate::output::{self, claim_answer, finish_write, print_json};
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
    #[arg(long, value_name = "KIND", value_parser = PossibleValuesParser::new(AUDIT_KINDS))]
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
    /// Show only what changed a file, or anything in a directory: a path in the workspace, or in your folder
    #[arg(long, value_name = "PATH")]
    path: Option<OsString>,
    /// Show only what is about a command: the start of its id
    #[arg(long, value_name = "EXEC")]
    exec: Option<String>,
    /// Go on with new events as they come
    #[arg(short = 'f', long)]
    follow: bool,
}

impl LogArgs {
    fn filter(
        &self,
        workspace: Option<Id>,
        context: &Context,
        vault: &Vault,
    ) -> Result<AuditFilter> {
        let standing = context.standing(vault)?;
        let meant = |path: &OsString| match standing.on_host(path.as_bytes()) {
            Some(path) => Ok(path),
            None => standing.path(path.as_bytes()),
        };
        let path = self.path.as_ref().map(meant).transpose()?;
        Ok(AuditFilter {
            workspace,
            since_ms: self.since,
            until_ms: self.until,
            kind: self.kind.clone(),
            user: self.user.clone(),
            agent: self.agent.clone(),
            session: self.session.clone(),
            path: path.map(|path| path.to_string()),
            exec: self.exec.as_ref().map(|exec| exec.to_lowercase()),
        })
    }

    /// What was asked for, as it was.
    fn asked(&self, workspace: Option<&str>, filter: &AuditFilter) -> String {
        let times = [("--since", self.since), ("--until", self.until)];
        let times = times.map(|(option, at)| (option, at.map(render::time)));
        let texts = [
            ("-w", workspace.map(str::to_owned)),
            ("--kind", self.kind.clone()),
            ("--user", self.user.clone()),
            ("--agent", self.agent.clone()),
            ("--session", self.session.clone()),
            ("--path", filter.path.clone()),
            ("--exec", self.exec.clone()),
        ];
        let all = texts.into_iter().chain(times);
        let all = all.filter_map(|(option, value)| Some(format!("{option} {}", value?)));
        all.collect::<Vec<_>>().join(", ")
    }
}

pub(super) fn run(args: &LogArgs, context: &Context) -> Result<()> {
    let vault = &context.vault()?.vault;
    let name = context.workspace_name();
    let named = name.map(|name| Resolver::new(vault).workspace_ever(name));
    let filter = args.filter(named.transpose()?.map(|(id, _)| id), context, vault)?;
    let service = context.engine.audit(vault);
    // Asked first: what comes meanwhile is shown when it is followed.
    let mut seen = vault.audit_head()?.0.seq;
    let (mut entries, more) = service.list(&filter, args.limit)?;
    entries.retain(|entry| entry.event.seq <= seen || !args.follow);
    let is_told = !more && !args.follow && !context.output.is_json() && !context.output.is_quiet();
    let pruned = if is_told { service.pruned()? } else { None };
    if more && !args.follow && !context.output.is_json() {
        context.output.note("there are older ones; -n N shows more");
    }
    claim_answer();
    context.output.print_notes();
    if entries.is_empty() && !args.follow && !context.output.is_quiet() {
        let asked = args.asked(name, &filter);
        let asked = if asked.is_empty() { "this".to_owned() } else { asked };
        output::eprint(&format!("no event matches {}\n", render::line(&asked)));
    }
    if let Some((seq, at)) = pruned {
        output::eprint(&format!("{}\n", paint(DIM, &removed(seq, at))));
    }
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
        count => format!(" ({})", render::count(count, "file")),
    };
    // Some say themselves how many there were.
    let files = if entry.summary.ends_with(&files) { String::new() } else { paint(DIM, &files) };
    let is_decision = entry.details.contains_key("approval");
    let reason =
        entry.details.get("reason").and_then(|reason| reason.as_str()).filter(|_| is_decision);
    let reason = reason.map(|reason| format!(": {}", render::line(reason))).unwrap_or_default();
    let unapproved = unapproved(entry.unapproved());
    format!(
        "{}  {}  {}  {by}  {}{files}{reason}{unapproved}\n",
        paint(DIM, &format!("{:>6}", entry.event.seq)),
        render::time(entry.event.time_ms),
        paint(NAME, &format!("{:<18}", entry.kind)),
        render::line(&render::paths_in(entry.summary.clone())),
    )
}
