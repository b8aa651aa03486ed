//! From arguments to a request.

use std::ffi::OsString;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use offshoot_protocol::ExitCode;
use offshoot_sandbox::{Stdin, Terminal};
use offshoot_workspace::{EnvironmentRules, ExecutionPlace, ExecutionRequest};
use rustix::fs::FileType;

use super::{Ask, Input, Options};
use crate::context::Context;
use crate::error::{CliError, Result};

/// Variables of the caller that every command gets: what it needs to find programs and to print as people read. All
/// others, among them keys and tokens, are passed on only when named.
const PASSED: [&str; 26] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TERM",
    "COLORTERM",
    "TERMINFO",
    "TERMINFO_DIRS",
    "NO_COLOR",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "TZ",
    "CI",
    "EDITOR",
    "VISUAL",
    "PAGER",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "GOPATH",
    "PYENV_*",
    "NVM_DIR",
];

/// How git compares files with its index inside: by size and time alone. A vault keeps those, while the inodes and change
/// times of its copies are others, so without this the first `git status` in every workspace would read every file. Nor does it
/// ask a monitor of the project's, which could be any program and knows nothing of a workspace.
const GIT: [(&str, &str); 7] = [
    ("GIT_CONFIG_COUNT", "3"),
    ("GIT_CONFIG_KEY_0", "core.checkStat"),
    ("GIT_CONFIG_VALUE_0", "minimal"),
    ("GIT_CONFIG_KEY_1", "core.trustctime"),
    ("GIT_CONFIG_VALUE_1", "false"),
    ("GIT_CONFIG_KEY_2", "core.fsmonitor"),
    ("GIT_CONFIG_VALUE_2", "false"),
];

/// The request of somebody who stands `below` the top of a workspace.
pub(super) fn build(
    ask: &Ask<'_>,
    context: &Context,
    below: Option<&Path>,
) -> Result<ExecutionRequest> {
    let options = ask.options;
    let (stdin, terminal) = input(ask.input)?;
    Ok(ExecutionRequest {
        command: ask.command.clone(),
        cwd: options
            .cwd
            .as_deref()
            .or(below)
            .filter(|cwd| !cwd.as_os_str().is_empty())
            .map(Path::to_owned),
        environment: environment(options).apply(std::env::vars_os()),
        set_by_caller: options.env.iter().map(variable_name).collect(),
        stdin,
        has_stdin: ask.input != Input::Nothing,
        terminal,
        mark_prompt: ask.shell && ask.input == Input::Terminal,
        session: ask.session && ask.input == Input::Terminal,
        joins: ask.session && ask.input == Input::Terminal && options.can_join(),
        record: ask.record,
        timeout: ask.time(),
        read_only: options.read_only,
        place: execution_place(options, context),
        checkpoint: options.checkpoint,
        network: ask.net,
        driver: options.driver.unwrap_or(context.settings.config.exec.driver),
        verify: options.verify,
        patch: ask.patch,
        wait: options.wait,
        keep: options.keep,
        actor: context.actor.clone(),
    })
}

fn environment(options: &Options) -> EnvironmentRules {
    let mut rules = EnvironmentRules {
        pass: PASSED.map(str::to_owned).to_vec(),
        set: vec![("OFFSHOOT".into(), "1".into())],
    };
    // Who configures git by such variables knows better.
    if !options.env.iter().any(|item| item.as_bytes().starts_with(b"GIT_CONFIG_COUNT")) {
        rules.set.extend(GIT.map(|(name, value)| (name.into(), value.into())));
    }
    for item in &options.env {
        match item.as_bytes().iter().position(|byte| *byte == b'=') {
            Some(at) => {
                let (name, value) = item.as_bytes().split_at(at);
                let text = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
                rules.set.push((text(name), text(&value[1..])));
            }
            None => rules.pass.push(item.to_string_lossy().into_owned()),
        }
    }
    rules
}

/// The name in `NAME` or `NAME=VALUE`.
fn variable_name(item: &OsString) -> OsString {
    let bytes = item.as_bytes();
    let end = bytes.iter().position(|byte| *byte == b'=').unwrap_or(bytes.len());
    OsString::from_vec(bytes[..end].to_vec())
}

fn input(input: Input) -> Result<(Stdin, Option<Terminal>)> {
    let taken = match input {
        Input::Nothing => return Ok((Stdin::Empty, None)),
        Input::Stream => take_stdin().map(|stdin| (Stdin::From(stdin), None)),
        Input::Terminal => {
            let copy = std::io::stdin().as_fd().try_clone_to_owned();
            copy.map(|caller| (Stdin::Empty, Some(Terminal { caller })))
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

fn execution_place(options: &Options, context: &Context) -> ExecutionPlace {
    if let Some(name) = context.workspace_name().filter(|_| options.from.is_none()) {
        return ExecutionPlace::Workspace(name.to_owned());
    }
    let lifetime = options.ephemeral.then_some(context.settings.config.workspace.ephemeral_ttl);
    ExecutionPlace::Fork { from: options.from.clone(), lifetime }
}

/// Whether somebody piped something to this process that nobody read.
pub(super) fn has_unread_input() -> bool {
    let input = std::io::stdin();
    let is_pipe = rustix::fs::fstat(&input)
        .is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::Fifo);
    is_pipe && rustix::io::ioctl_fionread(&input).is_ok_and(|unread| unread > 0)
}
