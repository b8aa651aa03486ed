//! The connection to a server, and the thread that speaks.

use std::fmt;
use std::io;
use std::time::Duration;

use offshoot_engine::text::{count, line};
use offshoot_engine::tool_server::{ToolServer, ToolServerAddress};
use offshoot_engine::tool_trust::ToolDefinition;
use offshoot_engine::{Error, Result, settings};
use offshoot_protocol::{ExitCode, Hint};
use rmcp::model::{ClientRequest, ListToolsRequest, PaginatedRequestParams, ServerResult, Tool};
use rmcp::service::{ClientInitializeError, Peer, RunningService, ServiceError};
use rmcp::{RoleClient, ServiceExt};
use tokio::runtime::{Builder, Handle};
use tokio_util::sync::CancellationToken;

use super::handler::Handler;
use super::options::ToolClientOptions;
use super::process::{Place, Process};
use super::web;

/// So many tools a server may have; a model could not tell more apart.
const MOST_TOOLS: usize = 1000;
/// So many bytes all definitions may have.
const MOST_BYTES: usize = 4 << 20;
/// How long a server may take to end by itself when nobody speaks to it any more.
const LEAVE: Duration = Duration::from_secs(2);

type Running = RunningService<RoleClient, Handler>;

/// The connection to a server.
pub(super) struct Link {
    name: String,
    runtime: Handle,
    /// Has the thread end.
    over: CancellationToken,
    running: Option<Running>,
    peer: Peer<RoleClient>,
    handler: Handler,
    process: Option<Process>,
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Link {
    /// Starts the server or connects to it, and has it introduce itself.
    pub(super) fn open(server: &ToolServer, options: &ToolClientOptions) -> Result<Self> {
        let (runtime, over) = speaking().map_err(|error| failed(server, &error))?;
        let handler = Handler::default();
        let (running, process) = match &server.address {
            ToolServerAddress::Command(command) => {
                let project = options.project.as_ref().ok_or_else(|| {
                    Error::usage(format!(
                        "server {} is started in a project, and there is none",
                        server.name
                    ))
                })?;
                let place = Place {
                    project,
                    directory: &options.directory,
                    workspace: options.workspace.as_deref(),
                    name: &server.name,
                };
                let (process, transport) = Process::start(command, &place)?;
                let began = runtime.block_on(async {
                    let met = handler.clone().serve_with_ct(transport, over.child_token());
                    tokio::time::timeout(server.timeout, met).await
                });
                (began, Some(process))
            }
            ToolServerAddress::Url(url) => {
                let began = runtime.block_on(async {
                    // It starts a task, which needs the runtime.
                    let transport = web::transport(url, &options.engine)?;
                    let met = handler.clone().serve_with_ct(transport, over.child_token());
                    Ok::<_, Error>(tokio::time::timeout(server.timeout, met).await)
                });
                (began?, None)
            }
        };
        match running {
            Ok(Ok(running)) => {
                let (peer, name) = (running.peer().clone(), server.name.clone());
                Ok(Self { name, runtime, over, running: Some(running), peer, handler, process })
            }
            Ok(Err(error)) => Err(unmet(process.as_ref(), &over, introduction(&error))),
            Err(_) => {
                let limit = settings::format_duration(server.timeout);
                let what =
                    format!("server {} did not introduce itself within {limit}", server.name);
                let error = Error::new(ExitCode::Timeout, what).hint(more_time(server));
                Err(unmet(process.as_ref(), &over, error))
            }
        }
    }

    pub(super) fn runtime(&self) -> &Handle {
        &self.runtime
    }

    pub(super) fn peer(&self) -> &Peer<RoleClient> {
        &self.peer
    }

    pub(super) fn handler(&self) -> &Handler {
        &self.handler
    }

    /// Whether the server said that its tools changed, since the last time that this was asked.
    pub(super) fn take_changed(&self) -> bool {
        self.handler.take_changed()
    }

    /// What the server calls itself, and what it tells models.
    pub(super) fn about(&self) -> (String, Option<String>) {
        let Some(info) = self.peer.peer_info() else { return (String::new(), None) };
        let own = info.server_info.as_ref();
        let program = own.map(|own| format!("{} {}", own.name, own.version)).unwrap_or_default();
        (program, info.instructions.clone().filter(|text| !text.trim().is_empty()))
    }

    /// All tools of the server, asked for now.
    pub(super) fn list(&self, server: &ToolServer) -> Result<Vec<ToolDefinition>> {
        let listed = self
            .runtime
            .block_on(async { tokio::time::timeout(server.timeout, self.pages()).await });
        let tools = match listed {
            Ok(tools) => tools.map_err(|error| self.explain(&error))?,
            Err(_) => {
                let limit = settings::format_duration(server.timeout);
                let what = format!("server {} did not list its tools within {limit}", self.name);
                return Err(self.told(Error::new(ExitCode::Timeout, what).hint(more_time(server))));
            }
        };
        let mut found: Vec<ToolDefinition> = Vec::with_capacity(tools.len());
        for tool in tools {
            let tool = definition(tool);
            if found.iter().any(|other| other.name == tool.name) {
                let what = format!("server {} has two tools {}", self.name, line(&tool.name));
                return Err(Error::new(ExitCode::Failure, what));
            }
            found.push(tool);
        }
        Ok(found)
    }

    async fn pages(&self) -> std::result::Result<Vec<Tool>, Fault> {
        let (mut tools, mut size, mut cursor) = (Vec::new(), 0, None);
        // A page may be empty, so pages are counted too.
        for _ in 0..MOST_TOOLS {
            let params = PaginatedRequestParams::default().with_cursor(cursor);
            // Not by the function for that: it may answer from a cache, whose age the server decides about.
            let request = ClientRequest::ListToolsRequest(ListToolsRequest::with_param(params));
            let ServerResult::ListToolsResult(page) = self.peer.send_request(request).await? else {
                return Err(Fault::Text("its answer to tools/list is no list of tools".to_owned()));
            };
            size += serde_json::to_string(&page.tools).map_or(0, |text| text.len());
            tools.extend(page.tools);
            if tools.len() > MOST_TOOLS || size > MOST_BYTES {
                let most = count(MOST_TOOLS as u64, "tool");
                let bytes = offshoot_engine::text::bytes(MOST_BYTES as u64);
                return Err(Fault::Text(format!(
                    "it lists more than {most} or {bytes} of definitions"
                )));
            }
            cursor = page.next_cursor;
            if cursor.is_none() {
                return Ok(tools);
            }
        }
        Err(Fault::Text("its list of tools does not end".to_owned()))
    }

    /// An error on the way to the server, with what is known about it.
    pub(super) fn explain(&self, fault: &Fault) -> Error {
        let what = match fault {
            Fault::Text(text) => text.clone(),
            Fault::Service(ServiceError::McpError(error)) => {
                format!("it answered with an error: {} ({})", line(&error.message), error.code.0)
            }
            Fault::Service(ServiceError::TransportClosed) => "the connection was closed".to_owned(),
            Fault::Service(error) => line(&error.to_string()),
        };
        self.told(Error::new(ExitCode::Failure, format!("server {}: {what}", self.name)))
    }

    /// An error with what the process of the server did, if there is one.
    pub(super) fn told(&self, error: Error) -> Error {
        with_story(error, self.process.as_ref())
    }

    /// Ends the connection. Gives the name of the workspace of a server that was started and wrote something.
    pub(super) fn close(mut self) -> Option<String> {
        self.leave();
        self.process.take()?.settle()
    }

    /// Says goodbye, and ends a process that does not go.
    fn leave(&mut self) {
        if let Some(mut running) = self.running.take() {
            let _said = self.runtime.block_on(running.close_with_timeout(LEAVE)).is_ok();
        }
        if let Some(process) = &self.process {
            leave(process);
        }
        self.over.cancel();
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.leave();
        if let Some(process) = self.process.take() {
            // Whoever wants to know closes it.
            let _workspace = process.settle();
        }
    }
}

/// What can go wrong on the way.
pub(super) enum Fault {
    Service(ServiceError),
    Text(String),
}

impl From<ServiceError> for Fault {
    fn from(error: ServiceError) -> Self {
        Self::Service(error)
    }
}

/// The definition of a tool: what a model is told of it, and nothing else.
fn definition(tool: Tool) -> ToolDefinition {
    let annotations = tool.annotations.and_then(|own| serde_json::to_value(own).ok());
    ToolDefinition {
        name: tool.name.into_owned(),
        title: tool.title,
        description: tool.description.map(Into::into),
        input_schema: serde_json::Value::Object(tool.input_schema.as_ref().clone()),
        output_schema: tool
            .output_schema
            .map(|own| serde_json::Value::Object(own.as_ref().clone())),
        annotations,
    }
}

/// A thread that speaks, until it is told to end.
fn speaking() -> io::Result<(Handle, CancellationToken)> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let (handle, over) = (runtime.handle().clone(), CancellationToken::new());
    let until = over.clone();
    std::thread::Builder::new().name("mcp-client".to_owned()).spawn(move || {
        runtime.block_on(async {
            until.cancelled().await;
            // What was told to end with it ends.
            tokio::task::yield_now().await;
        });
        runtime.shutdown_background();
    })?;
    Ok((handle, over))
}

/// Has a process end that may not end by itself.
fn leave(process: &Process) {
    let began = std::time::Instant::now();
    while !process.ending.is_over() && began.elapsed() < LEAVE {
        std::thread::sleep(Duration::from_millis(5));
    }
    if !process.ending.is_over() {
        process.cancel();
    }
}

/// Ends what was started for a connection that did not come about, and says what is known.
fn unmet(process: Option<&Process>, over: &CancellationToken, error: Error) -> Error {
    if let Some(process) = process {
        leave_at_once(process);
    }
    over.cancel();
    let error = with_story(error, process);
    match process.and_then(Process::settle) {
        Some(workspace) => {
            let message = format!("{}; what it wrote is in workspace {workspace}", error.message);
            Error { message, ..error }
        }
        None => error,
    }
}

/// A process that ended by itself is let end, to say why; any other is ended.
fn leave_at_once(process: &Process) {
    std::thread::sleep(Duration::from_millis(50));
    if !process.ending.is_over() {
        process.cancel();
    }
}

fn with_story(error: Error, process: Option<&Process>) -> Error {
    match process.and_then(|process| process.ending.story()) {
        Some(story) => Error { message: format!("{}; {story}", error.message), ..error },
        None => error,
    }
}

/// What a failed introduction means.
fn introduction(error: &ClientInitializeError) -> Error {
    let what = match error {
        ClientInitializeError::ConnectionClosed(_) => {
            "the connection was closed before the server introduced itself".to_owned()
        }
        ClientInitializeError::JsonRpcError(error) => {
            format!(
                "the server refused to introduce itself: {} ({})",
                line(&error.message),
                error.code.0
            )
        }
        ClientInitializeError::TransportError { error, .. } => {
            format!("the server cannot be reached: {}", line(&error.to_string()))
        }
        other => {
            let text: String = line(&other.to_string()).chars().take(300).collect();
            format!("it does not speak MCP: {text}")
        }
    };
    Error::new(ExitCode::Failure, what)
}

fn more_time(server: &ToolServer) -> Hint {
    Hint::from(format!("[server.{}] of mcp.toml can give it more: timeout = \"5m\"", server.name))
}

fn failed(server: &ToolServer, error: &dyn fmt::Display) -> Error {
    Error::new(ExitCode::Failure, format!("server {}: {error}", server.name))
}
