//! Documents about vaults.

use offshoot_vocabulary::{CompactWayDoc, ExitCode, GarbageKind, StorageClass};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::binding::GitDirectoryDoc;
use crate::document::Kind;
use crate::file::ImportDoc;
use crate::history::SnapshotDoc;
use crate::schema::{self, Schema};
use crate::text::Text;

/// The schemas of what is here.
pub(crate) const SCHEMAS: &[Schema] = &[
    schema::of::<InitDoc>,
    schema::of::<VaultDoc>,
    schema::of::<VaultListDoc>,
    schema::of::<VaultInfoDoc>,
    schema::of::<VaultRenamedDoc>,
    schema::of::<VaultDeletedDoc>,
    schema::of::<GcDoc>,
    schema::of::<PackDoc>,
    schema::of::<VaultExportDoc>,
    schema::of::<VaultImportDoc>,
    schema::of::<CheckDoc>,
    schema::of::<CompactDoc>,
];

/// A project that was initialised, or brought up to date.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InitDoc {
    /// The vault.
    pub vault: VaultDoc,
    /// Whether the vault is new.
    pub created: bool,
    /// The main line now.
    pub head: SnapshotDoc,
    /// Whether this call changed the main line.
    pub changed: bool,
    /// What came in.
    pub import: ImportDoc,
    /// The git directory of the folder, where it lies outside of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git_directory: Option<GitDirectoryDoc>,
}

impl Kind for InitDoc {
    const KIND: &'static str = "init";
}

/// A vault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VaultDoc {
    /// Its name.
    pub name: String,
    /// Its id.
    pub id: String,
    /// Where it is kept.
    pub directory: Text,
    /// The host directories it was made from.
    pub bindings: Vec<Text>,
    /// Those of `bindings` that are gone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<Text>,
}

impl Kind for VaultDoc {
    const KIND: &'static str = "vault";
}

/// The vaults of a home.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VaultListDoc {
    /// Where vaults are kept.
    pub home: Text,
    /// The vaults by name.
    pub vaults: Vec<VaultDoc>,
    /// Those that are damaged, whether or not they are among the vaults too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub damaged: Vec<DamagedVaultDoc>,
}

impl Kind for VaultListDoc {
    const KIND: &'static str = "vault.list";

    fn exit_code(&self) -> ExitCode {
        if self.damaged.is_empty() { ExitCode::Success } else { ExitCode::Damaged }
    }
}

/// A vault that cannot be used as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DamagedVaultDoc {
    /// Its name.
    pub name: String,
    /// Its id.
    pub id: String,
    /// Where it is kept.
    pub directory: Text,
    /// What is wrong with it.
    pub problem: String,
}

/// A vault with its figures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VaultInfoDoc {
    /// The vault.
    pub vault: VaultDoc,
    /// Its main line.
    pub head: SnapshotDoc,
    /// Bytes of all files at the main line.
    pub files_bytes: u64,
    /// Entries at the main line.
    pub entries: u64,
    /// How many workspaces it has.
    pub workspaces: u64,
    /// How many checkpoints it has.
    pub checkpoints: u64,
    /// How many operations its log has.
    pub operations: u64,
    /// Bytes of the catalog on disk.
    pub catalog_bytes: u64,
    /// Bytes of the files in its layers.
    pub layers_bytes: u64,
    /// How many layers it has.
    pub layers: u64,
    /// Bytes of its packs.
    #[serde(default)]
    pub packs_bytes: u64,
    /// How many packs it has.
    #[serde(default)]
    pub packs: u64,
    /// Whether it can only be read from here.
    pub read_only: bool,
    /// What it takes on disk, by what that is there for.
    #[serde(default)]
    pub storage: Vec<StorageDoc>,
    /// All blocks that it takes on disk; only with `--exact`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_bytes: Option<u64>,
    /// What a collection would take now; only with `--exact`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub garbage_bytes: Option<u64>,
    /// What is known about collecting garbage.
    #[serde(default)]
    pub collection: CollectionDoc,
}

/// What a vault takes on disk for one purpose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StorageDoc {
    /// What it is there for.
    pub kind: StorageClass,
    /// How many layers, packs or files that are.
    pub count: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// The last collection of garbage and the next.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CollectionDoc {
    /// Whether garbage is collected without being asked for.
    pub auto: bool,
    /// When the last one was, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_ms: Option<u64>,
    /// The bytes of what it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub freed_bytes: Option<u64>,
    /// How many operations can be undone.
    pub undoable_operations: u64,
    /// When the oldest that the last collection kept was done, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oldest_ms: Option<u64>,
    /// Operations since the last one.
    pub operations_since: u64,
    /// Layers that were made since.
    pub layers_since: u64,
    /// The bytes of those.
    pub bytes_since: u64,
    /// The next one is due with so many operations since,
    pub due_operations: u64,
    /// or with so many bytes,
    pub due_bytes: u64,
    /// or, where anything happened, at this time, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due_ms: Option<u64>,
    /// Whether it is due now.
    pub is_due: bool,
}

impl Kind for VaultInfoDoc {
    const KIND: &'static str = "vault.info";
}

/// A vault that was renamed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VaultRenamedDoc {
    /// The name it had.
    pub from: String,
    /// The name it has.
    pub to: String,
}

impl Kind for VaultRenamedDoc {
    const KIND: &'static str = "vault.rename";
}

/// A vault that was deleted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VaultDeletedDoc {
    /// The name it had.
    pub name: String,
}

impl Kind for VaultDeletedDoc {
    const KIND: &'static str = "vault.delete";
}

/// What collecting garbage took, or would take.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GcDoc {
    /// The vault.
    pub vault: String,
    /// Whether nothing was taken and this only says what would be.
    pub dry_run: bool,
    /// How many operations can still be undone.
    pub kept_operations: u64,
    /// How many operations were given up for `gc.max_size`.
    pub given_up_operations: u64,
    /// What was taken, by kind; kinds of which there was nothing are left out.
    pub taken: Vec<TakenDoc>,
    /// The bytes of all that was taken.
    pub taken_bytes: u64,
    /// How many contents were moved to packs.
    pub packed: u64,
    /// Their bytes.
    pub packed_bytes: u64,
    /// What the vault took on disk before.
    pub bytes_before: u64,
    /// What it takes now.
    pub bytes_after: u64,
    /// The longest time for which nobody could write, in microseconds.
    pub longest_pause_us: u64,
}

impl Kind for GcDoc {
    const KIND: &'static str = "gc";
}

/// Garbage of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TakenDoc {
    /// What it was.
    pub kind: GarbageKind,
    /// How many.
    pub count: u64,
    /// The bytes of them.
    pub bytes: u64,
}

/// A vault whose content was moved to packs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PackDoc {
    /// The vault.
    pub vault: String,
    /// How many contents were moved.
    pub packed: u64,
    /// Their bytes.
    pub packed_bytes: u64,
    /// How many packs there are now.
    pub packs: u64,
    /// The bytes of all packs.
    pub packs_bytes: u64,
}

impl Kind for PackDoc {
    const KIND: &'static str = "vault.pack";
}

/// A vault that was written to one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VaultExportDoc {
    /// The vault.
    pub vault: String,
    /// The file.
    pub file: Text,
    /// Its length.
    pub bytes: u64,
    /// Snapshots whose files are in it.
    pub snapshots: u64,
    /// Contents of files.
    pub contents: u64,
    /// Their bytes, before compression.
    pub contents_bytes: u64,
    /// Operations in its log.
    pub operations: u64,
}

impl Kind for VaultExportDoc {
    const KIND: &'static str = "vault.export";
}

/// A vault that was read from one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VaultImportDoc {
    /// The vault.
    pub vault: VaultDoc,
    /// Snapshots in its history.
    pub snapshots: u64,
    /// Contents whose hashes were verified.
    pub contents: u64,
    /// Their bytes.
    pub contents_bytes: u64,
    /// Operations in its log.
    pub operations: u64,
    /// Audit events whose chain holds.
    pub audit_events: u64,
    /// The folders that it was bound to where it was exported, the first one first. It is bound to none of them here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub was_bound: Vec<Text>,
}

impl Kind for VaultImportDoc {
    const KIND: &'static str = "vault.import";
}

/// What a check of a vault found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckDoc {
    /// The vault.
    pub vault: String,
    /// Whether nothing is wrong.
    pub ok: bool,
    /// Whether the bytes of files were read.
    pub thorough: bool,
    /// Snapshots looked at.
    pub snapshots: u64,
    /// Directory nodes looked at.
    pub nodes: u64,
    /// File contents looked at.
    pub contents: u64,
    /// Bytes of content that were read.
    pub bytes: u64,
    /// Operations in the log.
    pub operations: u64,
    /// Audit events whose chain holds.
    pub audit_events: u64,
    /// What is wrong.
    pub problems: Vec<String>,
    /// Leftovers of a crash; harmless.
    pub stray_layers: Vec<String>,
    /// With `--repair`: what was mended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repaired: Vec<String>,
    /// Commits that were interrupted in a folder, which may be half changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interrupted: Vec<String>,
    /// What is left for a person to decide.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub advice: Vec<String>,
}

impl Kind for CheckDoc {
    const KIND: &'static str = "vault.check";

    fn exit_code(&self) -> ExitCode {
        if self.ok { ExitCode::Success } else { ExitCode::Damaged }
    }
}

/// What a compaction of a vault did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CompactDoc {
    /// The vault.
    pub vault: String,
    /// It goes on in the background, and what it does is not known yet.
    pub detached: bool,
    /// The stacks of layers that were merged.
    pub stacks: Vec<CompactedDoc>,
}

impl Kind for CompactDoc {
    const KIND: &'static str = "vault.compact";
}

/// A stack of layers that was merged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CompactedDoc {
    /// The state of files that it shows.
    pub root: String,
    /// The workspaces that stood at it.
    pub workspaces: Vec<String>,
    /// How they were merged.
    pub way: CompactWayDoc,
    /// The layers it had.
    pub layers_before: u64,
    /// The layers it has.
    pub layers_after: u64,
    /// Layers beside those that hold the bytes of large files.
    pub data_layers: u64,
    /// Bytes of files that were copied.
    pub bytes_copied: u64,
    /// How long it took.
    pub elapsed_ms: u64,
}
