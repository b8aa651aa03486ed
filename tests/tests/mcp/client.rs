//! A client on standard input and output.

use std::os::fd::OwnedFd;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};

use offshoot_tests::product::Place;
use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ElicitRequestParams,
    ElicitResult, ElicitationAction, ErrorData, Implementation, ProgressNotificationParam,
    ProtocolVersion,
};
use rmcp::service::{NotificationContext, RequestContext, RunningService, ServiceError};
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt, RoleClient, ServiceExt};
use serde_json::Value;
use tokio::net::unix::pipe;

/// What a person at a client does, and what the client was told.
#[derive(Clone, Debug, Default)]
pub(crate) struct Person {
    name: String,
    /// What they answer; without it the client cannot ask.
    says: Option<ElicitationAction>,
    pub(crate) questions: Arc<Mutex<Vec<String>>>,
    pub(crate) progress: Arc<Mutex<Vec<String>>>,
}

impl Person {
    pub(crate) fn new(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }

    pub(crate) fn who_says(action: ElicitationAction) -> Self {
        Self { says: Some(action), ..Self::new("test client") }
    }

    pub(crate) fn asked(&self) -> Vec<String> {
        self.questions.lock().unwrap().clone()
    }
}

impl ClientHandler for Person {
    fn get_info(&self) -> ClientConfig {
        let can = match self.says {
            Some(_) => ClientCapabilities::builder().enable_elicitation().build(),
            None => ClientCapabilities::default(),
        };
        ClientConfig::new(can, Implementation::new(&self.name, "1.0"))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        if let ElicitRequestParams::FormElicitationParams { message, .. } = request {
            self.questions.lock().unwrap().push(message);
        }
        Ok(ElicitResult::new(self.says.clone().unwrap_or(ElicitationAction::Cancel)))
    }

    async fn on_progress(
        &self,
        told: ProgressNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        self.progress.lock().unwrap().extend(told.message);
    }
}

/// The revisions of the protocol that are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Revision {
    November2025,
    July2026,
}

/// A client with its server.
pub(crate) struct Client {
    pub(crate) running: RunningService<RoleClient, Person>,
    pub(crate) server: Server,
}

impl Client {
    pub(crate) async fn start(place: &Place, person: &Person, arguments: &[&str]) -> Self {
        Self::start_as(place, person, arguments, Revision::November2025).await
    }

    pub(crate) async fn start_as(
        place: &Place,
        person: &Person,
        arguments: &[&str],
        revision: Revision,
    ) -> Self {
        Self::start_by(place, person, arguments, revision, None).await
    }

    /// The same by a process that says it is an agent.
    pub(crate) async fn start_by(
        place: &Place,
        person: &Person,
        arguments: &[&str],
        revision: Revision,
        agent: Option<&str>,
    ) -> Self {
        let mut command = place.command([&["mcp"], arguments].concat());
        command.envs(agent.map(|name| ("OFFSHOOT_AGENT", name)));
        let mut server = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let output = OwnedFd::from(server.stdout.take().unwrap());
        let input = OwnedFd::from(server.stdin.take().unwrap());
        let output = pipe::Receiver::from_owned_fd(output).unwrap();
        let pipes = (output, pipe::Sender::from_owned_fd(input).unwrap());
        let running = match revision {
            Revision::November2025 => person.clone().serve(pipes).await.unwrap(),
            Revision::July2026 => {
                let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
                let mode = ClientLifecycleMode::Discover { preferred_versions };
                person.clone().serve_with_lifecycle(pipes, mode).await.unwrap()
            }
        };
        Self { running, server: Server(server) }
    }

    /// Calls a tool.
    pub(crate) async fn try_call(
        &self,
        tool: &'static str,
        arguments: Value,
    ) -> Result<CallToolResult, ServiceError> {
        let mut request = CallToolRequestParams::new(tool);
        request.arguments = arguments.as_object().cloned();
        self.running.call_tool(request).await
    }

    /// Calls a tool that works; its document.
    pub(crate) async fn call(&self, tool: &'static str, arguments: Value) -> Value {
        let result = self.try_call(tool, arguments).await.unwrap();
        assert_ne!(result.is_error, Some(true), "{result:?}");
        result.structured_content.unwrap()
    }

    /// Calls a tool that does not work; what the model is told.
    pub(crate) async fn fails(&self, tool: &'static str, arguments: Value) -> String {
        let result = self.try_call(tool, arguments).await.unwrap();
        assert_eq!(result.is_error, Some(true), "{result:?}");
        text(&result)
    }

    /// Ends the client, and waits for the server to end.
    pub(crate) async fn end(mut self) {
        self.running.cancel().await.unwrap();
        assert!(self.server.ended().await.success());
    }
}

/// The process of a server, killed when dropped.
pub(crate) struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

impl Server {
    pub(crate) fn pid(&self) -> rustix::process::Pid {
        rustix::process::Pid::from_child(&self.0)
    }

    pub(crate) fn kill(&mut self) {
        self.0.kill().unwrap();
    }

    /// Waits until it has ended.
    pub(crate) async fn ended(&mut self) -> ExitStatus {
        for _ in 0..2_000 {
            if let Some(status) = self.0.try_wait().unwrap() {
                return status;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        panic!("the server does not end");
    }
}

/// What a model reads of a result.
pub(crate) fn text(result: &CallToolResult) -> String {
    result.content.iter().filter_map(|block| block.as_text()).map(|block| &*block.text).collect()
}

/// Runs a test that waits for things.
pub(crate) fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(test);
}
