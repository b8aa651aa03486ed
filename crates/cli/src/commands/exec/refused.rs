//! The answer to a request that could not be made.

use std::os::unix::ffi::OsStrExt;

use offshoot_engine::exec::CommandLine;
use offshoot_engine::id::Id;
use offshoot_engine::wire;
use offshoot_protocol::{
    ErrorBody, ExecEnvelopeDoc, ExecRequestDoc, ExecResultDoc, ExecState, Text,
};

use super::ask::{Ask, Input};
use crate::context::Context;

/// The envelope of a request that never became one.
pub(super) fn envelope(ask: &Ask<'_>, context: &Context, error: ErrorBody) -> ExecEnvelopeDoc {
    let (exec, command) = (Id::random().to_string(), ask.command.display());
    let result = ExecResultDoc {
        readonly: ask.options.read_only,
        profile: ask.options.sandbox.clone(),
        unconfined: ask.unconfined,
        failed_in: Some(ExecState::Validating),
        error: Some(error),
        ..ExecResultDoc::unrun(exec, command, ExecState::Failed)
    };
    ExecEnvelopeDoc::new(request(ask, context), result)
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
        net: ask.net,
        allow: ask.allow.clone(),
        workspace: context.workspace_name().map(str::to_owned),
        from: options.from.clone(),
        ephemeral: options.ephemeral,
        checkpoint: options.checkpoint,
        actor: wire::actor(context.actor()),
    }
}
