//! The real binary is stopped at every point where it changes a file, by a kill, a power cut or an error, and must
//! leave the state before or the state after, in order and ready for the next command.
//!
//! That the tests can fail is tested too: with syncs left out, the same checks must find that something is lost.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]
#![expect(
    clippy::print_stdout,
    reason = "what was run, and with which seed, is for people to read"
)]

#[path = "crash/campaign.rs"]
mod campaign;
#[path = "crash/errors.rs"]
mod errors;
#[path = "crash/home.rs"]
mod home;
#[path = "crash/home_left.rs"]
mod home_left;
#[path = "crash/home_next.rs"]
mod home_next;
#[path = "crash/home_settled.rs"]
mod home_settled;
#[path = "crash/kills.rs"]
mod kills;
#[path = "crash/log_syncs.rs"]
mod log_syncs;
#[path = "crash/points.rs"]
mod points;
#[path = "crash/power.rs"]
mod power;
#[path = "crash/scene.rs"]
mod scene;
#[path = "crash/state.rs"]
mod state;
#[path = "crash/syncs.rs"]
mod syncs;
#[path = "crash/verify.rs"]
mod verify;
#[path = "crash/writers.rs"]
mod writers;
