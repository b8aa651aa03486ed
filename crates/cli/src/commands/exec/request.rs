//! From arguments to a request.

use std::ffi::OsStr;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use offshoot_engine::exec;
use offshoot_engine::exec::{
    ApprovalWait, Command, ExecutionRequest, ExecutionWorkspace, Terminal,
};
use offshoot_protocol::ExitCode;
use rustix::fs::FileType;

use super::ask::{Ask, Input};
use super::options::{Options, shown};
use crate::context::Context;
use crate::error::{CliError, Result};
use crate::render;

/// The request of somebody who stands `below` the top of a workspace.
pub(super) fn build(
    ask: &Ask<'_>,
    context: &Context,
    below: Option<&Path>,
) -> Result<ExecutionRequest> {
    let options = ask.options;
    let mut command = Command::of(ask.command.clone())
        .input(input(ask.input)?)
        .time(ask.time())
        .read_only(options.read_only)
        .checkpoint(options.checkpoint)
        .verify(options.verify)
        .patch(ask.patch)
        .keep(options.keep)
        .record(ask.record)
        .mark_prompt(ask.shell);
    options.env.iter().for_each(|item| tell_unset(item, context));
    command = options.env.iter().fold(command, |command, item| command.variable(item));
    if let Some(preset) = &ask.preset {
        command = command.preset(preset, &context.engine.viewer());
    }
    if ask.session {
        command = command.session(options.can_join());
    }
    if let Some(net) = ask.asked_net {
        command = command.network(net);
    }
    command = ask.allow.iter().fold(command, |command, rules| command.allow(rules));
    if let Some(profile) = &options.sandbox {
        command = command.sandbox(profile);
    }
    for path in &options.show {
        command = command.show(shown(path)?);
    }
    if let Some(directory) = &options.cwd {
        command = command.directory(directory);
    }
    if let Some(limit) = options.wait {
        command = command.wait(limit);
    }
    command = command.wait_approval(match options.wait_approval {
        Some(limit) => ApprovalWait::For(limit),
        // They answer, or say that they will later.
        None if ask.asks_person => ApprovalWait::Forever,
        None => ApprovalWait::None,
    });
    if let Some(driver) = options.driver {
        command = command.driver(driver);
    }
    Ok(context.engine.request(command, execution_place(options, context), below, None))
}

/// Says so where a variable is to be passed on that is not set; a name may end with `*`.
fn tell_unset(item: &OsStr, context: &Context) {
    let name = item.as_bytes();
    let is_set = match name.strip_suffix(b"*") {
        Some(start) => std::env::vars_os().any(|(name, _)| name.as_bytes().starts_with(start)),
        None => name.contains(&b'=') || std::env::var_os(item).is_some(),
    };
    if !is_set {
        let name = render::line(&item.to_string_lossy());
        context.output.note(format!("-e {name}: no such variable is set, so none is passed on"));
    }
}

fn input(input: Input) -> Result<exec::Input> {
    let taken = match input {
        Input::Nothing => return Ok(exec::Input::Nothing),
        Input::Stream => take_stdin().map(exec::Input::From),
        Input::Terminal => {
            let copy = std::io::stdin().as_fd().try_clone_to_owned();
            copy.map(|caller| exec::Input::Terminal(Terminal { caller }))
        }
    };
    taken.map_err(|error| {
        CliError::new(ExitCode::Failure, format!("cannot use standard input: {error}"))
    })
}

/// Standard input as the only descriptor for it that this process has: closed when the command does not read any more, so
/// that whoever writes there finds out.
fn take_stdin() -> std::io::Result<OwnedFd> {
    let taken = std::io::stdin().as_fd().try_clone_to_owned()?;
    rustix::stdio::dup2_stdin(std::fs::File::open("/dev/null")?)?;
    Ok(taken)
}

fn execution_place(options: &Options, context: &Context) -> ExecutionWorkspace {
    if let Some(name) = context.workspace_name().filter(|_| options.from.is_none()) {
        return ExecutionWorkspace::Workspace(name.to_owned());
    }
    let lifetime = options.ephemeral.then_some(context.config().workspace.ephemeral_ttl);
    ExecutionWorkspace::Fork { from: options.from.clone(), lifetime }
}

/// Whether somebody piped something to this process that nobody read.
pub(super) fn has_unread_input() -> bool {
    let input = std::io::stdin();
    let kind = rustix::fs::fstat(&input).map(|found| FileType::from_raw_mode(found.st_mode));
    let holds_more = matches!(kind, Ok(FileType::Fifo | FileType::RegularFile));
    holds_more && rustix::io::ioctl_fionread(&input).is_ok_and(|unread| unread > 0)
}
