//! Tools of other servers, for the agent.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use offshoot_engine::tool_trust::ToolDefinition;
use offshoot_mcp::client::{ToolAnswer, ToolCall, ToolClient};
use offshoot_protocol::ExitCode;
use offshoot_tool::{
    CallContext, CallLimits, Capability, Effects, TextOutput, Tool, ToolContract, ToolError,
    ToolOutput, ToolRegistry,
};
use serde_json::Value;

use crate::commands::mcp::{connect, untrusted};
use crate::context::Context;
use crate::error::{CliError, Result};

/// No model takes a longer name of a tool.
const LONGEST_NAME: usize = 64;

/// The servers that an agent calls tools of, until it is done.
#[derive(Debug, Default)]
pub(super) struct Servers(Vec<Arc<ToolClient>>);

/// A tool of a server, as the agent calls it.
struct ServerTool {
    client: Arc<ToolClient>,
    /// What the server calls it.
    name: String,
    contract: ToolContract,
}

impl Servers {
    /// Starts or reaches servers, and adds those of their tools that the user trusts.
    pub(super) fn open(
        names: &[String],
        registry: &mut ToolRegistry,
        context: &Context,
    ) -> Result<Self> {
        let mut servers = Self::default();
        for name in names {
            // Not in the agent's workspace, which the server would keep busy.
            let client = Arc::new(connect(name, None, context)?);
            let listing = client.listing()?;
            if !listing.is_trusted() {
                context.output.note(untrusted(&listing, name));
            }
            for definition in client.tools()? {
                let contract = contract(name, &definition);
                let tool =
                    ServerTool { client: Arc::clone(&client), name: definition.name, contract };
                registry.add(tool).map_err(|error| {
                    CliError::new(ExitCode::Failure, format!("server {name}: {error}"))
                })?;
            }
            servers.0.push(client);
        }
        Ok(servers)
    }

    /// Ends the connections. What servers wrote is told of.
    pub(super) fn close(self, context: &Context) {
        for client in self.0 {
            // A call that nobody waits for may still have it; then it ends with this process.
            let Some(client) = Arc::into_inner(client) else { continue };
            let name = client.server().name.clone();
            if let Some(workspace) = client.close() {
                context
                    .output
                    .note(format!("what server {name} wrote is in workspace {workspace}"));
            }
        }
    }
}

/// What the agent knows of a tool. Its name says whose it is.
fn contract(server: &str, definition: &ToolDefinition) -> ToolContract {
    let plain = |letter: char| match letter {
        letter if letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-') => letter,
        _ => '_',
    };
    let name = format!("{server}__{}", definition.name);
    let says = definition.description.as_deref().or(definition.title.as_deref());
    // A person has trusted what the server says of it, this too.
    let reads = definition.annotations.as_ref().and_then(|it| it.get("readOnlyHint"));
    ToolContract {
        name: name.chars().map(plain).take(LONGEST_NAME).collect(),
        version: 1,
        description: format!("Of the server {server}. {}", says.unwrap_or_default()),
        schema: definition.input_schema.clone(),
        effects: match reads == Some(&Value::Bool(true)) {
            true => Effects::Reads,
            false => Effects::Runs,
        },
        capabilities: vec![Capability::new(format!("mcp:{server}"))],
        // The server's entry has the limit of time.
        limits: CallLimits { time: None, ..CallLimits::default() },
    }
}

impl Tool for ServerTool {
    fn contract(&self) -> &ToolContract {
        &self.contract
    }

    fn call(
        &self,
        arguments: Value,
        context: CallContext,
    ) -> BoxFuture<'static, std::result::Result<ToolOutput, ToolError>> {
        let (client, tool) = (Arc::clone(&self.client), self.name.clone());
        let arguments = match arguments {
            Value::Object(arguments) => arguments,
            _ => serde_json::Map::new(),
        };
        let call = ToolCall { tool, arguments, ..ToolCall::default() };
        let (cancel, token) = (call.cancel.clone(), context.token().clone());
        async move {
            let mut answer = tokio::task::spawn_blocking(move || client.call(&call));
            let answer = tokio::select! {
                answer = &mut answer => answer,
                () = token.cancelled() => {
                    cancel.cancel();
                    answer.await
                }
            };
            let answer =
                answer.map_err(|error| ToolError::fatal(format!("the call broke off: {error}")))?;
            // Whatever is wrong with the server, the rest can be done without it.
            let answer = answer.map_err(|error| ToolError::refused(error.to_string()))?;
            Ok(TextOutput::new(text(&answer)).failed(answer.is_error).into())
        }
        .boxed()
    }
}

/// An answer for the model.
fn text(answer: &ToolAnswer) -> String {
    let part = |part: &Value| match (part["type"].as_str(), part["text"].as_str()) {
        (Some("text"), Some(text)) => text.to_owned(),
        (Some(kind), _) if part["data"].is_string() => {
            format!("[{kind}, {}]", part["mimeType"].as_str().unwrap_or("of no known type"))
        }
        _ => part.to_string(),
    };
    let parts: Vec<String> = answer.content.iter().map(part).collect();
    match (&answer.structured, parts.is_empty()) {
        (Some(value), true) => value.to_string(),
        _ => parts.join("\n"),
    }
}
