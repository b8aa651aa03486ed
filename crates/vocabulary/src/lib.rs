//! The words of Offshoot: every closed set of names that a flag, a setting, a catalog or a document has.
//!
//! A word is defined once, with its name and its meaning. Flags and settings list the values, documents and their JSON Schema have
//! them, and catalogs hold their names. This crate knows nothing else, so that every other one may use it.

mod approval;
mod change;
mod exec;
mod exit_code;
mod integration;
mod merge;
mod mismatch;
mod model;
mod own_agent;
mod policy;
mod preset;
mod program;
mod session;
mod storage;
mod tool;
mod word;

pub use approval::{ApprovalFallback, ApprovalScope, ApprovalState};
pub use change::{ChangeKindDoc, EntryKindDoc, LineSign, MetadataFieldDoc, PieceKindDoc, SkipCode};
pub use exec::{
    AbandonedWork, CheckpointMode, Confinement, Demand, DriverChoice, DriverName, Durability,
    ExecState, FileAccess, HomeView, Network, RerunReason, ResourceLimit, Visibility, Wall,
};
pub use exit_code::ExitCode;
pub use integration::{IntegratedAgent, IntegrationPart, IntegrationScope, IntegrationState};
pub use merge::{
    CommitTimes, ConflictKindDoc, Goal, HeldReasonDoc, RepositoryEvent, RevertVerb, SettleOutcome,
    TrustKind,
};
pub use mismatch::Notation;
pub use model::{KeyOrigin, ModelInterface, ProviderState};
pub use own_agent::AgentEnding;
pub use policy::{
    CommandPart, EffectCategory, PathAccess, PolicyDecision, PolicyLanguage, PolicyLayer,
};
pub use preset::{CredentialFormat, CredentialMode, HomeKeep, OwnSandbox, PresetOrigin};
pub use program::{ArgumentKindDoc, DoctorState, ProjectRule, Shell, When};
pub use session::{CallKind, CallState, SessionState};
pub use storage::{CompactWayDoc, GarbageKind, StorageClass};
pub use tool::ToolState;
pub use word::{UnknownWord, Word};

#[cfg(test)]
mod tests;
