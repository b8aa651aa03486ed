//! Opening SQLite the way a catalog needs it.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::options::OpenOptions;
use super::schema;
use crate::error::{StoreError, from_io, from_sqlite};

/// How much of a commit is on disk when it returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sync {
    /// The WAL is synced: the commit survives a power cut.
    Full,
    /// Written, in order, but not synced: a later synced commit covers it.
    Ordered,
}

impl Sync {
    /// What SQLite calls it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Full => "FULL",
            Self::Ordered => "NORMAL",
        }
    }
}

/// Where the WAL of a catalog is.
pub(super) fn log_path(catalog: &Path) -> PathBuf {
    let mut log = catalog.as_os_str().to_owned();
    log.push("-wal");
    log.into()
}

/// Opens an existing catalog file.
pub(super) fn connect(path: &Path, options: &OpenOptions) -> Result<Connection, StoreError> {
    let access = if options.read_only {
        OpenFlags::SQLITE_OPEN_READ_ONLY
    } else {
        OpenFlags::SQLITE_OPEN_READ_WRITE
    };
    let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let opened = if options.read_only && !log_path(path).exists() {
        // With no log the file is all there is; where nothing can be written, SQLite must be told not to make one.
        Connection::open_with_flags(immutable_uri(path), flags | OpenFlags::SQLITE_OPEN_URI)
    } else {
        Connection::open_with_flags(path, flags)
    };
    let connection = opened.map_err(|error| open_error(path, error))?;
    configure(&connection, options).map_err(|error| options.error(path, error))?;
    Ok(connection)
}

/// Makes a new catalog file.
pub(super) fn create(path: &Path, options: &OpenOptions) -> Result<(), StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    // SQLite itself cannot be asked to fail where the file exists.
    std::fs::File::create_new(path).map_err(|error| from_io(path, error))?;
    let mut connection =
        Connection::open_with_flags(path, flags).map_err(|error| open_error(path, error))?;
    let prepare = |connection: &Connection| {
        // Pages that are freed can then be given back a few at a time. It must be said before there is a table.
        connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "application_id", schema::APPLICATION_ID)?;
        configure(connection, options)
    };
    prepare(&connection).map_err(|error| from_sqlite(path, error))?;
    schema::upgrade(&mut connection, path, options)
}

fn configure(connection: &Connection, options: &OpenOptions) -> rusqlite::Result<()> {
    connection.busy_timeout(options.busy_timeout)?;
    // The last process to close would otherwise move the WAL into the file with two more syncs, at the end of
    // every command.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    // A statement would otherwise be compiled again for the first values that it is given.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    // The catalog moves a long WAL itself, after a write.
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    connection.pragma_update(None, "temp_store", "memory")?;
    connection.pragma_update(None, "synchronous", Sync::Full.name())?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(())
}

/// SQLite says only that it cannot open a file; the file system knows why.
fn open_error(path: &Path, source: rusqlite::Error) -> StoreError {
    match std::fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let parent_is_there = path.parent().is_some_and(Path::is_dir);
            let cannot_create = source.sqlite_error_code() == Some(ErrorCode::CannotOpen);
            if parent_is_there && cannot_create && parent_is_read_only(path) {
                StoreError::ReadOnly(path.to_owned())
            } else {
                StoreError::Missing(path.to_owned())
            }
        }
        Err(error) => from_io(path, error),
        Ok(_) => match source.sqlite_error_code() {
            Some(ErrorCode::CannotOpen) => StoreError::ReadOnly(path.to_owned()),
            _ => from_sqlite(path, source),
        },
    }
}

fn parent_is_read_only(path: &Path) -> bool {
    path.parent()
        .is_some_and(|parent| rustix::fs::access(parent, rustix::fs::Access::WRITE_OK).is_err())
}

/// The path as an URI that says that the file does not change.
pub(crate) fn immutable_uri(path: &Path) -> OsString {
    let mut uri = b"file:".to_vec();
    for &byte in path.as_os_str().as_bytes() {
        match byte {
            b'%' | b'?' | b'#' => uri.extend_from_slice(format!("%{byte:02x}").as_bytes()),
            _ => uri.push(byte),
        }
    }
    uri.extend_from_slice(b"?immutable=1");
    OsString::from_vec(uri)
}
