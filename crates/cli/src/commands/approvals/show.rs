//! One approval, for whoever has to decide.

use std::time::{Duration, Instant};

use offshoot_engine::approval::{Approval, ApprovalService, is_awaited};
use offshoot_engine::exec::ExecService;
use offshoot_engine::vault::Vault;
use offshoot_engine::wire;
use offshoot_protocol::{
    ApprovalShowDoc, ApprovalVariableDoc, ExecEnvelopeDoc, ExitCode, Hint, Text,
};

use super::rows::{place, state};
use crate::context::{Context, OpenVault};
use crate::error::{CliError, Result};
use crate::invocation::next;
use crate::output::{finish_write, print_json};
use crate::render::patch::coloured;
use crate::render::{self, BAD, DIM, WARN, fields, paint};

/// At most so much of an output is shown to people.
const SHOWN_OUTPUT: usize = 4_000;
/// How often to look whether somebody has decided.
const LOOK: Duration = Duration::from_millis(100);

pub(super) fn run(
    id: &str,
    context: &Context,
    opened: &OpenVault,
    service: &ApprovalService<'_>,
) -> Result<()> {
    let approval = service.find(id)?;
    let (shown, patch) = shown(context, opened, service, &approval)?;
    context.output.data(shown, |shown| {
        let mut text = details(&approval, shown);
        text.push_str(&printed(shown.exec.as_ref()));
        text.push_str(&coloured(patch.as_deref().unwrap_or_default()));
        if approval.state.is_pending() {
            let id = approval.id.short();
            let approve = Hint::command("offshoot approvals approve").arg(&id);
            let approve = next(match &shown.moved {
                Some(moved) => approve.words("--seen").arg(&moved.snapshot),
                None => approve,
            });
            let deny = next(Hint::command("offshoot approvals deny").arg(&id));
            text.push_str(&paint(DIM, &format!("approve: {approve}   deny: {deny}")));
            text.push('\n');
        }
        text
    })
}

/// Everything that there is to see, and what the trial would change.
pub(super) fn shown(
    context: &Context,
    opened: &OpenVault,
    service: &ApprovalService<'_>,
    approval: &Approval,
) -> Result<(ApprovalShowDoc, Option<Vec<u8>>)> {
    let patch = patch(context, &opened.vault, approval)?;
    let exec = envelope(opened, approval)?;
    let shown = ApprovalShowDoc {
        item: wire::listed_approval(approval, &opened.vault.workspaces()?),
        variables: wire::approval_variables(approval, exec.as_ref()),
        moved: service.moved(approval)?.as_ref().map(wire::moved_workspace),
        patch: patch.as_deref().map(Text::new),
        exec,
    };
    Ok((shown, patch))
}

/// What the trial would change, as a patch.
pub(super) fn patch(
    context: &Context,
    vault: &Vault,
    approval: &Approval,
) -> Result<Option<Vec<u8>>> {
    let (Some(base), Some(trial)) = (approval.base, approval.trial) else { return Ok(None) };
    // What was decided long ago may have been collected.
    let (Ok(base), Ok(trial)) = (vault.snapshot(&base), vault.snapshot(&trial)) else {
        return Ok(None);
    };
    let service = context.engine.changes(vault);
    let Ok(summary) = service.between(&base.root, &trial.root, false) else { return Ok(None) };
    let mut patch = Vec::new();
    service.patch(&summary.changes, offshoot_engine::change::BinaryForm::Named, &mut patch)?;
    Ok(Some(patch))
}

fn envelope(opened: &OpenVault, approval: &Approval) -> Result<Option<ExecEnvelopeDoc>> {
    let Some(record) = opened.vault.exec(&approval.id)? else { return Ok(None) };
    let (stdout, stderr) = ExecService::new(&opened.vault).output(&approval.id)?;
    Ok(wire::recorded_envelope(&record, (&stdout, &stderr)))
}

/// What there is to know before one decides.
pub(super) fn details(approval: &Approval, shown: &ApprovalShowDoc) -> String {
    let (workspace, exec) = (shown.item.workspace.as_deref(), shown.exec.as_ref());
    let row = |name: &str, value: String| vec![paint(DIM, name), value];
    let by = &approval.asked_by;
    let agent = by.agent.as_ref().map(|agent| format!(" for {agent}")).unwrap_or_default();
    let session = by.session.as_ref().map(|name| format!(", session {name}")).unwrap_or_default();
    let mut rows = vec![
        row("approval", format!("{}  {}", approval.id, state(approval.state))),
        row("command", render::line(&approval.command)),
        row("needs approval", render::line(&approval.reason)),
        row(
            "asked",
            format!(
                "{} by {}",
                render::time(approval.created_ms),
                render::line(&format!("{}{agent}{session}", by.user))
            ),
        ),
    ];
    if approval.state.is_pending() {
        rows.push(row("expires", render::time(approval.expires_ms)));
    }
    rows.push(row("workspace", place(approval, workspace)));
    if let Some(moved) = &shown.moved {
        let files = render::count(moved.files, "file");
        let text = format!("the workspace has changed since this was asked for ({files})");
        rows.push(row("changed", paint(WARN, &text)));
    }
    if let Some(cwd) = exec.and_then(|exec| exec.request.cwd.as_ref()) {
        rows.push(row("directory", render::line(cwd.as_str())));
    }
    for ApprovalVariableDoc { name, value } in &shown.variables {
        let text = match value {
            Some(value) => format!("{}={}", name.as_str(), value.as_str()),
            None => format!("{} (its value is not shown)", name.as_str()),
        };
        rows.push(row("variable", render::line(&text)));
    }
    match &approval.untried {
        Some(why) => rows.push(row("not tried", paint(WARN, &render::line(why)))),
        None => rows.push(row("tried", tried(approval, exec))),
    }
    if let Some(exec) = exec.filter(|exec| exec.result.unconfined) {
        let profile = exec.result.profile.as_deref().unwrap_or_default();
        let text = format!("profile {profile}: it sees and changes all of this machine");
        rows.push(row("walls", paint(BAD, &text)));
    }
    if let Some(exec) = exec.filter(|_| approval.untried.is_some()) {
        let allow = exec.request.allow.join(",");
        let net = if allow.is_empty() { exec.request.net.to_string() } else { allow };
        rows.push(row("network", render::line(&net)));
    }
    if is_awaited(approval) && !approval.state.is_final() {
        rows.push(row("waiting", "a process waits for the decision".to_owned()));
    }
    if let Some(decision) = &approval.decision {
        let reason = decision.reason.as_ref().map(|text| format!(": {text}")).unwrap_or_default();
        let text = format!(
            "{} by {} ({}){reason}",
            render::time(decision.time_ms),
            decision.by.user,
            decision.scope
        );
        rows.push(row("decided", render::line(&text)));
    }
    fields(&rows)
}

fn tried(approval: &Approval, exec: Option<&ExecEnvelopeDoc>) -> String {
    let Some(exec) = exec else { return String::new() };
    let result = &exec.result;
    let ended = match (result.timed_out, result.exit_code, result.signal) {
        (true, ..) => paint(BAD, "timed out"),
        (_, Some(0), _) => "exit 0".to_owned(),
        (_, Some(code), _) => paint(BAD, &format!("exit {code}")),
        (_, _, Some(signal)) => paint(BAD, &format!("signal {signal}")),
        _ => String::new(),
    };
    let changed = match approval.trial == approval.base {
        true => "changed nothing".to_owned(),
        false => render::changes(result.changed_files.len() as u64),
    };
    format!("{ended}, {changed}, without the network")
}

/// What it printed.
pub(super) fn printed(exec: Option<&ExecEnvelopeDoc>) -> String {
    let Some(exec) = exec else { return String::new() };
    let mut text = String::new();
    for (name, output) in [("output", &exec.result.stdout), ("errors", &exec.result.stderr)] {
        let bytes = output.to_bytes().unwrap_or_default();
        if bytes.is_empty() {
            continue;
        }
        let shown = &bytes[bytes.len().saturating_sub(SHOWN_OUTPUT)..];
        text.push_str(&format!("{}\n", paint(DIM, &format!("{name}:"))));
        for line in String::from_utf8_lossy(shown).lines() {
            text.push_str(&format!("  {}\n", render::line(line)));
        }
    }
    text
}

/// Waits for the decision. The exit code is the command's.
pub(super) fn wait(
    id: &str,
    timeout: Option<Duration>,
    context: &Context,
    opened: &OpenVault,
    service: &ApprovalService<'_>,
) -> Result<Option<u8>> {
    let deadline = timeout.map(|timeout| Instant::now() + timeout);
    let id = service.find(id)?.id.to_string();
    let approval = loop {
        service.expire()?;
        let approval = service.find(&id)?;
        if approval.state.is_final() {
            break approval;
        }
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            let (id, waited) = (approval.id.short(), timeout.unwrap_or_default());
            let message = format!("nobody decided about {id} within {waited:?}");
            let hint = Hint::from("it still waits: ")
                .then("offshoot approvals wait")
                .arg(&id)
                .text(" goes on waiting, ")
                .then("offshoot approvals show")
                .arg(&id)
                .text(" shows it");
            return Err(CliError::new(ExitCode::PendingApproval, message).hint(hint));
        }
        std::thread::sleep(LOOK);
    };
    let envelope = envelope(opened, &approval)?;
    let Some(envelope) = envelope else {
        return Err(CliError::new(ExitCode::NotFound, "the envelope of this command is gone"));
    };
    match context.output.is_json() {
        true => finish_write(print_json(&envelope))?,
        false => context.output.text(&render::exec::envelope(&envelope, None))?,
    }
    Ok(Some(envelope.result.outcome().exit_code(None)))
}
