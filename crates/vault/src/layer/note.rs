//! What is known about a command while it writes a layer.

use std::path::Path;
use std::{fs, io};

use offshoot_store::{Id, ProcessMark, boot_id};
use offshoot_tree::RootId;
use serde::{Deserialize, Serialize};

use crate::actor::Actor;
use crate::error::{Result, io_error};
use crate::refs::to_json;

/// The name of the note beside the files of a layer.
pub(super) const NOTE: &str = "exec.json";
/// What a command has printed so far, beside the files of its layer.
pub(super) const OUTPUT: &str = "output";
/// The plain copy that a command works on where layers cannot be stacked, beside the files of its layer.
pub(super) const COPY: &str = "copy";
/// Which hard links were placed before it started, beside the files of its layer.
pub(super) const PLACED: &str = "placed";

/// Who an upper belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UpperOwner {
    /// A command.
    #[default]
    Exec,
    /// Something that only a newer program knows.
    #[serde(other)]
    Unknown,
}

/// How what was written becomes a layer: by which driver, in which version of its way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaptureWay {
    /// The driver that it was written with.
    pub driver: String,
    /// The version of its way.
    pub version: u32,
}

/// The driver whose uppers can be seen to be empty, and the version of its way.
const OVERLAY: (&str, u32) = ("overlay", 1);
/// The driver of a note that names none and says that there is a copy.
const COPIES: &str = "copy";

/// A note about a command that writes a layer: it lies beside the layer's files from before the command starts until what
/// it wrote is part of the history. Whoever finds it knows which roots and layers are in use, or what was interrupted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecNote {
    /// The command's id.
    pub exec: Id,
    /// The workspace that it runs in.
    pub workspace: Id,
    /// How that is called.
    pub workspace_name: String,
    /// The snapshot that it started from.
    pub snapshot: Id,
    /// The state of files of that snapshot, which lies below what is written.
    #[serde(with = "hex_root")]
    pub root: RootId,
    /// The layers that are stacked to show that root, topmost first; none where the command works on a copy.
    #[serde(default)]
    pub layers: Vec<Id>,
    /// The command line, for people.
    pub command: String,
    /// Who runs it.
    pub actor: Actor,
    /// When it started, in milliseconds since 1970.
    pub started_ms: u64,
    /// The boot that it runs under.
    pub boot: String,
    /// The process that started it and records what it did.
    pub process: ProcessMark,
    /// The first process inside: none of the others outlives it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub init: Option<ProcessMark>,
    /// It may change nothing.
    #[serde(default)]
    pub read_only: bool,
    /// Variables by which its programs know of its network, for those who join it. None holds a secret.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variables: Vec<(String, String)>,
    /// It works on a plain copy of the root, which lies beside the layer's own files. Earlier programs go by this.
    #[serde(default)]
    pub copy: bool,
    /// Who the upper belongs to.
    #[serde(default)]
    pub owner: UpperOwner,
    /// How what it writes becomes a layer; none in notes of earlier programs, see [`way`](Self::way).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capture: Option<CaptureWay>,
    /// The command that it joined, and whose layer it writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub joined: Option<Id>,
    /// The process that started it runs others too: it is ended by asking its init.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shared: bool,
    /// It was tried for a person to decide about, and did not come so far as to be asked about.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub trial: bool,
    /// The preset that it runs by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// The sealed layer that holds what it wrote, where it came so far; known by where the note lies.
    #[serde(skip)]
    pub layer: Option<Id>,
}

impl ExecNote {
    /// How what was written becomes a layer. Programs that did not note it knew two drivers.
    pub fn way(&self) -> CaptureWay {
        self.capture.clone().unwrap_or_else(|| {
            let (driver, version) = if self.copy { (COPIES, 1) } else { OVERLAY };
            CaptureWay { driver: driver.to_owned(), version }
        })
    }

    /// Whether all that was written lies in the upper itself, as a difference: one that is empty is worth nothing.
    pub(super) fn tells_when_empty(&self) -> bool {
        let way = self.way();
        self.owner == UpperOwner::Exec && (way.driver.as_str(), way.version) == OVERLAY
    }

    /// Whether the machine was started anew since: what was not synced by then may be missing.
    pub fn went_through_a_boot(&self) -> bool {
        self.boot != boot_id()
    }

    /// Reads the note in a directory. One that is missing or cut short counts as none.
    pub(crate) fn read(dir: &Path) -> Option<Self> {
        Self::parse(&dir.join(NOTE))
    }

    /// Reads a note that lies alone.
    pub(super) fn parse(path: &Path) -> Option<Self> {
        serde_json::from_str(&fs::read_to_string(path).ok()?).ok()
    }

    /// Writes the note into a directory, in place of an earlier one.
    pub(super) fn write(&self, dir: &Path) -> Result<()> {
        let path = dir.join(NOTE);
        fs::write(&path, to_json(self)).map_err(io_error("write", &path))
    }

    /// Removes the note and what else belongs to it, the note last: as long as it is there, the rest is looked for.
    pub(super) fn remove(dir: &Path) -> Result<()> {
        for name in [OUTPUT, PLACED, NOTE] {
            let path = dir.join(name);
            match fs::remove_file(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                other => other.map_err(io_error("remove", &path))?,
            }
        }
        Ok(())
    }
}

mod hex_root {
    use serde::{Deserialize, Deserializer, Serializer, de};

    use offshoot_tree::RootId;

    pub(super) fn serialize<S: Serializer>(root: &RootId, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&root.to_hex())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<RootId, D::Error> {
        let text = String::deserialize(from)?;
        let hash = blake3::Hash::from_hex(text).map_err(de::Error::custom)?;
        Ok(RootId(*hash.as_bytes()))
    }
}
