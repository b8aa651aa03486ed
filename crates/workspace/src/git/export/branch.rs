//! The branch that an export writes to.

use offshoot_store::Id;

use super::message::SNAPSHOT;
use crate::git::error::{GitError, GitResult};
use crate::git::folder::GitFolder;
use crate::git::in_use::User;
use crate::git::merge::{in_the_way, short_ref};

/// A branch as it is now.
pub(super) struct Branch {
    name: String,
    reference: String,
    /// Its last commit.
    pub(super) tip: Option<String>,
    /// Its last commit and the snapshot that this was made from, where an export made it.
    pub(super) made_from: Option<(String, Id)>,
}

impl Branch {
    /// Looks at a branch, which nobody may have checked out.
    pub(super) fn look(folder: &GitFolder, name: &str) -> GitResult<Self> {
        // Git itself takes no branch of the name `HEAD`, and what stands for another branch, as `-` does, is no name.
        let checked = folder.git.try_output(&["check-ref-format", "--branch", name], &[])?;
        if !checked.status.success() || checked.stdout.trim_ascii_end() != name.as_bytes() {
            return Err(GitError::BadBranch(name.to_owned()));
        }
        let reference = format!("refs/heads/{name}");
        require_unused(folder, name, &reference)?;
        let tip = folder.commit(&reference)?;
        let made_from = match &tip {
            Some(tip) => snapshot_of(folder, tip)?.map(|snapshot| (tip.clone(), snapshot)),
            None => {
                require_room(folder, name, &reference)?;
                None
            }
        };
        Ok(Self { name: name.to_owned(), reference, tip, made_from })
    }

    /// Moves the branch in one step with dropping the ref that was written to, unless somebody else moved it meanwhile.
    pub(super) fn move_to(&self, folder: &GitFolder, to: &str, from: &str) -> GitResult<()> {
        let reference = &self.reference;
        // Somebody may have checked it out meanwhile.
        if let Err(error) = require_unused(folder, &self.name, reference) {
            drop(folder.git.output(&["update-ref", "-d", from]));
            return Err(error);
        }
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

/// Fails where a checkout needs a branch where it is.
fn require_unused(folder: &GitFolder, name: &str, reference: &str) -> GitResult<()> {
    match folder.users(reference)?.into_iter().next() {
        Some(User { worktree, why }) => {
            Err(GitError::InUse { branch: name.to_owned(), why, worktree })
        }
        None => Ok(()),
    }
}

/// Fails where a new branch cannot be beside another one.
fn require_room(folder: &GitFolder, name: &str, reference: &str) -> GitResult<()> {
    let listed = folder.git.output(&["for-each-ref", "--format=%(refname)", "refs/heads/"])?;
    let refs = listed.split(|byte| *byte == b'\n').map(|name| (name.to_vec(), ()));
    match in_the_way(&refs.collect(), reference.as_bytes()) {
        Some(other) => {
            let other = String::from_utf8_lossy(other);
            let (branch, other) = (name.to_owned(), short_ref(&other).to_owned());
            Err(GitError::NoRoom { branch, other })
        }
        None => Ok(()),
    }
}

/// The snapshot that a commit says it was made from.
fn snapshot_of(folder: &GitFolder, commit: &str) -> GitResult<Option<Id>> {
    let text = folder.git.output(&["log", "-1", "--no-decorate", "--format=%B", commit, "--"])?;
    let text = String::from_utf8_lossy(&text);
    let named = text.lines().rev().find_map(|line| line.strip_prefix(SNAPSHOT)?.strip_prefix(": "));
    Ok(named.and_then(|id| id.trim().parse().ok()))
}
