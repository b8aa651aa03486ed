//! A server that is started: a command in a workspace, confined as any other.

use std::io::{self, PipeWriter};
use std::path::Path;
use std::sync::Arc;

use offshoot_engine::exec::{
    Command, CommandLine, Event, Events, Exec, ExecutionTimeout, Input, start_directory,
};
use offshoot_engine::policy::{Context, judge};
use offshoot_engine::reference::Resolver;
use offshoot_engine::tool_server::ToolServerCommand;
use offshoot_engine::{Error, Project, Result};
use offshoot_protocol::{ExitCode, Hint};

use super::lines::{Ending, LineTransport};

/// A process of a server.
#[derive(Debug)]
pub(super) struct Process {
    exec: Exec,
    pub(super) ending: Arc<Ending>,
}

/// Where a server is started.
pub(super) struct Place<'a> {
    pub(super) project: &'a Project,
    pub(super) directory: &'a Path,
    /// The workspace to use; a new one named after the server without it.
    pub(super) workspace: Option<&'a str>,
    /// The name of the server.
    pub(super) name: &'a str,
}

impl Process {
    /// Starts a server, if policy lets it start.
    pub(super) fn start(
        server: &ToolServerCommand,
        place: &Place<'_>,
    ) -> Result<(Self, LineTransport)> {
        let failed = |error: io::Error| unstarted(place, &error);
        may_start(server, place)?;
        let (exec, events, input) = begin(server, place)?;
        let ending = Arc::new(Ending::default());
        let transport = LineTransport::new(&exec, events, input, &ending).map_err(failed)?;
        Ok((Self { exec, ending }, transport))
    }

    /// Has it end.
    pub(super) fn cancel(&self) {
        self.exec.cancel();
    }

    /// Waits until it has ended and is recorded. Gives the name of its workspace if something was written there; one that was made for
    /// it is gone otherwise.
    pub(super) fn settle(&self) -> Option<String> {
        let result = &self.exec.wait().result;
        let wrote =
            result.snapshot_after.is_some() && result.snapshot_after != result.snapshot_before;
        result.workspace.clone().filter(|_| wrote)
    }
}

/// The command of the server, which goes on as long as somebody speaks to it.
fn command(server: &ToolServerCommand, place: &Place<'_>) -> Result<Command> {
    let mut command = Command::of(line(server)).time(ExecutionTimeout::None).record(false);
    let here = place.directory.canonicalize().unwrap_or_default();
    let below = start_directory(place.project.vault(), &here)?;
    if let Some(below) = below.filter(|below| !below.as_os_str().is_empty()) {
        command = command.directory(below);
    }
    command = server.env.iter().fold(command, |command, item| command.variable(item));
    command = server.show.iter().fold(command, |command, path| command.show(path));
    if let Some(profile) = &server.sandbox {
        command = command.sandbox(profile);
    }
    // Whatever other commands may reach: this one reaches what its own entry says.
    command = command.network(server.network);
    Ok(server.allow.iter().fold(command, |command, rule| command.allow(rule)))
}

fn line(server: &ToolServerCommand) -> CommandLine {
    CommandLine::Argv(server.argv.iter().map(Into::into).collect())
}

/// Starts the command: in the workspace that is named, or in one that is made for it and goes with it if nothing was written there, also
/// where this process is killed.
fn begin(server: &ToolServerCommand, place: &Place<'_>) -> Result<(Exec, Events, PipeWriter)> {
    let mut number = 1_u32;
    loop {
        let name = match place.workspace {
            Some(named) => named.to_owned(),
            None => free_name(place, &mut number)?,
        };
        let (read, input) = io::pipe().map_err(|error| unstarted(place, &error))?;
        let command = command(server, place)?.input(Input::From(read.into()));
        let exec = place.project.exec_in(&name, command)?;
        let mut events = exec.events();
        let is_started = events.any(|event| matches!(event, Event::Started { .. }));
        let is_taken = || {
            let error = exec.wait().result.error.clone();
            error.is_some_and(|error| error.code() == ExitCode::Busy)
        };
        // Another process had the same name in mind.
        if is_started || place.workspace.is_some() || !is_taken() {
            return Ok((exec, events, input));
        }
    }
}

/// A name that no workspace has, and the number behind it.
fn free_name(place: &Place<'_>, number: &mut u32) -> Result<String> {
    let resolver = Resolver::new(place.project.vault());
    loop {
        let name = format!("mcp-{}-{number}", place.name);
        *number += 1;
        if !resolver.has_workspace(&name)? {
            return Ok(name);
        }
    }
}

fn unstarted(place: &Place<'_>, error: &io::Error) -> Error {
    Error::new(ExitCode::Failure, format!("cannot start server {}: {error}", place.name))
}

/// Fails where policy does not let the server start. Nobody is asked: a server that was tried would wait for nobody's messages.
fn may_start(server: &ToolServerCommand, place: &Place<'_>) -> Result<()> {
    let (engine, top) = (place.project.engine(), place.project.folder()?);
    let rules = engine.rules(top.as_deref(), &[])?;
    let profile = rules.profiles.profile(server.sandbox.as_deref())?;
    let context = Context {
        cwd: place.directory.to_owned(),
        workspace: top.unwrap_or_else(|| place.directory.to_owned()),
        folders: Vec::new(),
        home: engine.options().user_home(),
        network: server.network,
        read_only: false,
        unconfined: profile.is_open(),
        terminal: false,
        stdin: true,
        environment: Vec::new(),
    };
    let verdict = judge(&rules.policy, &line(server), &context);
    if verdict.decision.runs() {
        return Ok(());
    }
    let message = format!(
        "policy does not let server {} start: {} ({})",
        place.name, verdict.reason, verdict.decision
    );
    let hint = Hint::from("see which rule says so: ").then("offshoot policy explain --");
    let hint = server.argv.iter().fold(hint, |hint, word| hint.arg(word));
    Err(Error::new(ExitCode::Denied, message).hint(hint))
}
