//! The side of the program that wants a command to run.

use std::ffi::OsString;
use std::io::{self, BufReader, IsTerminal, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use offshoot_protocol::{ErrorBody, ExecEnvelopeDoc, ExecState, ExitCode};
use offshoot_sandbox::{Stdin, Stream};
use offshoot_vault::ListedVault;
use offshoot_workspace::{
    ExecService, ExecutionEnvelope, ExecutionRequest, ExecutionResult, ExecutionWorkspace,
    Resolver, StoredRequest, set_aside, wire,
};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::ARGUMENT;
use super::message::{self, Engine, Input, Order, Reply, Request, VERSION, VaultPlace, path_text};
use crate::error::{Error, Result};
use crate::exec::command::Command;
use crate::exec::events::{Event, WAITING};
use crate::exec::handle::{Exec, Shared};
use crate::exec::steering::Steering;
use crate::exec::turns::{Turn, Turns};
use crate::opened::Opened;
use crate::text::host_path;

/// How long a program has to say that it is a worker.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long after its worker the init of a command may take to end, and how often to look.
const ENDING: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(5);
/// The first word of a worker is no longer than this.
const FIRST_WORD: u64 = 4096;

/// The worker hears what was read when it is at least so much: each word costs both sides something.
const WORTH_SAYING: usize = WAITING / 4;

/// How the host speaks to a worker; nothing once the worker has ended.
#[derive(Debug)]
struct Control {
    stream: Mutex<Option<UnixStream>>,
    cancelled: AtomicBool,
    /// How many bytes of standard output and standard error were read of which the worker has not heard.
    read: [AtomicUsize; 2],
}

impl Steering for Control {
    /// A worker that is gone needs no asking.
    fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
        self.say(&Order::Cancel);
    }

    fn free(&self, stream: Stream, bytes: usize) {
        let counter = &self.read[stream as usize];
        let read = counter.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if read >= WORTH_SAYING {
            let bytes = counter.swap(0, Ordering::Relaxed);
            self.say(&Order::Read { stream: stream.into(), bytes });
        }
    }
}

impl Control {
    fn new(stream: UnixStream) -> Self {
        let (cancelled, read) = (AtomicBool::new(false), Default::default());
        Self { stream: Mutex::new(Some(stream)), cancelled, read }
    }

    fn say(&self, order: &Order) {
        if let Some(stream) = &mut *self.stream.lock().unwrap_or_else(PoisonError::into_inner) {
            let _gone = message::send(stream, order, &[]).is_err();
        }
    }

    /// There is nobody to ask any more.
    fn close(&self) {
        *self.stream.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Starts a command in a worker.
pub(crate) fn start(
    program: &Path,
    project: &Arc<Opened>,
    place: ExecutionWorkspace,
    command: Command,
) -> Result<Exec> {
    // A name that is looked for in the caller's folder here is not looked for anywhere else later.
    let program =
        std::path::absolute(program).map_err(|error| Failed::Start(error).told(program))?;
    let engine = project.engine();
    // The worker reads the rules itself and decides by them. Those that cannot be read are told at once, as on a thread.
    drop(project.rules(&command.rules)?);
    let rules = command.rules.iter().map(|path| path_text(path)).collect();
    let caches = command.caches;
    let mut request = engine.request(command, place, None, None);
    let given = Given::take(&mut request);
    let turn = Turns::stand(project.turns(), &request);
    let options = engine.options();
    let said = Request {
        version: VERSION,
        engine: Engine {
            directory: options.directory.as_deref().map(path_text),
            registry: path_text(engine.registry().dir()),
            overrides: options.overrides.clone(),
            lenient_settings: options.lenient_settings,
            open_files: options.open_files,
            frees_space: options.frees_space,
            actor: engine.actor().clone(),
        },
        vault: VaultPlace {
            id: project.vault().id(),
            name: project.name().to_owned(),
            directory: path_text(project.vault().dir()),
        },
        rules,
        caches,
        input: given.input,
        exec: StoredRequest::of(&request),
    };
    let (mut worker, mut stream) = Worker::spawn(&program, &options.environment, given.descriptor)?;
    worker.greet(&mut stream, &said, &given.bytes).map_err(|failed| failed.told(&program))?;
    let control = Arc::new(Control::new(stream));
    let shared = Arc::new(Shared::new(request.id, Arc::clone(&control) as Arc<dyn Steering>));
    let (told, project, busy) = (Arc::clone(&shared), Arc::clone(project), project.busy());
    let follow = move || {
        let is_wanted = || !control.cancelled.load(Ordering::Relaxed) && !worker.has_spoken();
        let wait = turn.wait(request.wait, &is_wanted);
        control.say(&Order::Go { wait });
        Following::new(&project, &told, request, &turn).run(worker, &control);
        drop((told, project));
        drop(busy);
    };
    let thread = std::thread::Builder::new().name("offshoot-worker".to_owned());
    // Where there can be no thread the worker is dropped, which ends it.
    thread.spawn(follow).map_err(|error| {
        Error::new(ExitCode::Failure, format!("cannot start a thread: {error}"))
    })?;
    Ok(Exec::of(shared))
}

/// What a command reads, as it is handed to the worker.
struct Given {
    input: Input,
    descriptor: Option<OwnedFd>,
    bytes: Vec<u8>,
}

impl Given {
    fn take(request: &mut ExecutionRequest) -> Self {
        let stdin = std::mem::replace(&mut request.stdin, Stdin::Empty);
        let (input, descriptor, bytes) = match (request.terminal.take(), stdin) {
            (Some(terminal), _) => (Input::Terminal, Some(terminal.caller), Vec::new()),
            (None, Stdin::From(from)) => (Input::Descriptor, Some(from), Vec::new()),
            (None, Stdin::Bytes(bytes)) => (Input::Bytes(bytes.len()), None, bytes),
            (None, Stdin::Empty) => (Input::Nothing, None, Vec::new()),
        };
        Self { input, descriptor, bytes }
    }
}

/// A process that was started. Dropped before it was waited for, it is killed: none is left behind.
struct Worker {
    child: Child,
    incoming: BufReader<UnixStream>,
    waited: bool,
}

impl Worker {
    /// Starts a worker. The host is not copied for that: nothing is to be done between its process and the program, so that
    /// the standard library has the child share the memory until then.
    fn spawn(
        program: &Path,
        environment: &[(OsString, OsString)],
        input: Option<OwnedFd>,
    ) -> Result<(Self, UnixStream)> {
        let cannot = |error: io::Error| Failed::Start(error).told(program);
        let (stream, inside) = UnixStream::pair().map_err(cannot)?;
        let incoming = BufReader::new(stream.try_clone().map_err(cannot)?);
        let mut command = std::process::Command::new(program);
        command.arg(ARGUMENT).env_clear().envs(environment.iter().cloned());
        // A terminal is read by its foreground group alone. Else the group is the worker's own: what is typed to end the host
        // is for the host to pass on.
        if !input.as_ref().is_some_and(IsTerminal::is_terminal) {
            command.process_group(0);
        }
        command.stdin(input.map_or_else(Stdio::null, Stdio::from));
        command.stdout(OwnedFd::from(inside)).stderr(Stdio::null());
        // With the command goes this process's copy of the worker's end: the end of the worker can be seen.
        let child = command.spawn().map_err(cannot)?;
        Ok((Self { child, incoming, waited: false }, stream))
    }

    /// Hands over the request, and waits for the word that it is understood.
    fn greet(
        &mut self,
        stream: &mut UnixStream,
        request: &Request,
        bytes: &[u8],
    ) -> std::result::Result<(), Failed> {
        let patience =
            |limit| stream.set_write_timeout(limit).and_then(|()| stream.set_read_timeout(limit));
        patience(Some(PATIENCE)).map_err(Failed::Start)?;
        let sent = message::send(&mut &*stream, request, &[]);
        // A worker that refuses may not have read all that was said.
        let answer = message::line(&mut self.incoming, FIRST_WORD).map_err(Failed::NoWorker)?;
        let Some(answer) = answer else {
            let ended = || io::Error::other("it ended without a word");
            return Err(Failed::NoWorker(sent.err().unwrap_or_else(ended)));
        };
        let answer =
            serde_json::from_slice(&answer).map_err(|error| Failed::NoWorker(error.into()));
        match answer? {
            Reply::Accepted { version } if version == VERSION => {
                let sent = sent.and_then(|()| (&*stream).write_all(bytes));
                sent.and_then(|()| patience(None)).map_err(Failed::Start)
            }
            Reply::Refused { version, reason } if version == VERSION => {
                Err(Failed::Refused(reason))
            }
            Reply::Accepted { version } | Reply::Refused { version, .. } => {
                Err(Failed::Version(version))
            }
            other => Err(Failed::NoWorker(io::Error::other(format!("it said {other:?}")))),
        }
    }

    /// Whether there is something to hear. Before its turn that is its answer, or its end.
    fn has_spoken(&self) -> bool {
        let mut polled = [PollFd::new(self.incoming.get_ref(), PollFlags::IN)];
        poll(&mut polled, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
    }

    fn kill(&mut self) {
        // It may have ended by itself; nobody else has its number until it was waited for.
        let _over = self.child.kill().is_err();
    }

    fn wait(&mut self) -> io::Result<ExitStatus> {
        let status = self.child.wait();
        self.waited = status.is_ok();
        status
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if !self.waited {
            self.kill();
            let _lost = self.child.wait().is_err();
        }
    }
}

/// Why a worker takes no request.
enum Failed {
    Start(io::Error),
    NoWorker(io::Error),
    Refused(String),
    Version(u32),
}

impl Failed {
    fn told(self, program: &Path) -> Error {
        let program = host_path(program);
        let (code, message) = match self {
            Self::Start(error) if error.kind() == io::ErrorKind::NotFound => {
                (ExitCode::NotFound, format!("there is no worker program {program}"))
            }
            Self::Start(error) => {
                (ExitCode::Failure, format!("cannot start the worker {program}: {error}"))
            }
            Self::NoWorker(error) => {
                (ExitCode::Usage, format!("{program} does not work as a worker: {error}"))
            }
            Self::Refused(reason) => {
                (ExitCode::Usage, format!("the worker {program} refused the request: {reason}"))
            }
            Self::Version(other) => (
                ExitCode::Usage,
                format!(
                    "the worker {program} speaks version {other} of the worker protocol, not {VERSION}"
                ),
            ),
        };
        Error::new(code, message)
            .hint("set `Options::worker` to the `offshoot` program of the same release")
    }
}

/// A command that runs in a worker.
struct Following<'a> {
    project: &'a Opened,
    told: &'a Shared,
    turn: &'a Turn,
    /// The answer where the worker has none: what was asked for, and how far it came.
    known: ExecutionEnvelope,
    /// The workspace that it runs in.
    workspace: Option<String>,
    started: Instant,
}

impl<'a> Following<'a> {
    fn new(
        project: &'a Opened,
        told: &'a Shared,
        request: ExecutionRequest,
        turn: &'a Turn,
    ) -> Self {
        let result = ExecutionResult::new(request.id, project.name());
        let known = ExecutionEnvelope { request, result };
        Self { project, told, turn, known, workspace: None, started: Instant::now() }
    }

    /// Passes on what happens, until the worker has ended.
    fn run(mut self, mut worker: Worker, control: &Control) {
        let mut answered = false;
        loop {
            let said = match message::receive(&mut worker.incoming, u64::MAX) {
                // What a worker does after its answer is upkeep: that ends by itself.
                Ok(None) => break,
                Ok(Some(said)) if !answered || matches!(said, Reply::Notice { .. }) => said,
                // Nothing that it could still say would make sense.
                Ok(Some(_)) | Err(_) => {
                    worker.kill();
                    break;
                }
            };
            match said {
                Reply::Finished { envelope } => {
                    answered = true;
                    self.turn.pass();
                    self.told.finish(*envelope);
                }
                Reply::Failed { error } => {
                    answered = true;
                    let envelope = self.failed(error);
                    self.turn.pass();
                    self.told.finish(envelope);
                }
                said => {
                    if let Err(_nonsense) = self.pass_on(said, &mut worker.incoming) {
                        worker.kill();
                        break;
                    }
                }
            }
        }
        control.close();
        let status = worker.wait();
        if !answered {
            let envelope = self.cut_short(status);
            self.turn.pass();
            self.told.finish(envelope);
        }
    }

    /// Passes an event on.
    fn pass_on(&mut self, said: Reply, incoming: &mut impl Read) -> io::Result<()> {
        let event = match said {
            Reply::Notice { topic, text } => {
                // Whatever the listener does, the command is answered.
                let tell = || self.project.engine().tell(topic, text);
                let _panicked = catch_unwind(AssertUnwindSafe(tell)).is_err();
                return Ok(());
            }
            Reply::Waiting { holder } => Event::Waiting { holder },
            Reply::Started { workspace, warnings } => {
                self.known.result.state = ExecState::Executing;
                self.workspace = Some(workspace.clone());
                Event::Started { workspace, warnings }
            }
            Reply::Output { stream, bytes } => {
                let bytes = message::bytes(incoming, bytes)?;
                Event::Output { stream: stream.into(), bytes }
            }
            Reply::Pending { approval } => Event::Pending { approval },
            Reply::Sealing => {
                self.known.result.state = ExecState::Sealing;
                Event::Sealing
            }
            other => return Err(io::Error::other(format!("{other:?} is no event"))),
        };
        self.turn.heed(&event);
        self.told.tell(event);
        Ok(())
    }

    /// The answer where the worker ended without one.
    fn cut_short(&mut self, status: io::Result<ExitStatus>) -> ExecEnvelopeDoc {
        if let Some(recorded) = self.recorded() {
            return recorded;
        }
        self.set_aside();
        let how = status.map_or_else(|error| error.to_string(), |status| status.to_string());
        let message = format!("the worker process ended before the command was recorded: {how}");
        self.failed(ErrorBody::new(ExitCode::ExecFailed, message))
    }

    /// Has what the command wrote set aside. Opening a vault does that, with what has no process any more: the init of the
    /// command ends with the worker, a moment later.
    fn set_aside(&self) {
        let (vault, id) = (self.project.vault(), self.known.request.id);
        let listed = ListedVault {
            name: self.project.name().to_owned(),
            id: vault.id(),
            dir: vault.dir().to_owned(),
        };
        let deadline = Instant::now() + ENDING;
        while vault.has_note(&id) && vault.left_note(&id).is_none() {
            // Where it cannot be opened, whoever opens it next does it.
            let opened = self.project.engine().registry().open_listed(&listed);
            if opened.is_err() || Instant::now() >= deadline {
                return;
            }
            std::thread::sleep(LOOK);
        }
    }

    /// What the worker recorded before it ended.
    fn recorded(&self) -> Option<ExecEnvelopeDoc> {
        let (vault, id) = (self.project.vault(), self.known.request.id);
        let record = vault.exec(&id).ok().flatten()?;
        let (stdout, stderr) = ExecService::new(vault).output(&id).ok()?;
        wire::recorded_envelope(&record, (&stdout, &stderr))
    }

    /// An answer that says why there is no other.
    fn failed(&mut self, mut error: ErrorBody) -> ExecEnvelopeDoc {
        let (id, vault) = (self.known.request.id, self.project.vault());
        let result = &mut self.known.result;
        let found =
            self.workspace.as_ref().and_then(|name| Resolver::new(vault).workspace(name).ok());
        result.workspace = found.map(|found| (found.id, found.name));
        result.failed_in = Some(result.state);
        result.state = ExecState::Failed;
        result.total = self.started.elapsed();
        result.recoverable = vault.has_note(&id);
        if result.recoverable {
            error = error.with_hint(Some(&set_aside(&id)));
        }
        result.error = Some(error);
        wire::envelope(&self.known)
    }
}
