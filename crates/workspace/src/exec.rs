//! Running one command in a workspace: the boundary between an agent and its tools.
//!
//! [`ProxyRuntime`](runtime::ProxyRuntime) takes an [`ExecutionRequest`](request::ExecutionRequest) through the states of [`ExecState`](offshoot_protocol::ExecState) and always comes back with
//! an [`ExecutionEnvelope`](envelope::ExecutionEnvelope).

pub(crate) mod access;
pub(crate) mod agent;
mod announce;
pub(crate) mod approving;
mod attempt;
mod bare;
mod caches;
mod check;
pub(crate) mod clearance;
pub(crate) mod data_layers;
mod discarded;
mod disk;
pub(crate) mod envelope;
pub(crate) mod environment;
pub(crate) mod executor;
mod folders;
pub(crate) mod hosts;
pub(crate) mod inject;
mod join;
mod launch;
pub(crate) mod options;
pub(crate) mod outlet;
mod output;
pub(crate) mod pending;
mod prepare;
mod preset;
pub(crate) mod probe;
pub(crate) mod profiles;
mod program;
mod prompt;
mod quiet;
pub(crate) mod refusal;
pub(crate) mod request;
pub(crate) mod runtime;
mod scene;
mod seal;
pub(crate) mod service;
mod shortage;
pub(crate) mod sight;
pub(crate) mod state;
pub(crate) mod stored;
pub(crate) mod summary;
mod target;
mod unseen;
pub(crate) mod waiting;
