//! How a catalog is opened.

use std::path::Path;
use std::time::Duration;

use rusqlite::ErrorCode;

use crate::error::{StoreError, from_sqlite};

/// How to open a catalog.
#[derive(Clone, Copy, Debug)]
pub struct OpenOptions {
    /// How long to wait for another process's write lock.
    pub busy_timeout: Duration,
    /// Open for reading only; works where nothing may be written.
    pub read_only: bool,
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self { busy_timeout: Duration::from_secs(30), read_only: false }
    }
}

impl OpenOptions {
    /// A lock that was not to be had in time is our own error; SQLite's words never reach a user.
    pub(super) fn error(&self, path: &Path, source: rusqlite::Error) -> StoreError {
        match source.sqlite_error_code() {
            // The last one is what comes of asking for the log again and again while somebody who has it does not go on.
            Some(
                ErrorCode::DatabaseBusy
                | ErrorCode::DatabaseLocked
                | ErrorCode::FileLockingProtocolFailed,
            ) => self.busy(path),
            _ => from_sqlite(path, source),
        }
    }

    /// The error for a catalog that others kept for longer than is waited.
    pub(super) fn busy(&self, path: &Path) -> StoreError {
        StoreError::Busy { path: path.to_owned(), seconds: self.busy_timeout.as_secs() }
    }
}
