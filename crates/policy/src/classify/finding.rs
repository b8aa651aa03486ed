//! What code does that a tool is given.

/// Something that code was found to do.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Finding {
    /// It reads a file.
    Reads(String),
    /// It writes to a file.
    Writes(String),
    /// It hands a text to the shell.
    Runs(String),
    /// It hands a text to the shell, and writes to what runs there.
    Feeds(String),
    /// It reaches for the network.
    Connects(String),
    /// It does something that cannot be told, or cannot be told apart.
    Unclear(&'static str),
}
