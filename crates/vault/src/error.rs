//! What can go wrong in a vault.

use std::io;
use std::path::{Path, PathBuf};

use offshoot_host::HostError;
use offshoot_store::{CutShort, Id, StoreError};
use offshoot_tree::{PathError, TreeError};

use crate::import::ignore::IgnoreFileError;
use crate::session::error::SessionError;

/// An error of a vault. Nothing was changed when one is returned, unless its text says otherwise.
#[derive(Debug, thiserror::Error)]
pub enum VaultError {
    /// The catalog or the object backend failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The host failed.
    #[error(transparent)]
    Host(HostError),
    /// A tree, or an object that it is made of, is not there or is another than it has to be.
    #[error(transparent)]
    Tree(TreeError),
    /// Root would change a vault, or a home of vaults, of somebody else, who could not open what root leaves there.
    #[error("{} belongs to user {owner}, not to root", .dir.display())]
    SomebodyElses {
        /// Where it is.
        dir: PathBuf,
        /// The number of the user whose it is.
        owner: u32,
    },
    /// The catalog lost operations that were acknowledged: its log was cut short or damaged.
    #[error("{}", cut_short(.0))]
    CutShort(CutShort),
    /// The audit log is not what was recorded.
    #[error("the audit log is not what was recorded: {0}")]
    Audit(String),
    /// What should be the key of the audit log is none.
    #[error("{} is no key for the audit log", .0.display())]
    NotAKey(PathBuf),
    /// Nobody who may has written this approval.
    #[error("approval {0} was not written by this vault, or before its audit key was replaced")]
    ForgedApproval(String),
    /// The catalog has other files under a snapshot than when the approval that names it was signed.
    #[error("snapshot {snapshot} has other files than when approval {approval} was asked for")]
    SwappedTrial {
        /// The approval.
        approval: Id,
        /// The snapshot.
        snapshot: Id,
    },
    /// An agent tries what only a person may do.
    #[error("agent {agent} cannot {what}: a person can")]
    ForPeople {
        /// The agent.
        agent: String,
        /// What it tries.
        what: &'static str,
    },
    /// The catalog lost the main line, and nothing in it says what that was.
    #[error("the catalog lost the main line and every record of it; nothing was changed")]
    HeadLost {
        /// Where the files of the vault's layers are.
        layers: PathBuf,
    },
    /// An ignore file says nothing that can be relied upon, so nothing was taken in.
    #[error("{} cannot be used: {why}", .path.display())]
    IgnoreFile {
        /// Where it is.
        path: PathBuf,
        /// Why not.
        why: IgnoreFileError,
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
    /// A checkpoint or a session would be left without its workspace.
    #[error("{kind} {name} would be left without its workspace")]
    Orphaned {
        /// Which of the two.
        kind: String,
        /// Its name.
        name: String,
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
    /// The files in an exported vault come to more than it may expand to.
    #[error("{} expands to at least {bytes} bytes, more than the {limit} that it may", .path.display())]
    ArchiveExpands {
        /// The file.
        path: PathBuf,
        /// What it comes to, as far as it was added up.
        bytes: u64,
        /// How much it may come to.
        limit: u64,
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
    /// Something around a session failed.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// A record in the catalog cannot be read.
    #[error("{what} in the catalog cannot be read: {source}")]
    BadRecord {
        /// Which record.
        what: String,
        /// Why.
        source: serde_json::Error,
    },
    /// The time was over before all that was written was read. It is set aside as it is.
    #[error("the time was over before what the command wrote could be kept")]
    OutOfTime,
    /// Directories lie in each other without end. What was written is set aside as it is.
    #[error("{path} lies more than {most} directories deep, so what the command wrote is not kept")]
    TooDeep {
        /// A directory that does, cut short.
        path: String,
        /// How deep one may lie.
        most: usize,
    },
    /// The destination of an export is in use.
    #[error("{} exists already and is not an empty directory", .0.display())]
    DestinationExists(PathBuf),
}

// Whatever it came through, a failure of the store or of the host is found in one place.
impl From<HostError> for VaultError {
    fn from(error: HostError) -> Self {
        match error {
            HostError::Store(error) => Self::Store(error),
            other => Self::Host(other),
        }
    }
}

impl From<TreeError> for VaultError {
    fn from(error: TreeError) -> Self {
        match error {
            TreeError::Store(error) => Self::Store(error),
            TreeError::Host(error) => error.into(),
            other => Self::Tree(other),
        }
    }
}

impl From<PathError> for VaultError {
    fn from(error: PathError) -> Self {
        Self::Tree(error.into())
    }
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
pub(crate) fn date(time_ms: u64) -> String {
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
    move |source| HostError::io(action, path, source.into()).into()
}

impl VaultError {
    /// The disk or the process failed, which says nothing about whether the vault is in order.
    pub(crate) fn is_of_storage(&self) -> bool {
        match self {
            Self::Host(error) => error.is_of_storage(),
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
        matches!(self, Self::Host(error) if error.is_of_process())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
