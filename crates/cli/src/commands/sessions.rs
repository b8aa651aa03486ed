//! `offshoot sessions`: conversations of agents.

mod append;
mod export;
mod replay;
mod show;
mod which;

use clap::{Args, Subcommand};
use offshoot_engine::session::SessionFork;
use offshoot_engine::vault::Vault;
use offshoot_engine::wire;
use offshoot_protocol::{
    Hint, SessionCreatedDoc, SessionDeletedDoc, SessionDoc, SessionForkedDoc, SessionListDoc,
    SessionRenamedDoc,
};

use super::agent::{Which, WorkArgs, talk};
use crate::context::Context;
use crate::error::Result;
use crate::invocation::{next, next_in};
use crate::render::{self, DIM, NAME, paint, table};

use self::which::{NameArgs, document, find, state};

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum SessionsCommand {
    /// List sessions, of one workspace with -w; the one that changed last comes first
    #[command(
        alias = "ls",
        after_help = "Examples:\n  offshoot sessions list\n  offshoot sessions list -w fix --json"
    )]
    List,
    /// Show a session and its events
    #[command(
        after_help = "Examples:\n  offshoot sessions show parser\n  offshoot sessions show parser --from 120 -n 20\n  offshoot sessions show 01k9x2m4 --json\n  offshoot sessions show parser --follow"
    )]
    Show(show::ShowArgs),
    /// Fork a session with its workspace, as both were at an event
    #[command(
        after_help = "Examples:\n  offshoot sessions fork parser\n  offshoot sessions fork parser --at 12 --to another-way\n\nThe new workspace starts from the state that the last event up to --at names. One\noffshoot undo takes back both."
    )]
    Fork(ForkArgs),
    /// Go on with a conversation of Offshoot's own agent in the terminal
    #[command(
        after_help = "Examples:\n  offshoot sessions resume parser\n  offshoot sessions resume 01k9x2m4 --max-cost 2\n\nThe same as `offshoot agent chat --resume SESSION`. `offshoot agent run --resume SESSION TASK` does\none task."
    )]
    Resume(Box<ResumeArgs>),
    /// Write a session to a file, as lines of JSON or as Markdown
    #[command(
        after_help = "Examples:\n  offshoot sessions export parser parser.jsonl\n  offshoot sessions export parser --markdown parser.md\n  offshoot sessions export parser > parser.jsonl"
    )]
    Export(export::ExportArgs),
    /// Check that Offshoot's own agent would decide the same again; nothing is asked, run or kept
    #[command(
        after_help = "Examples:\n  offshoot sessions replay parser\n  offshoot sessions replay parser --json\n\nEach event is made again from those before it. Exit codes: 0 all are the same, 1 one differs."
    )]
    Replay(NameArgs),
    /// Rename a session
    #[command(alias = "mv", after_help = "Examples:\n  offshoot sessions rename parser parser-2")]
    Rename(RenameArgs),
    /// Delete a session; `undo` brings it back
    #[command(alias = "rm", after_help = "Examples:\n  offshoot sessions delete parser")]
    Delete(NameArgs),
    /// Create a session, for programs that write their own
    #[command(
        hide = true,
        after_help = "Examples:\n  offshoot sessions create parser -w fix --model opus"
    )]
    Create(CreateArgs),
    /// Append events from standard input, a JSON object with kind and body in each line
    #[command(
        hide = true,
        after_help = "Examples:\n  offshoot sessions append parser --next 1 < events.jsonl\n  offshoot sessions append parser --next 7 --state ended < /dev/null"
    )]
    Append(append::AppendArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ForkArgs {
    #[command(flatten)]
    which: NameArgs,
    /// Take events up to this number along [default: all]
    #[arg(long, value_name = "NUMBER")]
    at: Option<u64>,
    /// Name of the new workspace [default: a friendly one]
    #[arg(long, value_name = "WORKSPACE")]
    to: Option<String>,
    /// Name of the new session [default: that of the old one with a number]
    #[arg(long)]
    name: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ResumeArgs {
    #[command(flatten)]
    which: NameArgs,
    #[command(flatten)]
    work: WorkArgs,
}

#[derive(Debug, Args)]
pub(crate) struct RenameArgs {
    #[command(flatten)]
    which: NameArgs,
    /// New name
    name: String,
}

#[derive(Debug, Args)]
pub(crate) struct CreateArgs {
    /// Name of the session [default: a friendly one]
    name: Option<String>,
    /// Who gives access to the model
    #[arg(long, default_value = "")]
    provider: String,
    /// The model
    #[arg(long, default_value = "")]
    model: String,
}

pub(crate) fn run(command: &SessionsCommand, context: &Context) -> Result<()> {
    if let SessionsCommand::Resume(args) = command {
        return talk(Which::Old(&args.which.session), &args.work, context, None);
    }
    let vault = &context.vault()?.vault;
    match command {
        SessionsCommand::List => list(context, vault),
        SessionsCommand::Show(args) => show::run(args, context, vault),
        SessionsCommand::Fork(args) => fork(args, context, vault),
        SessionsCommand::Export(args) => export::run(args, context, vault),
        SessionsCommand::Replay(args) => replay::run(args, context, vault),
        SessionsCommand::Resume(_) => Ok(()),
        SessionsCommand::Rename(args) => rename(args, context, vault),
        SessionsCommand::Delete(args) => delete(args, context, vault),
        SessionsCommand::Create(args) => create(args, context, vault),
        SessionsCommand::Append(args) => append::run(args, context, vault),
    }
}

const COLUMNS: &[&str] =
    &["SESSION", "ID", "WORKSPACE", "STATE", "EVENTS", "MODEL", "COST", "CHANGED"];

fn list(context: &Context, vault: &Vault) -> Result<()> {
    let workspace = match context.workspace_name() {
        Some(_) => context.workspace_to_read(vault)?,
        None => None,
    };
    let service = context.engine.sessions(vault);
    let found = service.list(workspace.as_ref().map(|workspace| &workspace.id))?;
    let sessions: Vec<SessionDoc> =
        found.iter().map(|one| service.document(one)).collect::<std::result::Result<_, _>>()?;
    context.output.data(SessionListDoc { sessions }, |document| {
        if found.is_empty() {
            return "there are no sessions\n".to_owned();
        }
        let rows = found.iter().zip(&document.sessions).map(|(one, item)| {
            vec![
                paint(NAME, &item.name),
                paint(DIM, &one.record.id.short()),
                item.workspace.clone(),
                state(item),
                item.events.to_string(),
                render::line(&item.model),
                item.cost.clone().unwrap_or_default(),
                render::age(one.head.changed_ms),
            ]
        });
        let rows = rows.collect();
        let words = format!("see: {}", next(Hint::command("offshoot sessions show SESSION")));
        format!("{}{}\n", table(COLUMNS, rows), paint(DIM, &words))
    })
}

fn fork(args: &ForkArgs, context: &Context, vault: &Vault) -> Result<()> {
    let session = find(&args.which, context, vault)?;
    let (name, workspace) = (args.name.as_deref(), args.to.as_deref());
    let how = SessionFork { at: args.at, name, workspace };
    let (made, workspace) = context.engine.sessions(vault).fork(&session.record, &how)?;
    let document = SessionForkedDoc {
        session: document(&made, context, vault)?,
        workspace: wire::workspace(&workspace, &vault.workspaces()?),
    };
    context.output.done(document, |document| {
        let SessionDoc { name, workspace, events, .. } = &document.session;
        let events = render::count(*events, "event");
        let undo = next_in(workspace, "offshoot undo");
        format!(
            "session {} of workspace {}, with {events}; `{undo}` takes both back\n",
            paint(NAME, name),
            paint(NAME, workspace)
        )
    })
}

fn rename(args: &RenameArgs, context: &Context, vault: &Vault) -> Result<()> {
    let session = find(&args.which, context, vault)?;
    let renamed = context.engine.sessions(vault).rename(&session.record, &args.name)?;
    let document = SessionRenamedDoc {
        id: renamed.id.to_string(),
        from: session.record.name,
        to: renamed.name,
    };
    context.output.done(document, |document| {
        format!("session {} is now {}\n", document.from, paint(NAME, &document.to))
    })
}

fn delete(args: &NameArgs, context: &Context, vault: &Vault) -> Result<()> {
    let session = find(args, context, vault)?;
    let operation = context.engine.sessions(vault).delete(&session.record)?;
    let document = SessionDeletedDoc {
        id: session.record.id.to_string(),
        name: session.record.name,
        operation: operation.map(|id| id.to_string()),
    };
    context.output.done(document, |document| {
        let undo = next(Hint::command("offshoot undo"));
        format!("session {} deleted; `{undo}` brings it back\n", document.name)
    })
}

fn create(args: &CreateArgs, context: &Context, vault: &Vault) -> Result<()> {
    let workspace = context.workspace_to_change(vault)?;
    let model = (args.provider.as_str(), args.model.as_str());
    let made = context.engine.sessions(vault).create(&workspace, args.name.as_deref(), model)?;
    let document = SessionCreatedDoc { session: document(&made, context, vault)? };
    context.output.done(document, |document| {
        let SessionDoc { name, workspace, .. } = &document.session;
        format!("session {} of workspace {workspace}\n", paint(NAME, name))
    })
}
