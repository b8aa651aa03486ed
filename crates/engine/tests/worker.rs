//! Commands in worker processes: the same as on threads, and nothing is left behind whoever dies.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

#[path = "worker/endings.rs"]
mod endings;
#[path = "worker/mistakes.rs"]
mod mistakes;
#[path = "worker/order.rs"]
mod order;
#[path = "worker/same.rs"]
mod same;
#[path = "worker/support.rs"]
mod support;
#[path = "worker/terminal.rs"]
mod terminal;
#[path = "worker/unread.rs"]
mod unread;
