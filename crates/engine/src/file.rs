//! Files of a vault: their paths and entries, reading and changing them.

pub use offshoot_tree::{BlobId, Body, Entry, EntryKind, Meta, RootId, VaultPath};
pub use offshoot_vault::{ExportOptions, NewContent};
pub use offshoot_workspace::{CopyOptions, Edited, FileService, Standing};
