//! The boundary itself: from a request to its envelope.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use offshoot_mount::{MountRequest, MountSession};
use offshoot_policy::Engine;
use offshoot_protocol::{ErrorBody, ExitCode};
use offshoot_sandbox::{InForce, Limits, Renames, SandboxError, Signals};
use offshoot_vault::diff::DiffOptions;
use offshoot_vault::{
    Binding, ExecNote, Id, LinkLimit, ProcessMark, Vault, VaultError, Workspace, WorkspaceLock,
    boot_id,
};

use super::door::{Door, quieten, validate};
use super::envelope::{ExecutionEnvelope, ExecutionResult};
use super::executor::{CommandExecutor, ExecutionObserver};
use super::folders;
use super::request::{ExecutionPlace, ExecutionRequest};
use super::state::ProxyExecutionState as State;
use crate::error::{Result, ServiceError};
use crate::resolve::Resolver;
use crate::workspace::{NewWorkspace, WorkspaceService};

/// What is the same for all commands of a process.
#[derive(Debug)]
pub struct RuntimeOptions {
    /// The user's home.
    pub home: Option<PathBuf>,
    /// What commands see empty: the home of the vaults.
    pub hidden: Vec<PathBuf>,
    /// What a command may use.
    pub limits: Limits,
    /// Directories of lower layers can be renamed.
    pub broker: bool,
    /// How many bytes of each output are kept.
    pub output_limit: usize,
    /// How long a command that is asked to end has until it is killed.
    pub grace: Duration,
    /// How many hard links are kept whole.
    pub links: LinkLimit,
    /// How changes are compared.
    pub diff: DiffOptions,
    /// Signals to this process, which end commands and tell that the terminal was resized.
    pub signals: Option<Signals>,
    /// What decides whether a command may run.
    pub policy: Arc<Engine>,
    /// How an error is told.
    pub explain: fn(ServiceError) -> ErrorBody,
}

/// Takes requests through policy, workspace, mount and sandbox to their envelopes.
#[derive(Debug)]
pub struct ProxyRuntime<'a> {
    pub(super) vault: &'a Vault,
    name: &'a str,
    pub(super) options: &'a RuntimeOptions,
}

/// A request on its way.
pub(super) struct Execution<'r> {
    pub(super) request: &'r mut ExecutionRequest,
    pub(super) result: ExecutionResult,
}

impl Execution<'_> {
    /// Goes to the state that follows.
    fn advance(&mut self) {
        self.result.state = self.result.state.next().unwrap_or(State::Failed);
    }
}

impl<'a> ProxyRuntime<'a> {
    /// Works on a vault, which is called `name`.
    pub fn new(vault: &'a Vault, name: &'a str, options: &'a RuntimeOptions) -> Self {
        Self { vault, name, options }
    }

    /// Runs one command. There is always an envelope.
    pub fn run(
        &self,
        mut request: ExecutionRequest,
        observer: &mut dyn ExecutionObserver,
    ) -> ExecutionEnvelope {
        let started = Instant::now();
        let result = ExecutionResult::new(Id::random(), self.name);
        let mut execution = Execution { request: &mut request, result };
        // Even a mistake in Offshoot itself comes back as an envelope.
        let going = AssertUnwindSafe(|| self.go(&mut execution, observer, started));
        let outcome = catch_unwind(going).unwrap_or_else(|panic| {
            let said = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
            let said = said.or_else(|| panic.downcast_ref::<String>().cloned());
            Err(ServiceError::Internal(said.unwrap_or_default()))
        });
        let mut result = execution.result;
        if let Err(error) = outcome {
            self.fail(&request, &mut result, error, started);
        }
        result.total = started.elapsed();
        ExecutionEnvelope { request, result }
    }

    fn go(
        &self,
        execution: &mut Execution<'_>,
        observer: &mut dyn ExecutionObserver,
        started: Instant,
    ) -> Result<()> {
        let bindings = self.vault.bindings()?;
        let folders: Vec<PathBuf> = bindings.iter().map(Binding::host_path).collect();
        let target = validate(execution.request, &mut execution.result, &folders)?;
        execution.advance();
        let door = self.door(&folders);
        if !door.lets_pass(execution.request, &mut execution.result) {
            if door.refuse(execution.request, &mut execution.result, started) {
                // Where it cannot be done now, whoever asks for them says why.
                drop(self.vault.take_in_refusals());
            }
            return Ok(());
        }
        quieten(execution.request, &execution.result);
        execution.advance();
        observer.allowed()?;
        let (id, held) = self.prepare(execution)?;
        // From the look at the workspace until the note beside its layers says what is in use.
        let collected = self.vault.hold()?;
        let workspace = self.look_again(execution, &id)?;
        execution.advance();
        let mut session = self.session(execution, &workspace, target, &bindings)?;
        let executor = CommandExecutor::new(self.options);
        execution.result.terminal = execution.request.terminal.is_some();
        let running = executor.start(execution.request, &mut session, &execution.result);
        execution.result.driver = session.driver();
        let running = running.inspect_err(|error| {
            if not_executed(error).is_some() {
                execution.result.state = State::Executing;
            }
        })?;
        drop(collected);
        execution.result.warnings.extend(without_broker(&running.in_force));
        execution.result.in_force = Some(running.in_force.clone());
        execution.advance();
        observer.started(&execution.result);
        let log = session.output_file();
        let Execution { request, result } = execution;
        let ended = match executor.finish(running, request, observer, log, result) {
            Ok(ended) => ended,
            Err(error) => {
                session.abandon();
                return Err(error);
            }
        };
        execution.advance();
        observer.sealing();
        self.seal(execution, &workspace, session, ended, started)?;
        drop(held);
        execution.advance();
        Ok(())
    }

    fn door<'d>(&'d self, folders: &'d [PathBuf]) -> Door<'d> {
        Door {
            dir: self.vault.dir(),
            name: self.name,
            folders,
            home: self.options.home.as_deref(),
            policy: &self.options.policy,
        }
    }

    /// Finds or forks the workspace, and holds it for a command that may change it. One that only reads shows the state that
    /// it finds: its note keeps that from being collected, and it is in nobody's way.
    fn prepare(&self, execution: &mut Execution<'_>) -> Result<(Id, Option<WorkspaceLock>)> {
        let request = &execution.request;
        let resolver = Resolver::new(self.vault);
        let (workspace, forked) = match &request.place {
            ExecutionPlace::Workspace(name) => (resolver.workspace(name)?, false),
            ExecutionPlace::Fork { from, lifetime } => {
                let from = match from {
                    Some(text) => resolver.point(text, None)?,
                    None => resolver.head()?,
                };
                let new = NewWorkspace { name: None, from: &from, lifetime: *lifetime };
                let service = WorkspaceService::new(self.vault, &request.actor);
                (service.create(&new)?, true)
            }
        };
        execution.result.forked = forked;
        execution.result.workspace = Some((workspace.id, workspace.name.clone()));
        let held = match execution.request.read_only {
            true => None,
            false => Some(self.hold(&workspace, execution)?),
        };
        Ok((workspace.id, held))
    }

    /// The workspace as it is now: whoever held it before may have moved it.
    fn look_again(&self, execution: &mut Execution<'_>, id: &Id) -> Result<Workspace> {
        let workspace = self.vault.workspace(id)?.ok_or(ServiceError::Vanished(*id))?;
        execution.result.before = Some(workspace.state.head);
        Ok(workspace)
    }

    /// Waits for the workspace, for as long as the request says and nobody asks this process to end.
    fn hold(&self, workspace: &Workspace, execution: &mut Execution<'_>) -> Result<WorkspaceLock> {
        const STEP: Duration = Duration::from_millis(100);
        let request = &execution.request;
        let holder = format!("process {}: {}", std::process::id(), request.command.display());
        let started = Instant::now();
        loop {
            let left = request.wait.unwrap_or(Duration::ZERO).saturating_sub(started.elapsed());
            let lock = self.vault.lock_workspace(&workspace.id, Some(left.min(STEP)), &holder);
            let holder = match lock {
                Err(VaultError::WorkspaceBusy { holder, .. }) => holder,
                other => return Ok(other?),
            };
            let asked = self.options.signals.as_ref().is_some_and(Signals::ask_to_end);
            execution.result.interrupted |= asked;
            if asked || left <= STEP {
                return Err(ServiceError::Busy { workspace: workspace.name.clone(), holder });
            }
        }
    }

    fn session(
        &self,
        execution: &mut Execution<'_>,
        workspace: &Workspace,
        target: PathBuf,
        bindings: &[Binding],
    ) -> Result<MountSession<'a>> {
        let state = &workspace.state;
        let before = self.vault.snapshot(&state.head)?;
        let shown = folders::shown(self.vault, &before.root, workspace, bindings)?;
        execution.result.warnings.extend(shown.warnings);
        let mut near = Vec::new();
        for id in &before.parents {
            near.push(self.vault.snapshot(id)?.root);
        }
        let base = self.vault.snapshot(&state.base)?.root;
        near.push(match self.vault.stack_depth(&before.root)? {
            0 => self.vault.nearest_root(&before.root, &workspace.id, base)?,
            _ => base,
        });
        let (exec, actor) = (execution.result.id, execution.request.actor.clone());
        let note = ExecNote {
            exec,
            workspace: workspace.id,
            workspace_name: workspace.name.clone(),
            snapshot: state.head,
            root: before.root,
            layers: Vec::new(),
            command: execution.request.command.display(),
            actor,
            started_ms: execution.result.started_ms,
            boot: boot_id().to_owned(),
            process: ProcessMark::own(),
            init: None,
            read_only: execution.request.read_only,
            copy: false,
            layer: None,
        };
        let request = MountRequest {
            root: before.root,
            near,
            target,
            covered: shown.covered,
            folders: shown.folders,
            read_only: execution.request.read_only,
            driver: execution.request.driver,
            links: self.options.links,
            note,
        };
        Ok(MountSession::new(self.vault, request))
    }

    /// Says why it failed, and records it where that is still possible.
    fn fail(
        &self,
        request: &ExecutionRequest,
        result: &mut ExecutionResult,
        error: ServiceError,
        started: Instant,
    ) {
        result.failed_in = Some(result.state);
        result.state = State::Failed;
        if let Some((code, _)) = not_executed(&error) {
            result.exit_code = Some(code.number().into());
        }
        let mut told = (self.options.explain)(error);
        if self.vault.left_note(&result.id).is_some() {
            result.recoverable = true;
            let id = result.id.short();
            let advice = format!(
                "what the command wrote is set aside: `offshoot recover keep {id}` makes it a checkpoint, \
                 `offshoot recover drop {id}` frees its space"
            );
            let before = told.hint.take().map(|hint| hint.replace("; nothing was changed", ""));
            told.hint = Some(before.map_or(advice.clone(), |hint| format!("{hint}; {advice}")));
        }
        result.error = Some(told);
        result.total = started.elapsed();
        if result.workspace.is_some()
            && let Err(error) = self.record_failure(request, result)
        {
            result.warnings.push(format!("this exec could not be recorded: {error}"));
        }
    }
}

/// What a command cannot do where the kernel tells nobody about its renames.
fn without_broker(in_force: &InForce) -> Option<String> {
    let Renames::Refused(errno) = in_force.renames else { return None };
    Some(format!(
        "directories that were there before cannot be renamed, because the kernel gives no notice of renames here: {errno}; \
         `-c exec.broker=false` does without"
    ))
}

/// The exit code of a command that could not be executed, as shells have it.
pub(crate) fn not_executed(error: &ServiceError) -> Option<(ExitCode, &'static str)> {
    use offshoot_mount::MountError;
    let ServiceError::Mount(MountError::Sandbox(SandboxError::NotExecuted { errno, .. })) = error
    else {
        return None;
    };
    Some(match errno.kind() {
        std::io::ErrorKind::NotFound => (ExitCode::CommandNotFound, "command not found"),
        _ => (ExitCode::NotExecutable, "cannot be executed"),
    })
}
