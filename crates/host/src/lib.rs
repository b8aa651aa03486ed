//! What Offshoot needs of the host's file system and kernel: files, locks, worker threads, mounts.
//!
//! Nothing here knows a vault or a tree. Files are reached relative to open directories, by bytes, and never through a symbolic
//! link that somebody planted. Worker threads are started here and nowhere else.

mod attributes;
pub mod disk;
mod error;
mod identity;
pub mod lock;
pub mod mounts;
mod regular;
pub mod workers;

pub use attributes::{Mtime, Xattr};
pub use error::{HostError, says_damage};
pub use identity::FolderIdentity;
pub use regular::{RegularFileError, read_regular, read_regular_below};
