//! The sandbox on the real kernel.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

#[path = "sandbox/confinement.rs"]
mod confinement;
#[path = "sandbox/lifecycle.rs"]
mod lifecycle;
#[path = "sandbox/limits.rs"]
mod limits;
#[path = "sandbox/renames.rs"]
mod renames;
#[path = "sandbox/support.rs"]
mod support;
#[path = "sandbox/walls.rs"]
mod walls;
