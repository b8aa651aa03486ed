//! `offshoot sessions show`: a session and its events.

use std::time::Duration;

use clap::Args;
use offshoot_engine::session::{SessionEvent, SessionState};
use offshoot_engine::vault::Vault;
use offshoot_engine::wire;
use offshoot_protocol::{SessionDoc, SessionShowDoc};

use super::which::{NameArgs, document, find, state};
use crate::context::Context;
use crate::error::{CliError, Result};
use crate::render::{self, DIM, NAME, fields, paint};

/// A body is cut to so many characters; --json has all of it.
const LONGEST: usize = 400;
/// How often somebody who follows looks.
const LOOK: Duration = Duration::from_millis(200);

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    which: NameArgs,
    /// Start at this event
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    from: u64,
    /// Show at most so many events
    #[arg(short = 'n', long, value_name = "COUNT")]
    limit: Option<u64>,
    /// Go on with what is appended, until the session ends
    #[arg(long, conflicts_with = "limit")]
    follow: bool,
}

pub(crate) fn run(args: &ShowArgs, context: &Context, vault: &Vault) -> Result<()> {
    if args.follow && context.output.is_json() {
        return Err(CliError::usage("--follow prints no document: leave --json out"));
    }
    let session = find(&args.which, context, vault)?;
    let shown = document(&session, context, vault)?;
    let id = session.record.id;
    if args.follow {
        context.output.at_once(&head(&shown));
        return follow(args.from, context, vault, &id);
    }
    let limit = args.limit.unwrap_or(u64::MAX);
    let (mut events, mut next) = (Vec::new(), args.from.max(1));
    while (events.len() as u64) < limit {
        let left = u32::try_from(limit - events.len() as u64).unwrap_or(u32::MAX);
        let page = vault.session_events(&id, next, left)?;
        let Some(last) = page.last() else { break };
        next = last.number + 1;
        events.extend(page);
    }
    let document = SessionShowDoc {
        session: shown,
        events: events.iter().map(wire::session_event).collect(),
        next: (next <= session.head.events).then_some(next),
    };
    context.output.data(document, |document| {
        let mut out = head(&document.session);
        events.iter().for_each(|event| out.push_str(&render_event(event)));
        if let Some(next) = document.next {
            out.push_str(&paint(DIM, &format!("more from event {next}: --from {next}\n")));
        }
        out
    })
}

fn follow(from: u64, context: &Context, vault: &Vault, id: &offshoot_engine::id::Id) -> Result<()> {
    let mut next = from.max(1);
    loop {
        // Looked at first: what is appended with its end is printed too.
        let is_over = match vault.session(id)? {
            Some((_, head)) => head.state == SessionState::Ended,
            None => true,
        };
        loop {
            let page = vault.session_events(id, next, u32::MAX)?;
            let Some(last) = page.last() else { break };
            next = last.number + 1;
            page.iter().for_each(|event| context.output.at_once(&render_event(event)));
        }
        if is_over {
            return Ok(());
        }
        std::thread::sleep(LOOK);
    }
}

/// What there is to say about a session as a whole.
fn head(session: &SessionDoc) -> String {
    let row = |name: &str, value: String| vec![paint(DIM, name), value];
    let SessionDoc { tokens_in, tokens_out, .. } = session;
    let tokens = |tokens: &Option<u64>| tokens.map_or("?".to_owned(), |tokens| tokens.to_string());
    let mut rows = vec![
        row("session", paint(NAME, &session.name)),
        row("id", session.id.clone()),
        row("workspace", session.workspace.clone()),
        row("state", state(session)),
        row("created", session.created.clone()),
        row("events", session.events.to_string()),
    ];
    let model = format!("{} {}", session.provider, session.model);
    if !model.trim().is_empty() {
        rows.push(row("model", render::line(model.trim())));
    }
    if tokens_in.is_some() || tokens_out.is_some() {
        let text = format!("{} in, {} out", tokens(tokens_in), tokens(tokens_out));
        rows.push(row("tokens", text));
    }
    rows.extend(session.cost.clone().map(|cost| row("cost", cost)));
    if let Some(parent) = &session.parent {
        let text = format!("event {} of session {}", parent.number, parent.session);
        rows.push(row("forked from", text));
    }
    rows.extend(session.holder.clone().map(|holder| row("in use by", render::line(&holder))));
    format!("{}\n", fields(&rows))
}

/// An event for people. What kinds mean is known to those who write them; whoever renders them better does it here.
fn render_event(event: &SessionEvent) -> String {
    let title = format!("{:>5}  {}", event.number, paint(NAME, &event.kind));
    let body = render::line(&event.body);
    let mut shown: String = body.chars().take(LONGEST).collect();
    if shown.len() < body.len() {
        shown.push_str(" ...");
    }
    format!("{title}  {}\n       {shown}\n", paint(DIM, &render::time(event.time_ms)))
}
