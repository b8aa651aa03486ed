//! What the protocol asks of a server.

use std::sync::Arc;

use offshoot_engine::Result;
use offshoot_engine::id::Id;
use offshoot_protocol::ExitCode;
use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestMethod, CallToolRequestParams, CallToolResponse, CompleteRequestMethod,
    CompleteRequestParams, CompleteResult, ConstString, CustomRequest, CustomResult, ErrorCode,
    Implementation, InitializeResultMethod, ListPromptsRequestMethod, ListPromptsResult,
    ListResourceTemplatesRequestMethod, ListResourceTemplatesResult, ListResourcesRequestMethod,
    ListResourcesResult, ListToolsRequestMethod, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestMethod, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
    ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use tokio::sync::OnceCell;

use crate::call::{Call, blocking};
use crate::session::Session;
use crate::shared::Shared;
use crate::tools::{TOOLS, ToolSpec};
use crate::{answer, question, resources};

/// The header that names a session, where the protocol has them.
const SESSION_HEADER: &str = "mcp-session-id";

/// What is answered.
const METHODS: [&str; 6] = [
    CallToolRequestMethod::VALUE,
    InitializeResultMethod::VALUE,
    ListResourceTemplatesRequestMethod::VALUE,
    ListResourcesRequestMethod::VALUE,
    ListToolsRequestMethod::VALUE,
    ReadResourceRequestMethod::VALUE,
];

const INSTRUCTIONS: &str = "\
Offshoot runs commands and changes files in a workspace: a copy-on-write fork of the user's project. The user's own folder does \
not change until a commit. Every command and every edit can be undone. Use exec for commands, and read, write, edit, search and \
list for files; status and diff show what changed. Some commands need the approval of a person, which you cannot give.";

/// One connection to the server, or one session of it.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    shared: Arc<Shared>,
    /// Whether requests come over HTTP.
    is_http: bool,
    session: Arc<OnceCell<Arc<Session>>>,
}

impl Server {
    pub(crate) fn new(shared: Arc<Shared>, is_http: bool) -> Self {
        Self { shared, is_http, session: Arc::default() }
    }

    /// The session of a request, opened at the first one that needs it.
    async fn session(&self, context: &RequestContext<RoleServer>) -> Result<Arc<Session>> {
        let client = context.client_info().map(|info| info.name).unwrap_or_default();
        let shared = Arc::clone(&self.shared);
        if self.is_http && question::is_stateless(context) {
            return blocking(move || shared.of_client(&client)).await;
        }
        let parts = context.extensions.get::<http::request::Parts>();
        let header = parts.and_then(|parts| parts.headers.get(SESSION_HEADER)?.to_str().ok());
        let id = header.map_or_else(|| Id::random().to_string(), str::to_owned);
        let opening = || async move { blocking(move || shared.open(&client, &id)).await };
        self.session.get_or_try_init(opening).await.cloned()
    }

    fn tool(&self, name: &str) -> Option<&'static ToolSpec> {
        TOOLS.iter().find(|tool| tool.name == name && self.shared.options.tools.has(name))
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let can = ServerCapabilities::builder().enable_tools().enable_resources().build();
        let mut server = Implementation::new("offshoot", &self.shared.options.version);
        server.title = Some("Offshoot".to_owned());
        ServerConfig::new(can).with_server_info(server).with_instructions(INSTRUCTIONS)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tool(name).map(|tool| tool.listed(self.shared.options.any_workspace))
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let options = &self.shared.options;
        let listed = TOOLS.iter().filter(|tool| options.tools.has(tool.name));
        let tools = listed.map(|tool| tool.listed(options.any_workspace)).collect();
        Ok(ListToolsResult { tools, ..ListToolsResult::default() })
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = self.tool(&request.name) else {
            let is_off = TOOLS.iter().any(|tool| tool.name == request.name);
            let why = match is_off {
                true => "is switched off in this server",
                false => "is not a tool of this server",
            };
            return Err(ErrorData::invalid_params(format!("{} {why}", request.name), None));
        };
        let performed = match self.session(&context).await {
            Ok(session) => {
                let shared = Arc::clone(&self.shared);
                Call { shared, session, context }.perform(tool, request).await
            }
            Err(error) => Err(error),
        };
        Ok(performed.unwrap_or_else(|error| answer::failure(&error).into()))
    }

    // What is not offered is not there, whatever answer the library has for it.
    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListPromptsRequestMethod>())
    }

    async fn complete(
        &self,
        _request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Err(ErrorData::method_not_found::<CompleteRequestMethod>())
    }

    // The library takes a request that does not fit its own method for one of a method that it does not know.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = request.method;
        if METHODS.contains(&method.as_str()) {
            return Err(ErrorData::invalid_params(
                format!("the params of {method} do not fit"),
                None,
            ));
        }
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None))
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let session = self.session(&context).await.map_err(protocol_error)?;
        let listed = blocking(move || resources::list(&session)).await;
        let resources = listed.map_err(protocol_error)?;
        Ok(ListResourcesResult { resources, ..ListResourcesResult::default() })
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let resource_templates = resources::templates();
        Ok(ListResourceTemplatesResult {
            resource_templates,
            ..ListResourceTemplatesResult::default()
        })
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let session = self.session(&context).await.map_err(protocol_error)?;
        let read = blocking(move || resources::read(&session, &request.uri)).await;
        Ok(ReadResourceResult::new(vec![read.map_err(protocol_error)?]).into())
    }
}

/// An error where the protocol has no other place for it.
fn protocol_error(error: offshoot_engine::Error) -> ErrorData {
    let body = error.body();
    let message = body.message.clone();
    let data = serde_json::to_value(body).ok().filter(|_| error.hint.is_some());
    match error.code {
        ExitCode::NotFound => ErrorData::resource_not_found(message, data),
        ExitCode::Usage => ErrorData::invalid_params(message, data),
        _ => ErrorData::internal_error(message, data),
    }
}
