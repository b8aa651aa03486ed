//! Packs: append-only files that content is moved to from layers.
//!
//! A pack is written under a temporary name, synced and renamed before any object names it; from then on it never changes. Its
//! records carry their own ids, so that a pack can be read without the catalog.

pub(crate) mod packer;
pub(crate) mod place;
pub(crate) mod read;
pub(crate) mod record;
pub(crate) mod write;

pub use packer::{Packer, cut};
pub use place::{ChunkRef, PackPlace, WHOLE_LIMIT};
pub use read::{PackFile, Records};
pub use record::PackRecord;
pub use write::PackWriter;
