//! What differs between two roots, in time that depends on the changes and not on the trees.

pub(crate) mod change;
pub(crate) mod compare;
mod content;
mod metadata;
pub(crate) mod renames;

pub use change::{Change, ChangeKind, DiffOptions};
pub use compare::compare;
pub use content::{BinaryForm, FileDiff, file_diff, write_change};
pub use metadata::MetadataField;
pub use renames::detect_renames;
