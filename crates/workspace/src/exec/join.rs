//! Joining a session that a person has in the workspace: a further terminal in the same inside, whose work is that session's.

use offshoot_protocol::ExecState as State;
use offshoot_sandbox::{SandboxError, Status, Timeout};
use offshoot_store::{Id, ProcessMark};
use offshoot_vault::{ExecNote, RunningExec};

use super::executor::{CommandExecutor, ExecutionObserver};
use super::runtime::{Execution, ProxyRuntime, mark_inside};
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
        observer: &mut dyn ExecutionObserver,
    ) -> Result<bool> {
        mark_inside(execution);
        let Some(door) = session.door() else { return Ok(false) };
        execution.result.joined = Some(session.note.exec);
        self.announce(execution)?;
        let Execution { request, result, .. } = execution;
        let executor = CommandExecutor::new(self.options);
        let (command, _) = executor.command(request, result);
        result.state = State::Executing;
        let joined = match offshoot_sandbox::join(&door, &command, request.reach()) {
            Err(SandboxError::Lost) => {
                // Whoever is asked next needs it.
                request.terminal = command.terminal;
                result.state = State::Preparing;
                result.joined = None;
                return Ok(false);
            }
            Err(SandboxError::Full(most)) => {
                let workspace = session.note.workspace_name.clone();
                return Err(ServiceError::SessionFull { workspace, most });
            }
            other => other?,
        };
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

    /// Joins the session that keeps a workspace busy, where the request is for that and there is one.
    pub(super) fn join_instead(
        &self,
        execution: &mut Execution<'_>,
        busy: ServiceError,
        observer: &mut dyn ExecutionObserver,
    ) -> Result<()> {
        let workspace = execution.result.workspace.as_ref().map(|(id, _)| *id);
        let wanted = execution.request.joins && matches!(busy, ServiceError::Busy { .. });
        if let Some(workspace) = workspace.filter(|_| wanted)
            && let Some(session) = self.session_in(&workspace)?
            && self.join(execution, &session, observer)?
        {
            return Ok(());
        }
        Err(busy)
    }
}

/// SIGKILL.
const KILLED: i32 = 9;
