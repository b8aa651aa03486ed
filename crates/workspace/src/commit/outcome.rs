//! What committing work did, or would do.

use offshoot_store::Id;
use offshoot_tree::RootId;
use offshoot_tree::diff::Change;
use offshoot_tree::merge::Conflict;
use offshoot_vault::ImportReport;

use super::select::Held;
use crate::binding::GitDirectory;
use crate::git::GitReport;

/// What a commit did, or would do.
#[derive(Clone, Debug)]
pub struct CommitOutcome {
    /// The workspace.
    pub workspace: String,
    /// Nothing was changed: it was only asked what would be.
    pub dry_run: bool,
    /// The operation that recorded it; none where nothing was to be recorded.
    pub operation: Option<Id>,
    /// The main line's new snapshot.
    pub snapshot: Option<Id>,
    /// What is said about it.
    pub message: String,
    /// What changed in the folders.
    pub brought: Vec<Change>,
    /// What got other times, owners or attributes alone.
    pub metadata: Vec<Change>,
    /// What stays in the workspace.
    pub held: Vec<Held>,
    /// How many files had changed in the folders since the workspace was forked, and were merged with.
    pub meanwhile: u64,
    /// How many of them git does not keep for itself.
    pub meanwhile_own: u64,
    /// What stands in the way: nothing was changed where there is any.
    pub conflicts: Vec<Conflict>,
    /// What of the held back does not fit to what was committed; the workspace has it as conflicts.
    pub kept_conflicts: Vec<Conflict>,
    /// What became of repositories that both sides changed.
    pub git: GitReport,
    /// What became of the workspace's own, which has followed the folder's.
    pub workspace_git: GitReport,
    /// Options that name what has not changed: `--only PATH`, `--take PATH`.
    pub unmatched: Vec<String>,
    /// What was named and had no effect: a part of a git directory, which is committed as a whole or not at all.
    pub parts_of_git: Vec<String>,
    /// The commands whose work it is, oldest first.
    pub execs: Vec<Id>,
    /// What the workspace offered.
    pub offered: RootId,
    /// What the workspace had, whether or not it was offered.
    pub tip: RootId,
    /// The folders before.
    pub before: RootId,
    /// The folders after.
    pub after: RootId,
    /// What reading the folders found.
    pub report: ImportReport,
}

/// What a pull did.
#[derive(Clone, Debug)]
pub struct Pulled {
    /// The workspace; none where only the main line was brought up to date.
    pub workspace: Option<String>,
    /// The main line's snapshot.
    pub head: Id,
    /// Whether it moved.
    pub head_moved: bool,
    /// What changed in the folders since the main line last was what is in them.
    pub captured: Vec<Change>,
    /// What the pull changed in the workspace.
    pub changes: Vec<Change>,
    /// What got other owners or attributes alone by it.
    pub metadata: Vec<Change>,
    /// What became of repositories that both sides changed.
    pub git: GitReport,
    /// What somebody has to decide, in the workspace.
    pub conflicts: Vec<Conflict>,
    /// The workspace's newest snapshot.
    pub snapshot: Option<Id>,
    /// The operation; none where the workspace had everything already.
    pub operation: Option<Id>,
    /// What reading the folders found.
    pub report: ImportReport,
    /// Where the first folder's git directory is.
    pub git_directory: GitDirectory,
}

/// What a git commit in the folder did to the workspace whose work it is.
#[derive(Clone, Debug)]
pub struct GitFollowed {
    /// What came into the folders altogether.
    pub brought: Vec<Change>,
    /// What the folders are now.
    pub root: RootId,
    /// What became of the workspace's repositories.
    pub git: GitReport,
}
