//! Errors of what is stored as people see them: the catalog, files and trees.

use offshoot_host::HostError;
use offshoot_protocol::{ExitCode, Hint};
use offshoot_store::StoreError;
use offshoot_tree::TreeError;

use super::Error;

/// What to do where the disk is full.
fn frees() -> Hint {
    Hint::from("free some space: ")
        .then("offshoot gc")
        .text(" and ")
        .then("offshoot workspace delete NAME")
        .text(" work on a full disk, too")
}

/// What to do about something that is damaged.
pub(super) fn lists_damage() -> Hint {
    Hint::command("offshoot vault check").text(" lists everything that is damaged")
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        let message = error.to_string();
        match error {
            StoreError::Missing(_) | StoreError::Foreign(_) | StoreError::Damaged { .. } => {
                Self::new(ExitCode::Damaged, message)
                    .hint("copy the vault's directory before you try to repair it")
            }
            StoreError::Newer { .. } => Self::new(ExitCode::NewerFormat, message)
                .hint(Hint::from("update offshoot").unchanged()),
            StoreError::Busy { .. } => {
                Self::new(ExitCode::Busy, message).hint("try again, or raise store.busy_timeout")
            }
            StoreError::Full(_) => Self::new(ExitCode::Storage, message).hint(frees().unchanged()),
            StoreError::ReadOnly(_) => Self::new(ExitCode::Storage, message).hint(
                "reading still works; to write, set OFFSHOOT_HOME to a place you can write to",
            ),
            StoreError::Undecided { source, .. } => {
                let first = match *source {
                    StoreError::Full(_) => frees(),
                    _ => Hint::from("see to the disk first"),
                };
                let hint = first.and(
                    Hint::command("offshoot op log").text(" then says whether it was recorded"),
                );
                Self::new(ExitCode::Storage, message).hint(hint)
            }
            StoreError::Io { .. } => Self::new(ExitCode::Storage, message),
            StoreError::Stale { .. } | StoreError::NameTaken { .. } => {
                Self::new(ExitCode::Conflict, message)
            }
            StoreError::Sqlite { .. } => Self::new(ExitCode::Failure, message),
        }
    }
}

impl From<HostError> for Error {
    fn from(error: HostError) -> Self {
        let message = error.to_string();
        match error {
            HostError::Store(error) => error.into(),
            HostError::Io { source, .. } => {
                use std::io::ErrorKind;
                match source.kind() {
                    ErrorKind::NotFound => Self::new(ExitCode::NotFound, message),
                    ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
                        Self::new(ExitCode::Storage, message).hint(frees())
                    }
                    _ => Self::new(ExitCode::Storage, message),
                }
            }
            HostError::Threads(_) => Self::new(ExitCode::Failure, message),
        }
    }
}

impl From<TreeError> for Error {
    fn from(error: TreeError) -> Self {
        let message = error.to_string();
        match error {
            TreeError::Store(error) => error.into(),
            TreeError::Host(error) => error.into(),
            TreeError::Path(_) | TreeError::IntoItself { .. } | TreeError::TopDirectory => {
                Self::usage(message)
            }
            TreeError::Damaged { .. } | TreeError::MissingObject(_) => {
                Self::new(ExitCode::Damaged, message).hint(lists_damage())
            }
            TreeError::NoEntry { .. } => Self::new(ExitCode::NotFound, message),
            TreeError::NotEmpty { .. } => Self::new(ExitCode::Conflict, message)
                .hint("add -r to remove it with everything in it"),
            TreeError::NotADirectory { .. }
            | TreeError::NotAFile { .. }
            | TreeError::EntryExists { .. }
            | TreeError::LinkLoop { .. }
            | TreeError::LinkOutside { .. } => Self::new(ExitCode::Conflict, message),
        }
    }
}
