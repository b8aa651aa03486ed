//! A command in a worker process of its own: the same program for every command, with the request over a socket.
//!
//! The messages are specified in docs/design/engine.md.

mod host;
mod message;
mod serve;

pub(super) use host::start;
pub use serve::serve;

/// The argument that makes the `offshoot` program a worker.
pub const ARGUMENT: &str = "worker";
