//! Leaves out audit events, to measure what they cost. The product is built without the feature `measured`, and records everything.

#[cfg(feature = "measured")]
use std::sync::atomic::{AtomicBool, Ordering};

#[cfg(feature = "measured")]
static LEFT_OUT: AtomicBool = AtomicBool::new(false);

/// Whether this process leaves out events.
pub fn leaves_out_events() -> bool {
    #[cfg(feature = "measured")]
    return LEFT_OUT.load(Ordering::Relaxed);
    #[cfg(not(feature = "measured"))]
    false
}

/// Has this process leave out events, or record them again.
#[cfg(feature = "measured")]
pub fn leave_out_events(left_out: bool) {
    LEFT_OUT.store(left_out, Ordering::Relaxed);
}
