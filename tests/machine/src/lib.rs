//! What this user can test on this machine.
//!
//! A test says what it needs with `#[needs(..)]` of the crate `offshoot-needs`, which looks for all [`FEATURES`] when it is
//! built: the test runner can only ignore a test, and tell why, if it is compiled so. This crate has no tests of its own, since
//! cargo would have what they depend on compiled for build scripts too; `tests/tests/support/skips.rs` has them.

mod feature;
mod probe;

pub use feature::{FEATURES, Feature};
pub use probe::{probe, search_path};
