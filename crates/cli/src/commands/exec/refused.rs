//! The answer to a request that could not be made.

use std::os::unix::ffi::OsStrExt;

use offshoot_protocol::{
    ErrorBody, ExecEnvelopeDoc, ExecRequestDoc, ExecResultDoc, ExecUsageDoc, Text, TruncatedDoc,
};
use offshoot_store::Id;
use offshoot_workspace::{CommandLine, wire};

use super::{Ask, Input};
use crate::context::Context;

/// The envelope of a request that never became one.
pub(super) fn envelope(ask: &Ask<'_>, context: &Context, error: ErrorBody) -> ExecEnvelopeDoc {
    let result = ExecResultDoc {
        vault: None,
        workspace: None,
        forked: false,
        workspace_removed: false,
        exec: Id::random().to_string(),
        mountpoint: None,
        cwd: None,
        terminal: false,
        command: ask.command.display(),
        exit_code: None,
        signal: None,
        stdout: Text::new(b""),
        stderr: Text::new(b""),
        truncated: TruncatedDoc::default(),
        readonly: ask.options.read_only,
        duration_ms: 0,
        total_ms: 0,
        checkpoint: None,
        snapshot_before: None,
        snapshot_after: None,
        changed_files: Vec::new(),
        patch: None,
        decision: None,
        state: "failed".to_owned(),
        failed_in: Some("validating".to_owned()),
        timed_out: false,
        interrupted: false,
        durability: "none".to_owned(),
        driver: None,
        sandbox: None,
        usage: ExecUsageDoc::default(),
        network: None,
        discarded: None,
        conflicts: 0,
        warnings: Vec::new(),
        error: Some(error),
        recoverable: false,
    };
    ExecEnvelopeDoc::new(false, request(ask, context), result)
}

fn request(ask: &Ask<'_>, context: &Context) -> ExecRequestDoc {
    let options = ask.options;
    let (command, shell) = match &ask.command {
        CommandLine::Shell(text) => (vec![Text::new(text.as_bytes())], true),
        CommandLine::Argv(words) => {
            (words.iter().map(|word| Text::new(word.as_bytes())).collect(), false)
        }
    };
    ExecRequestDoc {
        command,
        shell,
        cwd: options.cwd.as_deref().map(|cwd| Text::new(cwd.as_os_str().as_bytes())),
        env: Vec::new(),
        env_set: Vec::new(),
        stdin: ask.input != Input::Nothing,
        timeout_ms: None,
        readonly: options.read_only,
        net: format!("{:?}", ask.net).to_lowercase(),
        workspace: context.workspace_name().map(str::to_owned),
        from: options.from.clone(),
        ephemeral: options.ephemeral,
        checkpoint: format!("{:?}", options.checkpoint).to_lowercase(),
        actor: wire::actor(context.actor()),
    }
}
