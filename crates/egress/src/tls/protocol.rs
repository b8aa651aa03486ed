//! How the proxy itself speaks TLS, to both sides.

use std::sync::Arc;

use rustls::crypto::CryptoProvider;

/// The only protocol that is spoken inside of TLS: one that can be looked into.
pub(super) const HTTP: &[u8] = b"http/1.1";

pub(super) fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}
