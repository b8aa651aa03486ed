//! A git commit that was made, or would be.

use crate::error::Result;

/// A commit that was made, or would be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitCommitted {
    /// Its id.
    pub commit: String,
    /// The branch that is checked out, if one is.
    pub branch: Option<String>,
    /// The ref that it moved: the branch, or `HEAD` where none is checked out.
    pub reference: String,
    /// Where that was before; nothing where it is the first commit.
    pub before: Option<String>,
    /// How many files it changes.
    pub files: u64,
    /// The ref with the workspace's own commits that it merges; it is gone, unless a checkout uses it.
    pub merged: Option<String>,
    /// Where that ref was.
    pub merged_commit: Option<String>,
    /// Whether that ref is still there, because a checkout uses it.
    pub merged_stays: bool,
    /// Whether it was made here; otherwise it is the workspace's own.
    pub is_new: bool,
    /// Hooks of the repository that were not run.
    pub hooks: Vec<String>,
    /// Whether git would have signed it, which is not done here.
    pub unsigned: bool,
}

/// Told of a commit right before git moves to it; where that fails, git does not.
pub type AboutTo<'a> = &'a dyn Fn(&GitCommitted) -> Result<()>;

/// What the log of a branch says of a commit.
pub(super) fn commit_note(parent: Option<&str>, message: &str) -> String {
    let subject = message.lines().next().unwrap_or_default();
    match parent {
        Some(_) => format!("commit: {subject}"),
        None => format!("commit (initial): {subject}"),
    }
}
