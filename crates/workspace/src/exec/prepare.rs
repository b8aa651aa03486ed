//! The workspace of a command: found or forked, and held.

use std::time::{Duration, Instant};

use offshoot_protocol::ExitCode;
use offshoot_sandbox::Signals;
use offshoot_store::Id;
use offshoot_vault::{VaultError, WorkspaceLock, WorkspaceRecord};

use super::executor::ExecutionObserver;
use super::request::ExecutionWorkspace;
use super::runtime::{Execution, ProxyRuntime, check_wanted};
use crate::error::{Result, ServiceError};
use crate::resolve::Resolver;
use crate::suggest::slip_of;
use crate::workspace::{NewWorkspace, WorkspaceService};

impl ProxyRuntime<'_> {
    /// Finds or forks the workspace, and holds it for a command that may change it. One that only reads shows the state that
    /// it finds: its note keeps that from being collected, and it is in nobody's way.
    pub(super) fn prepare(
        &self,
        execution: &mut Execution<'_>,
        observer: &mut dyn ExecutionObserver,
    ) -> Result<(Id, Option<WorkspaceLock>)> {
        loop {
            let Some((workspace, forked)) = self.find_or_fork(execution)? else { continue };
            execution.result.forked = forked;
            execution.result.warnings.extend(self.options.profiles.warnings().filter(|_| forked));
            execution.result.workspace = Some((workspace.id, workspace.name.clone()));
            // Nor does a trial change it.
            let held = match execution.request.read_only || execution.is_trial() {
                true => None,
                false => Some(self.hold(&workspace, execution, observer)?),
            };
            // Whoever made it may have left nothing in it, and taken it away while this one waited.
            let is_there = self.vault.workspace(&workspace.id)?.is_some();
            if is_there || execution.request.place.workspace().is_none() {
                return Ok((workspace.id, held));
            }
        }
    }

    /// The workspace and whether it was made for this; none where somebody else was faster to make it.
    fn find_or_fork(
        &self,
        execution: &mut Execution<'_>,
    ) -> Result<Option<(WorkspaceRecord, bool)>> {
        let Execution { request, result, .. } = execution;
        let resolver = Resolver::new(self.vault);
        let service = WorkspaceService::new(self.vault, &request.actor);
        match &request.place {
            ExecutionWorkspace::Workspace(name) => {
                if let Some(found) = resolver.look_up(name)? {
                    return Ok(Some((found, false)));
                }
                let new =
                    NewWorkspace { name: Some(name), from: &resolver.head()?, lifetime: None };
                let made = match service.create(&new) {
                    Err(ServiceError::NameTaken { .. }) => return Ok(None),
                    made => made?,
                };
                let others = self.vault.workspaces()?;
                let others = others.iter().map(|other| other.name.as_str());
                if let Some(meant) = slip_of(name, others.filter(|other| other != name)) {
                    let warning = format!("new workspace {name} (did you mean {meant}?)");
                    result.warnings.push(warning);
                }
                Ok(Some((made, true)))
            }
            ExecutionWorkspace::Existing { id, .. } => {
                let found = self.vault.workspace(id)?.ok_or(ServiceError::Vanished(*id))?;
                Ok(Some((found, false)))
            }
            ExecutionWorkspace::Fork { from, lifetime } => {
                let from = match from {
                    Some(text) => resolver.point(text, None)?,
                    None => resolver.head()?,
                };
                let new = NewWorkspace { name: None, from: &from, lifetime: *lifetime };
                Ok(Some((service.create(&new)?, true)))
            }
        }
    }

    /// Waits for the workspace, for as long as the request says and nobody asks this process to end.
    fn hold(
        &self,
        workspace: &WorkspaceRecord,
        execution: &mut Execution<'_>,
        observer: &mut dyn ExecutionObserver,
    ) -> Result<WorkspaceLock> {
        const STEP: Duration = Duration::from_millis(100);
        let command = execution.request.command.display();
        let holder = format!("process {}: {command}", std::process::id());
        let (started, mut told) = (Instant::now(), false);
        loop {
            // One that is not to run any more is in nobody's way.
            check_wanted(execution)?;
            let request = &execution.request;
            let left = request.wait.unwrap_or(Duration::ZERO).saturating_sub(started.elapsed());
            let lock = self.vault.lock_workspace(&workspace.id, Some(left.min(STEP)), &holder);
            let holder = match lock {
                Err(VaultError::WorkspaceBusy { holder, .. }) => holder,
                other => return Ok(other?),
            };
            let workspace = workspace.name.clone();
            if self.requests(execution.request).ask_to_end() {
                check_wanted(execution)?;
                execution.result.interrupted = true;
                let signal = self.options.signals.as_ref().and_then(Signals::ended_by);
                let code = signal.and_then(ExitCode::of_signal).unwrap_or(ExitCode::Interrupted);
                return Err(ServiceError::Interrupted { workspace, holder, code });
            }
            if left <= STEP {
                return Err(ServiceError::Busy { workspace, holder });
            }
            if !told {
                observer.in_use(&workspace, &holder);
                told = true;
            }
        }
    }
}
