//! What stands in the way of changing a folder, and what can go wrong meanwhile.

use std::fmt;
use std::path::{Path, PathBuf};

use offshoot_vault::VaultError;

/// Something that has to be out of the way before a folder can be changed. Nothing was written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ApplyProblem {
    /// The folder is not there.
    #[error("the folder {} is gone; put it back, or bind the vault to where it is now", .path.display())]
    Gone {
        /// The folder.
        path: PathBuf,
    },
    /// There is a folder, and it is not the one that was bound.
    #[error("{} is another folder than the one that the vault was made from; nothing was changed in it", .path.display())]
    NotThatFolder {
        /// The folder.
        path: PathBuf,
    },
    /// The file system cannot be written to.
    #[error("{} is on a file system that is mounted read-only", .path.display())]
    ReadOnly {
        /// The directory that would have to be written to.
        path: PathBuf,
    },
    /// This user may not change it.
    #[error("you may not change {}: {why}", .path.display())]
    Denied {
        /// What would have to be changed.
        path: PathBuf,
        /// What forbids it, and what would help.
        why: String,
    },
    /// It is marked as immutable or append-only.
    #[error("{} is immutable or append-only; `chattr -ia` takes that away", .path.display())]
    Fixed {
        /// The file or directory.
        path: PathBuf,
    },
    /// A process writes to it.
    #[error("{} is open for writing{}; close it there first", .path.display(), by(.process))]
    OpenForWriting {
        /// The file.
        path: PathBuf,
        /// The process, where it is known: its id and name.
        process: Option<String>,
    },
    /// The file system takes the name for that of another file.
    #[error("{} cannot be made: for this file system it is the same name as {existing}; rename one of the two", .path.display())]
    NameCollision {
        /// What would have to be made.
        path: PathBuf,
        /// The other name.
        existing: String,
    },
    /// A directory on the way is a symbolic link.
    #[error("{} leads through a symbolic link; what is behind it is not changed", .path.display())]
    ThroughSymlink {
        /// What would have to be changed.
        path: PathBuf,
    },
    /// There is not enough room on the file system.
    #[error("{} has room for {free} bytes, and {needed} are needed", .path.display())]
    NoRoom {
        /// A directory on the file system.
        path: PathBuf,
        /// The bytes that would be written.
        needed: u64,
        /// The bytes that are free.
        free: u64,
    },
    /// Something that the vault does not know is where something else has to go.
    #[error("{} is in the way, and no part of the vault; move it away first", .path.display())]
    InTheWay {
        /// What is in the way.
        path: PathBuf,
    },
    /// Something is mounted on it.
    #[error("{} is a mount point, and cannot be replaced or removed; unmount it first", .path.display())]
    MountPoint {
        /// The mount point.
        path: PathBuf,
    },
    /// The file system cannot exchange names.
    #[error("the file system of {} cannot exchange two names, without which nothing can be changed safely", .path.display())]
    Unsupported {
        /// A directory on the file system.
        path: PathBuf,
    },
    /// It is not what was captured: capture again.
    #[error("{} was changed meanwhile", .path.display())]
    Changed {
        /// What is different.
        path: PathBuf,
    },
}

impl ApplyProblem {
    /// A directory that this user may not enter.
    pub fn not_entered(path: PathBuf) -> Self {
        Self::Denied { path, why: "it may not be entered; `chmod u+rwx` helps".to_owned() }
    }

    /// A directory whose names this user may not change.
    pub fn not_writable(path: PathBuf) -> Self {
        Self::Denied { path, why: "it may not be written to; `chmod u+rwx` helps".to_owned() }
    }

    /// Whether it goes away when the folder is captured again.
    pub fn is_stale(&self) -> bool {
        matches!(self, Self::Changed { .. })
    }

    /// What it is about.
    pub fn path(&self) -> &Path {
        match self {
            Self::Gone { path }
            | Self::NotThatFolder { path }
            | Self::ReadOnly { path }
            | Self::Denied { path, .. }
            | Self::Fixed { path }
            | Self::OpenForWriting { path, .. }
            | Self::NameCollision { path, .. }
            | Self::ThroughSymlink { path }
            | Self::NoRoom { path, .. }
            | Self::InTheWay { path }
            | Self::MountPoint { path }
            | Self::Unsupported { path }
            | Self::Changed { path } => path,
        }
    }
}

fn by(process: &Option<String>) -> String {
    process.as_ref().map(|process| format!(" by {process}")).unwrap_or_default()
}

/// Something worth knowing about an apply that does not stand in its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApplyNote {
    /// A directory that is deleted stays, because files are in it that the vault does not know, such as ignored ones.
    Stays {
        /// The directory.
        path: PathBuf,
    },
    /// A file has names outside of the folder, which keep its old content.
    LinkedOutside {
        /// Its name in the folder.
        path: PathBuf,
    },
}

impl fmt::Display for ApplyNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stays { path } => {
                write!(f, "{} stays: files that the vault does not know are in it", path.display())
            }
            Self::LinkedOutside { path } => {
                write!(f, "{} has other names, which keep the old content", path.display())
            }
        }
    }
}

/// Somebody's bytes that could not stay at their path, and where they are now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Where they were written.
    pub path: PathBuf,
    /// Where they are.
    pub place: PathBuf,
}

impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "what was at {} is at {} now", self.path.display(), self.place.display())
    }
}

/// Why a folder was not changed.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    /// Something has to be out of the way first. The folder is as it was.
    #[error("{}", lines(.0))]
    Problems(Vec<ApplyProblem>),
    /// Somebody changed files while they were to be replaced. All was taken back, and what they wrote is in the folder.
    #[error("{} changed meanwhile{}", paths_text(.paths), kept_text(.kept))]
    Interfered {
        /// What they changed.
        paths: Vec<PathBuf>,
        /// What of it is at another place now.
        kept: Vec<Kept>,
    },
    /// A system call failed. All was taken back.
    #[error("the folder is as it was: {source}{}", kept_text(.kept))]
    Failed {
        /// Which, and why.
        source: Box<VaultError>,
        /// What somebody wrote meanwhile and is at another place now.
        kept: Vec<Kept>,
    },
    /// Neither forwards nor back: the folder is half changed, and its journal stays.
    #[error("the folder is half changed, and everything is kept: {source}{}", kept_text(.kept))]
    Stuck {
        /// What failed.
        source: Box<VaultError>,
        /// What somebody wrote meanwhile and is at another place now.
        kept: Vec<Kept>,
    },
    /// The vault failed. The folder was not touched.
    #[error(transparent)]
    Vault(#[from] VaultError),
}

fn lines(problems: &[ApplyProblem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn paths_text(paths: &[PathBuf]) -> String {
    let shown: Vec<String> = paths.iter().take(5).map(|path| path.display().to_string()).collect();
    let more = paths.len().saturating_sub(shown.len());
    let rest = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!("{}{rest}", shown.join(", "))
}

fn kept_text(kept: &[Kept]) -> String {
    kept.iter().map(|kept| format!("; {kept}")).collect()
}
