//! Joining a session that a person has in the workspace: a further terminal in the same inside, whose work is that session's.

use std::ffi::OsString;
use std::path::Path;

use offshoot_profile::Preset;
use offshoot_protocol::{ExecState as State, Network};
use offshoot_sandbox::{Joined, SandboxError, Status, Timeout};
use offshoot_store::{Id, ProcessMark};
use offshoot_vault::{ExecNote, RunningExec};

use super::clearance::Clearance;
use super::executor::{CommandExecutor, ExecutionObserver};
use super::outlet::EquippedOutlet;
use super::request::ExecutionRequest;
use super::runtime::{Execution, ProxyRuntime, mark_inside};
use super::scene::{Joining, Scene};
use crate::error::{Result, ServiceError};

impl ProxyRuntime<'_> {
    /// The session that runs in a workspace and can be joined.
    pub(super) fn session_in(&self, workspace: &Id) -> Result<Option<RunningExec>> {
        let mut running = self.vault.running()?.into_iter();
        Ok(running.find(|running| running.note.workspace == *workspace && running.door().is_some()))
    }

    /// Runs the command in a session that runs already. What it changes is that session's to record. False where the session is over
    /// before it could be joined.
    pub(super) fn join(
        &self,
        execution: &mut Execution<'_>,
        session: &RunningExec,
        joining: &Joining<'_>,
        observer: &mut dyn ExecutionObserver,
    ) -> Result<bool> {
        mark_inside(execution);
        take_variables(execution.request, joining.own, &session.note.variables);
        let Some(door) = session.door() else { return Ok(false) };
        execution.result.joined = Some(session.note.exec);
        self.announce(execution)?;
        let Some(joined) = self.enter(execution, session, &door, joining)? else {
            return Ok(false);
        };
        let Execution { request, result, .. } = execution;
        let executor = CommandExecutor::new(self.options);
        let note = ExecNote {
            exec: result.id,
            command: request.command.display(),
            actor: request.actor.clone(),
            started_ms: result.started_ms,
            process: ProcessMark::own(),
            joined: Some(session.note.exec),
            preset: request.preset.clone(),
            ..session.note.clone()
        };
        // Where it cannot be noted it is only not listed.
        let noted = session.note_joined(&note).ok();
        result.terminal = true;
        observer.started(result);
        let timeout = Timeout { after: request.timeout.duration(), grace: self.options.grace };
        let requests = self.requests(request);
        let driven = executor
            .watch(request, observer, None, result, |tee| joined.drive(&timeout, tee, requests));
        drop(noted);
        observer.sealing();
        match driven {
            // The session was ended at once, and everybody in it.
            Err(SandboxError::Lost) => result.signal = Some(KILLED),
            other => {
                let ended = other?;
                match ended.status {
                    Status::Exited(code) => result.exit_code = Some(code),
                    Status::Signaled(signal) => result.signal = Some(signal),
                }
                (result.timed_out, result.interrupted) = (ended.timed_out, ended.interrupted);
            }
        }
        result.state = State::Completed;
        self.announce_end(execution)?;
        Ok(true)
    }

    /// Starts the command beside the session's; none where the session is over.
    fn enter(
        &self,
        execution: &mut Execution<'_>,
        session: &RunningExec,
        door: &Path,
        joining: &Joining<'_>,
    ) -> Result<Option<Joined>> {
        let executor = CommandExecutor::new(self.options);
        loop {
            let Execution { request, result, .. } = &mut *execution;
            let (command, _) = executor.command(request, result);
            result.state = State::Executing;
            match offshoot_sandbox::join(door, &command, request.reach()) {
                Err(SandboxError::Lost) => {
                    // Whoever is asked next needs it.
                    request.terminal = command.terminal;
                    result.state = State::Preparing;
                    result.joined = None;
                    return Ok(None);
                }
                // Who names no network means the one that is there, if the rules let it run with that.
                Err(SandboxError::OtherNetwork(theirs)) if !result.names_network => {
                    request.terminal = command.terminal;
                    self.reach_as(execution, theirs, joining)?;
                }
                Err(SandboxError::Full(most)) => {
                    let workspace = session.note.workspace_name.clone();
                    return Err(ServiceError::SessionFull { workspace, most });
                }
                other => return Ok(Some(other?)),
            }
        }
    }

    /// Joins the session that keeps a workspace busy, where the request is for that and there is one.
    pub(super) fn join_instead(
        &self,
        execution: &mut Execution<'_>,
        busy: ServiceError,
        joining: &Joining<'_>,
        observer: &mut dyn ExecutionObserver,
    ) -> Result<()> {
        let workspace = execution.result.workspace.as_ref().map(|(id, _)| *id);
        let wanted = execution.request.joins && matches!(busy, ServiceError::Busy { .. });
        if let Some(workspace) = workspace.filter(|_| wanted)
            && let Some(session) = self.session_in(&workspace)?
            && self.join(execution, &session, joining, observer)?
        {
            return Ok(());
        }
        Err(busy)
    }

    /// Gives a request another network than policy saw, and asks policy again.
    fn reach_as(
        &self,
        execution: &mut Execution<'_>,
        network: Network,
        joining: &Joining<'_>,
    ) -> Result<()> {
        let Execution { request, result, .. } = execution;
        // Once is enough: a session has one network.
        result.names_network = true;
        request.network = Some(network);
        let profile = self.options.profiles.settle(request)?;
        let surroundings = self.surroundings(joining.start, joining.folders, &profile);
        Clearance::ask(request, &surroundings).map_err(|_| {
            ServiceError::Request(format!(
                "policy does not let this run with the network of the running session; `--net {}` asks for it",
                network.as_str()
            ))
        })?;
        result.profile = Some(profile);
        Ok(())
    }

    /// The variables by which the programs of a command know of its network: of the proxy and of its certificates, and what stands for keys that stay outside.
    pub(super) fn variables_of_network(
        &self,
        request: &ExecutionRequest,
        scene: &Scene<'_>,
    ) -> Result<Vec<(String, String)>> {
        let outlet = scene.outlet.as_ref().map(EquippedOutlet::variables);
        let mut variables = outlet.unwrap_or_default().to_vec();
        let preset = self.preset_of(request)?;
        let injects = |preset: &Preset| self.options.agents.injects(&preset.name);
        for key in preset.filter(injects).map(|preset| preset.inject).unwrap_or_default() {
            let is_shown = |(name, value): &(OsString, OsString)| {
                *name == key.variable.as_str() && *value == key.placeholder.as_str()
            };
            if request.environment.iter().any(is_shown) {
                variables.push((key.variable, key.placeholder));
            }
        }
        Ok(variables)
    }
}

/// Has the variables of a session take the place of a command's own. Whoever set one of these knows better.
fn take_variables(
    request: &mut ExecutionRequest,
    own: &[(String, String)],
    theirs: &[(String, String)],
) {
    let ExecutionRequest { environment, set_by_caller, .. } = request;
    let is_callers = |name: &str| set_by_caller.iter().any(|set| set.eq_ignore_ascii_case(name));
    environment.retain(|(name, _)| {
        let is_name = |(other, _): &(String, String)| *name == other.as_str();
        !own.iter().chain(theirs).any(|other| is_name(other) && !is_callers(&other.0))
    });
    let taken = theirs.iter().filter(|(name, _)| !is_callers(name));
    environment.extend(taken.map(|(name, value)| (name.into(), value.into())));
}

/// SIGKILL.
const KILLED: i32 = 9;
