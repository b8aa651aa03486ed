//! What can go wrong in a vault.

use std::io;
use std::path::{Path, PathBuf};

use offshoot_store::{CutShort, Id, StoreError};
use rustix::io::Errno;

use crate::path::PathError;

/// An error of a vault. Nothing was changed when one is returned, unless its text says otherwise.
#[derive(Debug, thiserror::Error)]
pub enum VaultError {
    /// The catalog or the object backend failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The text is not a path inside a vault.
    #[error(transparent)]
    Path(#[from] PathError),
    /// A file operation failed.
    #[error("cannot {action} {}: {source}", .path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// Root would change a vault, or a home of vaults, of somebody else, who could not open what root leaves there.
    #[error("{} belongs to user {owner}, not to root", .dir.display())]
    SomebodyElses {
        /// Where it is.
        dir: PathBuf,
        /// The number of the user whose it is.
        owner: u32,
    },
    /// An object or the file that holds its bytes is not what its hash says.
    #[error("{object} is damaged in {place}: {detail}")]
    Damaged {
        /// Which object.
        object: String,
        /// Where it is kept.
        place: String,
        /// What is wrong.
        detail: String,
    },
    /// The catalog lost operations that were acknowledged: its log was cut short or damaged.
    #[error("{}", cut_short(.0))]
    CutShort(CutShort),
    /// The catalog lost the main line, and nothing in it says what that was.
    #[error("the catalog lost the main line and every record of it; nothing was changed")]
    HeadLost {
        /// Where the files of the vault's layers are.
        layers: PathBuf,
    },
    /// An object that something refers to is not there.
    #[error("{0} is missing")]
    MissingObject(String),
    /// There is nothing at the path.
    #[error("there is no {path}")]
    NoEntry {
        /// The path.
        path: String,
    },
    /// The vault is bound to no folder, or not to one that is the top of its tree.
    #[error("the vault is bound to no folder")]
    Unbound,
    /// A folder that the vault is bound to is not there.
    #[error("{} is gone, or is no folder any more", .path.display())]
    FolderGone {
        /// Its name; empty for the first.
        name: String,
        /// Where it was.
        path: PathBuf,
    },
    /// Something has the name that the tree needs for further folders.
    #[error("{} is in the way: a vault with several folders needs the name for a directory", .path.display())]
    ReservedName {
        /// The path on the host.
        path: PathBuf,
    },
    /// A directory is needed.
    #[error("{path} is not a directory")]
    NotADirectory {
        /// The path.
        path: String,
    },
    /// A file is needed.
    #[error("{path} is a {kind}, not a file")]
    NotAFile {
        /// The path.
        path: String,
        /// What it is.
        kind: &'static str,
    },
    /// There is something at the path already.
    #[error("{path} exists already")]
    EntryExists {
        /// The path.
        path: String,
    },
    /// The directory is not empty.
    #[error("{path} is a directory with {} in it", entry_count(*.entries))]
    NotEmpty {
        /// The path.
        path: String,
        /// How many entries are beneath.
        entries: u64,
    },
    /// The top directory is always there.
    #[error("the top directory itself cannot be removed")]
    TopDirectory,
    /// A directory would become part of itself.
    #[error("{from} cannot be put inside itself, at {to}")]
    IntoItself {
        /// The directory.
        from: String,
        /// Where it was to go.
        to: String,
    },
    /// Symbolic links lead around in a circle, or through too many others.
    #[error("{path} leads through too many symbolic links")]
    LinkLoop {
        /// The path.
        path: String,
    },
    /// The symbolic link leads to a place that is not part of the vault.
    #[error("{path} is a symbolic link to {target}, which is outside of the vault")]
    LinkOutside {
        /// The link.
        path: String,
        /// Where it leads.
        target: String,
    },
    /// A snapshot that something refers to is not there.
    #[error("there is no snapshot {0}")]
    NoSnapshot(Id),
    /// The files of a snapshot were collected as garbage.
    #[error("the files of snapshot {} were collected by gc on {}", .snapshot.short(), date(*.time_ms))]
    Collected {
        /// The snapshot.
        snapshot: Id,
        /// When they were.
        time_ms: u64,
    },
    /// A checkpoint would be left without its workspace.
    #[error("checkpoint {checkpoint} would be left without its workspace")]
    Orphaned {
        /// The name of the checkpoint.
        checkpoint: String,
    },
    /// Something writes to the vault that does not say what it builds upon.
    #[error("{} is being written and does not say what it builds upon", .0.display())]
    Unaccounted(PathBuf),
    /// The file is not an exported vault.
    #[error("{} is not an exported vault", .0.display())]
    NoArchive(PathBuf),
    /// An exported vault is not what it was.
    #[error("{} is damaged: {detail}", .path.display())]
    BadArchive {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        detail: String,
    },
    /// The vault was deleted before it was opened.
    #[error("the vault was deleted meanwhile: {}", .0.display())]
    Deleted(PathBuf),
    /// There is no operation of that id.
    #[error("there is no operation {0}")]
    NoOperation(Id),
    /// Nothing is left to undo.
    #[error("there is nothing to undo")]
    NothingToUndo,
    /// Nothing is left to redo.
    #[error("there is nothing to redo")]
    NothingToRedo,
    /// What an operation changed was changed again since, so it cannot be taken back alone.
    #[error("operation {operation} cannot be {verb}: {because}")]
    Overtaken {
        /// The operation.
        operation: Id,
        /// "undone" or "redone".
        verb: &'static str,
        /// Which ref stands in the way.
        because: String,
    },
    /// Another process uses the workspace and did not finish in time.
    #[error("workspace {workspace} is in use by {}", holder_name(.holder))]
    WorkspaceBusy {
        /// The workspace.
        workspace: Id,
        /// What the other says of itself; may be empty.
        holder: String,
    },
    /// A record in the catalog cannot be read.
    #[error("{what} in the catalog cannot be read: {source}")]
    BadRecord {
        /// Which record.
        what: String,
        /// Why.
        source: serde_json::Error,
    },
    /// The destination of an export is in use.
    #[error("{} exists already and is not an empty directory", .0.display())]
    DestinationExists(PathBuf),
    /// The number of worker threads could not be started.
    #[error("cannot start worker threads: {0}")]
    Threads(String),
}

/// What a catalog lost, in one sentence.
pub(crate) fn cut_short(lost: &CutShort) -> String {
    let ends = match lost.ends {
        Some(id) => format!("ends at operation {id}"),
        None => "has no operation left".to_owned(),
    };
    format!("the catalog {ends}, but operation {} was acknowledged", lost.acknowledged)
}

/// A day of the calendar, in UTC.
fn date(time_ms: u64) -> String {
    // Counted in eras of 400 years that start on the first of March, so that the leap day is the last of its year.
    let days = time_ms / 86_400_000 + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (year, month) = match month < 10 {
        true => (era * 400 + year, month + 3),
        false => (era * 400 + year + 1, month - 9),
    };
    format!("{year:04}-{month:02}-{day:02}")
}

fn entry_count(entries: u64) -> String {
    if entries == 1 { "1 entry".to_owned() } else { format!("{entries} entries") }
}

pub(crate) fn holder_name(holder: &str) -> &str {
    if holder.is_empty() { "another process" } else { holder }
}

/// The result of anything a vault does.
pub type Result<T, E = VaultError> = std::result::Result<T, E>;

/// Turns a failed file operation into an error that says what was tried on what.
pub(crate) fn io_error<E: Into<io::Error>>(
    action: &'static str,
    path: &Path,
) -> impl FnOnce(E) -> VaultError {
    move |source| {
        let source = source.into();
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                StoreError::Full(path).into()
            }
            io::ErrorKind::ReadOnlyFilesystem => StoreError::ReadOnly(path).into(),
            _ => VaultError::Io { action, path, source },
        }
    }
}

/// What it is where the bytes of an object cannot be read: damage where they are not there or are others, and otherwise an error of
/// the disk or of the process, which says nothing about them.
pub(crate) fn unreadable(object: String, place: &Path, error: io::Error) -> VaultError {
    match says_damage(&error) {
        false => VaultError::Io { action: "read", path: place.to_owned(), source: error },
        true => {
            let (place, detail) = (place.display().to_string(), error.to_string());
            VaultError::Damaged { object, place, detail }
        }
    }
}

/// Whether a failed read means that something else is there than was stored, or nothing.
pub(crate) fn says_damage(error: &io::Error) -> bool {
    match Errno::from_io_error(error) {
        Some(errno) => matches!(
            errno,
            Errno::NOENT | Errno::NOTDIR | Errno::ISDIR | Errno::LOOP | Errno::NXIO | Errno::NODEV
        ),
        // Not the kernel's, but from who read the bytes.
        None => true,
    }
}

impl VaultError {
    /// The disk or the process failed, which says nothing about whether the vault is in order.
    pub(crate) fn is_of_storage(&self) -> bool {
        match self {
            Self::Io { source, .. } => !says_damage(source),
            Self::Store(error) => {
                matches!(
                    error,
                    StoreError::Io { .. } | StoreError::Busy { .. } | StoreError::Full(_)
                )
            }
            _ => false,
        }
    }

    /// The process may not have more open files or memory at the moment; it could read this at another time.
    pub(crate) fn is_of_process(&self) -> bool {
        let Self::Io { source, .. } = self else { return false };
        let errno = Errno::from_io_error(source);
        errno.is_some_and(|errno| {
            matches!(errno, Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::INTR | Errno::AGAIN)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Only what is not there, or is something else, was damaged.
    #[test]
    fn errors_of_the_kernel_are_no_damage() {
        let told = |error: io::Error| unreadable("content".to_owned(), Path::new("/place"), error);
        for errno in [Errno::MFILE, Errno::NFILE, Errno::IO, Errno::NOMEM, Errno::ACCESS] {
            let error = told(errno.into());
            assert!(matches!(error, VaultError::Io { .. }), "{errno:?}: {error}");
            assert!(error.is_of_storage(), "{errno:?}");
        }
        let wrong = io::Error::new(io::ErrorKind::InvalidData, "another record");
        let short = io::Error::from(io::ErrorKind::UnexpectedEof);
        for error in [Errno::NOENT.into(), Errno::NOTDIR.into(), Errno::LOOP.into(), wrong, short] {
            let error = told(error);
            assert!(matches!(error, VaultError::Damaged { .. }), "{error}");
            assert!(!error.is_of_storage(), "{error}");
        }
    }

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (seconds, expected) in [
            (0, "1970-01-01"),
            (951_782_399, "2000-02-28"),
            (951_782_400, "2000-02-29"),
            (951_868_800, "2000-03-01"),
            (1_709_164_800, "2024-02-29"),
            (1_735_689_599, "2024-12-31"),
            (4_107_542_400, "2100-03-01"),
        ] {
            assert_eq!(date(seconds * 1000), expected);
        }
    }
}
