//! How to import.

use std::path::PathBuf;
use std::sync::Arc;

/// Told how far an import is; called from several threads.
pub trait Progress: Send + Sync {
    /// So many entries were found, all told.
    fn found(&self, entries: u64);
    /// So many files are to be read, with so many bytes.
    fn reading(&self, files: u64, bytes: u64);
    /// Another file was read.
    fn read(&self, bytes: u64);
}

/// How to import.
#[derive(Clone, Default)]
pub struct ImportOptions {
    /// Worker threads; 0 for one per core.
    pub threads: usize,
    /// Directories that are never entered, such as the home of the vaults.
    pub never: Vec<PathBuf>,
    /// Ignore files count for nothing, and nothing is remembered for a next time.
    pub everything: bool,
    /// Whom to tell about progress.
    pub progress: Option<Arc<dyn Progress>>,
}

impl std::fmt::Debug for ImportOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { threads, never, everything, progress: _ } = self;
        f.debug_struct("ImportOptions")
            .field("threads", threads)
            .field("never", never)
            .field("everything", everything)
            .finish_non_exhaustive()
    }
}
