//! Tests of the test support itself, against ordinary programs: a witness must be able to say no.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

#[path = "support/children.rs"]
mod children;
#[path = "support/images.rs"]
mod images;
#[path = "support/redactions.rs"]
mod redactions;
#[path = "support/schemas.rs"]
mod schemas;
#[path = "support/skips.rs"]
mod skips;
#[path = "support/traces.rs"]
mod traces;
#[path = "support/trees.rs"]
mod trees;
