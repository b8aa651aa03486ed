//! Changing folders: exact forwards and back, refused where something is in the way, and nothing lost to whoever interferes.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests fail as tests do")]

#[path = "folder/children.rs"]
mod children;
#[path = "folder/cuts.rs"]
mod cuts;
#[path = "folder/exact.rs"]
mod exact;
#[path = "folder/problems.rs"]
mod problems;
#[path = "folder/races.rs"]
mod races;
#[path = "folder/scene.rs"]
mod scene;
#[path = "folder/support.rs"]
mod support;
#[path = "folder/swaps.rs"]
mod swaps;
