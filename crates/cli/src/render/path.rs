//! Paths of a vault as people read them.

use std::sync::OnceLock;

use offshoot_engine::file::{PathContext, VaultPath};

/// Where the person stands who reads them, once a vault is open.
static READER: OnceLock<PathContext> = OnceLock::new();

/// Remembers where the reader stands in the vault that a command is about: the first one that it opens.
pub(crate) fn set_reader(standing: PathContext) {
    READER.get_or_init(|| standing);
}

/// A path: from the top of the vault, and in its further folders as on the host.
pub(crate) fn path(path: &VaultPath) -> String {
    READER.get().map_or_else(|| path.to_string(), |reader| reader.display(path))
}

/// A text in which paths of the vault may be, such as the message of an error.
pub(crate) fn paths_in(text: String) -> String {
    READER.get().map_or_else(|| text.clone(), |reader| reader.display_in(&text))
}
