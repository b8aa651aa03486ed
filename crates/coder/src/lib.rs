//! Offshoot's own coding agent: the turns of `offshoot-agent`, the tools of `offshoot-tool`, a workspace, and a session of the vault that keeps
//! the conversation.
//!
//! ```no_run
//! use offshoot_coder::{Coder, CoderOptions, Rested};
//! use offshoot_engine::{Offshoot, Options};
//! use offshoot_provider::Scripted;
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let workspace = Offshoot::open(Options::from_process())?.project(".")?.fork("fix")?;
//! let model = Scripted::parse("version = 1\n[[turn]]\nsay = [{ text = \"Done.\" }]")?;
//! let mut coder = Coder::begin(&workspace, CoderOptions::new(model, "scripted")).await?;
//! if let Rested::Idle { said } = coder.say("Fix the failing test").await? {
//!     println!("{said}");
//! }
//! print!("{}", String::from_utf8_lossy(&workspace.patch()?));
//! # Ok(())
//! # }
//! ```

mod coder;
mod error;
mod files;
mod forks;
mod log;
mod options;
mod prompt;
mod readable;
mod tools;

pub use coder::Coder;
pub use error::CoderError;
pub use forks::SubWorkspaces;
pub use log::{SessionLog, event_records};
pub use offshoot_agent::{
    AgentCallKey, AgentEvent, AgentHandle, AgentProgress, EventRecord, HistoryEntry, LogError,
    PauseReason, PendingQuestion, ProgressListener, ReplayError, Rested, TurnEnd, TurnLimits,
    TurnSettings, UserDecision, replay,
};
pub use offshoot_scrub::Redactor;
pub use options::CoderOptions;
pub use readable::{readable, to_markdown};
pub use tools::WorkspaceTools;
