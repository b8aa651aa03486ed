//! `offshoot mcp`: for agents that speak the Model Context Protocol, and tools of other servers.

mod shown;
mod tools;
mod trust;

use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueHint};
use offshoot_mcp::{McpListen, McpOptions, McpTools, serve_http, serve_stdio};
use offshoot_protocol::{ExitCode, Hint};

use crate::context::{Context, current_dir};
use crate::error::{CliError, Result};
use crate::output;

use self::tools::{CallArgs, ToolsArgs};
pub(super) use self::tools::{connect, untrusted};
use self::trust::{ForgetArgs, TrustArgs};

/// A shorter token can be guessed.
const SHORTEST_TOKEN: usize = 16;

const EXAMPLES: &str = "\
Examples:
  offshoot mcp                              for a client that starts it, on standard input/output
  offshoot mcp -C ~/src/app -w fix          for this project, always in workspace fix
  offshoot mcp --no-tools exec,commit       files only
  offshoot mcp --http                       on http://127.0.0.1:7337/mcp; prints the token
  offshoot mcp --http 127.0.0.1:0 --token-file ~/.config/offshoot/mcp-token
  claude mcp add offshoot -- offshoot mcp   add it to Claude Code
  offshoot mcp servers                      the other way round: tools of other servers

Each session works in a workspace of its own, forked at the first call that changes or runs
something and named after the client. The folder does not change unless somebody commits:
`offshoot review -w NAME`, then `offshoot commit -w NAME`. Policy, approvals and the audit log
are the same as for `offshoot exec`.

Tools: exec, read, write, edit, search, list, diff, status, checkpoint, undo, commit, approvals.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(crate) struct McpArgs {
    #[command(subcommand)]
    command: Option<McpCommand>,
    /// Serve the project of this folder [default: the current one]
    #[arg(short = 'C', long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    directory: Option<PathBuf>,
    /// Serve over HTTP, at this address [default: 127.0.0.1:7337]
    #[arg(long, value_name = "ADDR", num_args = 0..=1, default_missing_value = "127.0.0.1:7337")]
    http: Option<SocketAddr>,
    /// Let --http listen on an address that others can reach
    #[arg(long, requires = "http")]
    listen_anywhere: bool,
    /// Accept requests for this host name as well
    #[arg(long, value_name = "NAME", requires = "http")]
    allow_host: Vec<String>,
    /// Read the bearer token from this file [default: a new one, which is printed]
    #[arg(long, value_name = "FILE", requires = "http", value_hint = ValueHint::FilePath)]
    token_file: Option<PathBuf>,
    /// Offer only these tools
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    tools: Vec<String>,
    /// Do not offer these tools
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    no_tools: Vec<String>,
    /// Let calls name a workspace
    #[arg(long)]
    any_workspace: bool,
    /// Let commands reach these hosts when an agent asks for them, as they are written here
    #[arg(long, value_name = "allow=HOSTS")]
    net: Vec<String>,
    /// Let agents commit to the folder without asking
    #[arg(long)]
    allow_commit: bool,
}

// Not a doc comment: clap would say it of the command above.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
enum McpCommand {
    /// List the servers that mcp.toml names
    #[command(after_help = tools::SERVERS_EXAMPLES)]
    Servers,
    /// List the tools of a server
    #[command(
        after_help = "Examples:\n  offshoot mcp tools notes\n  offshoot mcp tools notes --json\n\nIt starts the server, or connects to it. The texts are the server's own."
    )]
    Tools(ToolsArgs),
    /// Call a tool that you trust
    #[command(after_help = tools::CALL_EXAMPLES)]
    Call(CallArgs),
    /// Trust the tools of a server as it defines them now
    #[command(after_help = trust::EXAMPLES)]
    Trust(TrustArgs),
    /// Trust no tool of a server any more
    #[command(
        after_help = "Examples:\n  offshoot mcp forget notes\n  offshoot mcp forget notes --json"
    )]
    Forget(ForgetArgs),
}

pub(crate) fn run(args: &McpArgs, context: &Context) -> Result<()> {
    match &args.command {
        None => serve(args, context),
        Some(McpCommand::Servers) => tools::servers(context),
        Some(McpCommand::Tools(args)) => tools::list(args, context),
        Some(McpCommand::Call(args)) => tools::call(args, context),
        Some(McpCommand::Trust(args)) => trust::trust(args, context),
        Some(McpCommand::Forget(args)) => trust::forget(args, context),
    }
}

fn serve(args: &McpArgs, context: &Context) -> Result<()> {
    let options = options(args, context)?;
    let Some(address) = args.http else { return serve_stdio(options) };
    check(address, args.listen_anywhere)?;
    let (token, is_new) = match &args.token_file {
        Some(file) => (read_token(file)?, false),
        None => (new_token()?, true),
    };
    let listen = McpListen { address, token, hosts: args.allow_host.clone() };
    serve_http(options, &listen, |bound| {
        output::eprint(&format!("listening on http://{bound}/mcp\n"));
        if is_new {
            output::eprint(&format!("token: {}\n", listen.token));
        }
    })?;
    Ok(())
}

fn options(args: &McpArgs, context: &Context) -> Result<McpOptions> {
    let folder = match &args.directory {
        Some(folder) => folder.canonicalize().map_err(|error| {
            CliError::new(ExitCode::NotFound, format!("{}: {error}", folder.display()))
        })?,
        None => current_dir()?,
    };
    Ok(McpOptions {
        engine: context.engine.options().clone(),
        folder,
        vault: context.vault_name().map(str::to_owned),
        workspace: context.workspace_name().map(str::to_owned),
        any_workspace: args.any_workspace,
        hosts: hosts(&args.net)?,
        allow_commit: args.allow_commit,
        tools: McpTools::new(&args.tools, &args.no_tools)?,
        version: env!("CARGO_PKG_VERSION").to_owned(),
    })
}

/// The hosts of `allow=HOST,HOST`.
pub(crate) fn hosts(given: &[String]) -> Result<Vec<String>> {
    let mut hosts = Vec::new();
    for text in given {
        let Some(list) = text.strip_prefix("allow=").filter(|list| !list.is_empty()) else {
            let message = format!("--net {text}: not allow=HOSTS");
            return Err(CliError::usage(message).hint(Hint::from(
                "`--net allow=crates.io,static.crates.io` names hosts; without it commands reach none but those of your configuration",
            )));
        };
        hosts.extend(list.split(',').map(|host| host.trim().to_owned()));
    }
    Ok(hosts)
}

/// Others reach the server only if somebody says so.
fn check(address: SocketAddr, anywhere: bool) -> Result<()> {
    let is_loopback = match address.ip() {
        IpAddr::V4(ip) => ip.is_loopback(),
        IpAddr::V6(ip) => ip.is_loopback(),
    };
    match is_loopback || anywhere {
        true => Ok(()),
        false => {
            let message = format!("{address} can be reached from other machines");
            Err(CliError::usage(message).hint(
                Hint::from("listen on 127.0.0.1, or add --listen-anywhere: whoever has the token runs commands here"),
            ))
        }
    }
}

fn read_token(file: &Path) -> Result<String> {
    let failed = |error: std::io::Error| {
        CliError::new(ExitCode::NotFound, format!("{}: {error}", file.display()))
    };
    let text = std::fs::read_to_string(file).map_err(failed)?;
    let mode = std::fs::metadata(file).map_err(failed)?.permissions().mode();
    if mode & 0o077 != 0 {
        let message = format!("{}: others can read or write it", file.display());
        let hint = format!("only its owner may: chmod 600 {}", file.display());
        return Err(CliError::usage(message).hint(Hint::from(hint)));
    }
    let token = text.trim();
    let fits = token.len() >= SHORTEST_TOKEN && token.bytes().all(|byte| byte.is_ascii_graphic());
    match fits {
        true => Ok(token.to_owned()),
        false => Err(CliError::usage(format!(
            "{} has no token: at least {SHORTEST_TOKEN} letters, digits and signs in one line",
            file.display()
        ))
        .hint("one is made by: openssl rand -hex 32")),
    }
}

fn new_token() -> Result<String> {
    let mut bytes = [0_u8; 32];
    let mut filled = 0;
    while filled < bytes.len() {
        let flags = rustix::rand::GetRandomFlags::empty();
        filled += rustix::rand::getrandom(&mut bytes[filled..], flags).map_err(|error| {
            CliError::new(ExitCode::Failure, format!("there are no random numbers: {error}"))
        })?;
    }
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
