//! Offshoot between an editor and a coding agent, which speak the Agent Client Protocol: the agent runs confined, in a workspace.
//!
//! To the editor this is the agent, to the agent it is the editor. The design is in `docs/design/acp.md`.

mod changes;
mod commands;
mod editor;
mod fault;
mod files;
mod hub;
mod lines;
mod link;
mod name;
mod permission;
mod prompt;
mod session;
mod start;

use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::sync::Arc;

use offshoot_engine::{Error, Offshoot, Result};
use offshoot_protocol::{ExitCode, Network};

use crate::hub::Hub;

/// Who is told, line by line, what is for nobody's screen: the errors of agents, and what else they print.
pub type Log = Arc<dyn Fn(&str) + Send + Sync>;

/// Which agent to start, and how.
#[derive(Clone, Debug, Default)]
pub struct AgentSettings {
    /// The agent and its arguments.
    pub command: Vec<OsString>,
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

/// Serves an editor until it closes its end, and ends all agents then.
pub fn serve(
    engine: Offshoot,
    settings: AgentSettings,
    (input, output): (impl Read + Send + 'static, impl Write + Send + 'static),
    log: Log,
) -> Result<()> {
    let failed = |error: std::io::Error| Error::new(ExitCode::Failure, error.to_string());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let runtime = runtime.map_err(failed)?;
    let hub = Arc::new(Hub::new(engine, settings, log));
    let served = tokio::task::LocalSet::new().block_on(&runtime, async {
        let served = editor::serve(&hub, input, output).await;
        hub.end_all().await;
        served
    });
    // A thread that waits for the editor to say more waits for nothing.
    runtime.shutdown_background();
    served.map_err(|error| Error::new(ExitCode::Failure, fault::text(&error)))
}
