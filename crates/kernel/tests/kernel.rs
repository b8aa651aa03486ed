//! The kernel from outside: its life, crashes at every step, a fleet in simulated time.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

#[path = "kernel/crash.rs"]
mod crash;
#[path = "kernel/file.rs"]
mod file;
#[path = "kernel/fleet.rs"]
mod fleet;
#[path = "kernel/jobs.rs"]
mod jobs;
#[path = "kernel/ledger.rs"]
mod ledger;
#[path = "kernel/life.rs"]
mod life;
#[path = "kernel/limits.rs"]
mod limits;
#[path = "kernel/plan.rs"]
mod plan;
#[path = "kernel/schedule.rs"]
mod schedule;
#[path = "kernel/shell.rs"]
mod shell;
#[path = "kernel/sim.rs"]
mod sim;
