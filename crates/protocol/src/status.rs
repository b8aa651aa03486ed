//! The state of a workspace as a document.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::binding::GitDirectoryDoc;
use crate::change::ChangeDoc;
use crate::commit::{ClashDoc, HeldDoc};
use crate::document::Kind;
use crate::git::RepositoryNoteDoc;
use crate::merge::ConflictDoc;
use crate::schema::{self, Schema};
use crate::text::Text;

/// The schemas of what is here.
pub(crate) const SCHEMAS: &[Schema] = &[schema::of::<StatusDoc>];

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
