//! `offshoot approvals`: commands that wait for a person.

mod args;
mod decide;
mod inbox;
mod outcome;
mod question;
mod rows;
mod show;

use clap::{Args, Subcommand};
use offshoot_engine::approval::{Approval, ApprovalService};
use offshoot_engine::text::command;
use offshoot_engine::wire;
use offshoot_protocol::{ApprovalListDoc, Hint};

use crate::context::{Context, OpenVault};
use crate::error::Result;
use crate::invocation::next;
use crate::render::{self, DIM, paint, table};
use crate::terminal;

use self::args::{ApproveArgs, DenyArgs, ListArgs, ShowArgs, WaitArgs, Which};
pub(crate) use self::decide::tell_waiting;
pub(crate) use self::question::ask;
use self::rows::{catch_up, pending, place, state, trial};

const EXAMPLES: &str = "\
Examples:
  offshoot approvals                           decide one by one, in a terminal
  offshoot approvals list --json               what waits, for programs
  offshoot approvals show 01k9x2m4             what it does: diff, output, exit code
  offshoot approvals approve 01k9x2m4          make it real
  offshoot approvals approve 01k9x2m4 --always let this command run from now on
  offshoot approvals deny 01k9x2m4 -m 'keep the logs'
  offshoot approvals wait 01k9x2m4             wait for the decision, print the envelope

A command that policy leaves to a person is tried first, in the workspace's state and without
the network. Approving moves the workspace to the result; nothing runs a second time. What
cannot be tried (it uses the network, or runs without walls) waits, and approving runs it.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(crate) struct ApprovalsArgs {
    #[command(subcommand)]
    command: Option<ApprovalsCommand>,
}

#[derive(Debug, Subcommand)]
#[command(defer = true)]
enum ApprovalsCommand {
    /// List commands that wait for a person
    #[command(
        after_help = "Examples:\n  offshoot approvals list\n  offshoot approvals list --all --json"
    )]
    List(ListArgs),
    /// Show what a command does: diff, output, exit code
    #[command(after_help = "Examples:\n  offshoot approvals show 01k9x2m4")]
    Show(ShowArgs),
    /// Approve commands: what was tried becomes real, what was not runs
    #[command(
        after_help = "Examples:\n  offshoot approvals approve 01k9x2m4\n  offshoot approvals approve --all -w fix\n  offshoot approvals approve 01k9x2m4 --session"
    )]
    Approve(ApproveArgs),
    /// Deny commands: nothing of them becomes real
    #[command(
        after_help = "Examples:\n  offshoot approvals deny 01k9x2m4 -m 'use the staging server'\n  offshoot approvals deny --all"
    )]
    Deny(DenyArgs),
    /// Wait until somebody has decided about a command, and print its envelope
    #[command(
        after_help = "Examples:\n  offshoot approvals wait 01k9x2m4 --json\n  offshoot approvals wait 01k9x2m4 --timeout 10m"
    )]
    Wait(WaitArgs),
}

/// The exit code is that of what was waited for.
pub(crate) fn run(args: &ApprovalsArgs, context: &Context) -> Result<Option<u8>> {
    let opened = context.vault()?;
    let service = context.engine.approvals(&opened.vault);
    // What nobody decided in time is not there to be decided.
    service.expire()?;
    match &args.command {
        None if terminal::is_attended() && !context.output.is_json() => {
            catch_up(context, &opened, &pending(context, &opened, &service)?);
            inbox::run(context, &opened, &service).map(|()| None)
        }
        None => list(false, context, &opened, &service).map(|()| None),
        Some(ApprovalsCommand::List(args)) => {
            list(args.all, context, &opened, &service).map(|()| None)
        }
        Some(ApprovalsCommand::Show(args)) => {
            show::run(&args.id, context, &opened, &service).map(|()| None)
        }
        Some(ApprovalsCommand::Approve(args)) => {
            let found = chosen(&args.which, context, &opened, &service)?;
            context.engine.ready_to_approve((&opened.vault, &opened.name), &found)?;
            decide::approve(args, context, &opened, &found).map(|()| None)
        }
        Some(ApprovalsCommand::Deny(args)) => {
            let found = chosen(&args.which, context, &opened, &service)?;
            decide::deny(args, context, &service, &found).map(|()| None)
        }
        Some(ApprovalsCommand::Wait(args)) => {
            show::wait(&args.id, args.timeout, context, &opened, &service)
        }
    }
}

fn chosen(
    which: &Which,
    context: &Context,
    opened: &OpenVault,
    service: &ApprovalService<'_>,
) -> Result<Vec<Approval>> {
    if which.all {
        return pending(context, opened, service);
    }
    // All are found before anything is done about one, and each is taken once.
    let mut found: Vec<Approval> = Vec::new();
    for id in &which.ids {
        let approval = service.find(id)?;
        if !found.iter().any(|known| known.id == approval.id) {
            found.push(approval);
        }
    }
    Ok(found)
}

const COLUMNS: &[&str] = &["ID", "STATE", "WORKSPACE", "ASKED", "BY", "TRIAL", "COMMAND"];

fn list(
    all: bool,
    context: &Context,
    opened: &OpenVault,
    service: &ApprovalService<'_>,
) -> Result<()> {
    let found = match all {
        true => rows::all(context, opened, service)?,
        false => pending(context, opened, service)?,
    };
    let workspaces = opened.vault.workspaces()?;
    let approvals: Vec<_> =
        found.iter().map(|one| wire::listed_approval(one, &workspaces)).collect();
    context.output.data(ApprovalListDoc { approvals: approvals.clone() }, |_| {
        if found.is_empty() {
            let nothing =
                if all { "there are no approvals" } else { "nothing waits for an approval" };
            return format!("{nothing}\n");
        }
        let rows = found.iter().zip(&approvals).map(|(one, item)| {
            let by = item.approval.asked_by.agent.as_ref().unwrap_or(&one.asked_by.user);
            vec![
                paint(DIM, &one.id.short()),
                state(one.state),
                place(one, item.workspace.as_deref(), &workspaces),
                render::age(one.created_ms),
                render::line(by),
                trial(one),
                command(&one.command),
            ]
        });
        let mut words = vec![("see", "offshoot approvals show ID")];
        // What is decided is decided.
        if found.iter().any(|one| one.state.is_pending()) {
            words.push(("approve", "offshoot approvals approve ID"));
            words.push(("deny", "offshoot approvals deny ID"));
        }
        let words = words.iter().map(|(what, how)| format!("{what}: {}", next(Hint::command(how))));
        let footer = words.collect::<Vec<_>>().join("   ");
        format!("{}{}\n", table(COLUMNS, rows.collect()), paint(DIM, &footer))
    })
}
