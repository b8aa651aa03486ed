//! Approving and denying.

use offshoot_engine::approval::{Approval, ApprovalService, ApprovedWork, Approving};
use offshoot_engine::exec::{ExecutionObserver, Signals, Stream};
use offshoot_engine::git::GitReport;
use offshoot_engine::text::{self, Passes, TerminalText};
use offshoot_engine::vault::Vault;
use offshoot_engine::wire;
use offshoot_protocol::{
    ApprovalDecidedDoc, ApprovalFailureDoc, ApprovalOutcomeDoc, ExitCode, Hint,
};

use super::args::{ApproveArgs, DenyArgs};
use super::outcome;
use super::question::typed;
use crate::context::{Context, OpenVault};
use crate::error::{CliError, Result, body};
use crate::invocation::next;
use crate::output;
use crate::render::{self, DIM, discarded, paint, way_on};
use crate::terminal;

/// What came of one: for programs, and for people.
pub(super) struct Decided {
    pub(super) document: ApprovalOutcomeDoc,
    pub(super) text: String,
}

impl Decided {
    fn new(document: ApprovalOutcomeDoc, git: &GitReport, lost: Option<String>) -> Self {
        let text = outcome::text(&document, git) + &lost.unwrap_or_default();
        Self { document, text }
    }

    /// Of one that changes nothing.
    pub(super) fn alone(approval: &Approval) -> Self {
        Self::new(without_effect(approval), &GitReport::default(), None)
    }
}

/// Approves of all that were named.
pub(super) fn approve(
    args: &ApproveArgs,
    context: &Context,
    opened: &OpenVault,
    approvals: &[Approval],
) -> Result<()> {
    let how = Approving { reason: args.message.clone(), scope: args.scope(), seen: args.seen };
    each(context, approvals, |approval| {
        let rule = match args.always {
            true => agreed_rule(args.yes, context, &opened.vault, approval)?,
            false => None,
        };
        carry_out(context, opened, approval, &how, rule)
    })
}

pub(super) fn deny(
    args: &DenyArgs,
    context: &Context,
    service: &ApprovalService<'_>,
    approvals: &[Approval],
) -> Result<()> {
    each(context, approvals, |approval| {
        Ok(Decided::alone(&service.deny(approval, args.message.as_deref())?))
    })
}

/// Decides about each. Of several, one that fails keeps nobody from the others: it is listed at the end, and gives the exit code.
fn each(
    context: &Context,
    approvals: &[Approval],
    mut decide: impl FnMut(&Approval) -> Result<Decided>,
) -> Result<()> {
    if approvals.is_empty() {
        context.output.note("nothing waits for an approval");
    }
    let (mut decided, mut texts, mut failed) = (Vec::new(), String::new(), Vec::new());
    for approval in approvals {
        match decide(approval) {
            Ok(done) => {
                decided.push(done.document);
                texts.push_str(&done.text);
            }
            Err(error) if approvals.len() == 1 => return Err(error),
            Err(error) => failed.push(ApprovalFailureDoc {
                id: approval.id.to_string(),
                command: approval.command.clone(),
                error: body(&error),
            }),
        }
    }
    let is_done = failed.is_empty();
    let document = ApprovalDecidedDoc { decided, failed };
    let human = |document: &ApprovalDecidedDoc| {
        let failed = document.failed.iter().map(outcome::failure);
        texts.clone() + &failed.collect::<String>()
    };
    match is_done {
        true => context.output.done(document, human),
        false => context.output.data(document, human),
    }
}

fn without_effect(approval: &Approval) -> ApprovalOutcomeDoc {
    ApprovalOutcomeDoc {
        approval: wire::approval(approval),
        workspace: None,
        merged: false,
        checkpoint: None,
        changed_files: Vec::new(),
        repositories: Vec::new(),
        exec: None,
        rule: None,
    }
}

/// Approves of one, and runs it where it was not tried and nobody waits for it.
pub(super) fn carry_out(
    context: &Context,
    opened: &OpenVault,
    approval: &Approval,
    how: &Approving,
    rule: Option<String>,
) -> Result<Decided> {
    let service = context.engine.approvals(&opened.vault);
    let (mut git, mut lost) = (GitReport::default(), None);
    let mut outcome = match service.approve(approval, how)? {
        ApprovedWork::Done(applied) => {
            let outcome = wire::applied_trial(&applied);
            git = applied.git;
            ApprovalOutcomeDoc { repositories: way_on::repositories(&git), ..outcome }
        }
        ApprovedWork::Awaited(granted) => without_effect(&granted),
        ApprovedWork::Granted(granted) => {
            let signals = Signals::take_over()
                .map_err(|error| CliError::new(ExitCode::Failure, error.to_string()))?;
            let place = (&opened.vault, opened.name.as_str());
            let mut passing = Passing::new(!context.output.is_json());
            let ran = context.engine.run_granted(place, &granted, Some(signals), &mut passing)?;
            lost = discarded::line(&ran.result.discarded);
            let now = opened.vault.approval(&granted.id)?.unwrap_or(*granted);
            let envelope = wire::envelope(&ran);
            ApprovalOutcomeDoc {
                workspace: envelope.result.workspace.clone(),
                checkpoint: envelope.result.checkpoint.clone(),
                changed_files: envelope.result.changed_files.clone(),
                exec: Some(Box::new(envelope)),
                ..without_effect(&now)
            }
        }
    };
    if let Some(rule) = rule {
        keep_rule(context, &rule)?;
        outcome.rule = Some(rule);
    }
    Ok(Decided::new(outcome, &git, lost))
}

/// Adds the rule for a command that was approved just now.
pub(super) fn keep_rule(context: &Context, rule: &str) -> Result<()> {
    let added = context.engine.add_user_rule(rule);
    added.map(drop).map_err(|error| {
        let message = format!("the command was approved, and no rule was added: {}", error.message);
        CliError { message, ..error }
    })
}

/// The rule that lets a command run from now on, which somebody has seen; none where it is theirs already, which is said.
pub(super) fn agreed_rule(
    yes: bool,
    context: &Context,
    vault: &Vault,
    approval: &Approval,
) -> Result<Option<String>> {
    let rule = match context.engine.exact_rule(vault, &approval.id)? {
        Ok(rule) => rule,
        Err(why) => {
            let (command, why) = (text::command(&approval.command), render::line(&why));
            let message = format!("no rule allows just {command} and nothing else: {why}");
            let ways = match approval.asked_by.session {
                Some(_) => "once (without --always), or with --session",
                None => "once (without --always)",
            };
            return Err(CliError::new(ExitCode::Conflict, message).hint(format!(
                "nothing was changed: approve it {ways}, or write a rule yourself (`offshoot policy explain` names what it has to match)"
            )));
        }
    };
    let file = context.engine.user_rule_file();
    if context.engine.has_user_rule(&rule)? {
        let told = "this rule is in your policy already:";
        output::eprint(&format!("{}\n", paint(DIM, told)));
        output::eprint(&render::rule_to_add(&rule, file.as_deref()));
        return Ok(None);
    }
    // Nothing is approved that the rule cannot be added for.
    context.engine.check_user_rule(&rule)?;
    output::eprint(&format!("{}\n", paint(DIM, "this rule lets it run from now on:")));
    output::eprint(&render::rule_to_add(&rule, file.as_deref()));
    if yes {
        return Ok(Some(rule));
    }
    if !terminal::is_attended() {
        return Err(CliError::usage("adding a rule needs your word for it")
            .hint("add --yes; nothing was changed"));
    }
    output::eprint("Add it? [y/N] ");
    match typed(None).as_str() {
        "y" | "yes" => Ok(Some(rule)),
        _ => {
            Err(CliError::new(ExitCode::Interrupted, "nothing was approved, and no rule was added"))
        }
    }
}

/// Says what a command waits for.
pub(crate) fn tell_waiting(approval: &Approval) {
    let approve = next(Hint::command("offshoot approvals approve").arg(approval.id.short()));
    let text = format!("waiting for an approval: {approve}");
    output::eprint(&format!("{}\n", paint(DIM, &text)));
}

/// Passes on what a command prints.
struct Passing {
    /// What makes output harmless, by stream, where that leads to a terminal.
    harmless: [Option<TerminalText>; 2],
    shows: bool,
}

impl Passing {
    fn new(shows: bool) -> Self {
        use std::io::IsTerminal;
        let terminals = [std::io::stdout().is_terminal(), std::io::stderr().is_terminal()];
        let harmless = terminals.map(|is| is.then(|| TerminalText::new(Passes::Line)));
        Self { harmless, shows }
    }
}

impl ExecutionObserver for Passing {
    fn output(&mut self, stream: Stream, bytes: &[u8]) {
        if !self.shows {
            return;
        }
        let shown = self.harmless[stream as usize].as_mut().map(|text| text.push(bytes));
        let bytes = shown.unwrap_or_else(|| bytes.to_vec());
        match stream {
            // Who closed it reads nothing more.
            Stream::Stdout => drop(output::print_bytes(&bytes)),
            Stream::Stderr => output::eprint_bytes(&bytes),
        }
    }
}
