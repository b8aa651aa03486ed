//! What a server is started with.

use std::collections::BTreeSet;
use std::path::PathBuf;

use offshoot_engine::Options;

/// What a server is started with.
#[derive(Clone, Debug)]
pub struct McpOptions {
    /// What the engine of each session is opened with; agent and session are set here.
    pub engine: Options,
    /// The folder whose project is served.
    pub folder: PathBuf,
    /// The vault by name, instead of the one of the folder.
    pub vault: Option<String>,
    /// The workspace of all sessions, instead of one for each.
    pub workspace: Option<String>,
    /// Whether calls may name a workspace.
    pub any_workspace: bool,
    /// The hosts that commands may be let reach, as they are written.
    pub hosts: Vec<String>,
    /// Whether an agent may commit to the folder without asking anybody.
    pub allow_commit: bool,
    /// The tools that can be called.
    pub tools: McpTools,
    /// The version that clients are told.
    pub version: String,
}

/// The tools that can be called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpTools(BTreeSet<&'static str>);

impl McpTools {
    /// These.
    pub(crate) fn of(names: impl Iterator<Item = &'static str>) -> Self {
        Self(names.collect())
    }

    /// Whether a tool can be called.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.contains(name)
    }
}
