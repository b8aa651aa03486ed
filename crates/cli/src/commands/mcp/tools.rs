//! `offshoot mcp servers`, `tools` and `call`: tools of other servers.

use std::io::Read;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use offshoot_engine::settings::format_duration;
use offshoot_engine::tool_server::{ToolServer, ToolServerAddress};
use offshoot_engine::{Offshoot, Project};
use offshoot_mcp::client::{
    ListedTool, ToolCall, ToolClient, ToolClientOptions, ToolListing, ToolProgress,
};
use offshoot_protocol::{
    McpCallDoc, McpInstructionsDoc, McpServerDoc, McpServersDoc, McpToolDoc, McpToolsDoc, Network,
    Text, ToolState,
};
use serde_json::{Map, Value};

use super::shown::{part, short, state, visible, visible_lines};
use crate::context::{Context, current_dir};
use crate::error::{CliError, Result};
use crate::render::{self, DIM, NAME, count, paint, table};

/// Larger arguments are a mistake.
const MOST_INPUT: u64 = 16 << 20;

pub(super) const SERVERS_EXAMPLES: &str = "\
Examples:
  offshoot mcp servers
  offshoot mcp servers --json

Servers are named in mcp.toml beside your configuration; no file of a project adds one:

  [server.notes]
  command = [\"npx\", \"-y\", \"@example/notes-mcp\"]
  net = [\"registries\"]

  [server.search]
  url = \"https://mcp.example.com/mcp\"
  header = { env = \"EXAMPLE_TOKEN\" }";

pub(super) const CALL_EXAMPLES: &str = "\
Examples:
  offshoot mcp call notes list
  offshoot mcp call notes add '{\"text\": \"buy milk\"}'
  offshoot mcp call notes add - < note.json
  offshoot mcp call notes add '{\"text\": \"buy milk\"}' -w fix --json

Only tools can be called whose definition you trust: `offshoot mcp trust`. A server that is started
runs in a workspace of its own, or in the one that -w names. Exit codes: 0 the tool answered, 1 it
says that it failed or the server does not answer as it should, 3 there is no such server or tool,
122 the tool is not trusted or policy does not let the server start, 124 it took too long.";

#[derive(Debug, Args)]
pub(crate) struct ToolsArgs {
    /// Which server
    #[arg(value_name = "SERVER")]
    pub(super) server: String,
}

#[derive(Debug, Args)]
pub(crate) struct CallArgs {
    /// Which server
    #[arg(value_name = "SERVER")]
    server: String,
    /// Which of its tools
    #[arg(value_name = "TOOL")]
    tool: String,
    /// The arguments, as a JSON object; - reads them from standard input [default: {}]
    #[arg(value_name = "JSON")]
    arguments: Option<String>,
    /// Give up after this time [default: as mcp.toml says, or 60s]
    #[arg(long, value_name = "DURATION", value_parser = super::super::exec::patience)]
    timeout: Option<Duration>,
}

pub(super) fn servers(context: &Context) -> Result<()> {
    let engine = &context.engine;
    let all = engine.tool_servers()?;
    let servers = all.iter().map(|server| server_doc(server, engine)).collect::<Result<_>>()?;
    let file = engine.tool_server_file();
    let file = file.map(|path| Text::new(path.as_os_str().as_encoded_bytes()));
    context.output.data(McpServersDoc { servers, file }, |document| {
        if document.servers.is_empty() {
            let file = document.file.as_ref().map(render::text).unwrap_or_default();
            return format!("no servers are named in {file}\n");
        }
        let rows = document.servers.iter().map(|server| {
            let what = match (&server.command, &server.url) {
                (Some(command), _) => visible(&command.join(" ")),
                (None, url) => visible(url.as_deref().unwrap_or_default()),
            };
            let net = match server.network {
                Some(Network::Proxy) => visible(&server.allow.join(", ")),
                Some(network) => network.to_string(),
                None => String::new(),
            };
            let trusted = match server.trusted {
                Some(tools) => count(tools, "tool"),
                None => paint(DIM, "nothing"),
            };
            vec![paint(NAME, &server.name), what, net, trusted]
        });
        table(&["SERVER", "COMMAND OR ADDRESS", "REACHES", "TRUSTED"], rows.collect())
    })
}

fn server_doc(server: &ToolServer, engine: &Offshoot) -> Result<McpServerDoc> {
    let trusted = engine.tool_trust(server)?.tools.len() as u64;
    let (command, url, network, allow) = match &server.address {
        ToolServerAddress::Command(own) => {
            (Some(own.argv.clone()), None, Some(own.network), own.allow.clone())
        }
        ToolServerAddress::Url(own) => (None, Some(own.url.clone()), None, Vec::new()),
    };
    Ok(McpServerDoc {
        name: server.name.clone(),
        command,
        url,
        network,
        allow,
        timeout_ms: u64::try_from(server.timeout.as_millis()).unwrap_or(u64::MAX),
        trusted: (trusted > 0).then_some(trusted),
    })
}

pub(super) fn list(args: &ToolsArgs, context: &Context) -> Result<()> {
    let client = connect(&args.server, context.workspace_name(), context)?;
    let listing = client.listing()?;
    let mut document = tools_doc(&args.server, &listing);
    document.workspace = client.close();
    if !listing.is_trusted() {
        context.output.note(untrusted(&listing, &args.server));
    }
    context.output.data(document, |document| {
        let rows = document.tools.iter().map(|tool| {
            let about = short(tool.description.as_deref().or(tool.title.as_deref()));
            vec![paint(NAME, &visible(&tool.name)), state(tool.state), about]
        });
        let mut text = match document.tools.is_empty() {
            true => "the server has no tools\n".to_owned(),
            false => table(&["TOOL", "STATE", "THE SERVER SAYS"], rows.collect()),
        };
        if let Some(own) = &document.instructions {
            text.push_str(&format!("\ninstructions ({}):\n", state(own.state)));
            for line in visible_lines(&own.text).lines() {
                text.push_str(&format!("  {line}\n"));
            }
        }
        text
    })
}

/// What is not trusted, and what to do about it.
pub(in crate::commands) fn untrusted(listing: &ToolListing, server: &str) -> String {
    let states = [ToolState::New, ToolState::Changed, ToolState::Removed];
    let counts = states.into_iter().filter_map(|state| {
        let number = listing.names(state).len() as u64;
        (number > 0).then(|| format!("{number} {state}"))
    });
    let mut what = counts.collect::<Vec<_>>().join(", ");
    if what.is_empty() {
        what = "its instructions".to_owned();
    }
    format!("not all is trusted ({what}): `offshoot mcp trust {server}` shows it and asks")
}

fn tools_doc(server: &str, listing: &ToolListing) -> McpToolsDoc {
    let own = listing.instructions.clone();
    McpToolsDoc {
        server: server.to_owned(),
        program: listing.program.clone(),
        instructions: own.map(|(state, text)| McpInstructionsDoc { state, text }),
        tools: listing.tools.iter().map(tool_doc).collect(),
        workspace: None,
    }
}

fn tool_doc(tool: &ListedTool) -> McpToolDoc {
    let own = tool.definition.clone();
    McpToolDoc {
        state: tool.state,
        hash: own.hash(),
        name: own.name,
        title: own.title,
        description: own.description,
        input_schema: own.input_schema,
        output_schema: own.output_schema,
        annotations: own.annotations,
    }
}

pub(super) fn call(args: &CallArgs, context: &Context) -> Result<()> {
    let arguments = arguments(args.arguments.as_deref())?;
    let client = connect(&args.server, context.workspace_name(), context)?;
    let output = Arc::clone(&context.output);
    let is_shown = !output.is_json();
    let told = move |progress: &ToolProgress| {
        if is_shown {
            output.at_once(&progress_line(progress));
        }
    };
    let answer = client.call(&ToolCall {
        tool: args.tool.clone(),
        arguments,
        timeout: args.timeout,
        progress: Some(Arc::new(told)),
        ..ToolCall::default()
    })?;
    let workspace = client.close();
    if let Some(workspace) = &workspace {
        context.output.note(format!("what the server wrote is in workspace {workspace}"));
    }
    let document = McpCallDoc {
        server: args.server.clone(),
        tool: args.tool.clone(),
        is_error: answer.is_error,
        content: answer.content,
        structured: answer.structured,
        workspace,
    };
    context.output.data(document, |document| {
        let text: String = document.content.iter().map(part).collect();
        match (&document.structured, text.is_empty()) {
            (Some(value), true) => {
                visible_lines(&serde_json::to_string_pretty(value).unwrap_or_default())
            }
            _ => text,
        }
    })
}

fn progress_line(progress: &ToolProgress) -> String {
    let far = match progress.total {
        Some(total) => format!("{}/{total}", progress.progress),
        None => progress.progress.to_string(),
    };
    match &progress.message {
        Some(message) => format!("{far} {}", visible(message)),
        None => far,
    }
}

/// The arguments of a call.
fn arguments(text: Option<&str>) -> Result<Map<String, Value>> {
    let text = match text {
        None => return Ok(Map::new()),
        Some("-") => {
            let mut text = String::new();
            let read = std::io::stdin().take(MOST_INPUT).read_to_string(&mut text);
            read.map_err(|error| CliError::usage(format!("cannot read the arguments: {error}")))?;
            text
        }
        Some(text) => text.to_owned(),
    };
    match serde_json::from_str(&text) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Err(CliError::usage("the arguments are no JSON object")
            .hint("such as '{\"text\": \"hello\"}'")),
        Err(error) => Err(CliError::usage(format!("the arguments are no JSON: {error}"))
            .hint("such as '{\"text\": \"hello\"}'")),
    }
}

/// Connects to a server, or starts it in the project of this folder: in this workspace, or in a new one of its own.
pub(in crate::commands) fn connect(
    name: &str,
    workspace: Option<&str>,
    context: &Context,
) -> Result<ToolClient> {
    let server = context.engine.tool_server(name)?;
    let is_started = matches!(server.address, ToolServerAddress::Command(_));
    let program = std::env::current_exe()
        .map_err(|error| CliError::usage(format!("cannot find this program: {error}")))?;
    // What the server wrote is recorded even if this process is killed.
    let engine = Offshoot::open(context.engine.options().clone().worker(program))?;
    let limit = format_duration(server.timeout);
    if is_started && !context.output.is_json() {
        context.output.at_once(&format!("starting server {name} (at most {limit})"));
    }
    let project = project(&engine, is_started, context)?;
    let options = ToolClientOptions {
        engine,
        project,
        directory: current_dir()?,
        workspace: workspace.map(str::to_owned),
    };
    ToolClient::connect(server, options)
}

/// The project that a server is started in and whose audit log has its calls. For a server elsewhere none is made.
pub(super) fn project(
    engine: &Offshoot,
    is_needed: bool,
    context: &Context,
) -> Result<Option<Project>> {
    let here = current_dir()?;
    match context.vault_name() {
        Some(name) => engine.vault(name).map(Some),
        None if is_needed || engine.bound_vault(&here).is_ok() => engine.project(&here).map(Some),
        None => Ok(None),
    }
}
