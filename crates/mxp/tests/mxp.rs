//! Messages byte for byte, and bytes that are no messages.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

#[path = "mxp/bytes.rs"]
mod bytes;
#[path = "mxp/contents.rs"]
mod contents;
#[path = "mxp/vectors.rs"]
mod vectors;
