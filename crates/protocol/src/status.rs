//! The state of a workspace as a document.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ConflictKindDoc;
use crate::binding::GitDirectoryDoc;
use crate::change::ChangeDoc;
use crate::commit::{ClashDoc, HeldDoc};
use crate::document::Kind;
use crate::git::RepositoryNoteDoc;
use crate::merge::ConflictDoc;
use crate::recover::RunningDoc;
use crate::schema::{self, Schema};
use crate::text::Text;

/// The schemas of what is here.
pub(crate) const SCHEMAS: &[Schema] = &[schema::of::<StatusDoc>, schema::of::<StatusAllDoc>];

/// The state of a workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StatusDoc {
    /// The vault.
    pub vault: String,
    /// The folders that the vault is bound to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub folders: Vec<Text>,
    /// The git directory of the folder, where it lies outside of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git_directory: Option<GitDirectoryDoc>,
    /// The workspace; none where the vault has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// The snapshot it was forked from.
    pub base: String,
    /// Its newest snapshot.
    pub head: String,
    /// How many snapshots the main line has that the workspace has not; 0 where a pull would bring nothing.
    #[serde(default)]
    pub behind: u64,
    /// What a commit would change in the folder, and what it would leave in the workspace (`stays`), by path.
    pub changes: Vec<ChangeDoc>,
    /// Paths left out because only their metadata changed.
    pub metadata_only: u64,
    /// What is to be decided, by path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<ConflictDoc>,
    /// What a commit would leave in the workspace, by path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stays: Vec<HeldDoc>,
    /// What does not fit to the main line: a commit would change nothing and list these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clashes: Vec<ClashDoc>,
    /// Why a commit would be refused otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// What would become of repositories.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repositories: Vec<RepositoryNoteDoc>,
    /// Paths in `changes` that somebody changed in the folder since the main line last was what is in it. A commit reads the folder, and
    /// may do something else with them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outdated: Vec<Text>,
    /// Those of `folders` that are gone. Nothing can be committed to them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing_folders: Vec<Text>,
    /// How many checkpoints it has.
    pub checkpoints: u64,
    /// What happened last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_operation: Option<String>,
}

impl Kind for StatusDoc {
    const KIND: &'static str = "status";
}

/// What every workspace of a vault has changed so far.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StatusAllDoc {
    /// The vault.
    pub vault: String,
    /// The workspaces, oldest first.
    pub workspaces: Vec<WorkSoFarDoc>,
    /// Where two of them changed the same in different ways: who of them is committed second finds a conflict.
    pub overlaps: Vec<OverlapDoc>,
}

impl Kind for StatusAllDoc {
    const KIND: &'static str = "status.all";
}

/// What a workspace has that is not committed, with what a command that runs in it has written so far.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkSoFarDoc {
    /// The workspace.
    pub workspace: String,
    /// The commands that run in it, oldest first.
    pub running: Vec<RunningDoc>,
    /// How many paths are new.
    pub added: u64,
    /// How many have other content, or another mode.
    pub modified: u64,
    /// How many are gone.
    pub deleted: u64,
    /// How many more paths changed that are build output or git's own.
    pub folded: u64,
    /// The changes that are counted, by path. A file that is being written may be seen half.
    pub changes: Vec<ChangeDoc>,
}

/// Something that two workspaces changed in ways which do not fit together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OverlapDoc {
    /// The path.
    pub path: Text,
    /// What does not fit, in a word.
    pub conflict: ConflictKindDoc,
    /// The two workspaces.
    pub sides: Vec<OverlapSideDoc>,
}

/// One of two workspaces that changed the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OverlapSideDoc {
    /// The workspace.
    pub workspace: String,
    /// The lines in its own version; none where the file is not merged by lines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<LinesDoc>,
}

/// Lines of a text, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LinesDoc {
    /// The first; where lines were deleted, the one before them.
    pub first: u64,
    /// The last.
    pub last: u64,
}
