//! The envelope of a command that never came to have one.

use offshoot_protocol::{
    CheckpointMode, Durability, ErrorBody, ExecEnvelopeDoc, ExecRequestDoc, ExecResultDoc,
    ExecState, ExitCode, Network, Text,
};
use offshoot_store::Id;
use offshoot_tree::diff::Change;
use offshoot_vault::ExecNote;

use super::change::change;
use super::history::actor;

/// The envelope of a command that never came to have one.
pub(crate) fn crashed_envelope(note: &ExecNote, after: &Id, changes: &[Change]) -> String {
    let request = ExecRequestDoc {
        command: vec![Text::new(note.command.as_bytes())],
        shell: true,
        cwd: None,
        env: Vec::new(),
        env_set: Vec::new(),
        stdin: false,
        timeout_ms: None,
        readonly: note.read_only,
        net: Network::None,
        allow: Vec::new(),
        workspace: Some(note.workspace_name.clone()),
        from: None,
        ephemeral: false,
        checkpoint: CheckpointMode::Auto,
        actor: actor(&note.actor),
    };
    let mut document = ExecEnvelopeDoc::new(request, crashed_result(note, after));
    document.result.changed_files = changes.iter().map(change).collect();
    serde_json::to_string(&document).unwrap_or_else(|_| "null".to_owned())
}

fn crashed_result(note: &ExecNote, after: &Id) -> ExecResultDoc {
    let message =
        "the command was cut short: the process that ran it was killed, or the machine stopped";
    ExecResultDoc {
        workspace: Some(note.workspace_name.clone()),
        readonly: note.read_only,
        snapshot_before: Some(note.snapshot.to_string()),
        snapshot_after: Some(after.to_string()),
        durability: if *after == note.snapshot { Durability::None } else { Durability::Flushed },
        driver: note.way().driver.parse().ok(),
        error: Some(ErrorBody::new(ExitCode::ExecFailed, message)),
        ..ExecResultDoc::unrun(note.exec.to_string(), note.command.clone(), ExecState::Crashed)
    }
}
