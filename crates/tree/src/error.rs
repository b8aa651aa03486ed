//! What can go wrong with trees and objects.

use std::io;
use std::path::Path;

use offshoot_host::{HostError, says_damage};
use offshoot_store::StoreError;

use crate::path::PathError;

/// An error of a tree or of what it is made of.
#[derive(Debug, thiserror::Error)]
pub enum TreeError {
    /// The catalog or the object backend failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The host failed.
    #[error(transparent)]
    Host(HostError),
    /// The text is not a path inside a vault.
    #[error(transparent)]
    Path(#[from] PathError),
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
    /// An object that something refers to is not there.
    #[error("{0} is missing")]
    MissingObject(String),
    /// There is nothing at the path.
    #[error("there is no {path}")]
    NoEntry {
        /// The path.
        path: String,
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
}

impl From<HostError> for TreeError {
    fn from(error: HostError) -> Self {
        match error {
            HostError::Store(error) => Self::Store(error),
            other => Self::Host(other),
        }
    }
}

fn entry_count(entries: u64) -> String {
    if entries == 1 { "1 entry".to_owned() } else { format!("{entries} entries") }
}

/// The result of anything that is done with a tree.
pub type Result<T, E = TreeError> = std::result::Result<T, E>;

/// Turns a failed file operation into an error that says what was tried on what.
pub(crate) fn io_error<E: Into<io::Error>>(
    action: &'static str,
    path: &Path,
) -> impl FnOnce(E) -> TreeError {
    move |source| HostError::io(action, path, source.into()).into()
}

/// What it is where the bytes of an object cannot be read: damage where they are not there or are others, and otherwise an error of
/// the disk or of the process, which says nothing about them.
pub fn unreadable(object: String, place: &Path, error: io::Error) -> TreeError {
    match says_damage(&error) {
        false => {
            TreeError::Host(HostError::Io { action: "read", path: place.to_owned(), source: error })
        }
        true => {
            let (place, detail) = (place.display().to_string(), error.to_string());
            TreeError::Damaged { object, place, detail }
        }
    }
}

#[cfg(test)]
mod tests {
    use rustix::io::Errno;

    use super::*;

    /// Only what is not there, or is something else, was damaged.
    #[test]
    fn errors_of_the_kernel_are_no_damage() {
        let told = |error: io::Error| unreadable("content".to_owned(), Path::new("/place"), error);
        for errno in [Errno::MFILE, Errno::NFILE, Errno::IO, Errno::NOMEM, Errno::ACCESS] {
            let error = told(errno.into());
            let TreeError::Host(error) = error else { panic!("{errno:?}: {error}") };
            assert!(matches!(error, HostError::Io { .. }), "{errno:?}: {error}");
            assert!(error.is_of_storage(), "{errno:?}");
        }
        let wrong = io::Error::new(io::ErrorKind::InvalidData, "another record");
        let short = io::Error::from(io::ErrorKind::UnexpectedEof);
        for error in [Errno::NOENT.into(), Errno::NOTDIR.into(), Errno::LOOP.into(), wrong, short] {
            let error = told(error);
            assert!(matches!(error, TreeError::Damaged { .. }), "{error}");
        }
    }
}
