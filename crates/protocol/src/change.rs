//! Documents about changes.

use offshoot_vocabulary::{ChangeKindDoc, EntryKindDoc, LineSign, MetadataFieldDoc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text::Text;

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
