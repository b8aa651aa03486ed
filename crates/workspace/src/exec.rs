//! Running one command in a workspace: the boundary between an agent and its tools.
//!
//! [`ProxyRuntime`] takes an [`ExecutionRequest`] through the states of [`ProxyExecutionState`] and always comes back with
//! an [`ExecutionEnvelope`].

mod access;
mod caches;
mod check;
mod data_layers;
mod discarded;
mod envelope;
mod environment;
mod executor;
mod folders;
mod join;
mod launch;
mod output;
mod probe;
mod prompt;
mod quiet;
mod refusal;
mod request;
mod runtime;
mod seal;
mod service;
mod state;
mod target;
mod unseen;

pub(crate) use access::LeftAccess;
pub(crate) use data_layers::data_layers_work;
pub use data_layers::try_data_layers;
pub use discarded::DiscardedFiles;
pub use envelope::{ExecutionEnvelope, ExecutionResult};
pub use environment::EnvironmentRules;
pub use executor::{CommandExecutor, ExecutionObserver};
pub use probe::{DriverReport, probe_drivers};
pub use refusal::{refusal, suggestion};
pub(crate) use request::shell_word;
pub use request::{
    CheckpointMode, CommandLine, ExecutionPlace, ExecutionRequest, ExecutionTimeout,
};
pub use runtime::{INSIDE, INSIDE_VAULT, ProxyRuntime, RuntimeOptions};
pub(crate) use seal::{is_directory_time, shortened};
pub use service::{ExecFilter, ExecService};
pub use state::ProxyExecutionState;
