//! The sandbox on the real kernel.

#[path = "sandbox/confinement.rs"]
mod confinement;
#[path = "sandbox/lifecycle.rs"]
mod lifecycle;
#[path = "sandbox/support.rs"]
mod support;
