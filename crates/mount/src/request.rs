//! What to make a directory of.

use offshoot_vault::{ExecNote, LinkLimit, RootId, Vault};

/// What to make a directory of.
#[derive(Clone, Debug)]
pub struct MountRequest {
    /// The state of files to show.
    pub root: RootId,
    /// Roots that resemble it, nearest first: where it has no layers yet, they are made as the difference to one of these.
    pub near: Vec<RootId>,
    /// Nobody can change it.
    pub read_only: bool,
    /// How many hard links are kept whole.
    pub links: LinkLimit,
    /// Whether the kernel finds bytes in layers that only hold bytes. Asked where there are such layers.
    pub data_layers: fn(&Vault) -> bool,
    /// What to note beside the files while somebody writes; what only the driver knows is added.
    pub note: ExecNote,
}
