//! Where the repository of a vault's first folder is.

use std::fmt;
use std::path::PathBuf;

use offshoot_protocol::Hint;
use offshoot_vault::{Binding, VaultRegistry};

/// What is needed to take a git directory in.
#[derive(Clone, Debug)]
pub struct GitDirectoryOptions<'a> {
    /// Where the vault is found.
    pub registry: &'a VaultRegistry,
    /// The user's home, which is never bound, nor is anything that holds it.
    pub user_home: Option<PathBuf>,
}

/// Where the repository of a vault's first folder is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GitDirectory {
    /// In a folder of the vault like any other, or there is none.
    Inside,
    /// Outside of the first folder, and a further folder of the vault for that.
    Bound {
        /// The further folder.
        binding: Binding,
        /// The bytes of its files.
        bytes: u64,
        /// It was taken in just now.
        new: bool,
    },
    /// Outside of the first folder, and no part of the vault.
    Left(UnboundGitDirectory),
}

/// A git directory that is no part of the vault: what commands commit there is gone when they end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnboundGitDirectory {
    /// The git directory.
    pub directory: PathBuf,
    /// Why it is not taken in.
    pub why: GitUnboundReason,
}

/// Why a git directory is no part of the vault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GitUnboundReason {
    /// Nothing brought the vault up to date yet.
    NotYet,
    /// Somebody let go of it.
    Removed,
    /// It cannot be opened.
    Missing(String),
    /// It is something else.
    NoRepository,
    /// It does not name the folder as its own.
    Stranger,
    /// It cannot be read.
    Unreadable,
    /// Nothing could be committed to it.
    ReadOnly,
    /// A place that is never bound.
    Forbidden(String),
    /// It holds a folder of the vault.
    Holds(PathBuf),
    /// Taking it in failed.
    Failed(String),
    /// It is that of a checkout which the vault's folder is only a part of.
    Above(PathBuf),
}

impl fmt::Display for GitUnboundReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotYet => f.write_str("it was not taken in yet"),
            Self::Removed => f.write_str("it was removed from the vault"),
            Self::Missing(error) => write!(f, "it cannot be opened: {error}"),
            Self::NoRepository => f.write_str("it is not a git directory"),
            Self::Stranger => f.write_str("it does not point back to this folder"),
            Self::Unreadable => f.write_str("you cannot read it"),
            Self::ReadOnly => f.write_str("you cannot write to it"),
            Self::Forbidden(why) => f.write_str(why),
            Self::Holds(folder) => write!(f, "it holds {}", folder.display()),
            Self::Failed(error) => f.write_str(error),
            Self::Above(checkout) => {
                write!(f, "it is the repository of {}, above this folder", checkout.display())
            }
        }
    }
}

impl fmt::Display for UnboundGitDirectory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (directory, why) = (self.directory.display(), &self.why);
        write!(
            f,
            "git commits made in workspaces are lost: git keeps them in {directory}, which is not part of the vault ({why})"
        )
    }
}

impl UnboundGitDirectory {
    /// What to do about it.
    pub fn way_out(&self) -> Hint {
        let directory = self.directory.display().to_string();
        match &self.why {
            GitUnboundReason::NotYet => {
                Hint::command("offshoot pull -w WORKSPACE").text(" takes it in")
            }
            GitUnboundReason::Removed => {
                Hint::command("offshoot binding add").arg(directory).text(" takes it in again")
            }
            GitUnboundReason::Stranger => Hint::from("if it is this folder's, ")
                .then("offshoot binding add")
                .arg(directory)
                .text(" takes it in"),
            GitUnboundReason::Missing(_) | GitUnboundReason::NoRepository => {
                Hint::command("git worktree repair")
                    .text(" in the main checkout mends a link that broke")
            }
            GitUnboundReason::Unreadable
            | GitUnboundReason::ReadOnly
            | GitUnboundReason::Failed(_) => Hint::from("mend that and run ")
                .then("offshoot init")
                .text(", or clone the repository and work in the clone"),
            GitUnboundReason::Above(checkout) => Hint::from("to keep commits, run ")
                .then("offshoot init")
                .text(format!(" in {} and delete this vault", checkout.display())),
            GitUnboundReason::Forbidden(_) | GitUnboundReason::Holds(_) => {
                "clone the repository and work in the clone".into()
            }
        }
    }
}
