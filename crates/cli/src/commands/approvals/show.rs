//! One approval, for whoever has to decide.

use std::time::{Duration, Instant};

use offshoot_engine::approval::{Approval, ApprovalService, ApprovalState, is_awaited};
use offshoot_engine::exec::ExecService;
use offshoot_engine::text::command;
use offshoot_engine::vault::Vault;
use offshoot_engine::wire;
use offshoot_engine::workspace::WorkspaceRecord;
use offshoot_protocol::{
    ApprovalShowDoc, ApprovalVariableDoc, ExecEnvelopeDoc, ExitCode, Hint, Text,
};

use super::rows::{catch_up, place, state};
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
    catch_up(context, opened, std::slice::from_ref(&approval));
    let (shown, trial) = shown(context, opened, service, &approval)?;
    let workspaces = opened.vault.workspaces()?;
    context.output.data(shown, |shown| {
        let mut text = details(&approval, shown, &workspaces);
        text.push_str(&printed(shown.exec.as_ref()));
        text.push_str(&trial.map(|trial| trial.text()).unwrap_or_default());
        if approval.state.is_pending() {
            let id = approval.id.short();
            let approve = Hint::command("offshoot approvals approve").arg(&id);
            let moved = shown.moved.as_ref().filter(|_| approval.trial.is_none());
            let approve = next(match moved {
                Some(moved) => approve.words("--seen").arg(&moved.snapshot),
                None => approve,
            });
            let deny = next(Hint::command("offshoot approvals deny").arg(&id));
            let approve = match shown.refused {
                Some(_) => String::new(),
                None => format!("approve: {approve}   "),
            };
            text.push_str(&paint(DIM, &format!("{approve}deny: {deny}")));
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
) -> Result<(ApprovalShowDoc, Option<TrialChanges>)> {
    let trial = TrialChanges::of(context, &opened.vault, approval)?;
    let exec = envelope(&opened.vault, approval)?;
    let shown = ApprovalShowDoc {
        item: wire::listed_approval(approval, &opened.vault.workspaces()?),
        variables: wire::approval_variables(approval, exec.as_ref()),
        moved: match service.moved(approval)? {
            Some(moved) => Some(wire::moved_workspace(&moved, service.conflicts(approval)?)),
            None => None,
        },
        refused: service.obstacle(approval),
        patch: trial.as_ref().map(|trial| Text::new(&trial.patch)),
        exec,
    };
    Ok((shown, trial))
}

/// What a trial would change.
pub(super) struct TrialChanges {
    /// How many paths.
    pub(super) count: u64,
    /// As a patch.
    pub(super) patch: Vec<u8>,
    /// What a patch says nothing of, a line each.
    besides: String,
}

impl TrialChanges {
    /// None where it was not tried, or was decided so long ago that its states were collected.
    pub(super) fn of(
        context: &Context,
        vault: &Vault,
        approval: &Approval,
    ) -> Result<Option<Self>> {
        let diff = context.engine.diff_options();
        let changes = context.engine.approvals(vault).trial_changes(approval, diff)?;
        let Some(changes) = changes else { return Ok(None) };
        let (patch, besides) = context.engine.changes(vault).told_patch(&changes)?;
        let besides = besides.into_iter().map(|change| format!("{}\n", render::change(change)));
        Ok(Some(Self { count: changes.len() as u64, patch, besides: besides.collect() }))
    }

    /// Everything, for people.
    pub(super) fn text(&self) -> String {
        self.besides.clone() + &coloured(&self.patch)
    }
}

/// The envelope of its command, as it is now.
pub(super) fn envelope(vault: &Vault, approval: &Approval) -> Result<Option<ExecEnvelopeDoc>> {
    let service = ExecService::new(vault);
    let Some(record) = service.get(&approval.id)? else { return Ok(None) };
    let (stdout, stderr) = service.output(&approval.id)?;
    Ok(wire::recorded_envelope(&record, (&stdout, &stderr)))
}

/// What there is to know before one decides.
pub(super) fn details(
    approval: &Approval,
    shown: &ApprovalShowDoc,
    workspaces: &[WorkspaceRecord],
) -> String {
    let (workspace, exec) = (shown.item.workspace.as_deref(), shown.exec.as_ref());
    let row = |name: &str, value: String| vec![paint(DIM, name), value];
    let by = &approval.asked_by;
    let agent = by.agent.as_ref().map(|agent| format!(" for {agent}")).unwrap_or_default();
    let session = by.session.as_ref().map(|name| format!(", session {name}")).unwrap_or_default();
    let mut rows = vec![
        row("approval", format!("{}  {}", approval.id, state(approval.state))),
        row("command", command(&approval.command)),
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
    rows.push(row("workspace", place(approval, workspace, workspaces)));
    if let Some(moved) = &shown.moved {
        let then = match (approval.trial, &*moved.conflicts) {
            (None, _) => String::new(),
            (Some(_), []) => "; approving merges the trial with it".to_owned(),
            (Some(_), paths) => format!("; the trial conflicts with it: {}", paths.join(", ")),
        };
        let text = render::line(&format!("{}{then}", moved.told));
        rows.push(row("changed", paint(WARN, &text)));
    }
    if let Some(refused) = &shown.refused {
        let text = format!("{refused}; it cannot be approved");
        rows.push(row("rules", paint(BAD, &render::line(&text))));
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
        let text = format!(
            "profile {profile}: none; it sees all of this machine and reaches its network; files outside the project are not kept"
        );
        rows.push(row("walls", paint(BAD, &text)));
    }
    let network = approval.network.clone().or_else(|| {
        // An older program did not keep it.
        let exec = exec.filter(|_| approval.untried.is_some())?;
        let allow = exec.request.allow.join(",");
        Some(if allow.is_empty() { exec.request.net.to_string() } else { allow })
    });
    let network = network.filter(|network| approval.untried.is_some() || network != "none");
    rows.extend(network.map(|network| row("network", render::line(&network))));
    if is_awaited(approval) && !approval.state.is_final() {
        rows.push(row("waiting", "a process waits for the decision".to_owned()));
    }
    if let Some(decision) = &approval.decision {
        let reason = decision.reason.as_ref().map(|text| format!(": {text}")).unwrap_or_default();
        let time = render::time(decision.time_ms);
        let (name, text) = match approval.state {
            ApprovalState::Expired => ("expired", format!("{time}{reason}")),
            // It was nobody who decided so late.
            _ if decision.time_ms >= approval.expires_ms => {
                ("decided", format!("{time} by approvals.fallback: nobody decided in time"))
            }
            _ => {
                let by = &decision.by.user;
                ("decided", format!("{time} by {by} ({}){reason}", decision.scope))
            }
        };
        rows.push(row(name, render::line(&text)));
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
    let changed = match approval.changed.unwrap_or(result.changed_files.len() as u64) {
        0 => "changed nothing".to_owned(),
        changed => render::changes(changed),
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
    let envelope = envelope(&opened.vault, &approval)?;
    let Some(envelope) = envelope else {
        return Err(CliError::new(ExitCode::NotFound, "the envelope of this command is gone"));
    };
    match context.output.is_json() {
        true => finish_write(print_json(&envelope))?,
        false => context.output.text(&render::exec::envelope(&envelope, None))?,
    }
    Ok(Some(envelope.result.outcome().exit_code(None)))
}
