//! What two sides changed differently, and how it is resolved.

pub use offshoot_tree::RecordedSide;
pub use offshoot_tree::merge::Conflict;
pub use offshoot_workspace::{ConflictService, OpenConflict, Resolution, ResolveOptions};
