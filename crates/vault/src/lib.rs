//! The heart of Offshoot: a state of files is one hash.
//!
//! Files are blobs, directories are Merkle nodes, a state of files is a root. Forking, checkpointing and undoing move
//! pointers; diffing compares hashes. Everything durable goes through [`Vault::transact`]. The vault does not know what a
//! mount, a process or a policy is. The formats are specified in `docs/design/storage-format.md`.

mod actor;
mod ancestry;
mod apply;
mod archive;
mod audit;
mod caches;
mod capture;
mod check;
mod content;
mod error;
mod exec;
mod export;
mod gate;
mod gc;
mod home;
mod import;
mod layer;
mod links;
mod lock;
mod materialize;
mod merge;
mod name;
mod operation;
mod refs;
mod reserve;
mod scratch;
mod snapshot;
mod transact;
mod usage;
mod vault;

pub use actor::Actor;
pub use apply::{
    Apply, ApplyError, ApplyNote, ApplyOptions, ApplyPlan, ApplyProblem, ApplyTarget, Came,
    ClearedApply, FolderLock, IsRewritten, Kept, SharedLock, UnfinishedApplies, is_staging,
};
pub use archive::Archived;
pub use caches::{CacheEntry, CacheInfo, CacheUse, CacheWish, Caches, Tidied};
pub use check::{CheckDepth, CheckReport, RepairReport};
pub use content::NewContent;
pub use error::{Result, VaultError};
pub use exec::{ExecRecord, STDERR, STDOUT};
pub use export::ExportOptions;
pub use gate::Hold;
pub use gc::{GcDue, GcOptions, GcReport, GcSchedule, LastCollection, PackReport, Taken};
pub use home::{Created, FromArchive, Home, HomeError, Listed, MovedFolder};
pub use import::{
    IGNORE_FILE, ImportOptions, ImportReport, Imported, Progress, SkipReason, Skipped,
};
pub use layer::{
    Access, Adopted, CompactOptions, CompactWay, Compacted, ExecNote, JoinNote, Left, LeftSize,
    LinkLimit, OutputReader, OutputWriter, Placed, PlainAccess, Preview, Rebuilt, Running, Stack,
    Upper,
};
pub use lock::{CompactionLock, WorkspaceLock, WorkspaceShare};
pub use name::{NameError, check_name, name_from};
pub use operation::{
    CAPTURE, COMMIT, CREATE, Operation, OperationLog, REDO, Reverted, Scope, UNDO,
};
pub use refs::{Binding, Checkpoint, CheckpointState, Workspace, WorkspaceState, bound_path};
pub use scratch::Scratch;
pub use snapshot::Snapshot;
pub use transact::{Committed, NewSnapshot, Transaction};
pub use usage::StorageUsage;
pub use vault::{Figures, Vault, VaultOptions};
