//! The agent from end to end: scripted models, tools over a directory, logs that are cut off.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

#[path = "agent/calls.rs"]
mod calls;
#[path = "agent/context.rs"]
mod context;
#[path = "agent/delegation.rs"]
mod delegation;
#[path = "agent/forks.rs"]
mod forks;
#[path = "agent/kills.rs"]
mod kills;
#[path = "agent/limits.rs"]
mod limits;
#[path = "agent/logs.rs"]
mod logs;
#[path = "agent/models.rs"]
mod models;
#[path = "agent/nonsense.rs"]
mod nonsense;
#[path = "agent/pruning.rs"]
mod pruning;
#[path = "agent/replays.rs"]
mod replays;
#[path = "agent/secrets.rs"]
mod secrets;
#[path = "agent/support.rs"]
mod support;
#[path = "agent/turns.rs"]
mod turns;
