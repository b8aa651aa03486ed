//! The side of the worker.

use std::io::{self, BufRead, BufReader};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

use offshoot_protocol::ExitCode;
use offshoot_sandbox::{Signals, Stdin, Terminal};
use offshoot_vault::{ListedVault, Vault};
use offshoot_workspace::ExecutionRequest;

use super::message::{
    self, Engine, Input, LONGEST_ORDER, LONGEST_REQUEST, Order, Reply, Request, VERSION, path,
};
use crate::error::{Error, Result};
use crate::exec::events::Event;
use crate::exec::run::run;
use crate::exec::steering::Wheel;
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
    let mut control = UnixStream::from(control);
    let no_socket = |error: io::Error| {
        Error::usage(format!(
            "a worker is started by programs that use Offshoot as a library: {error}"
        ))
    };
    control.peer_addr().map_err(no_socket)?;
    let mut incoming = BufReader::new(control.try_clone().map_err(no_socket)?);
    let mut greet = |reply| {
        // Whoever listens notices that the host is gone.
        let _gone = message::send(&mut control, &reply, &[]).is_err();
    };
    let request = match hear(&mut incoming) {
        Ok(request) => request,
        Err(reason) => {
            greet(Reply::Refused { version: VERSION, reason });
            return Ok(());
        }
    };
    // Before there is another thread, which would get them instead, and before the host counts on it.
    let signals = Signals::take_over().map_err(|error| unheard(&error));
    greet(Reply::Accepted { version: VERSION });
    let (host, speaker) = Host::start(control)?;
    let worked =
        signals.and_then(|signals| work(request, input, (options, signals), &host, incoming));
    if let Err(error) = worked {
        host.say(Reply::Failed { error: error.body() });
    }
    // All is recorded by then. A host that does not listen gets its answer when it does.
    host.end();
    let _panicked = speaker.join().is_err();
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
    incoming: BufReader<UnixStream>,
) -> Result<()> {
    let Request { version: _, engine, vault, rules, caches, input: reads, exec } = request;
    let unreadable = || Error::usage("the request has a text that is none");
    let mut exec = exec.into_request().ok_or_else(unreadable)?;
    let wheel = Wheel::new()?;
    let Heard { read, go } = listen(incoming, &reads, &wheel)?;
    // The host says all that it has to say before it listens to any answer.
    give(&mut exec, reads, input, (read, &signals))?;
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
    let rules = project.rules(&rules)?;
    match wait_for(&go, &signals) {
        Waited::Heard(wait) => exec.wait = wait,
        // A host that is gone, or that wants it to end, says nothing about turns.
        Waited::Nothing => {}
        Waited::Signal => wheel.cancel.cancel(),
    }
    exec.cancel = Some(Arc::clone(&wheel.cancel));
    host.tells.store(true, Ordering::Relaxed);

    let answer = |envelope| host.say(Reply::Finished { envelope: Box::new(envelope) });
    let tell = |event| host.tell(event);
    run(&project, exec, (rules, caches), Some(signals), (&tell, &wheel.room), answer);
    Ok(())
}

/// What came of waiting for the host.
enum Waited<T> {
    Heard(T),
    /// The host says no more, or wants the command to end.
    Nothing,
    /// This process is asked to end.
    Signal,
}

/// Waits for what the host says next.
fn wait_for<T>(heard: &Receiver<T>, signals: &Signals) -> Waited<T> {
    loop {
        match heard.recv_timeout(LOOK) {
            Ok(heard) => return Waited::Heard(heard),
            Err(RecvTimeoutError::Disconnected) => return Waited::Nothing,
            Err(RecvTimeoutError::Timeout) if signals.ask_to_end() => return Waited::Signal,
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
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
    (bytes, signals): (Receiver<Vec<u8>>, &Signals),
) -> Result<()> {
    exec.has_stdin = reads != Input::Nothing;
    match reads {
        Input::Nothing => {}
        Input::Bytes(_) => match wait_for(&bytes, signals) {
            Waited::Heard(bytes) => exec.stdin = Stdin::Bytes(bytes),
            Waited::Nothing => return Err(unheard(&"it ended")),
            Waited::Signal => {
                let message = "asked to end before there was all that the command reads";
                return Err(Error::new(ExitCode::Interrupted, message));
            }
        },
        Input::Descriptor => exec.stdin = Stdin::From(input),
        Input::Terminal => exec.terminal = Some(Terminal { caller: input }),
    }
    Ok(())
}

fn unheard(error: &dyn std::fmt::Display) -> Error {
    Error::new(ExitCode::Failure, format!("cannot listen to the host: {error}"))
}

/// What the host says before the command runs.
struct Heard {
    /// What the command reads.
    read: Receiver<Vec<u8>>,
    /// It is its turn, and what is left of the time that it may wait for others.
    go: Receiver<Option<Duration>>,
}

/// Listens to the host: what the command reads, and whose turn it is. A host that is gone wants nothing to run any more.
fn listen(mut incoming: BufReader<UnixStream>, reads: &Input, wheel: &Wheel) -> Result<Heard> {
    let announced = match reads {
        Input::Bytes(count) => Some(*count),
        _ => None,
    };
    let wheel = wheel.clone();
    let (give, read) = mpsc::channel();
    let (turn, go) = mpsc::channel();
    let listen = move || {
        // Who waits for either is told by the end of the channel that it does not come.
        if let Some(count) = announced {
            match message::bytes(&mut incoming, count) {
                Ok(bytes) => drop(give.send(bytes)),
                Err(_cut) => return wheel.cancel.cancel(),
            }
        }
        let mut turn = Some(turn);
        while let Ok(Some(line)) = message::line(&mut incoming, LONGEST_ORDER) {
            match Order::parse(&line) {
                Ok(Order::Go { wait }) => {
                    // None where it was asked to end before its turn came.
                    let _over = turn.take().is_some_and(|turn| turn.send(wait).is_err());
                }
                Ok(Order::Cancel) => {
                    wheel.cancel.cancel();
                    turn = None;
                }
                Ok(Order::Read { stream, bytes }) => wheel.room.free(stream.into(), bytes),
                Err(_nonsense) => break,
            }
        }
        wheel.cancel.cancel();
    };
    let thread = std::thread::Builder::new().name("offshoot-host".to_owned());
    thread.spawn(listen).map_err(|error| unheard(&error))?;
    Ok(Heard { read, go })
}

/// Who wants the command to run. What is said to it waits for it elsewhere: whoever watches the command must not.
struct Host {
    said: Sender<Option<(Reply, Vec<u8>)>>,
    /// It is told what people should know: not before it is clear that the command comes to its own answer, because what opening
    /// an engine tells was told when the host opened its own.
    tells: AtomicBool,
}

impl Host {
    /// The host, and the thread that speaks to it.
    fn start(mut stream: UnixStream) -> Result<(Arc<Self>, JoinHandle<()>)> {
        let (said, to_say) = mpsc::channel::<Option<(Reply, Vec<u8>)>>();
        let speak = move || {
            for (reply, bytes) in to_say.iter().map_while(|said| said) {
                // Whoever listens notices that the host is gone, and ends the command.
                let _gone = message::send(&mut stream, &reply, &bytes).is_err();
            }
        };
        let thread = std::thread::Builder::new().name("offshoot-speaker".to_owned());
        let speaker = thread.spawn(speak).map_err(|error| unheard(&error))?;
        Ok((Arc::new(Self { said, tells: AtomicBool::new(false) }), speaker))
    }

    fn say(&self, reply: Reply) {
        self.say_with(reply, Vec::new());
    }

    fn say_with(&self, reply: Reply, bytes: Vec<u8>) {
        let _ended = self.said.send(Some((reply, bytes))).is_err();
    }

    /// There is no more to say.
    fn end(&self) {
        let _ended = self.said.send(None).is_err();
    }

    fn tell(&self, event: Event) {
        match event {
            Event::Waiting { holder } => self.say(Reply::Waiting { holder }),
            Event::Started { workspace, warnings } => {
                self.say(Reply::Started { workspace, warnings });
            }
            Event::Output { stream, bytes } => {
                self.say_with(Reply::Output { stream: stream.into(), bytes: bytes.len() }, bytes);
            }
            Event::Sealing => self.say(Reply::Sealing),
            Event::Pending { approval } => self.say(Reply::Pending { approval }),
            // The queue of the host makes these.
            Event::Skipped { .. } | Event::Finished => {}
        }
    }

    fn notice(&self, notice: &Notice) {
        if self.tells.load(Ordering::Relaxed) {
            self.say(Reply::Notice { topic: notice.topic, text: notice.text.clone() });
        }
    }
}
