//! What can go wrong with git.

use std::path::PathBuf;

use offshoot_tree::{VaultPath, display_bytes};

use super::merge::{InUse, NextStep};

/// An error of the git program, or of what was asked of it.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// There is no git.
    #[error("there is no program {}", .0.display())]
    Missing(PathBuf),
    /// It could not be started, or not be talked to.
    #[error("cannot run git {what}: {source}")]
    Run {
        /// What it was to do.
        what: String,
        /// Why.
        source: std::io::Error,
    },
    /// It said no.
    #[error("git {what} failed: {}", told(.stderr, *.code))]
    Failed {
        /// What it was to do.
        what: String,
        /// What it returned; nothing where a signal ended it.
        code: Option<i32>,
        /// What it printed about it.
        stderr: String,
    },
    /// It did not end, nor did a filter that it started.
    #[error("git {what} was not done after {seconds} seconds and was ended")]
    Slow {
        /// What it was to do.
        what: String,
        /// How long it had.
        seconds: u64,
    },
    /// It answered something that makes no sense.
    #[error("git {what} answered something unknown: {answer}")]
    Answer {
        /// What it was to do.
        what: String,
        /// What it answered.
        answer: String,
    },
    /// The folder is in no working tree.
    #[error("{} is not in a git working tree", display_bytes(.0.as_os_str().as_encoded_bytes()))]
    NoRepository(PathBuf),
    /// Another git is at work.
    #[error("a git operation is under way in the folder: {} is there", display_bytes(.0.as_os_str().as_encoded_bytes()))]
    Locked(PathBuf),
    /// A merge, a rebase or the like waits to be finished.
    #[error("a git {what} is in progress in the folder")]
    InProgress {
        /// What is in progress.
        what: &'static str,
    },
    /// Nobody said who commits.
    #[error("git does not know who you are: {0}")]
    NoIdentity(String),
    /// Text that cannot name somebody.
    #[error("\"{0}\" is not of the form NAME <MAIL>")]
    BadAuthor(String),
    /// Text that cannot name a branch.
    #[error("\"{0}\" cannot be the name of a branch")]
    BadBranch(String),
    /// The branch is somebody's.
    #[error(
        "branch {0} is there already, and its last commit is not from an export of this workspace"
    )]
    ForeignBranch(String),
    /// The branch is in use.
    #[error("branch {branch} is {} {}", used(*.why), display_bytes(.worktree.as_os_str().as_encoded_bytes()))]
    InUse {
        /// The branch.
        branch: String,
        /// What it is used for.
        why: InUse,
        /// Where.
        worktree: PathBuf,
    },
    /// Git cannot keep both branches.
    #[error("branch {branch} cannot be beside branch {other}")]
    NoRoom {
        /// The branch.
        branch: String,
        /// The one that is there.
        other: String,
    },
    /// Git went on with what reached the folder and was not committed.
    #[error("git has other versions by now of what was committed: {}", list(.0))]
    MovedOn(Vec<VaultPath>),
    /// What reaches the folder and what the person has not committed are in the same files.
    #[error("{} had changes in the folder that are not committed: {}", files(.0.len()), list(.0))]
    Dirty(Vec<VaultPath>),
    /// The same in files that git was told to overlook.
    #[error("{} had changes in the folder that git was told to overlook: {}", files(.paths.len()), list(.paths))]
    Overlooked {
        /// The files.
        paths: Vec<VaultPath>,
        /// The commands that make git look at them again.
        commands: Vec<String>,
    },
    /// A file has a filter that nobody but the repository names.
    #[error(
        "{path} has the filter {name}, which only the repository's own settings name: Offshoot runs nothing that a repository names"
    )]
    RepositoryFilter {
        /// The file, in the repository.
        path: String,
        /// The filter.
        name: String,
    },
    /// Commits that were kept apart do not fit onto the branch.
    #[error("{kept} cannot be merged: {why}")]
    CannotJoin {
        /// What they are called.
        kept: String,
        /// What is in the way.
        why: String,
        /// A file of them that the folder does not have: it may be held back.
        missing: Option<String>,
        /// What to do instead.
        way: Box<NextStep>,
    },
    /// Something else took the place of a directory with a repository in it.
    #[error("{0} cannot be kept: something else took the place of the directory that it is in")]
    InTheWay(VaultPath),
    /// Both made commits, or the like, and it cannot be told apart which.
    #[error("the workspace and the folder both changed the git repository {repository}: {why}")]
    BothChanged {
        /// Where it lies in the vault.
        repository: VaultPath,
        /// What does not fit.
        why: String,
    },
}

fn used(why: InUse) -> &'static str {
    match why {
        InUse::CheckedOut => "checked out in",
        InUse::Rebased => "being rebased in",
        InUse::Bisected => "where git bisect started in",
    }
}

fn told(stderr: &str, code: Option<i32>) -> String {
    match (stderr.trim(), code) {
        ("", Some(code)) => format!("exit code {code}"),
        ("", None) => "it was killed".to_owned(),
        (text, _) => text.to_owned(),
    }
}

fn files(count: usize) -> String {
    if count == 1 {
        "1 file of this commit".to_owned()
    } else {
        format!("{count} files of this commit")
    }
}

/// The first of them.
fn list(paths: &[VaultPath]) -> String {
    const SHOWN: usize = 5;
    let mut shown: Vec<String> = paths.iter().take(SHOWN).map(VaultPath::to_string).collect();
    if paths.len() > SHOWN {
        shown.push(format!("and {} more", paths.len() - SHOWN));
    }
    shown.join(", ")
}

/// The result of anything that is done with git.
pub(crate) type GitResult<T> = Result<T, GitError>;
