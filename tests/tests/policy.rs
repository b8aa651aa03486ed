//! What policy says of commands, held against what they do.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]
#![expect(
    clippy::print_stdout,
    reason = "what was run, and with which seed, is for people to read"
)]

#[path = "policy/generate.rs"]
mod generate;
#[path = "policy/laboratory.rs"]
mod laboratory;
#[path = "policy/tools.rs"]
mod tools;
#[path = "policy/truth.rs"]
mod truth;
#[path = "policy/words.rs"]
mod words;
