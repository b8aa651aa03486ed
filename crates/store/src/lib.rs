//! The catalog and the object backends of a vault.
//!
//! This is the only crate that knows a database. It stores rows and bytes and checks what a database can
//! check (uniqueness, order, compare-and-set of refs); what a tree, a workspace or an undo *means* is decided
//! above it. The formats are specified in `docs/design/storage-format.md`.

mod archive;
mod catalog;
pub mod conformance;
mod draft;
mod error;
pub mod file_lock;
mod id;
mod id_prefix;
mod memory;
mod newest;
mod object;
mod presence;
mod process;
mod sqlite;

pub use archive::Archive;
pub use catalog::Catalog;
pub use catalog::options::OpenOptions;
pub use catalog::reader::Reader;
pub use catalog::rows::{
    AuditRow, AuditSeen, AuditUntil, CallRow, ExecEnds, ExecRow, LayerRow, LinkRow, NewOperation,
    OperationRow, PackRow, RefChange, RefKey, RefRow, SessionContentRow, SessionEventRow,
    SessionRow, SnapshotRow, StackRow,
};
pub use catalog::writer::Writer;
pub use draft::DraftBackend;
pub use error::StoreError;
pub use id::{Id, ParseIdError};
pub use id_prefix::IdPrefix;
pub use memory::MemoryBackend;
pub use newest::CutShort;
pub use object::{Hash, ListedObject, ObjectBackend, ObjectKind, Put};
pub use presence::{Presence, mark_checked, mark_unclean, unclean_stop};
pub use process::{ProcessMark, boot_id};
pub use sqlite::SqliteBackend;
