//! The heart of Offshoot: the history of a project's files.
//!
//! A state of files is one hash, the root of a tree (`offshoot-tree`). Forking, checkpointing and undoing move pointers at such
//! states. Everything durable goes through [`Vault::transact`]. The vault does not know what a
//! mount, a process or a policy is. The formats are specified in `docs/design/storage-format.md`.

mod actor;
mod agents;
mod ancestry;
mod applies;
mod approval;
mod archive;
mod audit;
mod cache_file;
mod caches;
mod capture;
mod check;
mod content;
mod error;
mod exec;
mod execs;
mod export;
mod gate;
mod gc;
mod hold;
mod import;
mod journal;
mod layer;
mod links;
mod lock;
mod materialize;
pub mod measured;
mod merge;
mod name;
mod operation;
mod refs;
mod registry;
mod reserve;
mod scratch;
mod session;
mod snapshot;
mod sound_packs;
mod symlinks;
mod transact;
mod undo;
mod usage;
mod vault;

pub use actor::Actor;
pub use agents::{AgentHome, AgentPlace};
pub use approval::{Approval, ApprovalDecision, Waiter};
pub use archive::Archived;
pub use audit::key::{NotHex, PublicKey, Signature};
pub use audit::lines::{LinesError, LinesWriter, verify_lines};
pub use audit::log::AuditEvent;
pub use audit::verify::{AuditFlaw, AuditReport, AuditVerifier, SigningKey};
pub use audit::{AuditHead, FormerKey, HandedOver, KeyChange, PrunedAudit, SignedHead};
pub use caches::{CacheEntry, CacheInfo, CacheUse, CacheWish, Caches, Tidied};
pub use check::repair::RepairReport;
pub use check::{CheckDepth, CheckReport};
pub use content::NewContent;
pub use error::{Result, VaultError};
pub use exec::{ExecRecord, STDERR, STDOUT};
pub use export::ExportOptions;
pub use gate::Hold;
pub use gc::due::{GcDue, GcSchedule, LastCollection};
pub use gc::pack::PackReport;
pub use gc::report::{GcOptions, GcReport, Taken};
pub use import::Imported;
pub use import::cache::unsettled_for;
pub use import::ignore::{FILE as IGNORE_FILE, IgnoreFileError, check_ignore_file};
pub use import::options::{ImportOptions, Progress};
pub use import::report::{ImportReport, SkipReason, Skipped};
pub use journal::{
    Came, FolderRecord, Journal, JournalBytes, StagingRecord, is_staging, staging_name,
};
pub use layer::written::MOST_DEEP;
pub use layer::{
    Access, Adopted, CaptureWay, CompactOptions, CompactWay, Compacted, ExecNote, JoinNote,
    Leftover, LeftoverShape, LeftoverSize, LinkLimit, OutputReader, OutputWriter, Placed,
    PlainAccess, Preview, Rebuilt, RunningExec, Stack, Upper, UpperOwner,
};
pub use lock::folders::FolderLock;
pub use lock::shared::SharedLock;
pub use lock::workspace::{CompactionLock, WorkspaceLock, WorkspaceShare};
pub use materialize::Materializer;
pub use name::{NameError, check_name, check_ref_name, name_from};
pub use operation::{
    CAPTURE, COMMIT, CREATE, Operation, OperationLog, REDO, Reverted, Scope, UNDO,
};
pub use refs::{Binding, Checkpoint, CheckpointState, WorkspaceRecord, WorkspaceState, bound_path};
pub use registry::import::{ArchiveOptions, FromArchive};
pub use registry::moved::MovedFolder;
pub use registry::{Created, ListedVault, VaultRegistry, VaultRegistryError};
pub use scratch::Scratch;
pub use session::append::{INLINE_BODY, LONGEST_BODY, MOST_AT_ONCE};
pub use session::call::{CallKey, LONGEST_CALL, RecordedCall};
pub use session::content::{LONGEST_NOTE, MOST_NOTES, TextId};
pub use session::error::SessionError;
pub use session::fork::NewSessionFork;
pub use session::lock::SessionLock;
pub use session::manage::NewSession;
pub use session::read::LONGEST_PAGE;
pub use session::{
    NewSessionEvent, SessionEvent, SessionHead, SessionOrigin, SessionParent, SessionRecord,
    SessionTotals, SessionUpdate,
};
pub use snapshot::Snapshot;
pub use symlinks::Symlinks;
pub use transact::{Committed, MovedRef, NewSnapshot, RefMove, Transaction};
pub use usage::StorageUsage;
pub use vault::{Figures, Vault, VaultOptions};
