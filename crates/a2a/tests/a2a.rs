//! The server, the client, the state machine and the stores, over loopback.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

#[path = "a2a/access.rs"]
mod access;
#[path = "a2a/bench.rs"]
mod bench;
#[path = "a2a/bounds.rs"]
mod bounds;
#[path = "a2a/cancel.rs"]
mod cancel;
#[path = "a2a/client.rs"]
mod client;
#[path = "a2a/hostile.rs"]
mod hostile;
#[path = "a2a/input.rs"]
mod input;
#[path = "a2a/machine.rs"]
mod machine;
#[path = "a2a/push.rs"]
mod push;
#[path = "a2a/raw.rs"]
mod raw;
#[path = "a2a/restart.rs"]
mod restart;
#[path = "a2a/store.rs"]
mod store;
#[path = "a2a/streams.rs"]
mod streams;
#[path = "a2a/tasks.rs"]
mod tasks;
#[path = "a2a/tls.rs"]
mod tls;
