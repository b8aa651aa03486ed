//! Commands in words: for the model, and for a person who decides.

use offshoot_engine::Result;
use offshoot_engine::id::Id;
use offshoot_engine::text::line;
use offshoot_protocol::{ExecEnvelopeDoc, ExecState};

use crate::answer::{MOST_TEXT, changes, end, plain};
use crate::session::Session;

/// What a model has to know about a command.
pub(super) fn of(envelope: &ExecEnvelopeDoc) -> String {
    let result = &envelope.result;
    let mut text = match &result.workspace {
        Some(workspace) => format!("{} in workspace {workspace}\n", ending(envelope)),
        None => format!("{}\n", ending(envelope)),
    };
    if let Some(error) = result.error.as_ref().filter(|_| !is_pending(envelope)) {
        text.push_str(&format!("error: {}\n", error.message));
        if let Some(hint) = &error.hint {
            text.push_str(&format!("hint: {hint}\n"));
        }
    }
    if let Some(approval) = result.approval.as_ref().filter(|_| is_pending(envelope)) {
        text.push_str(&format!("it needs the approval of a person: {}\n", approval.reason));
        let tried = match &approval.untried {
            Some(why) => format!("nothing ran yet: {why}"),
            None => "it was tried without the network, and nothing of it is real yet".to_owned(),
        };
        text.push_str(&format!("{tried}\n"));
        if let Some(grant) = &approval.grant {
            text.push_str(&format!("a person grants it with: {}\n", grant.argv.join(" ")));
        }
        let id = &approval.id;
        text.push_str(&format!(
            "the tool approvals waits for the decision: action wait, id {id}\n"
        ));
    }
    for (name, stream) in [("stdout", &result.stdout), ("stderr", &result.stderr)] {
        let printed = plain(stream.as_str().as_bytes());
        let printed = printed.trim_end();
        if !printed.is_empty() {
            text.push_str(&format!("--- {name}\n{}\n", end(printed, MOST_TEXT / 2)));
        }
    }
    if !result.changed_files.is_empty() {
        let what = if is_pending(envelope) { "would change" } else { "changed" };
        text.push_str(&format!("--- {what}\n{}", changes(&result.changed_files)));
    }
    for note in envelope.notes.iter().chain(&result.warnings) {
        text.push_str(&format!("note: {note}\n"));
    }
    text.trim_end().to_owned()
}

fn is_pending(envelope: &ExecEnvelopeDoc) -> bool {
    envelope.result.state == ExecState::PendingApproval
}

/// How it ended.
fn ending(envelope: &ExecEnvelopeDoc) -> String {
    let result = &envelope.result;
    let seconds = std::time::Duration::from_millis(result.duration_ms).as_secs_f32();
    match (result.state, result.exit_code, result.signal) {
        (ExecState::Denied, ..) => "denied: it did not run".to_owned(),
        (ExecState::PendingApproval, ..) => "pending approval".to_owned(),
        _ if result.timed_out => format!("timed out after {seconds:.1} s"),
        _ if result.interrupted => format!("interrupted after {seconds:.1} s"),
        (_, Some(code), _) => format!("exit code {code} after {seconds:.1} s"),
        (_, _, Some(signal)) => format!("ended by signal {signal} after {seconds:.1} s"),
        (state, ..) => state.to_string(),
    }
}

/// What a person has to know who decides about a command.
pub(super) fn question(session: &Session, approval: &Id) -> Result<String> {
    let project = &session.project;
    let service = project.engine().approvals(project.vault());
    let found = service.find(&approval.to_string())?;
    let envelope = project.envelope(approval)?;
    let result = envelope.as_ref().map(|envelope| &envelope.result);
    let place = result.and_then(|result| result.workspace.as_deref());
    let mut text = format!("{} wants to run", line(&session.client));
    if let Some(workspace) = place {
        text.push_str(&format!(" in workspace {}", line(workspace)));
    }
    text.push_str(&format!(":\n\n    {}\n\n", line(&found.command)));
    text.push_str(&format!("Why you are asked: {}\n", line(&found.reason)));
    match &found.untried {
        Some(why) => text.push_str(&format!("Nothing ran yet: {}\n", line(why))),
        None => {
            let code = result.and_then(|result| result.exit_code);
            let code = code.map(|code| format!(" (exit code {code})")).unwrap_or_default();
            text.push_str(&format!(
                "It was tried without the network{code}. Approving makes this real:\n"
            ));
            match result.map(|result| &*result.changed_files).unwrap_or_default() {
                [] => text.push_str("no file changes\n"),
                all => text.push_str(&changes(all)),
            }
        }
    }
    if let Some(envelope) = &envelope {
        if envelope.result.unconfined {
            text.push_str("It runs WITHOUT WALLS: it sees and changes all of this machine.\n");
        }
        if found.untried.is_some() && !envelope.request.allow.is_empty() {
            let hosts = line(&envelope.request.allow.join(", "));
            text.push_str(&format!("It may reach: {hosts}\n"));
        }
    }
    text.push_str(&format!(
        "\nAccept to approve, decline to deny. Details: offshoot approvals show {}",
        found.id.short()
    ));
    Ok(text)
}
