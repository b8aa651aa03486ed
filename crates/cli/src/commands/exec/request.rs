//! From arguments to a request.

use std::ffi::OsString;
use std::os::fd::AsFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use offshoot_mount::{Driver, DriverChoice};
use offshoot_protocol::ExitCode;
use offshoot_sandbox::{Network, Stdin};
use offshoot_workspace::{
    CheckpointMode, CommandLine, EnvironmentRules, ExecutionPlace, ExecutionRequest,
    ExecutionTimeout, Resolver, WorkspaceService,
};

use super::setup::Place;
use super::{Checkpoint, DriverName, ExecArgs, Net};
use crate::config::DriverSetting;
use crate::context::Context;
use crate::error::{CliError, Result};

/// Variables of the caller that every command gets: what it needs to find programs and to print as people read. All
/// others, among them keys and tokens, are passed on only when named.
const PASSED: [&str; 24] = [
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
/// times of its copies are others, so without this the first `git status` in every workspace would read every file.
const GIT: [(&str, &str); 5] = [
    ("GIT_CONFIG_COUNT", "2"),
    ("GIT_CONFIG_KEY_0", "core.checkStat"),
    ("GIT_CONFIG_VALUE_0", "minimal"),
    ("GIT_CONFIG_KEY_1", "core.trustctime"),
    ("GIT_CONFIG_VALUE_1", "false"),
];

pub(super) fn build(args: &ExecArgs, context: &Context, place: &Place) -> Result<ExecutionRequest> {
    let command = match &args.shell {
        Some(text) => CommandLine::Shell(text.clone()),
        None => CommandLine::Argv(args.command.clone()),
    };
    Ok(ExecutionRequest {
        command,
        cwd: args
            .cwd
            .clone()
            .or_else(|| place.below.clone())
            .filter(|cwd| !cwd.as_os_str().is_empty()),
        environment: environment(args).apply(std::env::vars_os()),
        stdin: stdin(args)?,
        has_stdin: args.stdin,
        timeout: args.timeout.unwrap_or_else(|| default_timeout(context)),
        read_only: args.read_only,
        place: execution_place(args, context, place)?,
        checkpoint: match args.checkpoint {
            Checkpoint::Auto => CheckpointMode::Auto,
            Checkpoint::Always => CheckpointMode::Always,
            Checkpoint::Never => CheckpointMode::Never,
        },
        network: match args.net {
            Net::None => Network::None,
            Net::Host => Network::Host,
        },
        driver: driver(args, context),
        patch: args.diff,
        wait: args.wait,
        actor: context.actor.clone(),
    })
}

fn default_timeout(context: &Context) -> ExecutionTimeout {
    match context.settings.config.exec.timeout {
        none if none.is_zero() => ExecutionTimeout::None,
        limit => ExecutionTimeout::Millis(u64::try_from(limit.as_millis()).unwrap_or(u64::MAX)),
    }
}

fn driver(args: &ExecArgs, context: &Context) -> DriverChoice {
    let setting = match args.driver {
        Some(DriverName::Auto) => DriverSetting::Auto,
        Some(DriverName::Overlay) => DriverSetting::Overlay,
        Some(DriverName::Copy) => DriverSetting::Copy,
        None => context.settings.config.exec.driver,
    };
    match setting {
        DriverSetting::Auto => DriverChoice::Auto,
        DriverSetting::Overlay => DriverChoice::Only(Driver::Overlay),
        DriverSetting::Copy => DriverChoice::Only(Driver::Copy),
    }
}

fn environment(args: &ExecArgs) -> EnvironmentRules {
    let mut rules = EnvironmentRules {
        pass: PASSED.map(str::to_owned).to_vec(),
        set: vec![("OFFSHOOT".into(), "1".into())],
    };
    // Who configures git by such variables knows better.
    if !args.env.iter().any(|item| item.as_bytes().starts_with(b"GIT_CONFIG_COUNT")) {
        rules.set.extend(GIT.map(|(name, value)| (name.into(), value.into())));
    }
    for item in &args.env {
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

fn stdin(args: &ExecArgs) -> Result<Stdin> {
    if !args.stdin {
        return Ok(Stdin::Empty);
    }
    let own = std::io::stdin();
    let copy = own.as_fd().try_clone_to_owned();
    copy.map(Stdin::From).map_err(|error| {
        CliError::new(ExitCode::Failure, format!("cannot use standard input: {error}"))
    })
}

fn execution_place(args: &ExecArgs, context: &Context, place: &Place) -> Result<ExecutionPlace> {
    let vault = &place.vault.vault;
    for expired in WorkspaceService::new(vault, &context.actor).sweep()? {
        context.output.note(format!("ephemeral workspace {expired} expired and was cleaned up"));
    }
    let resolver = Resolver::new(vault);
    if let Some(name) = context.workspace_name().filter(|_| args.from.is_none()) {
        return Ok(ExecutionPlace::Workspace(resolver.workspace(name)?));
    }
    let from = match &args.from {
        Some(text) => resolver.point(text, None)?,
        None => resolver.head()?,
    };
    let lifetime = args.ephemeral.then_some(context.settings.config.workspace.ephemeral_ttl);
    Ok(ExecutionPlace::Fork { from: Box::new(from), name: None, lifetime })
}
