//! Running one command in a workspace: the boundary between an agent and its tools.
//!
//! [`ProxyRuntime`] takes an [`ExecutionRequest`] through the states of [`ExecState`](offshoot_protocol::ExecState) and always comes back with
//! an [`ExecutionEnvelope`].

mod caches;
mod check;
mod discarded;
mod envelope;
mod environment;
mod executor;
mod folders;
mod join;
mod output;
mod prompt;
mod quiet;
mod refusal;
mod request;
mod runtime;
mod seal;
mod service;
mod unseen;

pub use discarded::DiscardedFiles;
pub use envelope::{ExecutionEnvelope, ExecutionResult};
pub use environment::EnvironmentRules;
pub use executor::{CommandExecutor, ExecutionObserver};
pub use refusal::{refusal, suggestion};
pub(crate) use request::shell_word;
pub use request::{CommandLine, ExecutionPlace, ExecutionRequest, ExecutionTimeout};
pub use runtime::{INSIDE, INSIDE_VAULT, ProxyRuntime, RuntimeOptions};
pub(crate) use seal::{is_directory_time, shortened};
pub(crate) use service::state_of;
pub use service::{ExecFilter, ExecService};
