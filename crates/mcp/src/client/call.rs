//! Calling a tool.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use offshoot_engine::text::{bytes, line};
use offshoot_engine::tool_server::ToolServer;
use offshoot_engine::tool_trust::{ToolCallRecord, ToolDefinition, hash_json};
use offshoot_engine::{Error, Project, Result, settings};
use offshoot_protocol::{ExitCode, Hint};
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientRequest, ServerResult,
};
use rmcp::service::{PeerRequestOptions, ServiceError};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::link::{Fault, Link};
use super::progress::OnProgress;

/// Ends a call that takes too long for somebody.
#[derive(Clone, Debug, Default)]
pub struct ToolCancel(CancellationToken);

impl ToolCancel {
    /// Ends the call that has it, now or as soon as it begins.
    pub fn cancel(&self) {
        self.0.cancel();
    }
}

/// A call of a tool.
#[derive(Clone, Default)]
pub struct ToolCall {
    /// The tool.
    pub tool: String,
    /// Its arguments.
    pub arguments: Map<String, Value>,
    /// How long it may take; without it as long as the server's entry says.
    pub timeout: Option<Duration>,
    /// What ends it.
    pub cancel: ToolCancel,
    /// Who is told how far it is, on a thread that must not be held up.
    pub progress: Option<OnProgress>,
}

impl fmt::Debug for ToolCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Arguments may hold secrets.
        f.debug_struct("ToolCall").field("tool", &self.tool).finish_non_exhaustive()
    }
}

/// What a tool answered. All of it is the server's: a model is told so, and nothing obeys it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolAnswer {
    /// The tool says that it failed.
    pub is_error: bool,
    /// Its parts, as the protocol has them.
    pub content: Vec<Value>,
    /// The same as data, where the tool gives some.
    pub structured: Option<Value>,
}

/// Calls a tool that is trusted.
pub(super) fn call(
    server: &ToolServer,
    link: &Link,
    project: Option<&Project>,
    tool: &ToolDefinition,
    call: &ToolCall,
) -> Result<ToolAnswer> {
    let (definition, arguments) = (tool.hash(), hash_json(&Value::Object(call.arguments.clone())));
    let record = ToolCallRecord {
        server: &server.name,
        tool: &tool.name,
        definition: &definition,
        arguments: &arguments,
    };
    if let Some(project) = project {
        project.record_tool_call(&record)?;
    }
    let answer = link.runtime().block_on(ask(server, link, call));
    let (outcome, result) = match &answer {
        Ok((answer, hash)) if answer.is_error => ("failed", Some(hash.as_str())),
        Ok((_, hash)) => ("answered", Some(hash.as_str())),
        Err(error) if error.code == ExitCode::Timeout => ("timeout", None),
        Err(error) if error.code == ExitCode::Interrupted => ("cancelled", None),
        Err(_) => ("error", None),
    };
    if let Some(project) = project {
        project.record_tool_result(&record, outcome, result)?;
    }
    answer.map(|(answer, _)| answer)
}

/// Asks the server, and waits no longer than it may take. Gives the hash of the answer too.
async fn ask(server: &ToolServer, link: &Link, call: &ToolCall) -> Result<(ToolAnswer, String)> {
    let limit = call.timeout.unwrap_or(server.timeout);
    let mut params = CallToolRequestParams::new(call.tool.clone());
    params.arguments = Some(call.arguments.clone());
    let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
    let until = tokio::time::Instant::now() + limit;
    let sending = link.peer().send_cancellable_request(request, PeerRequestOptions::no_options());
    let mut handle = match tokio::time::timeout_at(until, sending).await {
        Ok(handle) => handle.map_err(|error| link.explain(&error.into()))?,
        Err(_) => return Err(late(server, link, call, limit)),
    };
    let token = handle.progress_token.clone();
    if let Some(told) = &call.progress {
        link.handler().follow(token.clone(), Arc::clone(told));
    }
    let answered = tokio::select! {
        biased;
        answered = &mut handle.rx => Ok(answered),
        () = call.cancel.0.cancelled() => {
            let what = format!("the call of tool {} was cancelled", line(&call.tool));
            Err(("cancelled", Error::new(ExitCode::Interrupted, what)))
        }
        () = tokio::time::sleep_until(until) => Err(("timeout", late(server, link, call, limit))),
    };
    link.handler().forget(&token);
    match answered {
        Ok(Ok(Ok(ServerResult::CallToolResult(result)))) => checked(server, call, &result),
        Ok(Ok(Ok(_))) => Err(link
            .explain(&Fault::Text("its answer to tools/call is no result of a tool".to_owned()))),
        Ok(Ok(Err(error))) => Err(link.explain(&error.into())),
        Ok(Err(_)) => Err(link.explain(&ServiceError::TransportClosed.into())),
        Err((why, error)) => {
            // The server may be the reason: it is told, and not waited for.
            let telling = handle.cancel(Some(why.to_owned()));
            let _told = tokio::time::timeout(Duration::from_secs(1), telling).await.is_ok();
            Err(error)
        }
    }
}

fn late(server: &ToolServer, link: &Link, call: &ToolCall, limit: Duration) -> Error {
    let (tool, limit) = (line(&call.tool), settings::format_duration(limit));
    let what = format!("tool {tool} of server {} did not answer within {limit}", server.name);
    link.told(Error::new(ExitCode::Timeout, what))
}

/// An answer that is not too large.
fn checked(
    server: &ToolServer,
    call: &ToolCall,
    result: &CallToolResult,
) -> Result<(ToolAnswer, String)> {
    let value = serde_json::to_value(result).unwrap_or_default();
    let size = value.to_string().len() as u64;
    if size > server.max_result {
        let what = format!(
            "the result of tool {} has {}, and server {} may give {}",
            line(&call.tool),
            bytes(size),
            server.name,
            bytes(server.max_result)
        );
        let hint = format!(
            "ask for less, or say so in mcp.toml: max_result = \"{}\"",
            bytes(size.next_power_of_two())
        );
        return Err(Error::new(ExitCode::Failure, what).hint(Hint::from(hint)));
    }
    let content = value.get("content").and_then(Value::as_array).cloned().unwrap_or_default();
    let answer = ToolAnswer {
        is_error: result.is_error.unwrap_or_default(),
        content,
        structured: result.structured_content.clone(),
    };
    Ok((answer, hash_json(&value)))
}
