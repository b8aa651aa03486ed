//! Workspaces, checkpoints, files and change summaries over a vault.
//!
//! These are the services that every surface of Offshoot calls. They decide what a command means and leave how it is
//! stored to the vault; they never print, prompt, or read the environment.

mod approval;
mod audit;
mod audited;
mod binding;
mod cache;
mod change;
mod checkpoint;
mod commit;
mod compaction;
mod conflict;
mod edit;
mod edited_tree;
mod error;
mod exec;
mod file;
mod folded_name;
mod friendly;
pub mod git;
mod history;
mod id_lookup;
mod ignore_rules;
mod live;
mod maintenance;
mod merge;
mod moved_files;
mod mtimes;
mod noise;
mod overlap;
mod path_pattern;
mod policy;
mod recover;
mod resolve;
mod review;
mod running;
mod session;
mod side_label;
mod standing;
mod suggest;
mod trusted;
mod undecided;
pub mod wire;
mod words;
mod workspace;
mod workspace_lock;

pub use approval::outcome::{AppliedTrial, MovedPlace, MovedWorkspace, is_awaited};
pub use approval::rules_now::RulesNow;
pub use approval::{ApprovalRules, ApprovalService, ApprovedWork, Approving, Decider};
pub use audit::{AUDIT_KINDS, AuditEntry, AuditFilter, AuditService};
pub use binding::{
    BindingError, BindingService, Bound, GitDirectory, GitDirectoryOptions, GitUnboundReason,
    NewBinding, Rebound, Refreshed, UnboundGitDirectory, check_folder, shown_name,
};
pub use cache::{CacheRules, CacheService, cache_names};
pub use change::{ChangeSummaryService, Summary, is_telling_metadata, without_frames};
pub use checkpoint::{CheckpointService, NewCheckpoint, Restored};
pub use commit::{
    Allow, Choice, CommitEvent, CommitOptions, CommitOutcome, CommitPreview, CommitRequest,
    CommitService, Direction, GitFollowed, Held, HeldReason, PendingGitCommit, PreviewService,
    Proposal, PullService, Pulled, Selected, Selection, SelectionStates, Settled, Tracked,
    delete_vault, interrupted_in_folders, select, settle_interrupted,
};
pub use compaction::{CompactScope, CompactedStack, CompactionService};
pub use conflict::{ConflictService, OpenConflict, Resolution, ResolveOptions, Resolved};
pub use edit::Edited;
pub use error::{Result, ServiceError};
pub use exec::agent::settle_shared;
pub use exec::clearance::{Cleared, RequestDigest};
pub use exec::data_layers::try_data_layers;
pub use exec::envelope::{
    DiscardedFiles, ExecutionEnvelope, ExecutionResult, KeptCredential, PresetUse,
};
pub use exec::environment::EnvironmentRules;
pub use exec::executor::{CommandExecutor, ExecutionObserver};
pub use exec::hosts::{named_hosts, needs_network, tried_hosts};
pub use exec::inject::host_of;
pub use exec::options::{AgentRules, FurtherHints, RuntimeOptions, set_aside};
pub use exec::outlet::{check_hosts, check_preset, check_proxied, check_rules};
pub use exec::pending::{ApprovalTerms, PendingApproval};
pub use exec::probe::{DriverReport, probe_drivers};
pub use exec::profiles::ProfileRules;
pub use exec::refusal::{refusal, suggestion};
pub use exec::request::{
    ApprovalWait, CommandLine, ExecutionRequest, ExecutionTimeout, ExecutionWorkspace,
};
pub use exec::runtime::{INSIDE, INSIDE_VAULT, ProxyRuntime};
pub use exec::service::{ExecFilter, ExecService};
pub use exec::sight::{Copied, Explanation, Seen, Sight, Source, Viewer};
pub use exec::stored::StoredRequest;
pub use exec::waiting::WaitingRequest;
pub use file::{CopyOptions, FileContent, FileService, FileVersion};
pub use friendly::friendly_name;
pub use history::{HistoryService, LogEntry, Reversal};
pub use live::LiveService;
pub use maintenance::{MaintenanceOptions, MaintenanceService};
pub use merge::{MergeOutcome, MergeRequest, MergeService, MergeSide, MergeTarget};
pub use noise::{Folded, FoldedKind, GitActivity, Noise, Sorted, sorted};
pub use offshoot_profile::{
    CredentialRule, Group, HomePath, HomeRow, HostRule, HostTable, LostArgument, Preset, PresetAcp,
    PresetArguments, PresetHosts, PresetKey, PresetLogin, PresetVariables, Presets, Profile,
    ProfileError, Profiles, ProjectNarrowing, TlsRules, ValueSource, groups,
};
pub use offshoot_scrub::OmittedLines;
pub use overlap::{Overlap, OverlapService, OverlapSide, WorkSoFar};
pub use path_pattern::PathPattern;
pub use policy::{
    PolicyFile, PolicyFileError, PolicyFiles, Replay, ReplayService, Replayed, judge,
    seen_variables,
};
pub use recover::{Inspected, RecoverService, Recoverable, RecoveredWork};
pub use resolve::{Point, Resolver};
pub use review::{
    FoldedReview, Mixed, Origin, PieceKind, PieceOutcome, ReviewDecision, ReviewGroup, ReviewItem,
    ReviewPiece, ReviewService, Tally, Wanted, decide_all,
};
pub use running::{Ending, RunningService};
pub use session::{ListedSession, SessionFork, SessionService};
pub use standing::PathContext;
pub use suggest::similar;
pub use trusted::{TrustedFile, TrustedTable};
pub use workspace::{
    ListedChanges, NewWorkspace, WorkspaceOverview, WorkspaceService, WorkspaceUsage,
};
