//! Documents about merges and conflicts.

use offshoot_vocabulary::{ConflictKindDoc, ExitCode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::change::{ChangeDoc, SideDoc};
use crate::document::Kind;
use crate::git::RepositoryNoteDoc;
use crate::history::SnapshotDoc;
use crate::schema::{self, Schema};
use crate::text::Text;
use crate::way_on::WayOnDoc;

/// The schemas of what is here.
pub(crate) const SCHEMAS: &[Schema] = &[
    schema::of::<ConflictListDoc>,
    schema::of::<ConflictVersionShowDoc>,
    schema::of::<ResolveDoc>,
    schema::of::<MergeDoc>,
];

/// What the base or a side of a conflict has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConflictVersionDoc {
    /// Where it is, in the state that it comes from.
    pub path: Text,
    /// What it is.
    #[serde(flatten)]
    pub version: SideDoc,
}

/// One side of a conflict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConflictSideDoc {
    /// What the side is called.
    pub label: String,
    /// What it has; none where it is not there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<ConflictVersionDoc>,
    /// What it changed, as a patch that git reads; with `--diff`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patch: Option<Text>,
}

/// Something that is to be decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConflictDoc {
    /// Where it is.
    pub path: Text,
    /// Why it could not be merged.
    pub kinds: Vec<ConflictKindDoc>,
    /// What is there until it is decided.
    pub shown: SideDoc,
    /// Whether the text that is shown has conflict markers; writing it without them decides.
    pub markers: bool,
    /// What it was before the sides; none where it was not there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<ConflictVersionDoc>,
    /// What each side has.
    pub sides: Vec<ConflictSideDoc>,
    /// Where else something was put that could not be at the path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<Text>,
}

/// The conflicts of a state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConflictListDoc {
    /// The state, as it is called.
    pub at: String,
    /// The conflicts, by path.
    pub conflicts: Vec<ConflictDoc>,
}

impl Kind for ConflictListDoc {
    const KIND: &'static str = "conflicts";
}

/// What one side of a conflict has, with its bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConflictVersionShowDoc {
    /// The conflict.
    pub path: Text,
    /// The side, as it was named.
    pub side: String,
    /// What it has; none where it is not there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<SideDoc>,
    /// Its bytes, or the target of a symlink.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Text>,
}

impl Kind for ConflictVersionShowDoc {
    const KIND: &'static str = "conflicts.version";
}

/// Conflicts that were decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ResolveDoc {
    /// The workspace.
    pub workspace: String,
    /// The conflicts, by path.
    pub resolved: Vec<Text>,
    /// Those where all of one side was taken, since it is not text merged by lines, or as asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub whole: Vec<Text>,
    /// How many are left.
    pub left: u64,
    /// The newest snapshot of the workspace.
    pub snapshot: SnapshotDoc,
    /// The operation; none where nothing changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// What that changed.
    pub changes: Vec<ChangeDoc>,
}

impl Kind for ResolveDoc {
    const KIND: &'static str = "resolve";
}

/// One state of a merge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MergeSideDoc {
    /// What it is called.
    pub label: String,
    /// Its snapshot.
    pub snapshot: String,
    /// Another side came from it, or is the same: there was nothing to merge.
    pub included: bool,
}

/// What a merge came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MergeDoc {
    /// The workspace that it went to.
    pub workspace: String,
    /// Whether the workspace is new.
    pub created: bool,
    /// Whether nothing was changed because that was asked for.
    pub dry_run: bool,
    /// The states, the most important one first.
    pub sides: Vec<MergeSideDoc>,
    /// What it changes in the workspace, or where that is new, in what it counts as forked from.
    pub changes: Vec<ChangeDoc>,
    /// What is to be decided, older conflicts included.
    pub conflicts: Vec<ConflictDoc>,
    /// What became of repositories that both sides changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repositories: Vec<RepositoryNoteDoc>,
    /// The newest snapshot of the workspace; none for a dry run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<SnapshotDoc>,
    /// The operation; none where nothing changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// What to do next about all of it: decide conflicts, or take it back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ways_on: Vec<WayOnDoc>,
}

impl Kind for MergeDoc {
    const KIND: &'static str = "merge";

    fn exit_code(&self) -> ExitCode {
        if self.conflicts.is_empty() { ExitCode::Success } else { ExitCode::Conflict }
    }
}
