//! What can go wrong below the vault.

use std::io;
use std::path::PathBuf;

/// An error of the catalog or of an object backend.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The catalog file is not there.
    #[error("there is no catalog at {}", .0.display())]
    Missing(PathBuf),
    /// The file is a database of something else, or not a database.
    #[error("{} is not an Offshoot catalog", .0.display())]
    Foreign(PathBuf),
    /// The catalog was written by a newer Offshoot.
    #[error("{} has format {found}, newer than the format {known} that this version knows", .path.display())]
    Newer {
        /// The catalog.
        path: PathBuf,
        /// The version it says it has.
        found: i64,
        /// The newest version known here.
        known: i64,
    },
    /// Another process kept the write lock for longer than the configured time.
    #[error("another process has kept {} busy for {seconds} s", .path.display())]
    Busy {
        /// The catalog.
        path: PathBuf,
        /// How long was waited.
        seconds: u64,
    },
    /// The disk or a quota is full. Nothing was changed.
    #[error("no space left for {}", .0.display())]
    Full(PathBuf),
    /// The catalog may not be written. Nothing was changed.
    #[error("{} cannot be written: the file system or its permissions are read-only", .0.display())]
    ReadOnly(PathBuf),
    /// The database file is damaged.
    #[error("{} is damaged: {detail}", .path.display())]
    Damaged {
        /// The catalog.
        path: PathBuf,
        /// What the check found.
        detail: String,
    },
    /// A ref no longer holds the value that the caller had seen.
    #[error("{kind} {name} was changed meanwhile")]
    Stale {
        /// The kind of the ref.
        kind: String,
        /// Its name, or its id where it has none.
        name: String,
    },
    /// Another ref of this kind already has the name.
    #[error("there is already a {kind} named {name}")]
    NameTaken {
        /// The kind of the ref.
        kind: String,
        /// The name.
        name: String,
    },
    /// A change could neither be committed nor be given up: the next process that opens the catalog sees it, or does not.
    #[error("{}: nobody can tell yet whether the change was recorded: {source}", .path.display())]
    Undecided {
        /// The catalog.
        path: PathBuf,
        /// Why it could not be committed.
        source: Box<StoreError>,
    },
    /// An operation of the file system failed.
    #[error("{}: {source}", .path.display())]
    Io {
        /// Where.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Anything else that SQLite reports.
    #[error("{}: {source}", .path.display())]
    Sqlite {
        /// The catalog.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
}

/// The error for a failed file operation, by what the user can do about it.
pub(crate) fn from_io(path: &std::path::Path, source: io::Error) -> StoreError {
    match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            StoreError::Full(path.to_owned())
        }
        io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => {
            StoreError::ReadOnly(path.to_owned())
        }
        _ => StoreError::Io { path: path.to_owned(), source },
    }
}

/// What SQLite says of a statement that does not fit the tables.
const SQLITE_ERROR: i32 = 1;

/// Whether there is no room for the index of the log.
pub(crate) fn is_out_of_room(source: &rusqlite::Error) -> bool {
    let rusqlite::Error::SqliteFailure(error, _) = source else { return false };
    error.extended_code == rusqlite::ffi::SQLITE_IOERR_SHMSIZE
}

/// The error for something SQLite reported about `path`.
pub(crate) fn from_sqlite(path: &std::path::Path, source: rusqlite::Error) -> StoreError {
    use rusqlite::{Error, ErrorCode};
    let path = path.to_owned();
    // Statements and types are our own, and tested: where SQLite takes a statement for wrong, or finds something else than
    // was written, the tables are not what they were.
    let is_damage = match &source {
        Error::SqlInputError { .. }
        | Error::FromSqlConversionFailure(..)
        | Error::InvalidColumnType(..)
        | Error::IntegralValueOutOfRange(..) => true,
        Error::SqliteFailure(error, _) => error.extended_code == SQLITE_ERROR,
        _ => false,
    };
    if is_damage {
        return StoreError::Damaged { path, detail: source.to_string().replace('\n', "; ") };
    }
    if is_out_of_room(&source) {
        return StoreError::Full(path);
    }
    match source.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => StoreError::Full(path),
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => StoreError::ReadOnly(path),
        // Whoever knows how long was waited says so instead.
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            StoreError::Busy { path, seconds: 0 }
        }
        Some(ErrorCode::NotADatabase) => StoreError::Foreign(path),
        Some(ErrorCode::DatabaseCorrupt) => {
            StoreError::Damaged { path, detail: source.to_string().replace('\n', "; ") }
        }
        Some(ErrorCode::SystemIoFailure | ErrorCode::CannotOpen) => {
            StoreError::Io { path, source: io::Error::other(source) }
        }
        _ => StoreError::Sqlite { path, source },
    }
}

/// The same for the results of several calls.
pub(crate) fn sqlite_error(path: &std::path::Path) -> impl Fn(rusqlite::Error) -> StoreError + '_ {
    move |source| from_sqlite(path, source)
}
