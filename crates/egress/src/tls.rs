//! TLS: what its greeting says, certificates for clients, and checking those of servers.

mod authority;
mod client;
mod hello;
mod inspection;

pub use inspection::Inspection;

pub(crate) use client::Client;
#[cfg(test)]
pub(crate) use hello::tests::greeting;
pub(crate) use hello::{Hello, parse_hello};

use std::sync::Arc;

use rustls::crypto::CryptoProvider;

/// The only protocol that is spoken inside of TLS: one that can be looked into.
pub(crate) const HTTP: &[u8] = b"http/1.1";

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}
