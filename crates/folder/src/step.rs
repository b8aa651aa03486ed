//! What is done to folders, step by step, as their journal has it.

use offshoot_host::{Mtime, Xattr};
use offshoot_tree::Meta;
use offshoot_vault::JournalBytes;
use serde::{Deserialize, Serialize};

use crate::stamp::Stamp;

/// The journal of an apply.
pub(crate) type Journal = offshoot_vault::Journal<Vec<Step>>;

/// One change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Step {
    pub(crate) folder: usize,
    /// Below the folder.
    pub(crate) path: JournalBytes,
    pub(crate) staging: usize,
    /// What is put there stays when the rest is taken back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) stays: bool,
    #[serde(flatten)]
    pub(crate) action: Action,
}

/// What is done at a path. What is seldom there is boxed: there may be hundreds of thousands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase")]
pub(crate) enum Action {
    /// Something new, where nothing is. A directory is empty at first.
    Put { new: Stamp },
    /// Something else than there was.
    Replace { old: Stamp, new: Box<Stamp> },
    /// Nothing any more. A directory must be empty.
    Remove { old: Stamp },
    /// The same file with other metadata.
    Retouch { old: Stamp, before: Box<Attributes>, after: Box<Attributes> },
    /// The metadata of a directory, after everything in it; nothing where it is not there on that side.
    Settle { before: Option<Box<Attributes>>, after: Option<Box<Attributes>> },
}

/// Metadata.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Attributes {
    pub(crate) mode: u16,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    mtime: (i64, u32),
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    xattrs: Vec<(JournalBytes, JournalBytes)>,
}

impl Attributes {
    pub(crate) fn new(meta: &Meta) -> Self {
        let xattrs = meta.xattrs.iter();
        let xattrs =
            xattrs.map(|(name, value)| (JournalBytes(name.clone()), JournalBytes(value.clone())));
        let mtime = (meta.mtime.seconds, meta.mtime.nanoseconds);
        Self { mode: meta.mode, uid: meta.uid, gid: meta.gid, mtime, xattrs: xattrs.collect() }
    }

    pub(crate) fn mtime(&self) -> Mtime {
        Mtime { seconds: self.mtime.0, nanoseconds: self.mtime.1 }
    }

    pub(crate) fn xattrs(&self) -> Vec<Xattr> {
        self.xattrs.iter().map(|(name, value)| (name.0.clone(), value.0.clone())).collect()
    }
}
