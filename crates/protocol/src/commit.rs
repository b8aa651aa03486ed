//! Documents about what is committed: `commit` and `pull`.

use offshoot_vocabulary::{ConflictKindDoc, ExitCode, HeldReasonDoc, SettleOutcome, TrustKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::binding::GitDirectoryDoc;
use crate::change::ChangeDoc;
use crate::document::Kind;
use crate::git::{GitOutcomeDoc, RepositoryNoteDoc};
use crate::schema::{self, Schema};
use crate::text::Text;
use crate::way_on::WayOnDoc;

/// The schemas of what is here.
pub(crate) const SCHEMAS: &[Schema] =
    &[schema::of::<CommitDoc>, schema::of::<SettleDoc>, schema::of::<PullDoc>];

/// A change that stays in the workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HeldDoc {
    /// The path.
    pub path: Text,
    /// Why it stays.
    pub reason: HeldReasonDoc,
    /// What it is, or what would run it, where that says more, such as `a git hook`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// When something on the host would run or obey it, where that is the reason (`trusted`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<TrustKind>,
    /// The option of `commit` that commits it and all that stays for the same reason, where there is one; `--take PATH` commits it alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub option: Option<String>,
}

/// Something that does not fit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClashDoc {
    /// The path.
    pub path: Text,
    /// What is wrong, in a word.
    pub conflict: ConflictKindDoc,
}

/// What a commit did, or would do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommitDoc {
    /// The workspace.
    pub workspace: String,
    /// Whether files were committed. False for a dry run, where nothing was to be brought, and where there are conflicts.
    pub committed: bool,
    /// Only asked what would be committed.
    pub dry_run: bool,
    /// What is said about it.
    pub message: String,
    /// What changed in the folder, or would, by path.
    pub changes: Vec<ChangeDoc>,
    /// What changed in the folder, or would, in its metadata alone, by path. These are not in `changes`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metadata_changes: Vec<ChangeDoc>,
    /// What stays in the workspace, by path.
    pub held: Vec<HeldDoc>,
    /// How many files had changed in the folder since the workspace was forked.
    pub meanwhile: u64,
    /// What stands in the way; nothing was changed where there is any.
    pub conflicts: Vec<ClashDoc>,
    /// What of the held back does not fit to what was committed; the workspace has it as conflicts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept_conflicts: Vec<ClashDoc>,
    /// The commands whose work it is, oldest first.
    pub execs: Vec<String>,
    /// The main line's new snapshot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<String>,
    /// The operation that did it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// What became of repositories that both sides changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repositories: Vec<RepositoryNoteDoc>,
    /// What the workspace's own repositories no longer have, since they follow the folder's after a commit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workspace_repositories: Vec<RepositoryNoteDoc>,
    /// What became of the git commit that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<GitOutcomeDoc>,
    /// What to do next about all of it: decide conflicts, or take it back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ways_on: Vec<WayOnDoc>,
}

impl Kind for CommitDoc {
    const KIND: &'static str = "commit";

    fn exit_code(&self) -> ExitCode {
        let git_error = self.git.as_ref().and_then(|git| git.error.as_ref());
        match git_error {
            Some(error) => error.code(),
            None if self.conflicts.is_empty() => ExitCode::Success,
            None => ExitCode::Conflict,
        }
    }
}

/// What became of commits that were interrupted, where somebody said which way to go.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SettleDoc {
    /// Each of them; none where nothing was interrupted.
    pub settled: Vec<SettledDoc>,
}

/// A commit that was interrupted, and is settled now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SettledDoc {
    /// What it was to do.
    pub summary: String,
    /// What became of it.
    pub how: SettleOutcome,
}

impl Kind for SettleDoc {
    const KIND: &'static str = "commit.settle";
}

/// What a pull did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PullDoc {
    /// The workspace; none where only the main line was brought up to date.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// The main line's snapshot.
    pub head: String,
    /// Whether the main line moved.
    pub head_moved: bool,
    /// What had changed in the folder, by path.
    pub captured: Vec<ChangeDoc>,
    /// What changed in the workspace, by path.
    pub changes: Vec<ChangeDoc>,
    /// What changed in the workspace in its metadata alone, by path. These are not in `changes`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metadata_changes: Vec<ChangeDoc>,
    /// What somebody has to decide in the workspace.
    pub conflicts: Vec<ClashDoc>,
    /// What became of repositories that both sides changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repositories: Vec<RepositoryNoteDoc>,
    /// The workspace's newest snapshot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<String>,
    /// The operation that changed the workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// The git directory of the folder, where it lies outside of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git_directory: Option<GitDirectoryDoc>,
    /// What to do next about all of it: decide conflicts, or take it back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ways_on: Vec<WayOnDoc>,
}

impl Kind for PullDoc {
    const KIND: &'static str = "pull";

    fn exit_code(&self) -> ExitCode {
        if self.conflicts.is_empty() { ExitCode::Success } else { ExitCode::Conflict }
    }
}
