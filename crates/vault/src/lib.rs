//! The heart of Offshoot: a state of files is one hash.
//!
//! Files are blobs, directories are Merkle nodes, a state of files is a root. Forking, checkpointing and undoing move
//! pointers; diffing compares hashes. Everything durable goes through [`Vault::transact`]. The vault does not know what a
//! mount, a process or a policy is. The formats are specified in `docs/design/storage-format.md`.

mod actor;
mod apply;
mod archive;
mod caches;
mod capture;
mod check;
mod codec;
mod conflicts;
mod content;
pub mod diff;
mod disk;
mod edit;
mod entry;
mod error;
mod exec;
mod export;
mod gate;
mod gc;
mod hash;
mod home;
mod identity;
mod import;
mod layer;
mod links;
mod lock;
mod materialize;
pub mod merge;
mod mounts;
mod name;
mod node;
mod objects;
mod operation;
mod pack;
mod path;
mod refs;
mod reserve;
mod scratch;
mod snapshot;
mod transact;
mod tree;
mod usage;
mod vault;
mod workers;

pub use actor::Actor;
pub use apply::{
    Apply, ApplyError, ApplyNote, ApplyOptions, ApplyPlan, ApplyProblem, ApplyTarget, Came,
    ClearedApply, FolderLock, IsRewritten, Kept, SharedLock, UnfinishedApplies, is_staging,
};
pub use archive::Archived;
pub use caches::{CacheEntry, CacheInfo, CacheUse, CacheWish, Caches, Tidied};
pub use check::{CheckDepth, CheckReport, RepairReport};
pub use conflicts::texts_with_markers;
pub use content::NewContent;
pub use edit::TreeEditor;
pub use entry::{Body, ConflictRecord, DirRef, Entry, EntryKind, Meta, Mtime, RecordedSide, Xattr};
pub use error::{Result, VaultError};
pub use exec::{ExecRecord, STDERR, STDOUT};
pub use export::ExportOptions;
pub use gate::Hold;
pub use gc::{GcDue, GcOptions, GcReport, GcSchedule, LastCollection, PackReport, Taken};
pub use hash::{BlobId, ContentId, NodeId, RootId};
pub use home::{Created, FromArchive, Home, HomeError, Listed, MovedFolder};
pub use identity::FolderIdentity;
pub use import::{
    IGNORE_FILE, ImportOptions, ImportReport, Imported, Progress, SkipReason, Skipped,
};
pub use layer::{
    Access, Adopted, CaptureWay, CompactOptions, CompactWay, Compacted, ExecNote, JoinNote, Left,
    LeftShape, LeftSize, LinkLimit, OutputReader, OutputWriter, Placed, PlainAccess, Preview,
    Rebuilt, Running, Stack, Upper, UpperOwner,
};
pub use lock::{CompactionLock, WorkspaceLock, WorkspaceShare};
pub use mounts::{PseudoMount, pseudo_around, pseudo_below};
pub use name::{NameError, check_name, name_from};
pub use node::{Child, Node};
pub use objects::{Batch, BlobReader, KeptNodes, Objects, Place};
pub use offshoot_store::{
    CutShort, Id, IdPrefix, ProcessMark, RefChange, RefRow, StoreError, boot_id, file_lock,
};
pub use operation::{
    CAPTURE, COMMIT, CREATE, Operation, OperationLog, REDO, Reverted, Scope, UNDO,
};
pub use pack::{ChunkRef, PackPlace};
pub use path::{PathError, VaultPath, display_bytes};
pub use refs::{Binding, Checkpoint, CheckpointState, Workspace, WorkspaceState, bound_path};
pub use scratch::Scratch;
pub use snapshot::Snapshot;
pub use transact::{Committed, NewSnapshot, Transaction};
pub use tree::Tree;
pub use usage::StorageUsage;
pub use vault::{Figures, Vault, VaultOptions};
