//! Real programs in workspaces: what they do and say there is what they do and say on plain files.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

#[path = "real/git.rs"]
mod git;
#[path = "real/make.rs"]
mod make;
#[path = "real/scene.rs"]
mod scene;
