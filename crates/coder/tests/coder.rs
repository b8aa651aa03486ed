//! The agent in a real workspace, with a model that answers from a script.

#![expect(clippy::unwrap_used, reason = "a test that fails may panic")]

#[path = "coder/approvals.rs"]
mod approvals;
#[path = "coder/kills.rs"]
mod kills;
#[path = "coder/support.rs"]
mod support;
#[path = "coder/tasks.rs"]
mod tasks;
