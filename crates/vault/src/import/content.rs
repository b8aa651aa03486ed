//! What is known of the content of a file.

use offshoot_host::Xattr;
use offshoot_tree::BlobId;
use rustix::fs::Stat;

/// What is known of a file after reading it, or from the cache.
#[derive(Clone)]
pub(crate) struct FileContent {
    pub(crate) stat: Stat,
    pub(crate) blob: BlobId,
    pub(crate) size: u64,
    pub(crate) xattrs: Vec<Xattr>,
    /// It did not have to be read.
    pub(crate) cached: bool,
}
