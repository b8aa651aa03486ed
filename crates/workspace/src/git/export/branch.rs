//! The branch that an export writes to.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use offshoot_vault::Id;

use super::message::SNAPSHOT;
use crate::git::error::{GitError, GitResult};
use crate::git::folder::GitFolder;

/// A branch as it is now.
pub(super) struct Branch {
    reference: String,
    /// Its last commit.
    pub(super) tip: Option<String>,
    /// Its last commit and the snapshot that this was made from, where an export made it.
    pub(super) made_from: Option<(String, Id)>,
}

impl Branch {
    /// Looks at a branch, which nobody may have checked out.
    pub(super) fn look(folder: &GitFolder, name: &str) -> GitResult<Self> {
        let reference = format!("refs/heads/{name}");
        let checked = folder.git.try_output(&["check-ref-format", &reference], &[])?;
        if name.starts_with('-') || !checked.status.success() {
            return Err(GitError::BadBranch(name.to_owned()));
        }
        if let Some(worktree) = checked_out(folder, &reference)? {
            return Err(GitError::CheckedOut { branch: name.to_owned(), worktree });
        }
        let tip = folder.commit(&reference)?;
        let made_from = match &tip {
            Some(tip) => snapshot_of(folder, tip)?.map(|snapshot| (tip.clone(), snapshot)),
            None => None,
        };
        Ok(Self { reference, tip, made_from })
    }

    /// Moves the branch in one step with dropping the ref that was written to, unless somebody else moved it meanwhile.
    pub(super) fn move_to(&self, folder: &GitFolder, to: &str, from: &str) -> GitResult<()> {
        let reference = &self.reference;
        let moved = match &self.tip {
            Some(tip) => format!("update {reference} {to} {tip}\n"),
            None => format!("create {reference} {to}\n"),
        };
        let steps = format!("start\n{moved}delete {from} {to}\nprepare\ncommit\n");
        let arguments = ["update-ref", "-m", "offshoot: export", "--stdin"];
        let done = folder.git.output_of(&arguments, steps.as_bytes());
        if done.is_err() {
            // The first error is the one to report, and the ref is of no use to anybody.
            drop(folder.git.output(&["update-ref", "-d", from]));
        }
        done.map(drop)
    }
}

/// The working tree that has a branch checked out.
fn checked_out(folder: &GitFolder, reference: &str) -> GitResult<Option<PathBuf>> {
    let listed = folder.git.output(&["worktree", "list", "--porcelain", "-z"])?;
    let mut worktree = Vec::new();
    for line in listed.split(|byte| *byte == 0) {
        if let Some(path) = line.strip_prefix(b"worktree ") {
            worktree = path.to_vec();
        } else if line.strip_prefix(b"branch ") == Some(reference.as_bytes()) {
            return Ok(Some(PathBuf::from(OsString::from_vec(worktree))));
        }
    }
    Ok(None)
}

/// The snapshot that a commit says it was made from.
fn snapshot_of(folder: &GitFolder, commit: &str) -> GitResult<Option<Id>> {
    let text = folder.git.output(&["log", "-1", "--no-decorate", "--format=%B", commit, "--"])?;
    let text = String::from_utf8_lossy(&text);
    let named = text.lines().rev().find_map(|line| line.strip_prefix(SNAPSHOT)?.strip_prefix(": "));
    Ok(named.and_then(|id| id.trim().parse().ok()))
}
