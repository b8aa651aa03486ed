//! Tools that servers of the Model Context Protocol offer.

use crate::word::words;

words! {
    /// Whether a tool of a server can be called.
    pub enum ToolState {
        /// The server offers what you trusted.
        Trusted = "trusted",
        /// You have not trusted it yet.
        New = "new",
        /// The server says something else than what you trusted.
        Changed = "changed",
        /// You trusted it, and the server does not offer it any more.
        Removed = "removed",
    }
}
