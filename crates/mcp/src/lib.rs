//! Offshoot for agents that speak the Model Context Protocol.
//!
//! A surface like the command line: everything is done by the engine. The other way round, [`client`] calls tools of other servers. `docs/design/mcp.md` has the design.

mod answer;
mod arguments;
mod call;
pub mod client;
mod consent;
mod http;
mod options;
mod parked;
mod question;
mod resources;
mod serve;
mod server;
mod session;
mod shared;
mod stdio;
mod tools;

pub use http::McpListen;
pub use options::{McpOptions, McpTools};
pub use serve::{serve_http, serve_stdio};
