//! Documents about deciding on changes.

use offshoot_vocabulary::{ChangeKindDoc, HeldReasonDoc, PieceKindDoc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::change::{ChangeDoc, HunkDoc};
use crate::document::Kind;
use crate::git::RepositoryNoteDoc;
use crate::schema::{self, Schema};
use crate::text::Text;

/// The schemas of what is here.
pub(crate) const SCHEMAS: &[Schema] = &[schema::of::<ReviewListDoc>, schema::of::<ReviewDoc>];

/// What changed a path last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewOriginDoc {
    /// The snapshot that has it.
    pub snapshot: String,
    /// The command, if it was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exec: Option<String>,
    /// Why the snapshot was made: exec, write and so on.
    pub reason: String,
    /// The command line, or what its maker said about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// When it was made.
    pub time: String,
}

/// Something to decide about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewPieceDoc {
    /// Its id: it depends on the path and on what the piece itself changes, so it stays the same while other changes come and
    /// go.
    pub id: String,
    /// What part of a change it is.
    pub piece: PieceKindDoc,
    /// The lines of a hunk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hunk: Option<HunkDoc>,
}

/// A path to decide about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewItemDoc {
    /// The path at which it is committed.
    pub path: Text,
    /// What happened to it.
    pub kind: ChangeKindDoc,
    /// Where a renamed file was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Text>,
    /// Where the workspace has it, where that is another path: the folder moved it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_workspace: Option<Text>,
    /// What changed it last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_changed_by: Option<ReviewOriginDoc>,
    /// Why a commit leaves it in the workspace, where it does: the words of `stays` in `status`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<HeldReasonDoc>,
    /// What it is, or what would run it, where a commit leaves it for safety.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_detail: Option<String>,
    /// What can be decided about it.
    pub pieces: Vec<ReviewPieceDoc>,
}

/// The changes of a workspace, in pieces that can be decided about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewListDoc {
    /// The workspace.
    pub workspace: String,
    /// The snapshot it was forked from.
    pub base: String,
    /// Its newest snapshot.
    pub snapshot: String,
    /// The paths, in order.
    pub items: Vec<ReviewItemDoc>,
    /// What a commit would change in its metadata alone, by path. These are not in `items`: a commit of everything takes them along.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metadata_changes: Vec<ChangeDoc>,
    /// Why a commit would be refused, beside conflicts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// What would become of repositories.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repositories: Vec<RepositoryNoteDoc>,
    /// Paths that would be committed and were changed in the folder since it was last read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outdated: Vec<Text>,
}

impl Kind for ReviewListDoc {
    const KIND: &'static str = "review.list";
}

/// What was decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewDoc {
    /// The workspace.
    pub workspace: String,
    /// Its newest snapshot, with the decisions carried out.
    pub snapshot: String,
    /// How many pieces were accepted.
    pub accepted: u64,
    /// How many were taken out of the workspace.
    pub dropped: u64,
    /// How many were edited.
    pub edited: u64,
    /// How many were left as they are.
    pub undecided: u64,
    /// What changed in the workspace by it.
    pub changes: Vec<ChangeDoc>,
    /// The operation; none where the workspace stayed as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
}

impl Kind for ReviewDoc {
    const KIND: &'static str = "review";
}
