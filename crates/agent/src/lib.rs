//! The turns of Offshoot's own coding agent: a state machine over events, and the driver that joins it with a model, tools and a log.
//!
//! A [`Machine`] takes inputs and says what is to be done; it does nothing itself. Its [`State`] is a fold over [events](AgentEvent), so whoever has the
//! events has the conversation. An [`Agent`] does what the machine says: it asks a model, makes calls through [`Tools`] and keeps events in an [`EventLog`].
//! It can be dropped at any time and opened again. The design page has phases, events and invariants.
//!
//! ```
//! use offshoot_agent::{Agent, AgentParts, ConversationId, MemoryLog, NoTools, Rested, TurnSettings};
//! use offshoot_provider::Scripted;
//!
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
//! # runtime.block_on(async {
//! let model = Scripted::parse("version = 1\n[[turn]]\nsay = [{ text = \"Hello!\" }]")?;
//! let log = MemoryLog::default();
//! let parts = AgentParts::new(model, NoTools, log.clone());
//! let id = ConversationId::new("example");
//! let mut agent = Agent::begin(parts.clone(), id, TurnSettings::new("any"), Vec::new()).await?;
//! assert_eq!(agent.say("Hi").await?, Rested::Idle { said: "Hello!".to_owned() });
//!
//! // Whoever has the log has the conversation.
//! drop(agent);
//! let agent = Agent::open(parts, None, Vec::new()).await?;
//! assert_eq!(agent.state().last_words(), "Hello!");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # }).unwrap();
//! ```

mod agent;
mod call;
mod context;
mod delegate;
mod event;
mod export;
mod fork;
mod limits;
mod log;
mod machine;
mod pause;
mod replay;
mod scrubbing;
mod settings;
mod state;
mod time;
mod tools;
mod turn;

pub use agent::{
    Agent, AgentError, AgentHandle, AgentParts, AgentProgress, ProgressListener, Rested,
};
pub use call::{
    AgentCallKey, Assessment, CallEffect, CallFate, CallPermission, CallReply, CallReport,
    ConversationId, EndedBy, PendingQuestion, PlannedCall, UserDecision,
};
pub use context::layers::PromptLayer;
pub use context::skills::{Skill, WithSkills};
pub use context::sources::{PromptSources, instructions, skills};
pub use delegate::{
    ConversationLogs, Delegation, DelegationParts, ForkedWorkspace, Grant, GrantWish, MemoryLogs,
    MergedWork, Narrowed, WorkspaceForks,
};
pub use event::{AgentEvent, EventRecord, FoundCall, ModelFailure, NoteReason};
pub use export::{to_json_lines, to_markdown};
pub use fork::{ForkError, fork};
pub use limits::{Spent, TurnLimits};
pub use log::{EventLog, FileLog, LogError, MemoryLog};
pub use machine::Machine;
pub use pause::{PauseReason, TurnEnd};
pub use replay::{ReplayError, ReplayedTurns, replay};
pub use settings::{Preamble, TurnSettings};
pub use state::{CallStatus, HistoryEntry, OpenCall, Phase, SettledCall, State, Summarised};
pub use time::{Clock, SystemClock, Timestamp};
pub use tools::{NoTools, Tools};
pub use turn::{TurnInput, TurnMisuse, TurnOutput};
