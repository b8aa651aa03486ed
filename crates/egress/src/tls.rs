//! TLS: what its greeting says, certificates for clients, and checking those of servers.

mod authority;
mod client;
mod hello;
mod inspection;
mod protocol;

pub use inspection::Inspection;

pub(crate) use client::Client;
#[cfg(test)]
pub(crate) use hello::tests::greeting;
pub(crate) use hello::{Hello, parse_hello};
