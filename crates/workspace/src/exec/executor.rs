//! Running the command itself.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use offshoot_sandbox::{
    CacheMount, Ended, Limits, Observer, Program, ProxyPorts, Requests, Room, Running, Spec,
    Status, Stdin, Stream, Timeout, WrittenFile,
};
use offshoot_vault::{Approval, OutputWriter, STDERR, STDOUT, Vault};

use super::envelope::ExecutionResult;
use super::launch::{Launched, Wanted, launch};
use super::options::RuntimeOptions;
use super::profiles::walls;
use super::prompt::{self, MarkedShell};
use super::request::ExecutionRequest;
use super::sight::Sight;
use crate::error::Result;

/// Who is told about an exec while it goes on.
pub trait ExecutionObserver {
    /// It may run, or waits for a person before it runs in a workspace that is not there yet: what has to be in place before a workspace is
    /// found or forked is done here, and not for commands that are refused.
    fn allowed(&mut self) -> Result<()> {
        Ok(())
    }
    /// Its workspace is in use by somebody else; it waits as long as the request says.
    fn in_use(&mut self, workspace: &str, holder: &str) {
        let _ = (workspace, holder);
    }
    /// A person has to decide about it. Whether to wait for that, where the request wants it.
    fn pending(&mut self, approval: &Approval) -> bool {
        let _ = approval;
        true
    }
    /// The command is about to run.
    fn started(&mut self, result: &ExecutionResult) {
        let _ = result;
    }
    /// It is over, and so many others who joined it are not; their end is waited for.
    fn waiting(&mut self, others: u64) {
        let _ = others;
    }
    /// It is over; what it changed is being taken and recorded.
    fn sealing(&mut self) {}
    /// It printed something. This must not wait for anybody: as long as it does, nobody ends the command.
    fn output(&mut self, stream: Stream, bytes: &[u8]) {
        let _ = (stream, bytes);
    }
    /// The room that there is for output that was not read yet; none where there always is some.
    fn room(&self) -> Option<Arc<Room>> {
        None
    }
}

/// Nobody.
impl ExecutionObserver for () {}

/// Starts a command in a mounted workspace and sees it to its end.
#[derive(Debug)]
pub struct CommandExecutor<'a> {
    options: &'a RuntimeOptions,
}

impl<'a> CommandExecutor<'a> {
    pub(crate) fn new(options: &'a RuntimeOptions) -> Self {
        Self { options }
    }

    /// Makes the inside and starts the command.
    pub(super) fn start<'v>(
        &self,
        vault: &'v Vault,
        request: &mut ExecutionRequest,
        wanted: &Wanted,
        (sight, mut caches): (&Sight, Vec<CacheMount>),
        proxy: ProxyPorts,
        result: &ExecutionResult,
    ) -> Result<Launched<'v>> {
        // A cache may lie in what is shown of the home.
        caches.splice(..0, sight.scratch(self.options.viewer.home.as_deref()));
        let (command, mut files) = self.command(request, result);
        files.extend(sight.copies());
        let spec = Spec {
            workspace: wanted.workspace(),
            shown: sight.shown(),
            home: self.options.viewer.home.clone(),
            kept_home: wanted.kept_home.clone(),
            shared: wanted.shared.clone(),
            hidden: self.options.hidden.iter().chain(&sight.hidden).cloned().collect(),
            caches,
            files,
            network: request.reach(),
            proxy,
            limits: match &result.profile {
                Some(profile) if !profile.limits => Limits::default(),
                _ => self.options.limits,
            },
            walls: result.profile.as_ref().map(walls).unwrap_or_default(),
            bare: None,
            broker: self.options.broker,
            door: None,
            command,
        };
        launch(vault, wanted, spec)
    }

    /// What to start, and the files that it needs.
    pub(crate) fn command(
        &self,
        request: &mut ExecutionRequest,
        result: &ExecutionResult,
    ) -> (Program, Vec<WrittenFile>) {
        let stdin = std::mem::replace(&mut request.stdin, Stdin::Empty);
        let (mut arguments, mut environment) =
            (request.command.arguments(), request.environment.clone());
        let mut marked = marked(request, &arguments, result).unwrap_or_default();
        if let Some((_, workspace)) = result.workspace.as_ref().filter(|_| request.session) {
            // Who joins may have another shell.
            marked.files = prompt::files(workspace);
        }
        arguments.extend(marked.arguments);
        environment.retain(|(name, _)| marked.environment.iter().all(|(set, _)| set != name));
        environment.extend(marked.environment);
        let command = Program {
            arguments,
            environment,
            directory: result.cwd.clone().unwrap_or_default(),
            stdin,
            terminal: request.terminal.take(),
        };
        (command, marked.files)
    }

    /// Passes output on and keeps it, in `log` too for those who look on, until the command and all its children are over.
    pub(crate) fn finish(
        &self,
        running: Running,
        request: &ExecutionRequest,
        observer: &mut dyn ExecutionObserver,
        log: PathBuf,
        result: &mut ExecutionResult,
    ) -> Result<Ended> {
        // One that ran before has what is left of its time.
        let spent = result.rerun.map_or(Duration::ZERO, |first| first.duration);
        let after = request.timeout.duration().map(|time| time.saturating_sub(spent));
        let timeout = Timeout { after, grace: self.options.grace };
        let requests =
            Requests { signals: self.options.signals.as_ref(), cancel: request.cancel.as_deref() };
        let driven = self.watch(request, observer, Some(log), result, |tee| {
            running.drive(&timeout, tee, requests)
        });
        let ended = driven?;
        record(&ended, result);
        Ok(ended)
    }

    /// Passes output on and keeps it while something is driven.
    pub(crate) fn watch<T>(
        &self,
        request: &ExecutionRequest,
        observer: &mut dyn ExecutionObserver,
        log: Option<PathBuf>,
        result: &mut ExecutionResult,
        drive: impl FnOnce(&mut dyn Observer) -> T,
    ) -> T {
        let limit = if request.record { self.options.output_limit } else { 0 };
        let log = log.map(|path| OutputWriter::new(path, limit));
        drive(&mut Tee { observer, result, limit, log })
    }
}

/// How a shell is started whose prompt is marked.
fn marked(
    request: &ExecutionRequest,
    arguments: &[OsString],
    result: &ExecutionResult,
) -> Option<MarkedShell> {
    let (_, workspace) = result.workspace.as_ref().filter(|_| request.mark_prompt)?;
    match arguments {
        [shell] => prompt::mark(shell, workspace, &request.environment),
        _ => None,
    }
}

fn record(ended: &Ended, result: &mut ExecutionResult) {
    match ended.status {
        Status::Exited(code) => result.exit_code = Some(code),
        Status::Signaled(signal) => result.signal = Some(signal),
    }
    result.duration = ended.duration;
    result.timed_out = ended.timed_out;
    result.interrupted = ended.interrupted;
    result.limit_reached = ended.limit_reached;
    result.usage = ended.usage;
    result.unreached = ended.unreached;
    if ended.left_behind > 0
        && !ended.timed_out
        && !ended.interrupted
        && ended.limit_reached.is_none()
    {
        let left = ended.left_behind;
        let (what, were) = if left == 1 { ("process", "was") } else { ("processes", "were") };
        result.warnings.push(format!("{left} {what} that the command left running {were} ended"));
    }
}

/// Keeps output and passes it on.
struct Tee<'a> {
    observer: &'a mut dyn ExecutionObserver,
    result: &'a mut ExecutionResult,
    limit: usize,
    log: Option<OutputWriter>,
}

impl Observer for Tee<'_> {
    fn output(&mut self, stream: Stream, bytes: &[u8]) {
        let (kept, number) = match stream {
            Stream::Stdout => (&mut self.result.stdout, STDOUT),
            Stream::Stderr => (&mut self.result.stderr, STDERR),
        };
        kept.push(bytes, self.limit);
        if let Some(log) = &mut self.log {
            log.write(number, bytes);
        }
        self.observer.output(stream, bytes);
    }

    fn room(&self) -> Option<Arc<Room>> {
        self.observer.room()
    }

    fn waiting(&mut self, others: u64) {
        self.observer.waiting(others);
    }
}
