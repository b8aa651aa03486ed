//! What commands about agents that are served share.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use offshoot_fleet::{FleetError, FleetSecret, RegistryDefinition};
use offshoot_protocol::{ExitCode, Hint};

use crate::context::Context;
use crate::error::{CliError, Result};

/// Where the registry of a user listens, unless something else is said.
pub(crate) const REGISTRY: &str = "tcp://127.0.0.1:7410";

// Not a doc comment: clap would say it of the command. Where agents are found.
#[derive(Debug, Args)]
pub(crate) struct RegistryArgs {
    /// Ask this registry; several if given more than once
    #[arg(long, value_name = "ADDRESS", default_value = REGISTRY, value_delimiter = ',')]
    registry: Vec<String>,
    /// Trust certificates of registries and agents that this authority signed
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    authority: Option<PathBuf>,
}

impl RegistryArgs {
    pub(crate) fn registries(&self) -> Vec<RegistryDefinition> {
        let of = |address: &String| RegistryDefinition {
            address: address.clone(),
            authority: self.authority.clone(),
        };
        self.registry.iter().map(of).collect()
    }
}

/// Where the agents of a user are.
pub(crate) fn directory(context: &Context) -> PathBuf {
    context.engine.registry().dir().join("agents")
}

/// What the agents of a user share.
pub(crate) fn secret(context: &Context) -> Result<FleetSecret> {
    FleetSecret::open(&directory(context).join("secret")).map_err(error)
}

/// A runtime on several threads: an agent does several tasks.
pub(crate) fn runtime() -> Result<tokio::runtime::Runtime> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.map_err(|error| CliError::new(ExitCode::Failure, format!("cannot start: {error}")))
}

/// An error as people see it here.
pub(crate) fn error(error: FleetError) -> CliError {
    let message = error.to_string();
    match error {
        FleetError::Engine(error) => error,
        FleetError::Definition { .. } | FleetError::Rules(_) | FleetError::Identity(_) => {
            CliError::usage(message)
        }
        FleetError::File { .. } => CliError::new(ExitCode::NotFound, message),
        FleetError::Served { name } => {
            let hint = Hint::command("offshoot agents show")
                .arg(name)
                .text(" shows what it does; stop the other process to serve it here");
            CliError::new(ExitCode::Busy, message).hint(hint)
        }
        FleetError::Unknown { silent, .. } => {
            let hint = match &silent[..] {
                [] => Hint::command("offshoot agents list").text(" lists those that are there"),
                silent => Hint::from(format!("these did not answer: {}", silent.join(", "))),
            };
            CliError::new(ExitCode::NotFound, message).hint(hint)
        }
        FleetError::Registry(_) => {
            let hint = Hint::command("offshoot registry serve").text(" starts one");
            CliError::new(ExitCode::Failure, message).hint(hint)
        }
        _ => CliError::new(ExitCode::Failure, message),
    }
}
