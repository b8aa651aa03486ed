//! What is checked out: HEAD, the index and what is in progress, which travel together or not at all.

use std::collections::BTreeSet;

use offshoot_vault::VaultPath;

use super::refs::Name;
use super::role::IN_PROGRESS;
use super::store::hex;
use crate::error::Result;
use crate::git::index::{self, Index};
use crate::git::repository::{State, resolve};

/// The mode of a submodule in an index.
const SUBMODULE: u32 = 0o160_000;

/// What is checked out in a working tree.
#[derive(Clone, Debug, Default)]
pub(super) struct Checkout {
    /// HEAD as it is written.
    pub(super) head: Option<Vec<u8>>,
    /// The commit that it leads to.
    pub(super) commit: Option<Vec<u8>>,
    index: Option<Vec<u8>>,
    files: Option<Index>,
    /// Which part of the files is checked out, where it is not all.
    sparse: Option<Vec<u8>>,
    /// A merge or the like waits to be finished.
    pub(super) busy: bool,
}

impl Checkout {
    /// Reads the checkout of a repository, or of a further working tree of one.
    pub(super) fn read(state: &State<'_>, at: &VaultPath) -> Result<Self> {
        let refs = state.refs(at)?;
        let bytes = state.file(&at.join(b"index"))?;
        let files = bytes.as_ref().and_then(|bytes| index::parse(bytes));
        let unmerged =
            files.as_ref().is_some_and(|files| files.keys().any(|(_, stage)| *stage != 0));
        let mut busy = unmerged;
        for name in IN_PROGRESS {
            busy |= state.tree.get(&at.join(name))?.is_some();
        }
        Ok(Self {
            head: refs.get(b"HEAD".as_slice()).cloned(),
            commit: resolve(&refs, b"HEAD"),
            index: bytes,
            files,
            sparse: state.file(&at.join(b"info").join(b"sparse-checkout"))?,
            busy,
        })
    }

    /// Whether the same is checked out, with the same files in the index and as large a part of them.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.head == other.head
            && self.commit == other.commit
            && self.sparse == other.sparse
            && self.has_same_index(other)
    }

    pub(super) fn has_same_index(&self, other: &Self) -> bool {
        if self.index == other.index {
            return true;
        }
        match (&self.files, &other.files) {
            (Some(a), Some(b)) => index::same_files(a, b),
            _ => false,
        }
    }

    /// Whether everything that its index says of a file is also said by one of two others. Where it is not, somebody staged it.
    pub(super) fn is_known_from(&self, newer: &Self, older: &Self) -> bool {
        let (Some(own), Some(newer), Some(older)) = (&self.files, &newer.files, &older.files)
        else {
            return false;
        };
        let names: BTreeSet<_> = own.keys().chain(newer.keys()).chain(older.keys()).collect();
        names.into_iter().all(|name| {
            let of =
                |index: &Index| index.get(name).map(|e| (e.object.clone(), e.mode, e.announced));
            let said = of(own);
            said == of(newer) || said == of(older)
        })
    }

    /// The objects that the index names and that of another does not, as text. Submodules are no objects, nor is what is only announced.
    pub(super) fn staged_since(&self, other: &Self) -> Vec<Vec<u8>> {
        let known = other.files.as_ref();
        let known = |object: &Vec<u8>, key| {
            known.and_then(|files| files.get(key)).is_some_and(|e| e.object == *object)
        };
        let entries = self.files.iter().flatten();
        let new = entries.filter(|(key, entry)| {
            entry.mode != SUBMODULE && !entry.announced && !known(&entry.object, key)
        });
        new.map(|(_, entry)| hex(&entry.object)).collect()
    }

    /// The branch that is checked out, if one is.
    pub(super) fn branch(&self) -> Option<Name> {
        let name = self.head.as_ref()?.strip_prefix(b"ref:")?;
        Some(name.trim_ascii().to_vec())
    }
}
