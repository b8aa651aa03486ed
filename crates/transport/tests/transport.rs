//! Two ends of a connection: without I/O, in one process, and over real sockets.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

#[path = "transport/cuts.rs"]
mod cuts;
#[path = "transport/fixture.rs"]
mod fixture;
#[path = "transport/hostile.rs"]
mod hostile;
#[path = "transport/identity.rs"]
mod identity;
#[path = "transport/model.rs"]
mod model;
#[path = "transport/rules.rs"]
mod rules;
#[path = "transport/ways.rs"]
mod ways;
