//! The boundary itself: from a request to its envelope.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use offshoot_mount::{MountRequest, candidates};
use offshoot_profile::Profile;
use offshoot_protocol::{ExecState as State, ExitCode, Hint, Network, ResourceLimit};
use offshoot_sandbox::{Cancel, InForce, Renames, Requests, SandboxError};
use offshoot_store::{Id, ProcessMark, boot_id};
use offshoot_vault::{Binding, ExecNote, UpperOwner, Vault, WorkspaceRecord};
use rustix::io::Errno;

use super::agent::AgentRun;
use super::bare;
use super::caches::{keep_caches, take_caches};
use super::check::{Start, check_places, validate};
use super::clearance::{Clearance, Cleared, Purpose, Referred, Surroundings};
use super::data_layers::data_layers_work;
use super::disk::{DiskBefore, DiskWatch};
use super::envelope::{ExecutionEnvelope, ExecutionResult};
use super::environment::give_up_at_once;
use super::executor::{CommandExecutor, ExecutionObserver};
use super::folders::{self, Shown};
use super::launch::{Launched, Wanted};
use super::options::{FurtherHints, RuntimeOptions, set_aside};
use super::outlet::{self, EquippedOutlet, Outlet};
use super::quiet::quieten;
use super::request::ExecutionRequest;
use super::scene::{Joining, Ran, Scene};
use super::shortage;
use super::sight::Sight;
use super::unseen;
use crate::binding::git_warning;
use crate::error::{Result, ServiceError};

/// The group of the table that has stores of objects which the project's repositories borrow from.
const BORROWED: &str = "borrowed";

/// The variable that every command has: the name of its workspace.
pub const INSIDE: &str = "OFFSHOOT_INSIDE";
/// The variable beside it: the name of the vault.
pub const INSIDE_VAULT: &str = "OFFSHOOT_INSIDE_VAULT";

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
    /// What it may run for.
    pub(super) purpose: Purpose,
}

impl Execution<'_> {
    /// Goes to the state that follows.
    fn advance(&mut self) {
        self.result.advance();
    }

    /// Whether what it does waits for a person to decide.
    pub(super) fn is_trial(&self) -> bool {
        matches!(self.purpose, Purpose::Trial(_))
    }
}

impl<'a> ProxyRuntime<'a> {
    /// Works on a vault, which is called `name`.
    pub fn new(vault: &'a Vault, name: &'a str, options: &'a RuntimeOptions) -> Self {
        Self { vault, name, options }
    }

    /// Decides whether a request may run, and runs it. There is always an envelope.
    pub fn exec(
        &self,
        request: ExecutionRequest,
        observer: &mut dyn ExecutionObserver,
    ) -> ExecutionEnvelope {
        let envelope = match self.clear_observed(request, observer) {
            Ok(cleared) => self.run(cleared, observer),
            Err(refused) => *refused,
        };
        match envelope.result.state {
            State::PendingApproval => self.await_approval(envelope, observer),
            _ => envelope,
        }
    }

    /// Asks policy whether a request may run, before anything is found or forked for it; the answer where it may not.
    pub fn clear(
        &self,
        request: ExecutionRequest,
    ) -> std::result::Result<Cleared, Box<ExecutionEnvelope>> {
        self.clear_observed(request, &mut ())
    }

    /// The same before somebody who is told what happens.
    fn clear_observed(
        &self,
        mut request: ExecutionRequest,
        observer: &mut dyn ExecutionObserver,
    ) -> std::result::Result<Cleared, Box<ExecutionEnvelope>> {
        let started = Instant::now();
        let mut result = ExecutionResult::new(request.id, self.name);
        let asked = guarded(|| {
            self.require_new_call(&request)?;
            self.settle(&mut request, &mut result, |request, result, surroundings| {
                let asked = Clearance::ask(request, surroundings);
                self.note_rules(&request.actor);
                match asked {
                    Ok(clearance) => Ok(Referred::Cleared(clearance)),
                    Err(verdict) => self.refer(request, result, verdict, surroundings),
                }
            })
        });
        match asked {
            Ok(Referred::Cleared(clearance)) => {
                return Ok(Cleared::new(request, result, clearance, started));
            }
            Ok(Referred::Refused(verdict)) => {
                self.refuse(&request, &mut result, verdict, observer, started);
            }
            Err(error) => self.fail(&request, &mut result, error, started),
        }
        result.total = started.elapsed();
        Err(Box::new(ExecutionEnvelope { request, result }))
    }

    /// Refuses a request whose key something was done under before, and one whose key would say nothing: who joins a session leaves no
    /// record of their own.
    fn require_new_call(&self, request: &ExecutionRequest) -> Result<()> {
        let Some(call) = &request.call else { return Ok(()) };
        if request.session {
            let message = "a session at a terminal takes no call key";
            return Err(ServiceError::Request(message.to_owned()));
        }
        Ok(self.vault.require_new_call(call)?)
    }

    /// Looks at a request, and decides about it in its surroundings.
    pub(super) fn settle<T>(
        &self,
        request: &mut ExecutionRequest,
        result: &mut ExecutionResult,
        decide: impl FnOnce(&mut ExecutionRequest, &mut ExecutionResult, &Surroundings<'_>) -> Result<T>,
    ) -> Result<T> {
        let folders = self.folders()?;
        result.names_network = request.network.is_some();
        let profile = self.options.profiles.settle(request)?;
        let profiles = self.proxied(request)?;
        Outlet::of(&profile, &profiles)?;
        check_places(request, &profile, &self.options.viewer, &folders)?;
        result.read_only = request.read_only;
        let start = validate(request, result, &folders)?;
        result.state = State::Deciding;
        result.profile = Some(profile.clone());
        decide(request, result, &self.surroundings(&start, &folders, &profile))
    }

    /// What the vault is called.
    pub(super) fn vault_name(&self) -> &str {
        self.name
    }

    /// Runs what may run. There is always an envelope.
    pub fn run(&self, cleared: Cleared, observer: &mut dyn ExecutionObserver) -> ExecutionEnvelope {
        let (mut request, result, clearance, started) = cleared.into_parts();
        let purpose = clearance.purpose().clone();
        let mut execution = Execution { request: &mut request, result, purpose };
        let outcome = guarded(|| self.go(&mut execution, &clearance, observer, started));
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
        clearance: &Clearance,
        observer: &mut dyn ExecutionObserver,
        started: Instant,
    ) -> Result<()> {
        let folders = self.folders()?;
        let start = Start::of(execution.request, &folders)?;
        let profile = self.options.profiles.settle(execution.request)?;
        let profiles = self.proxied(execution.request)?;
        clearance.check(execution.request, &self.surroundings(&start, &folders, &profile))?;
        let mut sight = Sight::new(&profile, &self.options.viewer, &execution.request.show);
        if profile.reads.contains(BORROWED) {
            sight.add_borrowed_objects(&folders);
        }
        quieten(execution.request, &execution.result);
        if execution.request.reach() == Network::None {
            give_up_at_once(&mut execution.request.environment);
        }
        let viewer = &self.options.viewer;
        outlet::withhold(&profiles, viewer, &folders, execution.request, &mut sight)?;
        let outlet = Outlet::of(&profile, &profiles)?;
        let outlet = outlet.map(|outlet| outlet.equip(viewer, execution.request, &mut sight));
        let outlet = outlet.transpose()?;
        execution.advance();
        observer.allowed()?;
        // What was brought up to date just now may have another folder.
        let bindings = self.vault.bindings()?;
        let (id, held) = match self.prepare(execution, observer) {
            Ok(prepared) => prepared,
            Err(error) => {
                let own = outlet.as_ref().map(EquippedOutlet::variables).unwrap_or_default();
                let joining = Joining { start: &start, folders: &folders, own };
                return self.join_instead(execution, error, &joining, observer);
            }
        };
        mark_inside(execution);
        self.announce(execution)?;
        let agent = self.begin_agent(execution, &mut sight, &start.target)?;
        let scene = Scene {
            workspace: id,
            target: start.target,
            folders: &folders,
            bindings: &bindings,
            profile: &profile,
            sight,
            outlet,
            kept_home: agent.as_ref().map(AgentRun::path),
            shared: agent.as_ref().map(AgentRun::shared).unwrap_or_default(),
        };
        let Ran { workspace, session, ended, caches, sight, room } =
            self.run_once_or_twice(execution, &scene, observer)?;
        shortage::look(&mut execution.result, &ended.keeper);
        execution.result.discarded = self.discarded(execution, &ended, &folders, &sight);
        self.forget_quiet_hosts(execution);
        if let Some(agent) = agent {
            let lost = self.lost_at_home(execution, &folders, &sight, agent.preset());
            agent.finish(&mut execution.result, &lost);
            self.note_credentials(execution);
        }
        let unseen = self.search(execution, &folders, &sight, |search| {
            search
                .failed()
                .or_else(|| unseen::warning(search.result, &folders, (&sight, search.home)))
        });
        execution.result.warnings.extend(unseen);
        let kept = self.options.profiles.kept_from_writing(&execution.result);
        execution.result.warnings.extend(kept);
        execution.advance();
        observer.sealing();
        self.seal(execution, &workspace, session, ended, started)?;
        drop((held, room));
        execution.advance();
        if execution.is_trial() {
            // Of what nobody approved of yet nothing stays, in caches neither.
            execution.result.state = State::PendingApproval;
            return Ok(());
        }
        if let Some(caches) = caches {
            keep_caches(caches, &mut execution.result);
        }
        Ok(())
    }

    /// Gives the command its files, starts it, and sees it to its end.
    pub(super) fn attempt(
        &self,
        execution: &mut Execution<'_>,
        scene: &Scene<'_>,
        observer: &mut dyn ExecutionObserver,
    ) -> Result<Ran<'a>> {
        // From the look at the workspace until the note beside its layers says what is in use.
        let collected = self.vault.hold()?;
        let workspace = self.look_again(execution, &scene.workspace)?;
        check_wanted(execution)?;
        execution.advance();
        let Scene { folders, profile, outlet, .. } = scene;
        let wanted = self.wanted(execution, &workspace, scene)?;
        let Execution { request, result, .. } = execution;
        let place = (self.vault, self.options);
        let mut caches = match profile.caches {
            true => take_caches(place, request, result, folders),
            false => None,
        };
        let mounts = caches.as_mut().map(|caches| std::mem::take(&mut caches.mounts));
        let executor = CommandExecutor::new(self.options);
        execution.result.terminal = execution.request.terminal.is_some();
        let mounts = mounts.unwrap_or_default();
        let mut sight = scene.sight.clone();
        if profile.caches {
            sight.add_caches(&self.options.viewer, &mounts);
        }
        let Execution { request, result, .. } = execution;
        let ports = outlet.as_ref().map(EquippedOutlet::ports).unwrap_or_default();
        let launched =
            executor.start(self.vault, request, &wanted, (&sight, mounts), ports, result);
        let Launched { mut session, mut running, disk, warnings, room } =
            launched.inspect_err(|error| {
                if not_executed(error).is_some() {
                    execution.result.state = State::Executing;
                    execution.result.unseen_program =
                        self.search(execution, folders, &sight, |search| search.unexecuted());
                }
            })?;
        drop(collected);
        if let Some(room) = &room {
            let [workspace, cwd] = room.places.clone().map(Some);
            (execution.result.mountpoint, execution.result.cwd) = (workspace, cwd);
        }
        execution.result.driver = Some(session.driver());
        execution.result.warnings.extend(warnings);
        execution.result.warnings.extend(without_broker(&running.in_force));
        execution.result.warnings.extend(bare::unprotected(&running.in_force));
        execution.result.in_force = Some(running.in_force.clone());
        // What connects before is waiting.
        let opened = outlet.clone().zip(running.sockets.take());
        let opened = match opened.map(|(outlet, sockets)| outlet.open(sockets)).transpose() {
            Ok(opened) => opened,
            Err(error) => {
                drop(running);
                session.abandon();
                return Err(error);
            }
        };
        execution.advance();
        observer.started(&execution.result);
        let log = session.output_file();
        let Execution { request, result, .. } = execution;
        let watch = disk.and_then(|disk| self.watch_disk(request, disk));
        let ended = match executor.finish(running, request, observer, log, result) {
            Ok(ended) => ended,
            Err(error) => {
                session.abandon();
                return Err(error);
            }
        };
        let verdict = execution.result.decision.as_ref();
        execution.result.egress = opened.map(|outlet| outlet.close(verdict));
        if let Some(added) = watch.and_then(DiskWatch::end) {
            execution.result.limit_reached = Some(ResourceLimit::Disk);
            execution.result.interrupted = false;
            drop(ended);
            session.abandon();
            let limit = self.options.max_disk.unwrap_or(0);
            return Err(ServiceError::DiskLimit { added, limit });
        }
        Ok(Ran { workspace, session, ended, caches, sight, room })
    }

    /// Watches how much a command writes, where that is limited.
    fn watch_disk(&self, request: &mut ExecutionRequest, disk: DiskBefore) -> Option<DiskWatch> {
        let limit = self.options.max_disk?;
        // Without one it is only looked at in the end.
        request.cancel = request.cancel.take().or_else(|| Cancel::new().ok().map(Arc::new));
        Some(DiskWatch::start(disk, limit, request.cancel.clone()))
    }

    /// Where the folders of the vault are.
    fn folders(&self) -> Result<Vec<PathBuf>> {
        Ok(self.vault.bindings()?.iter().map(Binding::host_path).collect())
    }

    /// What policy sees beside a request that starts there.
    pub(super) fn surroundings<'s>(
        &'s self,
        start: &'s Start,
        folders: &'s [PathBuf],
        profile: &'s Profile,
    ) -> Surroundings<'s> {
        Surroundings {
            vault: self.vault.id(),
            policy: &self.options.policy,
            workspace: &start.target,
            folders: folders.get(1..).unwrap_or_default(),
            cwd: &start.cwd,
            user_home: self.options.viewer.home.as_deref(),
            profile,
        }
    }

    /// The workspace as it is now: whoever held it before may have moved it.
    fn look_again(&self, execution: &mut Execution<'_>, id: &Id) -> Result<WorkspaceRecord> {
        let workspace = self.vault.workspace(id)?.ok_or(ServiceError::Vanished(*id))?;
        execution.result.before = Some(workspace.state.head);
        self.check_base(&execution.purpose, &workspace)?;
        Ok(workspace)
    }

    /// Who may ask a command to end.
    pub(super) fn requests<'o>(&'o self, request: &'o ExecutionRequest) -> Requests<'o> {
        Requests { signals: self.options.signals.as_ref(), cancel: request.cancel.as_deref() }
    }

    /// What the command works on.
    fn wanted(
        &self,
        execution: &mut Execution<'_>,
        workspace: &WorkspaceRecord,
        scene: &Scene<'_>,
    ) -> Result<Wanted> {
        let (target, bindings) = (scene.target.clone(), scene.bindings);
        let state = &workspace.state;
        let before = self.vault.snapshot(&state.head)?;
        let cwd = execution.result.cwd.as_deref().unwrap_or(&target);
        let command = &execution.request.command;
        let Shown { folders, covered, warnings } =
            folders::shown(self.vault, &before.root, workspace, bindings, command, cwd)?;
        execution.result.warnings.extend(warnings);
        let user_home = self.options.viewer.home.as_deref();
        let lost = git_warning(self.vault, bindings, user_home, &workspace.name)?;
        execution.result.warnings.extend(lost.filter(|_| !execution.result.read_only));
        let mut near = Vec::new();
        for id in &before.parents {
            near.push(self.vault.snapshot(id)?.root);
        }
        let base = self.vault.snapshot(&state.base)?.root;
        near.push(match self.vault.stack_depth(&before.root)? {
            0 => self.vault.nearest_root(&before.root, &workspace.id, base)?,
            _ => base,
        });
        let driver = execution.request.driver;
        let layered = candidates(driver).iter().any(|driver| driver.stacks());
        if execution.request.verify && layered {
            self.vault.verify_stack(&before.root, &near)?;
        }
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
            read_only: execution.result.read_only,
            copy: false,
            owner: UpperOwner::Exec,
            capture: None,
            joined: None,
            shared: self.options.shared,
            variables: self.variables_of_network(execution.request, scene)?,
            trial: execution.is_trial(),
            preset: execution.request.preset.clone(),
            layer: None,
        };
        let (request, read_only) = (&execution.request, execution.result.read_only);
        let mount = MountRequest {
            root: before.root,
            near,
            read_only,
            links: self.options.links,
            data_layers: data_layers_work,
            note,
        };
        let joinable = request.session && !read_only;
        let disk_limited = self.options.max_disk.is_some() && !read_only;
        let (kept_home, shared) = (scene.kept_home.clone(), scene.shared.clone());
        Ok(Wanted {
            mount,
            driver,
            target,
            folders,
            covered,
            joinable,
            disk_limited,
            kept_home,
            shared,
        })
    }

    /// Says why it failed, and records it where that is still possible.
    pub(super) fn fail(
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
        let mut further = FurtherHints {
            instead: result.unseen_program.take().map(Hint::from),
            otherwise: absent_directory(&error, result),
            besides: waiting(&error).filter(|_| request.wait.is_none()),
            set_aside: None,
        };
        if self.vault.has_note(&result.id) {
            result.recoverable = true;
            further.set_aside = Some(set_aside(&result.id));
        }
        result.error = Some((self.options.explain)(error, further));
        result.total = started.elapsed();
        self.record_failed(request, result);
    }
}

/// Whether a command that has not started is still to run.
pub(super) fn check_wanted(execution: &mut Execution<'_>) -> Result<()> {
    if execution.request.cancel.as_ref().is_some_and(|cancel| cancel.is_cancelled()) {
        execution.result.interrupted = true;
        return Err(ServiceError::Cancelled);
    }
    Ok(())
}

/// Even a mistake in Offshoot itself comes back as an envelope.
fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let said = said.or_else(|| panic.downcast_ref::<String>().cloned());
        Err(ServiceError::Internal(said.unwrap_or_default()))
    })
}

/// Tells programs inside where they are: the workspace and its vault, which they cannot see from there.
pub(super) fn mark_inside(execution: &mut Execution<'_>) {
    let Some((_, workspace)) = &execution.result.workspace else { return };
    let environment = &mut execution.request.environment;
    for (name, value) in [(INSIDE, workspace), (INSIDE_VAULT, &execution.result.vault)] {
        environment.retain(|(other, _)| other != name);
        environment.push((name.into(), value.into()));
    }
}

/// What to do where the caller stands in a folder that was made after the workspace.
fn absent_directory(error: &ServiceError, result: &ExecutionResult) -> Option<Hint> {
    let ServiceError::Sandbox(SandboxError::Prepare { path, errno, .. }) = error else {
        return None;
    };
    let is_cwd = *errno == Errno::NOENT && path.is_some() && *path == result.cwd;
    let is_on_host = result.cwd.as_deref().is_some_and(Path::is_dir);
    let (_, workspace) =
        result.workspace.as_ref().filter(|_| is_cwd && is_on_host && !result.forked)?;
    Some(
        Hint::from(format!("workspace {workspace} does not have this folder yet: "))
            .then("offshoot pull -w")
            .arg(workspace)
            .text(" brings it in"),
    )
}

/// How to run a command as soon as whoever keeps its workspace busy is done.
fn waiting(error: &ServiceError) -> Option<Hint> {
    let ServiceError::Busy { workspace, .. } = error else { return None };
    let hint = Hint::command("offshoot exec --wait=30s -w").arg(workspace).words("-- CMD");
    Some(hint.text(" waits for it"))
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
    let ServiceError::Sandbox(SandboxError::NotExecuted { errno, .. }) = error else {
        return None;
    };
    Some(match errno.kind() {
        std::io::ErrorKind::NotFound => (ExitCode::CommandNotFound, "command not found"),
        _ => (ExitCode::NotExecutable, "cannot be executed"),
    })
}
