//! Named states of a workspace, to come back to.

pub use offshoot_vault::Checkpoint;
pub use offshoot_workspace::{CheckpointService, NewCheckpoint};
