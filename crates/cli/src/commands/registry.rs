//! `offshoot registry`: by which agents find each other.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueHint};
use offshoot_fleet::{AgentRegistry, ListenDefinition, RegistryLimits, registry_listener};
use offshoot_protocol::ExitCode;
use tokio::signal::unix::{SignalKind, signal};

use crate::context::Context;
use crate::error::{CliError, Result};
use crate::fleet;

const EXAMPLES: &str = "\
Examples:
  offshoot registry serve
  offshoot registry serve --listen tcp://127.0.0.1:0
  offshoot registry serve --listen tls://0.0.0.0:7410 --authority authority.pem \\
      --certificate registry.pem --key registry.key

Agents register, stay for 30 s after each sign of life, and are found by name and by
capability. On plain TCP, which stays on this machine, agents of the same user are let in.
Elsewhere each has a certificate of the authority, with its name. What is registered survives
a restart.";

/// How long connections have to end.
const GRACE: Duration = Duration::from_secs(1);

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum RegistryCommand {
    /// Serve a registry until Ctrl-C
    #[command(after_help = EXAMPLES)]
    Serve(ServeArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Listen at this address: tcp:// on this machine, tls:// or quic://
    #[arg(long, value_name = "ADDRESS", default_value = fleet::REGISTRY)]
    listen: String,
    /// Show this certificate to agents, as PEM
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "key")]
    certificate: Option<PathBuf>,
    /// Prove the certificate by this key, as PEM
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "certificate")]
    key: Option<PathBuf>,
    /// Let in agents whose certificates this authority signed
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    authority: Option<PathBuf>,
    /// Let in agents by these names and tokens, a table as TOML
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    tokens: Option<PathBuf>,
    /// Keep what is registered in this folder [default: beside the vaults]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    data: Option<PathBuf>,
}

pub(crate) fn run(command: &RegistryCommand, context: &Context) -> Result<()> {
    let RegistryCommand::Serve(args) = command;
    let listen = ListenDefinition {
        address: args.listen.clone(),
        certificate: args.certificate.clone(),
        key: args.key.clone(),
        authority: args.authority.clone(),
        tokens: args.tokens.clone(),
        operators: None,
    };
    let folder = args.data.clone().unwrap_or_else(|| fleet::directory(context).join("registry"));
    std::fs::create_dir_all(&folder).map_err(|error| {
        CliError::new(ExitCode::Storage, format!("{}: {error}", folder.display()))
    })?;
    let secret = fleet::secret(context)?;
    let failed = |error: std::io::Error| {
        CliError::new(ExitCode::Failure, format!("cannot watch for signals: {error}"))
    };
    let runtime = fleet::runtime()?;
    let served = runtime.block_on(async {
        let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
        let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
        let registry = AgentRegistry::open(&folder, RegistryLimits::default());
        let registry = registry.map_err(|error| fleet::error(error.into()))?;
        if registry.cut() > 0 {
            let cut = registry.cut();
            context.output.at_once(&format!("{cut} bytes that were not whole were cut off"));
        }
        let server = registry_listener(registry, &listen, Some(&secret)).await;
        let server = server.map_err(fleet::error)?;
        context.output.at_once(&format!("registry: listening on {}", server.address()));
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        server.drain(GRACE).await;
        Ok(())
    });
    runtime.shutdown_timeout(GRACE);
    served
}
