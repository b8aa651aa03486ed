//! Named states of a workspace, to come back to.

pub use offshoot_vault::Checkpoint;
use offshoot_vault::Vault;
pub use offshoot_workspace::{CheckpointService, NewCheckpoint};

use crate::offshoot::Offshoot;

impl Offshoot {
    /// Makes, lists and restores checkpoints of a vault's workspaces.
    pub fn checkpoints<'v>(&self, vault: &'v Vault) -> CheckpointService<'v> {
        CheckpointService::new(vault, self.actor())
    }
}
