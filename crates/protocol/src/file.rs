//! Documents about files.

use offshoot_vocabulary::{EntryKindDoc, SkipCode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::change::ChangeDoc;
use crate::document::Kind;
use crate::history::SnapshotDoc;
use crate::schema::{self, Schema};
use crate::text::Text;

/// The schemas of what is here.
pub(crate) const SCHEMAS: &[Schema] = &[
    schema::of::<EntryDoc>,
    schema::of::<ListDoc>,
    schema::of::<FileDoc>,
    schema::of::<EditDoc>,
    schema::of::<ExportDoc>,
    schema::of::<HistoryDoc>,
];

/// A file, directory, symlink or fifo.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EntryDoc {
    /// Its path.
    pub path: Text,
    /// Its last name.
    pub name: Text,
    /// What it is.
    pub kind: EntryKindDoc,
    /// Its permission bits in octal.
    pub mode: String,
    /// Its owner, as recorded.
    pub uid: u32,
    /// Its group, as recorded.
    pub gid: u32,
    /// Its size; for a directory the sum of all files beneath.
    pub size: u64,
    /// When its content was changed, to the nanosecond.
    pub mtime: String,
    /// The BLAKE3 of a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checksum: Option<String>,
    /// Where a symlink points.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Text>,
    /// How many entries are beneath a directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entries: Option<u64>,
    /// Its attributes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub xattrs: Option<Vec<(Text, Text)>>,
    /// Shared by the names of one hard-linked file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_group: Option<String>,
}

impl Kind for EntryDoc {
    const KIND: &'static str = "fs.stat";
}

/// Entries of a directory or a tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ListDoc {
    /// The point in history.
    pub at: String,
    /// The directory.
    pub path: Text,
    /// The entries, by path.
    pub entries: Vec<EntryDoc>,
}

impl Kind for ListDoc {
    const KIND: &'static str = "fs.list";
}

/// The content of a file: a [`Text`], or on its way out a [`TextStream`](crate::TextStream).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "FileDoc", description = "The content of a file.")]
pub struct FileDoc<C = Text> {
    /// The point in history.
    pub at: String,
    /// Its path, symbolic links followed.
    pub path: Text,
    /// Its size.
    pub size: u64,
    /// The BLAKE3 of its bytes.
    pub checksum: String,
    /// Its bytes.
    pub content: C,
}

impl<C: Serialize + JsonSchema> Kind for FileDoc<C> {
    const KIND: &'static str = "fs.cat";
}

/// A change to the files of a workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EditDoc {
    /// The workspace.
    pub workspace: String,
    /// Where the workspace is now.
    pub snapshot: SnapshotDoc,
    /// The operation, to undo; none where nothing changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// What changed, metadata included.
    pub changes: Vec<ChangeDoc>,
    /// What an import brought.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub import: Option<ImportDoc>,
}

impl Kind for EditDoc {
    const KIND: &'static str = "fs.edit";
}

/// Something that did not come in, or not whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkippedDoc {
    /// Its path.
    pub path: Text,
    /// Why, in a word.
    pub code: SkipCode,
    /// Why, for people.
    pub message: String,
}

/// What an import brought.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ImportDoc {
    /// Files.
    pub files: u64,
    /// Directories.
    pub directories: u64,
    /// Symbolic links.
    pub symlinks: u64,
    /// Named pipes.
    pub fifos: u64,
    /// Bytes of all files.
    pub bytes: u64,
    /// Files that did not have to be read.
    pub unchanged: u64,
    /// Entries that ignore files kept out.
    pub ignored: u64,
    /// What did not come in, or not whole.
    pub skipped: Vec<SkippedDoc>,
}

/// Something written to the host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExportDoc {
    /// The point in history.
    pub at: String,
    /// What was written.
    pub path: Text,
    /// Where to.
    pub destination: Text,
    /// How many entries.
    pub entries: u64,
    /// Bytes of all files.
    pub bytes: u64,
}

impl Kind for ExportDoc {
    const KIND: &'static str = "fs.export";
}

/// A version of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VersionDoc {
    /// The snapshot that brought it.
    pub snapshot: SnapshotDoc,
    /// The file; none where the snapshot removed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<EntryDoc>,
}

/// The versions of a file, newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HistoryDoc {
    /// The file.
    pub path: Text,
    /// Whose history.
    pub of: String,
    /// The versions.
    pub versions: Vec<VersionDoc>,
}

impl Kind for HistoryDoc {
    const KIND: &'static str = "history";
}
