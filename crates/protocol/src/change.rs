//! Documents about changes.

use offshoot_vocabulary::{ChangeKindDoc, EntryKindDoc, ExitCode, LineSign, MetadataFieldDoc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::commit::HeldDoc;
use crate::document::{Kind, Question};
use crate::schema::{self, Schema};
use crate::text::Text;

/// The schemas of what is here.
pub(crate) const SCHEMAS: &[Schema] = &[schema::of::<DiffDoc>];

/// One side of a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SideDoc {
    /// What it is.
    pub entry: EntryKindDoc,
    /// Its permission bits in octal.
    pub mode: String,
    /// Its size in bytes.
    pub size: u64,
    /// The BLAKE3 of its bytes, or of its target for a symlink.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checksum: Option<String>,
}

/// A line of a hunk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LineDoc {
    /// ` ` for context, `-` for removed, `+` for added.
    pub sign: LineSign,
    /// The line without its newline.
    pub text: Text,
    /// Whether a newline follows.
    pub newline: bool,
}

/// Lines that changed, with their context.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HunkDoc {
    /// The first line on the old side, from 1.
    pub before_start: u32,
    /// How many lines it has on the old side.
    pub before_lines: u32,
    /// The first line on the new side, from 1.
    pub after_start: u32,
    /// How many lines it has on the new side.
    pub after_lines: u32,
    /// The lines.
    pub lines: Vec<LineDoc>,
}

/// A path that changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangeDoc {
    /// The path.
    pub path: Text,
    /// What happened.
    pub kind: ChangeKindDoc,
    /// Where a renamed file was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Text>,
    /// How alike a renamed file stayed, in percent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub similarity: Option<u8>,
    /// What of its metadata changed beside the mode. A `time` is named only where `kind` is `metadata`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metadata: Vec<MetadataFieldDoc>,
    /// What was there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<SideDoc>,
    /// What is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<SideDoc>,
    /// Whether the content is not text; only with lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub binary: Option<bool>,
    /// Lines added; only with lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added_lines: Option<u64>,
    /// Lines removed; only with lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removed_lines: Option<u64>,
    /// The lines that changed; only with a patch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hunks: Option<Vec<HunkDoc>>,
}

/// The difference of two points.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DiffDoc {
    /// The old point, as it is called.
    pub before: String,
    /// The new point, as it is called.
    pub after: String,
    /// The old snapshot.
    pub before_snapshot: String,
    /// The new snapshot.
    pub after_snapshot: String,
    /// What changed, by path.
    pub changes: Vec<ChangeDoc>,
    /// Paths left out because only their metadata changed.
    pub metadata_only: u64,
    /// What a commit would leave in the workspace, where `after` is what it would bring: `changes` has it only where its path was asked for.
    #[serde(default)]
    pub stays: Vec<HeldDoc>,
    /// The changes as a patch that `git apply` takes, binary files included; with `--patch`. It has what lists fold only with `--expand`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patch: Option<Text>,
}

impl Kind for DiffDoc {
    const KIND: &'static str = "diff";
}

impl Question for DiffDoc {
    fn answer(&self) -> ExitCode {
        if self.changes.is_empty() { ExitCode::Success } else { ExitCode::Failure }
    }
}
