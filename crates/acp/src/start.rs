//! Starting a process of the agent in a workspace.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, PoisonError};

use agent_client_protocol::v1::{ConnectionTo, Dispatch};
use agent_client_protocol::{Agent, Client, Error, Lines};
use offshoot_engine::exec::{
    Command, CommandLine, Event, Exec, ExecutionTimeout, Input, Stream, start_directory,
};
use offshoot_engine::id::Id;
use offshoot_engine::policy::{Context, judge};
use offshoot_engine::sandbox::Rules;
use offshoot_engine::{Project, Workspace};
use offshoot_protocol::{ExecEnvelopeDoc, ExitCode, Hint};
use tokio::sync::mpsc::Sender;
use tokio::sync::{Notify, oneshot};

use crate::fault::{fault, of_engine};
use crate::hub::Hub;
use crate::lines::{self, Pieces};
use crate::link::{Ending, Link, receive};
use crate::name;
use crate::settings::AcpSettings;

/// Where a process is wanted.
pub(crate) enum Place {
    /// In a new workspace of this folder's project, or in the one that was named.
    New(PathBuf),
    /// Where a session was before.
    Before(PathBuf, String),
    /// In this workspace, which was made for it.
    In(PathBuf, Workspace),
}

/// What was made on the way to a process.
struct Started {
    workspace: Workspace,
    name: String,
    made_at: Option<Id>,
    exec: Exec,
    input: io::PipeWriter,
}

/// Starts a process, and connects to it.
pub(crate) async fn start(hub: &Arc<Hub>, place: Place) -> Result<Arc<Link>, Error> {
    let of = Arc::clone(hub);
    let started = tokio::task::spawn_blocking(move || run(&of, &place)).await;
    let started = started.map_err(|error| fault(error.to_string()))?;
    let started = started.map_err(|error| of_engine(&error))?;
    connect(hub, started).await
}

/// Finds or forks the workspace, and starts the agent there.
fn run(hub: &Hub, place: &Place) -> offshoot_engine::Result<Started> {
    let settings = &hub.settings;
    let (Place::New(folder) | Place::Before(folder, _) | Place::In(folder, _)) = place;
    let project = hub.engine.project(folder)?;
    may_run(settings, &project, folder)?;
    let (workspace, is_made) = workspace(settings, &project, place)?;
    let (name, head) = (workspace.name()?, workspace.record()?.state.head);
    let made_at = is_made.then_some(head);
    let (read, input) = io::pipe().map_err(|error| {
        offshoot_engine::Error::new(ExitCode::Failure, format!("cannot make a pipe: {error}"))
    })?;
    let below = start_directory(project.vault(), &folder.canonicalize().unwrap_or_default())?;
    let exec = workspace.exec(command(settings, below).input(Input::From(read.into())));
    match exec {
        Ok(exec) => Ok(Started { workspace, name, made_at, exec, input }),
        Err(error) => {
            if is_made {
                workspace.delete()?;
            }
            Err(error)
        }
    }
}

/// The command of the agent, which goes on as long as its session does.
fn command(settings: &AcpSettings, below: Option<PathBuf>) -> Command {
    let mut command = Command::of(CommandLine::Argv(settings.command.clone()))
        .time(ExecutionTimeout::None)
        .record(false)
        .rules(settings.rules.iter().cloned());
    if let Some(below) = below.filter(|below| !below.as_os_str().is_empty()) {
        command = command.directory(below);
    }
    command = settings.variables.iter().fold(command, |command, item| command.variable(item));
    command = settings.show.iter().fold(command, |command, path| command.show(path));
    if let Some(profile) = &settings.sandbox {
        command = command.sandbox(profile);
    }
    if let Some((network, allow)) = &settings.network {
        command = command.network(*network);
        command = allow.iter().fold(command, |command, rule| command.allow(rule));
    }
    command
}

/// The workspace to run in, and whether it is new.
fn workspace(
    settings: &AcpSettings,
    project: &Project,
    place: &Place,
) -> offshoot_engine::Result<(Workspace, bool)> {
    if let Place::In(_, workspace) = place {
        return Ok((workspace.clone(), true));
    }
    if let Place::Before(_, session) = place
        && let Some(noted) = project.conversation(session)
    {
        let mut all = project.workspaces()?.into_iter();
        if let Some(known) = all.find(|known| known.id().to_string() == noted.workspace) {
            return Ok((known, false));
        }
    }
    if let Some(named) = &settings.workspace {
        let known = project.workspaces()?.into_iter();
        for workspace in known {
            if workspace.name()? == *named {
                return Ok((workspace, false));
            }
        }
        return Ok((project.fork(named)?, true));
    }
    let agent = name::agent(&settings.command);
    Ok((numbered(&agent, |name| project.fork(name))?, true))
}

/// Makes a workspace with the first number behind its name that is free.
pub(crate) fn numbered(
    name: &str,
    make: impl Fn(&str) -> offshoot_engine::Result<Workspace>,
) -> offshoot_engine::Result<Workspace> {
    let mut tries = (1_u32..).map(|number| make(&format!("{name}-{number}")));
    let taken = |made: &offshoot_engine::Result<Workspace>| {
        made.as_ref().is_err_and(|error| error.code == ExitCode::Conflict)
    };
    match tries.find(|made| !taken(made)) {
        Some(made) => made,
        None => Err(offshoot_engine::Error::new(ExitCode::Conflict, "no name is left")),
    }
}

/// Fails where policy does not let the agent start. Nobody can be asked before there is a session.
fn may_run(
    settings: &AcpSettings,
    project: &Project,
    folder: &Path,
) -> offshoot_engine::Result<()> {
    let (rules, context) = surroundings(settings, project, folder)?;
    let line = CommandLine::Argv(settings.command.clone());
    let verdict = judge(&rules.policy, &line, &context);
    if verdict.decision.runs() {
        return Ok(());
    }
    let program = settings.command.first().map(|word| word.to_string_lossy().into_owned());
    let message = format!(
        "policy does not let {} start: {} ({})",
        program.unwrap_or_default(),
        verdict.reason,
        verdict.decision
    );
    let words = settings.command.iter().map(|word| word.to_string_lossy().into_owned());
    let hint = Hint::from("see which rule says so: ").then("offshoot policy explain --");
    Err(offshoot_engine::Error::new(ExitCode::Denied, message).hint(words.fold(hint, Hint::arg)))
}

/// The rules that hold in a project, and what policy is told about what runs there.
pub(crate) fn surroundings(
    settings: &AcpSettings,
    project: &Project,
    folder: &Path,
) -> offshoot_engine::Result<(Rules, Context)> {
    let (engine, top) = (project.engine(), project.folder()?);
    let rules = engine.rules(top.as_deref(), &settings.rules)?;
    let profile = rules.profiles.profile(settings.sandbox.as_deref())?;
    let workspace = top.unwrap_or_else(|| folder.to_owned());
    let context = Context {
        cwd: folder.to_owned(),
        workspace,
        folders: Vec::new(),
        home: engine.options().user_home(),
        network: settings.network.as_ref().map_or(profile.network, |(network, _)| *network),
        read_only: false,
        unconfined: profile.is_open(),
        terminal: false,
        stdin: true,
        environment: Vec::new(),
    };
    Ok((rules, context))
}

/// Speaks to a process that was started.
async fn connect(hub: &Arc<Hub>, started: Started) -> Result<Arc<Link>, Error> {
    let failed = |error: io::Error| fault(error.to_string());
    let Started { workspace, name, made_at, exec, input } = started;
    let (said, heard) = lines::row();
    let (input, _thread) = lines::writing(input).map_err(failed)?;
    let (stop, ending) = (Arc::new(Notify::new()), Arc::new(Ending::default()));
    listen(hub, &exec, said, &ending).map_err(failed)?;
    let transport = Lines::new(lines::outgoing(input), lines::incoming(heard));
    let (ready, connection) = oneshot::channel();
    let link: Arc<OnceLock<Arc<Link>>> = Arc::default();
    let (known, of, stopped) = (Arc::clone(hub), Arc::clone(&link), Arc::clone(&stop));
    let driver = Client
        .v1()
        .name("offshoot")
        .on_receive_dispatch(
            async move |dispatch: Dispatch, _agent: ConnectionTo<Agent>| {
                receive(&known, of.get(), dispatch)
            },
            agent_client_protocol::on_receive_dispatch!(),
        )
        .connect_with(transport, async move |agent: ConnectionTo<Agent>| {
            let _nobody_waits = ready.send(agent).is_err();
            // Not before: whoever waits for an answer is told how the process ended.
            stopped.notified().await;
            Ok(())
        });
    let (log, driven) = (Arc::clone(&hub.log), exec.clone());
    tokio::task::spawn_local(async move {
        if let Err(error) = driver.await {
            log(&format!("offshoot: the agent: {}", crate::fault::text(&error)));
            // Nobody can speak to it any more.
            driven.cancel();
        }
    });
    let connection = connection.await.map_err(|_| fault("the agent cannot be spoken to"))?;
    let made = Link::new((workspace, name, made_at), exec, connection, (stop, ending));
    Ok(Arc::clone(link.get_or_init(|| Arc::new(made))))
}

/// Passes on what a process prints, on a thread of its own, until it has ended.
fn listen(
    hub: &Hub,
    exec: &Exec,
    said: Sender<io::Result<String>>,
    ending: &Arc<Ending>,
) -> io::Result<()> {
    let (exec, log, ending) = (exec.clone(), Arc::clone(&hub.log), Arc::clone(ending));
    std::thread::Builder::new().name("acp-agent".to_owned()).spawn(move || {
        let (mut out, mut errors) = (Pieces::default(), Pieces::default());
        for event in exec.events() {
            let Event::Output { stream, bytes } = event else { continue };
            let pieces = match stream {
                Stream::Stdout => &mut out,
                Stream::Stderr => &mut errors,
            };
            let lines = match pieces.push(&bytes) {
                Ok(lines) => lines,
                Err(error) => {
                    log(&format!("offshoot: the agent: {error}"));
                    exec.cancel();
                    break;
                }
            };
            for line in lines {
                if stream == Stream::Stdout && lines::is_message(&line) {
                    // Nobody listens any more; what it prints is read all the same, so that it can end.
                    let _gone = said.blocking_send(lines::text(line)).is_err();
                    continue;
                }
                let text = String::from_utf8_lossy(&line).trim_end().to_owned();
                log(&text);
                if stream == Stream::Stderr && !text.is_empty() {
                    *ending.last_words.lock().unwrap_or_else(PoisonError::into_inner) = text;
                }
            }
        }
        let rest = String::from_utf8_lossy(&errors.rest()).trim_end().to_owned();
        if !rest.is_empty() {
            log(&rest);
            *ending.last_words.lock().unwrap_or_else(PoisonError::into_inner) = rest;
        }
        let _first = ending.why.set(why(&exec.wait())).is_ok();
        ending.over.notify_waiters();
        // Only now: who waits for an answer asks why there is none.
        drop(said);
    })?;
    Ok(())
}

/// How a process ended.
fn why(envelope: &ExecEnvelopeDoc) -> String {
    let result = &envelope.result;
    match (&result.error, result.exit_code, result.signal) {
        (Some(error), _, _) => match &error.hint {
            Some(hint) => format!("{}; {hint}", error.message),
            None => error.message.clone(),
        },
        (None, _, Some(signal)) => format!("signal {signal}"),
        (None, Some(code), None) => format!("exit code {code}"),
        (None, None, None) => result.state.to_string(),
    }
}
