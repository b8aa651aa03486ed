//! REFs: the texts that name a workspace, a checkpoint, a snapshot or the main line.

pub use offshoot_workspace::{Point, Resolver};
