//! What a server is started with.

use std::collections::BTreeSet;
use std::path::PathBuf;

use offshoot_engine::{Error, Options};

use crate::tools;

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
    /// Only those of `only`, all if there are none, and none of `without`.
    pub fn new(only: &[String], without: &[String]) -> Result<Self, Error> {
        let all: Vec<&'static str> = Self::names().collect();
        for name in only.iter().chain(without) {
            if !all.contains(&name.as_str()) {
                return Err(Error::usage(format!("there is no tool {name}"))
                    .hint(format!("tools are {}", all.join(", "))));
            }
        }
        let has = |list: &[String], name: &str| list.iter().any(|one| one == name);
        let left = all.into_iter().filter(|name| only.is_empty() || has(only, name));
        Ok(Self(left.filter(|name| !has(without, name)).collect()))
    }

    /// The names of all tools.
    pub fn names() -> impl Iterator<Item = &'static str> {
        tools::TOOLS.iter().map(|tool| tool.name)
    }

    /// Whether a tool can be called.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.contains(name)
    }
}
