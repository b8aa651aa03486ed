//! What a client is started with.

use std::path::PathBuf;

use offshoot_engine::{Offshoot, Project};

/// What a client is started with.
#[derive(Clone, Debug)]
pub struct ToolClientOptions {
    /// Where settings are, and what is trusted.
    pub engine: Offshoot,
    /// Where a server is started, and whose audit log has the calls. A server that is reached over HTTP needs none; its calls are then
    /// recorded nowhere.
    pub project: Option<Project>,
    /// The folder in the project that a server is started in.
    pub directory: PathBuf,
    /// The workspace that a server is started in; a new one without it.
    pub workspace: Option<String>,
}
