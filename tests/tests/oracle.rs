//! Random programs on a plain directory and in a workspace: everything about both must be the same, and the list of
//! changed files must be what two full scans find.
//!
//! That the comparison can fail is tested too: evidence is spoilt in the ways of a broken product, and each must be found.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]
#![expect(
    clippy::print_stdout,
    reason = "what was run, and with which seed, is for people to read"
)]

#[path = "oracle/case.rs"]
mod case;
#[path = "oracle/crowd.rs"]
mod crowd;
#[path = "oracle/envelope.rs"]
mod envelope;
#[path = "oracle/judge.rs"]
mod judge;
#[path = "oracle/mutants.rs"]
mod mutants;
#[path = "oracle/product.rs"]
mod product;
#[path = "oracle/programs.rs"]
mod programs;
#[path = "oracle/read_only.rs"]
mod read_only;
#[path = "oracle/shrink.rs"]
mod shrink;
#[path = "oracle/user.rs"]
mod user;
