//! What surrounds a command: where it would run, and with what.

use std::path::PathBuf;

use offshoot_vocabulary::Network;

/// Where a command would run, and with what.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Context {
    /// Where the workspace is seen: an absolute path. Writing below it stays inside.
    pub workspace: PathBuf,
    /// Further folders that belong to the workspace and are seen at their own paths.
    pub folders: Vec<PathBuf>,
    /// Where the command starts: an absolute path.
    pub cwd: PathBuf,
    /// The user's home, for `~` and for where credentials lie.
    pub home: Option<PathBuf>,
    /// What it may reach.
    pub network: Network,
    /// The workspace is mounted so that nothing can be written.
    pub read_only: bool,
    /// Nothing keeps it from what the host has: it runs without walls.
    pub unconfined: bool,
    /// It has a terminal with a person.
    pub terminal: bool,
    /// Something comes on its standard input.
    pub stdin: bool,
    /// The variables that the caller set beyond the usual ones: name and value.
    pub environment: Vec<(String, String)>,
}
