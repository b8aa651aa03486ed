//! `offshoot exec`: one command in a workspace.

mod answer;
mod ask;
mod closing;
mod form;
mod limits;
mod live;
mod network;
pub(crate) mod options;
mod preset;
mod refused;
mod request;
mod setup;
mod summary;
mod writer;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use offshoot_engine::approval::Approval;
use offshoot_engine::exec::{
    CommandLine, ExecutionRequest, ExecutionResult, ExecutionTimeout, ProxyRuntime, RuntimeOptions,
    refusal,
};
use offshoot_engine::policy::{Verdict, judge};
use offshoot_engine::sandbox::Rules;
use offshoot_engine::vault::Vault;
use offshoot_protocol::ExitCode;

use self::answer::Answer;
pub(crate) use self::ask::{Ask, Input};
use self::closing::Closing;
pub(crate) use self::form::Form;
pub(crate) use self::options::{Options, patience, timeout};
use self::setup::{Found, OpenProject};
use crate::commands::approvals;
use crate::commands::vault::maintain;
use crate::context::Context;
use crate::context::noise::ExpandArgs;
use crate::error::Result;
use crate::render::listing::Listing;

const EXAMPLES: &str = "\
Examples:
  offshoot exec cargo test                        fork a workspace of this folder and run there
  offshoot exec -w fix -- sh -c 'echo hi > f'     run in workspace fix, forked if there is none
  offshoot exec -w fix --shell 'make && make test'
  offshoot exec --json -- npm test                one JSON envelope: output, exit code, what changed
  offshoot exec --read-only -- rg TODO            any write fails
  offshoot exec --timeout 30s --net host -- curl -s localhost:8080
  echo data | offshoot exec -i -- wc -c           with this standard input
  offshoot exec --memory 2GiB --cpu 60s -- make   with less than the usual limits
  offshoot exec --policy strict.toml -- npm test  under further rules

Options come before the command; `--` ends them. The folder itself is not touched: see what
changed with `offshoot diff`, undo it with `offshoot undo`. The exit code is the command's; 122
policy denies it, 123 it needs an approval, 124 timed out, 125 Offshoot failed, 126 cannot be
executed, 127 not found, 128+N ended by signal N, 130 interrupted. Ctrl-C while --wait-approval
waits exits with 123 if the approval goes on waiting, otherwise with 122. `offshoot policy
explain` says why a command may not run.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ExecArgs {
    /// Command to run, with its arguments
    #[arg(trailing_var_arg = true, value_name = "CMD", required_unless_present = "shell")]
    command: Vec<OsString>,
    /// Run this line of shell instead of a command
    #[arg(long, value_name = "TEXT", conflicts_with = "command")]
    shell: Option<OsString>,
    /// End the command after this time, such as 30s; none or 0 sets no limit [default: exec.timeout]
    #[arg(long, value_name = "TIME", value_parser = timeout)]
    timeout: Option<ExecutionTimeout>,
    #[command(flatten)]
    options: Options,
    /// Pass standard input on to the command; without it the command reads nothing
    #[arg(short = 'i', long)]
    stdin: bool,
    /// Print the changes as a patch, after the command's own output
    #[arg(long)]
    diff: bool,
    /// Print JSON events line by line, the envelope last
    #[arg(long, conflicts_with = "json")]
    stream: bool,
    /// Print control characters of the command as they are, also to a terminal
    #[arg(long, conflicts_with_all = ["json", "stream"])]
    raw: bool,
}

/// Aliases that people bring along.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum ProxyCommand {
    /// Run a command, as `offshoot exec` does
    Exec(Box<ExecArgs>),
}

/// Runs the command; the exit code is the command's.
pub(crate) fn run(args: &ExecArgs, context: &Context) -> Result<u8> {
    args.options.check_wait(&args.command)?;
    args.options.net()?;
    let form = match (args.stream, context.output.is_json()) {
        (true, _) => Form::Stream,
        (false, true) => Form::Json,
        (false, false) => Form::People,
    };
    let command = match &args.shell {
        Some(text) => CommandLine::Shell(text.clone()),
        None => CommandLine::Argv(args.command.clone()),
    };
    let mut ask = Ask {
        timeout: args.timeout,
        input: if args.stdin { Input::Stream } else { Input::Nothing },
        patch: args.diff,
        raw: args.raw,
        ..Ask::new(command, &args.options, context)
    };
    perform(&mut ask, form, context)
}

/// Runs what is asked for and answers in this form; the exit code is the command's.
pub(crate) fn perform(ask: &mut Ask<'_>, form: Form, context: &Context) -> Result<u8> {
    let answer = Answer::new(form);
    let prepared = prepare(ask, form, context, answer);
    let (place, request, options) = match prepared {
        Ok(Prepared::Go(prepared)) => *prepared,
        Ok(Prepared::Answered(code)) => return Ok(code),
        Err(error) => return answer.refuse(ask, context, &error),
    };
    if let Some(name) = context.workspace_name() {
        context.engine.offer_left(&place.vault.vault, Some(name));
    }
    let runtime = ProxyRuntime::new(&place.vault.vault, &place.vault.name, &options);
    if form.is_text() {
        // What was found is what the command starts from, and afterwards the screen may be another's.
        context.output.print_notes();
    }
    let (opened, asked_for, folder) =
        (&place.vault, request.place.clone(), place.folder.as_deref());
    let mut ready = || context.engine.make_ready(&opened.vault, &opened.name, &asked_for, folder);
    let mut decide = |approval: &Approval| {
        context.engine.notify_of(approval, &opened.name);
        match ask.asks_person {
            true => approvals::ask(context, &opened.vault, approval, options.signals.as_ref()),
            false => {
                let waits = form.is_text() && ask.options.wait_approval.is_some();
                if waits && !context.output.is_quiet() {
                    approvals::tell_waiting(approval);
                }
                Ok(true)
            }
        }
    };
    let mut live = answer.live(ask, context, (&mut ready, &mut decide))?;
    let envelope = runtime.exec(request, &mut live);
    let was_ended = envelope.result.timed_out || envelope.result.interrupted;
    let (written, told) = live.end(was_ended, options.signals.as_ref());
    // A program gets the changes as they are.
    let lists = form.is_text() && !envelope.result.changes.is_empty();
    let closing = Closing { told, ..Closing::new(ask, context, &options) };
    let closing = match lists {
        true => closing.naming(context, &place, &envelope.result),
        false => closing,
    };
    let is_kept = !envelope.result.removed
        && envelope.result.joined.is_none()
        && envelope.result.error.is_none();
    let overlaps = match is_kept {
        true => context.overlaps(&place.vault.vault, &envelope.result),
        false => Vec::new(),
    };
    // People are told after what names the workspace.
    let (noted, last) =
        if form.is_text() { (Vec::new(), overlaps) } else { (overlaps, Vec::new()) };
    noted.into_iter().for_each(|notice| context.output.note(notice));
    if form.is_text() && ask.input == Input::Nothing && request::has_unread_input() {
        context.output.hint("the command read no standard input: add -i to pass it on");
    }
    // A command that ran has its answer, even if what it changed cannot be sorted.
    let result = &envelope.result;
    let listing = match lists {
        false => Listing::new(&[], None)?,
        true => changes(context, &place.vault.vault, result)
            .or_else(|_| Listing::new(&result.changes, None).map(Listing::without_metadata))?,
    };
    // Nothing is left to end but this process, which may wait long for whoever reads the answer.
    if let Some(signals) = options.signals {
        signals.give_back();
    }
    let code = answer.finish(context, &envelope, &listing, written, &closing);
    if code.is_ok() {
        last.into_iter().for_each(|notice| context.output.note(notice));
        context.output.print_notes();
    }
    let workspace = envelope.result.workspace.as_ref().filter(|_| !envelope.result.removed);
    let workspace = workspace.filter(|_| envelope.result.joined.is_none());
    if let Some((workspace, _)) = workspace {
        maintain::after_command(context, &place.vault, workspace);
    }
    code
}

/// Finds out all that policy is asked about: the preset, what that makes of the command, the rules and the network.
fn settle(
    ask: &mut Ask<'_>,
    context: &Context,
    project: Option<&Path>,
    form: Form,
) -> Result<Rules> {
    preset::settle(ask, context)?;
    preset::place(ask, project);
    let rules = context.engine.rules(project, &ask.options.policy)?;
    network::settle(ask, context, &rules, project, form)?;
    Ok(rules)
}

/// What policy says about a command that is not run, in the same way as about one that is; nobody is asked anything.
pub(crate) fn judged(
    ask: &mut Ask<'_>,
    context: &Context,
    (project, folders): (&Path, Vec<PathBuf>),
) -> Result<Verdict> {
    let rules = settle(ask, context, Some(project), Form::Json)?;
    let surroundings = ask.question().surroundings(context, project, folders)?;
    Ok(judge(&rules.policy, &ask.command, &surroundings))
}

/// Whether anything can come of a command that policy says this about.
fn may_become(verdict: &Verdict) -> bool {
    verdict.decision.runs() || refusal(verdict).code() == ExitCode::PendingApproval
}

/// What a command changed, for people.
fn changes<'r>(
    context: &Context,
    vault: &Vault,
    result: &'r ExecutionResult,
) -> Result<Listing<'r>> {
    let snapshots = result.before.iter().chain(&result.after);
    let roots = snapshots.map(|id| Ok(vault.snapshot(id)?.root)).collect::<Result<Vec<_>>>()?;
    let mut noise = context.noise(vault, &roots, ExpandArgs::default())?;
    Ok(Listing::new(&result.changes, noise.as_mut())?.without_metadata())
}

/// What is in place before a command runs.
enum Prepared {
    Go(Box<(OpenProject, ExecutionRequest, RuntimeOptions)>),
    /// It does not run, and that was said.
    Answered(u8),
}

fn prepare(ask: &mut Ask<'_>, form: Form, context: &Context, answer: Answer) -> Result<Prepared> {
    let found = setup::find(context)?;
    let project = found.project()?;
    let rules = settle(ask, context, project.as_deref(), form)?;
    if form.is_text() {
        preset::announce(ask, context);
    }
    ask.asks_person = ask.options.wait_approval.is_none() && network::asks(context, form);
    let ask = &*ask;
    let (place, request) = match found {
        Found::Vault(place) => {
            let request = request::build(ask, context, place.below.as_deref())?;
            (*place, request)
        }
        Found::Project(project) => {
            // A command that may not run makes no vault.
            let verdict = judge(
                &rules.policy,
                &ask.command,
                &ask.question().surroundings(context, &project, Vec::new())?,
            );
            if !may_become(&verdict) {
                return Ok(Prepared::Answered(answer.deny(ask, context, &verdict)?));
            }
            let place = setup::adopt(context, &project, answer.watch(ask, context)?)?;
            let request = request::build(ask, context, place.below.as_deref())?;
            (place, request)
        }
    };
    // A folder that was moved may belong to a vault of one further up, which has rules of its own.
    let rules = match place.vault.folder()? {
        folder if folder == project => rules,
        folder => context.engine.rules(folder.as_deref(), &ask.options.policy)?,
    };
    let options = setup::options(ask, context, rules)?;
    Ok(Prepared::Go(Box::new((place, request, options))))
}
