//! The proxy on loopback: what it lets through, what it refuses, and what it costs.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

#[path = "egress/addresses.rs"]
mod addresses;
#[path = "egress/bounds.rs"]
mod bounds;
#[path = "egress/clients.rs"]
mod clients;
#[path = "egress/credentials.rs"]
mod credentials;
#[path = "egress/direct.rs"]
mod direct;
#[path = "egress/fetch.rs"]
mod fetch;
#[path = "egress/http.rs"]
mod http;
#[path = "egress/names.rs"]
mod names;
#[path = "egress/namespace.rs"]
mod namespace;
#[path = "egress/noise.rs"]
mod noise;
#[path = "egress/support.rs"]
mod support;
#[path = "egress/tls.rs"]
mod tls;
#[path = "egress/tunnels.rs"]
mod tunnels;
