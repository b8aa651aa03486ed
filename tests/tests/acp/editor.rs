//! An editor, as the official library makes one, in front of `offshoot acp`.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    ClientCapabilities, ContentBlock, FileSystemCapabilities, InitializeRequest,
    InitializeResponse, NewSessionRequest, PromptRequest, ReadTextFileRequest,
    RequestPermissionOutcome, RequestPermissionRequest, RequestPermissionResponse,
    SelectedPermissionOutcome, SessionId, SessionNotification, SessionUpdate, StopReason,
    TextContent, WriteTextFileRequest,
};
use agent_client_protocol::{Agent, Client, Error, Lines};
use offshoot_tests::product::Place;

const AGENT: &str = include_str!("agent.py");

/// What somebody answers who leaves questions open.
pub(crate) const LATER: &str = "later";

/// What an editor saw.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) updates: Mutex<Vec<SessionNotification>>,
    pub(crate) questions: Mutex<Vec<RequestPermissionRequest>>,
    /// Questions that nobody answers.
    pub(crate) open: Mutex<Vec<Box<dyn std::any::Any + Send>>>,
    /// Files that it was asked for, which it never is.
    pub(crate) files: Mutex<Vec<String>>,
}

impl Seen {
    /// What the agent said, since this was asked last.
    pub(crate) fn said(&self) -> String {
        let text = |update: SessionNotification| match update.update {
            SessionUpdate::AgentMessageChunk(chunk) => match chunk.content {
                ContentBlock::Text(text) => Some(text.text),
                _ => None,
            },
            _ => None,
        };
        self.updates.lock().unwrap().drain(..).filter_map(text).collect::<Vec<_>>().join("\n")
    }
}

/// A place with a project that has the agent in it.
pub(crate) fn place() -> Place {
    let place = Place::new();
    place.write("agent.py", AGENT);
    place.write("old.txt", "old\n");
    place
}

/// The arguments for the agent.
pub(crate) fn acp<'a>(options: &[&'a str], agent: &[&'a str]) -> Vec<&'a str> {
    [&["acp"], options, &["--", "python3", "agent.py"], agent].concat()
}

pub(crate) fn start(place: &Place, arguments: &[&str]) -> Child {
    start_by(place, None, arguments)
}

/// The same by a process that says it is an agent.
fn start_by(place: &Place, agent: Option<&str>, arguments: &[&str]) -> Child {
    let mut command = place.command(arguments);
    command.envs(agent.map(|name| ("OFFSHOOT_AGENT", name)));
    command.env("OFFSHOOT_EXEC__GRACE", "1s");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Runs an editor: what it does, what it answers to questions, and how the program ended once the editor was gone.
pub(crate) fn run<T: 'static>(
    place: &Place,
    arguments: &[&str],
    option: &'static str,
    act: impl AsyncFnOnce(ConnectionTo<Agent>, Arc<Seen>) -> T + 'static,
) -> (T, ExitStatus, String) {
    run_by(place, None, arguments, option, act)
}

/// The same by a process that says it is an agent.
pub(crate) fn run_by<T: 'static>(
    place: &Place,
    agent: Option<&str>,
    arguments: &[&str],
    option: &'static str,
    act: impl AsyncFnOnce(ConnectionTo<Agent>, Arc<Seen>) -> T + 'static,
) -> (T, ExitStatus, String) {
    let mut child = start_by(place, agent, arguments);
    let (mut input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let errors = child.stderr.take().unwrap();
    let errors = std::thread::spawn(move || std::io::read_to_string(errors).unwrap());
    let (said, mut heard) = tokio::sync::mpsc::channel(16);
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines() {
            let _gone = said.blocking_send(line);
        }
    });
    let outgoing = futures::sink::unfold((), move |(), line: String| {
        let written = input.write_all(format!("{}\n", line.trim_end()).as_bytes());
        std::future::ready(written)
    });
    let incoming = futures::stream::poll_fn(move |context| heard.poll_recv(context));
    let seen = Arc::new(Seen::default());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let served = serve(Lines::new(outgoing, incoming), Arc::clone(&seen), option, act);
    let done =
        runtime.block_on(async { tokio::time::timeout(Duration::from_secs(120), served).await });
    let done = done.expect("the editor gets its answers in time").unwrap();
    let status = ended(&mut child);
    assert!(seen.files.lock().unwrap().is_empty(), "{:?}", seen.files);
    (done, status, errors.join().unwrap())
}

/// How a program ends that has nobody to talk to any more.
pub(crate) fn ended(child: &mut Child) -> ExitStatus {
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        assert!(started.elapsed() < Duration::from_secs(60), "it does not end");
        std::thread::sleep(Duration::from_millis(20));
    }
}

async fn serve<T: 'static>(
    transport: impl agent_client_protocol::ConnectTo<Client> + 'static,
    seen: Arc<Seen>,
    option: &'static str,
    act: impl AsyncFnOnce(ConnectionTo<Agent>, Arc<Seen>) -> T + 'static,
) -> Result<T, Error> {
    let (updates, questions) = (Arc::clone(&seen), Arc::clone(&seen));
    let (reads, writes) = (Arc::clone(&seen), Arc::clone(&seen));
    Client
        .v1()
        .on_receive_notification(
            async move |update: SessionNotification, _| {
                updates.updates.lock().unwrap().push(update);
                Ok(())
            },
            agent_client_protocol::on_receive_notification!(),
        )
        .on_receive_request(
            async move |question: RequestPermissionRequest, responder, _| {
                let chosen = chosen(&question, option);
                questions.questions.lock().unwrap().push(question);
                if option == LATER {
                    questions.open.lock().unwrap().push(Box::new(responder));
                    return Ok(());
                }
                let chosen = SelectedPermissionOutcome::new(chosen);
                let outcome = RequestPermissionOutcome::Selected(chosen);
                responder.respond(RequestPermissionResponse::new(outcome))
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |file: ReadTextFileRequest, responder, _| {
                reads.files.lock().unwrap().push(file.path.display().to_string());
                responder.respond_with_error(Error::internal_error())
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |file: WriteTextFileRequest, responder, _| {
                writes.files.lock().unwrap().push(file.path.display().to_string());
                responder.respond_with_error(Error::internal_error())
            },
            agent_client_protocol::on_receive_request!(),
        )
        .connect_with(transport, async move |agent: ConnectionTo<Agent>| Ok(act(agent, seen).await))
        .await
}

/// The id of the option that is meant by its id or its kind.
fn chosen(question: &RequestPermissionRequest, option: &str) -> String {
    let options = serde_json::to_value(&question.options).unwrap();
    let is_meant =
        |known: &&serde_json::Value| known["optionId"] == option || known["kind"] == option;
    let found = options.as_array().unwrap().iter().find(is_meant);
    found.map_or(option, |found| found["optionId"].as_str().unwrap()).to_owned()
}

/// Says hello as an editor that reads and writes files, and has terminals.
pub(crate) async fn initialize(agent: &ConnectionTo<Agent>) -> Result<InitializeResponse, Error> {
    let files = FileSystemCapabilities::new().read_text_file(true).write_text_file(true);
    let abilities = ClientCapabilities::new().fs(files).terminal(true);
    let hello = InitializeRequest::new(ProtocolVersion::V1).client_capabilities(abilities);
    agent.send_request(hello).block_task().await
}

/// Opens a session in a folder.
pub(crate) async fn open(agent: &ConnectionTo<Agent>, place: &std::path::Path) -> SessionId {
    let opened = agent.send_request(NewSessionRequest::new(place)).block_task().await.unwrap();
    opened.session_id
}

/// Has the agent do something.
pub(crate) async fn prompt(
    agent: &ConnectionTo<Agent>,
    session: &SessionId,
    text: &str,
) -> Result<StopReason, Error> {
    let text = vec![ContentBlock::Text(TextContent::new(text))];
    let prompt = PromptRequest::new(session.clone(), text);
    Ok(agent.send_request(prompt).block_task().await?.stop_reason)
}
