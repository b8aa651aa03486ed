//! Documents about git.

use offshoot_vocabulary::RepositoryEvent;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::{ErrorBody, Kind};
use crate::schema::{self, Schema};
use crate::text::Text;
use crate::way_on::WayOnDoc;

/// The schemas of what is here.
pub(crate) const SCHEMAS: &[Schema] = &[schema::of::<GitExportDoc>];

/// A commit that was made from a snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GitCommitDoc {
    /// Its id.
    pub commit: String,
    /// The snapshot.
    pub snapshot: String,
    /// The first line of its message.
    pub subject: String,
}

/// What became of a git commit of what reached the folder, or would.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GitOutcomeDoc {
    /// Its id; null where none was made, and where a new one would be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The branch that it is on; null where none is checked out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// How many files it changes.
    pub files: u64,
    /// The ref with the workspace's own commits that it is a merge of; that ref is gone, unless `merged_stays`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged: Option<String>,
    /// The commit that this ref was at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged_commit: Option<String>,
    /// Whether the merged ref is still there, because a working tree uses it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub merged_stays: bool,
    /// Whether git would have signed it (`commit.gpgSign`): it is not signed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unsigned: bool,
    /// The hooks of the repository that were not run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hooks_skipped: Vec<String>,
    /// Why none was made, where it failed. The files reached the folder all the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorBody>,
}

/// Something that happened in a repository of the side that was changed, or did not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RepositoryNoteDoc {
    /// The repository's own directory in the vault, such as `/.git`.
    pub repository: Text,
    /// What happened.
    pub event: RepositoryEvent,
    /// What it happened to: the full name of a ref, or a path in the repository; empty for the whole directory.
    pub name: String,
    /// The side whose change it is.
    pub side: String,
    /// Where the ref was, or is where it stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Where the ref is now, or what the other side has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// The name that the other side's ref has now, or the path of its directory; for `replaced`, the name of what was there before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_as: Option<String>,
    /// Why it stayed or was not brought, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// What to do about a ref that was kept under another name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub way_on: Option<WayOnDoc>,
    /// How many commits the ref went back, where that can be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commits: Option<u64>,
    /// How many objects were not brought.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objects: Option<u64>,
}

/// What stays out of git.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GitLeftOutDoc {
    /// How many files are ignored.
    pub ignored: u64,
    /// Pipes, which git cannot keep.
    pub pipes: Vec<Text>,
    /// How many directories have nothing in them.
    pub empty_directories: u64,
    /// Directories with a repository of their own.
    pub repositories: Vec<Text>,
}

/// Answer of `export --git`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GitExportDoc {
    /// The workspace.
    pub workspace: String,
    /// The branch.
    pub branch: String,
    /// The working tree whose repository has the branch.
    pub repository: Text,
    /// The branch's last commit; null where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tip: Option<String>,
    /// The commit that the first new one follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// The commits that were made, oldest first.
    pub commits: Vec<GitCommitDoc>,
    /// How many snapshots changed nothing that git can see.
    pub unseen: u64,
    /// How many snapshots were collected as garbage; what they changed is in the next commit.
    pub collected: u64,
    /// What stays out of git, of the newest state.
    pub left_out: GitLeftOutDoc,
}

impl Kind for GitExportDoc {
    const KIND: &'static str = "export.git";
}
