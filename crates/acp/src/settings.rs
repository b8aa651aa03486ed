//! Which agent to start, and who is told.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use offshoot_engine::preset::Preset;
use offshoot_protocol::Network;

/// Who is told, line by line, what is for nobody's screen: the errors of agents, and what else they print.
pub type Log = Arc<dyn Fn(&str) + Send + Sync>;

/// Which agent to start, and how.
#[derive(Clone, Debug, Default)]
pub struct AcpSettings {
    /// The agent and its arguments.
    pub command: Vec<OsString>,
    /// The preset that it runs by.
    pub preset: Option<Preset>,
    /// The workspace to use; each session gets a new one where none is named.
    pub workspace: Option<String>,
    /// What the agent can reach, where that was said, and the rules of hosts.
    pub network: Option<(Network, Vec<String>)>,
    /// The profile that it runs by.
    pub sandbox: Option<String>,
    /// Files of the host that it sees.
    pub show: Vec<PathBuf>,
    /// Variables that it gets: NAME or NAME=VALUE.
    pub variables: Vec<OsString>,
    /// Further rules, which can only restrict.
    pub rules: Vec<PathBuf>,
    /// What policy allows is allowed without asking in the editor.
    pub auto_allow: bool,
}
