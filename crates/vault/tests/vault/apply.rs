//! Changing folders: exact forwards and back, refused where something is in the way, and nothing lost to whoever interferes.

#[path = "apply/cuts.rs"]
mod cuts;
#[path = "apply/exact.rs"]
mod exact;
#[path = "apply/problems.rs"]
mod problems;
#[path = "apply/races.rs"]
mod races;
#[path = "apply/scene.rs"]
mod scene;
#[path = "apply/swaps.rs"]
mod swaps;

pub(crate) use cuts::{apply_and_take_back, apply_once, on_another_file_system};
pub(crate) use problems::as_ordinary_user;
