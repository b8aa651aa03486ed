//! What Offshoot prints for programs: versioned documents and their JSON Schema.
//!
//! Every command with `--json` prints exactly one [`Document`]. Documents of one `schema_version` may gain fields and never
//! lose or change them. This crate holds plain data; it knows no vault and no command line.

mod binding;
mod cache;
mod change;
mod commit;
mod document;
mod exec;
mod file;
mod git;
mod help;
mod hint;
mod history;
mod merge;
mod outcome;
mod policy;
mod recover;
mod review;
mod schema;
mod status;
mod text;
mod tools;
mod vault;
mod way_on;
mod workspace;

pub use binding::{
    BindingAddedDoc, BindingDoc, BindingListDoc, BindingMovedDoc, BindingRemovedDoc,
    GitDirectoryDoc,
};
pub use cache::{CacheClearDoc, CacheDoc, CacheListDoc};
pub use change::{ChangeDoc, DiffDoc, HunkDoc, LineDoc, SideDoc};
pub use commit::{ClashDoc, CommitDoc, HeldDoc, PullDoc, SettleDoc, SettledDoc};
pub use document::{Document, ErrorBody, ErrorDocument, Kind, Question, SCHEMA_VERSION};
pub use exec::{
    DiscardedDoc, ExecEnvelopeDoc, ExecEventDoc, ExecListDoc, ExecLogsDoc, ExecRequestDoc,
    ExecResultDoc, ExecSummaryDoc, ExecUsageDoc, LimitsDoc, NetworkDoc, SandboxDoc, TruncatedDoc,
};
pub use file::{
    EditDoc, EntryDoc, ExportDoc, FileDoc, HistoryDoc, ImportDoc, ListDoc, SkippedDoc, VersionDoc,
};
pub use git::{GitCommitDoc, GitExportDoc, GitLeftOutDoc, GitOutcomeDoc, RepositoryNoteDoc};
pub use help::{ArgumentDoc, CommandDoc, HelpDoc, PossibleValueDoc};
pub use hint::{Hint, SuggestedCommand};
pub use history::{
    ActorDoc, LogDoc, LogEntryDoc, OperationDoc, OperationLogDoc, OperationRestoreDoc, RevertDoc,
    ShowDoc, SnapshotDoc,
};
pub use merge::{
    ConflictDoc, ConflictListDoc, ConflictSideDoc, ConflictVersionDoc, ConflictVersionShowDoc,
    MergeDoc, MergeSideDoc, ResolveDoc,
};
pub use offshoot_vocabulary::*;
pub use outcome::ExecOutcome;
pub use policy::{
    DecisionDoc, JudgedDoc, PolicyFileDoc, PolicyInitDoc, PolicyReplayDoc, PolicyTestDoc,
    PolicyVerdictDoc, RemedyDoc, ReplayedDoc, RuleDoc, TouchedDoc, WhyDoc,
};
pub use recover::{
    KilledDoc, RecoverDroppedDoc, RecoverKeptDoc, RecoverListDoc, RecoverShowDoc, RecoverableDoc,
    RunningDoc, RunningListDoc,
};
pub use review::{ReviewDoc, ReviewItemDoc, ReviewListDoc, ReviewOriginDoc, ReviewPieceDoc};
pub use schema::{SchemaFile, schemas};
pub use status::StatusDoc;
pub use text::{Text, TextStream};
pub use tools::{
    CompletionsDoc, ConfigDoc, ConfigSetDoc, DoctorCheckDoc, DoctorDoc, ManDoc, ProgramVersionDoc,
    SettingDoc,
};
pub use vault::{
    CheckDoc, CollectionDoc, CompactDoc, CompactedDoc, DamagedVaultDoc, GcDoc, InitDoc, PackDoc,
    StorageDoc, TakenDoc, VaultDeletedDoc, VaultDoc, VaultExportDoc, VaultImportDoc, VaultInfoDoc,
    VaultListDoc, VaultRenamedDoc,
};
pub use way_on::WayOnDoc;
pub use workspace::{
    CheckpointDeletedDoc, CheckpointDoc, CheckpointListDoc, CheckpointShowDoc, DiscardDoc,
    ListedWorkspaceDoc, RestoreDoc, TreeNodeDoc, UsageDoc, WorkspaceCreatedDoc,
    WorkspaceDeletedDoc, WorkspaceDoc, WorkspaceListDoc, WorkspaceRenamedDoc, WorkspaceShowDoc,
    WorkspaceTreeDoc,
};
