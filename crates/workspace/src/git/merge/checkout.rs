//! What is checked out: HEAD, the index and what is in progress, which travel together or not at all.

use std::collections::{BTreeMap, BTreeSet};

use offshoot_tree::{Entry, VaultPath};

use super::ancestry::headers;
use super::refs::Name;
use super::report::InUse;
use super::role::{IN_PROGRESS, Role, role};
use super::store::{Kind, Store, hex};
use super::whole::same;
use crate::error::Result;
use crate::git::index::{self, Index, IndexEntry};
use crate::git::marks::Marks;
use crate::git::repository::{State, path_of, resolve};

/// The mode of a directory in a tree.
const DIRECTORY: u32 = 0o40_000;
/// The mode of a submodule in an index.
const SUBMODULE: u32 = 0o160_000;

/// What is checked out in a working tree.
#[derive(Clone, Debug, Default)]
pub(in crate::git) struct Checkout {
    /// HEAD as it is written.
    pub(super) head: Option<Vec<u8>>,
    /// The commit that it leads to.
    pub(super) commit: Option<Vec<u8>>,
    index: Option<Vec<u8>>,
    files: Option<Index>,
    /// The index is none, or lacks a file that it is split over.
    damaged: bool,
    /// Which part of the files is checked out, where it is not all.
    pub(super) sparse: Option<Vec<u8>>,
    /// A merge or the like waits to be finished.
    pub(super) busy: bool,
    /// What that left, by its path.
    progress: BTreeMap<Vec<Vec<u8>>, Entry>,
    /// The branches that it needs where they are: the one that is checked out, and those that a rebase or a search goes back to.
    pub(super) in_use: BTreeMap<Name, InUse>,
}

impl Checkout {
    /// Reads the checkout of a repository, or of a further working tree of one.
    pub(in crate::git) fn read(state: &State<'_>, at: &VaultPath) -> Result<Self> {
        let refs = state.refs(at)?;
        let bytes = state.file(&at.join(b"index"))?;
        let files = bytes.as_ref().and_then(|bytes| index::parse(bytes));
        let damaged = match &bytes {
            Some(bytes) if files.is_none() => !is_split(state, at, bytes)?,
            _ => false,
        };
        let unmerged =
            files.as_ref().is_some_and(|files| files.keys().any(|(_, stage)| *stage != 0));
        let progress = progress(state, at)?;
        let busy = unmerged || progress.keys().any(|path| is_waiting(path));
        let head = refs.get(b"HEAD".as_slice()).cloned();
        Ok(Self {
            head,
            commit: resolve(&refs, b"HEAD"),
            index: bytes,
            files,
            damaged,
            sparse: state.file(&at.join(b"info").join(b"sparse-checkout"))?,
            busy,
            progress,
            in_use: state.in_use(at)?,
        })
    }

    /// Whether the same waits to be finished, as far as it was brought.
    pub(in crate::git) fn has_same_progress(&self, other: &Self) -> bool {
        let paths: BTreeSet<_> = self.progress.keys().chain(other.progress.keys()).collect();
        paths.into_iter().all(|path| same(self.progress.get(path), other.progress.get(path)))
    }

    /// Whether the same waits to be finished, whatever was done about it.
    pub(super) fn waits_for_same(&self, other: &Self) -> bool {
        let waiting = |it: &Self| -> Vec<_> {
            it.progress.keys().filter(|path| is_waiting(path)).cloned().collect()
        };
        waiting(self) == waiting(other)
    }

    /// The paths below the repository of all that this or another one left for something in progress.
    pub(super) fn progress_with(&self, other: &Self) -> BTreeSet<VaultPath> {
        let paths = self.progress.keys().chain(other.progress.keys());
        paths.map(|path| path_of(path)).collect()
    }

    /// Whether the same is checked out, with the same files in the index and as large a part of them.
    pub(in crate::git) fn is_same(&self, other: &Self) -> bool {
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

    /// The files that somebody staged: what the index says of them is said neither by one of two others nor by the commit that is checked
    /// out. Nothing where an index cannot be read.
    pub(super) fn staged(
        &self,
        newer: &Self,
        older: &Self,
        store: &Store<'_>,
    ) -> Result<Option<Vec<Vec<u8>>>> {
        let (Some(own), Some(newer), Some(older)) = (&self.files, &newer.files, &older.files)
        else {
            return Ok(None);
        };
        let names: BTreeSet<_> = own.keys().chain(newer.keys()).chain(older.keys()).collect();
        let mut staged = Vec::new();
        for name in names {
            let of = |index: &Index| {
                let said = |e: &IndexEntry| (e.object.clone(), e.mode, e.announced, e.overlooked);
                index.get(name).map(said)
            };
            let said = of(own);
            if said == of(newer) || said == of(older) {
                continue;
            }
            let (path, stage) = name;
            let is_overlooked = own.get(name).is_some_and(|e| e.overlooked != (false, false));
            if *stage != 0 || is_overlooked || !self.is_committed(path, own.get(name), store)? {
                staged.push(path.clone());
            }
        }
        Ok(Some(staged))
    }

    /// Whether a file of the index, or that there is none, is what the commit has.
    fn is_committed(
        &self,
        path: &[u8],
        entry: Option<&IndexEntry>,
        store: &Store<'_>,
    ) -> Result<bool> {
        let Some(commit) = &self.commit else { return Ok(entry.is_none()) };
        let Some((Kind::Commit, bytes)) = store.read(commit)? else { return Ok(false) };
        let mut tree = headers(&bytes, b"tree ").into_iter().next().unwrap_or_default();
        let names: Vec<&[u8]> = path.split(|byte| *byte == b'/').collect();
        for (at, name) in names.iter().enumerate() {
            let Some((Kind::Tree, bytes)) = store.read(&tree)? else { return Ok(false) };
            let Some((mode, id)) = in_tree(&bytes, tree.len() / 2, name) else {
                return Ok(entry.is_none());
            };
            if at + 1 < names.len() {
                // Something else took the place of the directory.
                if mode != DIRECTORY {
                    return Ok(entry.is_none());
                }
                tree = id;
                continue;
            }
            return Ok(entry.is_some_and(|entry| {
                !entry.announced && entry.mode == mode && hex(&entry.object) == id
            }));
        }
        Ok(false)
    }

    /// Whether an index says something else of a file than another, or of a directory that a sparse checkout leaves out: the name of one ends
    /// with a slash.
    pub(super) fn says_other_of(&self, other: &Self, path: &[u8]) -> bool {
        let keys = [(path.to_vec(), 0), ([path, b"/"].concat(), 0)];
        let of = |it: &Self| {
            let files = it.files.as_ref()?;
            let entry = keys.iter().find_map(|key| files.get(key))?;
            Some((entry.object.clone(), entry.mode))
        };
        of(self) != of(other)
    }

    /// Whether there is an index, and nobody can tell what it lists.
    pub(super) fn has_unknown_files(&self) -> bool {
        self.index.is_some() && self.files.is_none()
    }

    /// How many files a sparse checkout leaves out that another one had.
    pub(super) fn left_out_since(&self, older: &Self) -> u64 {
        let (Some(own), Some(older)) = (&self.files, &older.files) else { return 0 };
        let marks = Marks::in_index(own);
        let had = older.iter().filter(|(_, entry)| !entry.overlooked.1);
        had.filter(|((path, _), _)| marks.leaves_out(path)).count() as u64
    }

    /// The files of which an index says something else than another, with the object that it has of each, as text.
    pub(super) fn other_files(&self, other: &Self) -> BTreeMap<Vec<u8>, Option<Vec<u8>>> {
        let (Some(own), Some(files)) = (&self.files, &other.files) else { return BTreeMap::new() };
        let paths = own.keys().chain(files.keys()).map(|(path, _)| path);
        let different = paths.filter(|path| self.says_other_of(other, path));
        let object = |path: &Vec<u8>| own.get(&(path.clone(), 0)).map(|entry| hex(&entry.object));
        different.map(|path| (path.clone(), object(path))).collect()
    }

    /// Whether both this and another one have a submodule at another commit than an older one, and not at the same.
    pub(super) fn moves_submodule_of(&self, other: &Self, older: &Self) -> bool {
        let entries = self.files.iter().flatten();
        let mut modules = entries.filter(|(_, entry)| entry.mode == SUBMODULE);
        modules.any(|((path, _), _)| {
            self.says_other_of(older, path)
                && other.says_other_of(older, path)
                && self.says_other_of(other, path)
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

    /// What is wrong with the index, if something is; another one had what this may have lost.
    pub(super) fn index_flaw(&self, older: &Self) -> Option<String> {
        let is_gone = self.index.is_none() && older.index.is_some() && self.commit.is_some();
        let flaw = if is_gone { "gone" } else { "damaged" };
        (is_gone || self.damaged).then(|| format!("its index is {flaw}"))
    }

    /// The branch that is checked out, if one is.
    pub(super) fn branch(&self) -> Option<Name> {
        branch_of(self.head.as_deref()?)
    }
}

/// Whether an index has its entries in another file, which is there.
fn is_split(state: &State<'_>, at: &VaultPath, bytes: &[u8]) -> Result<bool> {
    for id in index::shared(bytes) {
        let name = [b"sharedindex.".as_slice(), &hex(id)].concat();
        if state.tree.get(&at.join(&name))?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The branch that a HEAD names.
fn branch_of(head: &[u8]) -> Option<Name> {
    Some(head.strip_prefix(b"ref:")?.trim_ascii().to_vec())
}

/// What something in progress left in a repository, or in what belongs to a further working tree.
fn progress(state: &State<'_>, at: &VaultPath) -> Result<BTreeMap<Vec<Vec<u8>>, Entry>> {
    let mut found = BTreeMap::new();
    let mut add = |inside: Vec<Vec<u8>>, entry: Entry| {
        if role(&inside) == Role::Progress {
            found.insert(inside, entry);
        }
    };
    for above in [Vec::new(), vec![b"refs".to_vec()]] {
        let holder = above.iter().fold(at.clone(), |path, name| path.join(name));
        let entry = state.tree.get(&holder)?;
        let Some(dir) = entry.as_ref().and_then(|entry| entry.directory()) else { continue };
        for entry in state.tree.list(dir)? {
            let inside = above.iter().cloned().chain([entry.name.clone()]).collect();
            add(inside, entry);
        }
    }
    Ok(found)
}

/// Whether something waits to be finished where this is.
fn is_waiting(path: &[Vec<u8>]) -> bool {
    matches!(path, [name] if IN_PROGRESS.contains(&name.as_slice()))
}

/// The mode and the id of a name in a directory.
fn in_tree(mut bytes: &[u8], width: usize, wanted: &[u8]) -> Option<(u32, Vec<u8>)> {
    while let Some(end) = bytes.iter().position(|byte| *byte == 0) {
        let space = bytes[..end].iter().position(|byte| *byte == b' ')?;
        let (mode, name) = (&bytes[..space], &bytes[space + 1..end]);
        let id = bytes.get(end + 1..end + 1 + width)?;
        if name == wanted {
            let mode = u32::from_str_radix(std::str::from_utf8(mode).ok()?, 8).ok()?;
            return Some((mode, hex(id)));
        }
        bytes = &bytes[end + 1 + width..];
    }
    None
}
