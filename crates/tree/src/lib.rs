//! A state of files is one hash.
//!
//! Files are blobs, directories are Merkle nodes, and the top of them is a root. Trees are read, changed, compared and merged by
//! their hashes; objects come from a backend and content from wherever its place says, and nothing is trusted before it is
//! verified. No history is known here, and no folder that is not a layer. The formats are specified in
//! `docs/design/storage-format.md`.

pub mod codec;
pub mod conflicts;
pub mod diff;
mod edit;
mod entry;
mod error;
mod hash;
pub mod links;
pub mod merge;
mod node;
mod objects;
pub mod pack;
mod path;
mod tree;

pub use edit::TreeEditor;
pub use entry::conflict_kind::ConflictKind;
pub use entry::record::{ConflictRecord, RecordedSide, Version};
pub use entry::{Body, DirRef, Entry, EntryKind, Meta};
pub use error::{Result, TreeError, unreadable};
pub use hash::{BlobId, ContentId, NodeId, RootId};
pub use node::{Child, Node};
pub use objects::kept::KeptNodes;
pub use objects::location::{ObjectLocation, ObjectLocationStart, START};
pub use objects::reader::BlobReader;
pub use objects::{Batch, INLINE_LIMIT, Objects};
pub use path::{PathError, VaultPath, display_bytes};
pub use tree::Tree;
