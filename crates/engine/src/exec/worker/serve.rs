//! The side of the worker.

use std::io::{self, BufRead, BufReader};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use offshoot_protocol::ExitCode;
use offshoot_sandbox::{Cancel, Signals, Stdin, Terminal};
use offshoot_vault::{ListedVault, Vault};
use offshoot_workspace::ExecutionRequest;

use super::message::{
    self, Engine, Input, LONGEST_ORDER, LONGEST_REQUEST, Order, Reply, Request, VERSION, path,
};
use crate::error::{Error, Result};
use crate::exec::events::Event;
use crate::exec::run::run;
use crate::notice::Notice;
use crate::offshoot::Offshoot;
use crate::opened::Opened;
use crate::options::Options;
use crate::text::host_path;

/// How often to look for signals while it is not the turn of the command.
const LOOK: Duration = Duration::from_millis(50);

/// Runs one command for another process: what `offshoot worker` does. `control` is the socket on which the host has its request,
/// `input` what the command may read, and `options` have the variables that the process was started with.
///
/// Policy decides here, by the rules as this process reads them. The command is asked to end when the host says so, when the host
/// is gone, and by SIGTERM, SIGINT and SIGHUP to this process; what it wrote until then is recorded either way. To be called
/// before there are other threads, which would get the signals.
///
/// ```no_run
/// use std::os::fd::AsFd;
/// use offshoot_engine::{Options, exec::worker};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let input = std::io::stdin().as_fd().try_clone_to_owned()?;
/// let control = std::io::stdout().as_fd().try_clone_to_owned()?;
/// worker::serve(control, input, Options::from_process())?;
/// # Ok(())
/// # }
/// ```
pub fn serve(control: OwnedFd, input: OwnedFd, options: Options) -> Result<()> {
    let control = UnixStream::from(control);
    let no_socket = |error: io::Error| {
        Error::usage(format!(
            "a worker is started by programs that use Offshoot as a library: {error}"
        ))
    };
    control.peer_addr().map_err(no_socket)?;
    let mut incoming = BufReader::new(control.try_clone().map_err(no_socket)?);
    let host = Arc::new(Host::new(control));
    let request = match hear(&mut incoming) {
        Ok(request) => request,
        Err(reason) => {
            host.say(&Reply::Refused { version: VERSION, reason });
            return Ok(());
        }
    };
    // Before there is another thread, which would get them instead, and before the host counts on it.
    let signals = Signals::take_over().map_err(|error| unheard(&error));
    host.say(&Reply::Accepted { version: VERSION });
    let worked =
        signals.and_then(|signals| work(request, input, (options, signals), &host, incoming));
    if let Err(error) = worked {
        host.say(&Reply::Failed { error: error.body() });
    }
    Ok(())
}

/// What the host wants; the reason where that cannot be understood.
fn hear(incoming: &mut impl BufRead) -> std::result::Result<Request, String> {
    let line = message::line(incoming, LONGEST_REQUEST).map_err(|error| error.to_string())?;
    Request::parse(&line.unwrap_or_default())
}

/// Runs the command, and does what is due afterwards.
fn work(
    request: Request,
    input: OwnedFd,
    (options, signals): (Options, Signals),
    host: &Arc<Host>,
    mut incoming: BufReader<UnixStream>,
) -> Result<()> {
    let Request { version: _, engine, vault, rules, caches, input: reads, exec } = request;
    let unreadable = || Error::usage("the request has a text that is none");
    let mut exec = exec.into_request().ok_or_else(unreadable)?;
    // The host says all that it has to say before it listens to any answer.
    give(&mut exec, reads, input, &mut incoming)?;
    let engine = open(engine, options, host).ok_or_else(unreadable)??;
    let listed = ListedVault {
        name: vault.name.clone(),
        id: vault.id,
        dir: path(&vault.directory).ok_or_else(unreadable)?,
    };
    let opened = engine.registry().open_listed(&listed)?;
    check(&opened, &exec)?;
    let project = Opened::new(engine, opened, vault.name);
    let rules = rules.iter().map(path).collect::<Option<Vec<PathBuf>>>().ok_or_else(unreadable)?;
    let policy = project.policy(&rules)?;
    let (cancel, go) = listen(incoming)?;
    // A host that is gone, or that wants it to end, says nothing about turns.
    loop {
        match go.recv_timeout(LOOK) {
            Ok(wait) => break exec.wait = wait,
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) if signals.ask_to_end() => break cancel.cancel(),
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
    exec.cancel = Some(cancel);
    host.tells.store(true, Ordering::Relaxed);

    let answer = |envelope| host.say(&Reply::Finished { envelope: Box::new(envelope) });
    run(&project, exec, (policy, caches), Some(signals), &|event| host.tell(event), answer);
    Ok(())
}

/// Whether the vault is the one that the host means, and has no command of that id yet: what that one left would be taken for this
/// one's.
fn check(vault: &Vault, exec: &ExecutionRequest) -> Result<()> {
    if vault.recorded_id()? != Some(vault.id()) {
        let (dir, id) = (host_path(vault.dir()), vault.id());
        return Err(Error::new(ExitCode::Conflict, format!("{dir} is not the vault {id}")));
    }
    if vault.exec(&exec.id)?.is_some() || vault.has_note(&exec.id) {
        return Err(Error::new(
            ExitCode::Conflict,
            format!("there is an exec {} already", exec.id),
        ));
    }
    Ok(())
}

/// Opens the engine with what the host opened its own with; none where a text is none.
fn open(engine: Engine, options: Options, host: &Arc<Host>) -> Option<Result<Offshoot>> {
    let directory = match &engine.directory {
        Some(directory) => Some(path(directory)?),
        None => None,
    };
    let told = Arc::clone(host);
    let Engine {
        directory: _,
        registry,
        overrides,
        lenient_settings,
        open_files,
        frees_space,
        actor,
    } = engine;
    Some(Offshoot::open(Options {
        directory,
        registry: Some(path(&registry)?),
        overrides,
        lenient_settings,
        open_files,
        frees_space,
        actor: Some(actor),
        listener: Some(Arc::new(move |notice: &Notice| told.notice(notice))),
        ..options
    }))
}

/// Gives the command what it reads.
fn give(
    exec: &mut ExecutionRequest,
    reads: Input,
    input: OwnedFd,
    incoming: &mut impl BufRead,
) -> Result<()> {
    exec.has_stdin = reads != Input::Nothing;
    match reads {
        Input::Nothing => {}
        Input::Bytes(count) => {
            let bytes = message::bytes(incoming, count).map_err(|error| unheard(&error))?;
            exec.stdin = Stdin::Bytes(bytes);
        }
        Input::Descriptor => exec.stdin = Stdin::From(input),
        Input::Terminal => exec.terminal = Some(Terminal { caller: input }),
    }
    Ok(())
}

fn unheard(error: &dyn std::fmt::Display) -> Error {
    Error::new(ExitCode::Failure, format!("cannot listen to the host: {error}"))
}

/// Listens to the host. One that is gone wants nothing to run any more.
fn listen(
    mut incoming: BufReader<UnixStream>,
) -> Result<(Arc<Cancel>, Receiver<Option<Duration>>)> {
    let cancel = Arc::new(Cancel::new().map_err(|error| unheard(&error))?);
    let asked = Arc::clone(&cancel);
    let (turn, go) = mpsc::channel();
    let listen = move || {
        let mut turn = Some(turn);
        while let Ok(Some(order)) = message::receive(&mut incoming, LONGEST_ORDER) {
            match (order, turn.take()) {
                (Order::Go { wait }, Some(turn)) => {
                    let _over = turn.send(wait).is_err();
                }
                // It was asked to end before its turn came.
                (Order::Go { .. }, None) => {}
                (Order::Cancel, turn) => {
                    asked.cancel();
                    drop(turn);
                }
            }
        }
        asked.cancel();
    };
    let thread = std::thread::Builder::new().name("offshoot-host".to_owned());
    thread.spawn(listen).map_err(|error| unheard(&error))?;
    Ok((cancel, go))
}

/// Who wants the command to run.
struct Host {
    stream: Mutex<UnixStream>,
    /// It is told what people should know: not before it is clear that the command comes to its own answer, because what opening
    /// an engine tells was told when the host opened its own.
    tells: AtomicBool,
}

impl Host {
    fn new(stream: UnixStream) -> Self {
        Self { stream: Mutex::new(stream), tells: AtomicBool::new(false) }
    }

    fn say(&self, reply: &Reply) {
        self.say_with(reply, &[]);
    }

    fn say_with(&self, reply: &Reply, bytes: &[u8]) {
        let mut stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        // Whoever listens notices that the host is gone, and ends the command.
        let _gone = message::send(&mut *stream, reply, bytes).is_err();
    }

    fn tell(&self, event: Event) {
        match event {
            Event::Waiting { holder } => self.say(&Reply::Waiting { holder }),
            Event::Started { workspace } => self.say(&Reply::Started { workspace }),
            Event::Output { stream, bytes } => {
                let reply = Reply::Output { stream: stream.into(), bytes: bytes.len() };
                self.say_with(&reply, &bytes);
            }
            Event::Sealing => self.say(&Reply::Sealing),
            // The queue of the host makes these.
            Event::Skipped { .. } | Event::Finished => {}
        }
    }

    fn notice(&self, notice: &Notice) {
        if self.tells.load(Ordering::Relaxed) {
            self.say(&Reply::Notice { topic: notice.topic, text: notice.text.clone() });
        }
    }
}
