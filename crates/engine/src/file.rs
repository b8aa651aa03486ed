//! Files of a vault: their paths and entries, reading and changing them.

pub use offshoot_tree::{BlobId, Body, Entry, EntryKind, Meta, RootId, VaultPath};
use offshoot_vault::Vault;
pub use offshoot_vault::{ExportOptions, NewContent};
pub use offshoot_workspace::{CopyOptions, Edited, FileService, Standing};

use crate::offshoot::Offshoot;

impl Offshoot {
    /// Reads and changes files of a vault without a command.
    pub fn files<'v>(&self, vault: &'v Vault) -> FileService<'v> {
        FileService::new(vault, self.actor())
    }
}
