//! Which files must be read, and which the stat cache knows.

use std::collections::HashMap;

use offshoot_host::disk::join;
use offshoot_host::workers::share;
use offshoot_tree::BlobId;
use rayon::prelude::*;

use super::cache::{Known, KnownFiles};
use super::scan::{LinkedNames, Scanned, ScannedBody, ScannedDir, ScannedEntry, inode};
use crate::layer::LayerKind;

/// Files of one directory that a worker takes at once.
const AT_ONCE: usize = 32;

/// What is to be read.
pub(super) struct Plan<'a> {
    pub(super) chunks: Vec<Chunk<'a>>,
    /// What is known of each entry of each directory without reading it.
    known: Vec<Vec<Option<&'a Known>>>,
    /// How many files there are.
    pub(super) files: u64,
    /// The group of each inode that has several names.
    pub(super) groups: HashMap<(u64, u64), u64>,
}

/// Some files of one directory.
pub(super) struct Chunk<'a> {
    pub(super) dir: &'a ScannedDir,
    pub(super) files: Vec<&'a ScannedEntry>,
}

impl<'a> Plan<'a> {
    /// `place` is where the directory lies in the vault's tree: what is linked in one folder is not linked to another.
    pub(super) fn new(
        scanned: &'a Scanned,
        cache: &'a KnownFiles<'a>,
        kind: LayerKind,
        place: &[u8],
    ) -> Self {
        let group = |names: &LinkedNames| group_of(&join(place, &names.paths[0]));
        let groups = scanned.links.iter().map(|(inode, names)| (*inode, group(names)));
        let groups = groups.collect();
        let folders: Vec<Folder<'a>> =
            share(&scanned.dirs).map(|dir| Folder::new(scanned, cache, kind, dir)).collect();
        let mut plan = Self { chunks: Vec::new(), known: Vec::new(), files: 0, groups };
        for (dir, folder) in scanned.dirs.iter().zip(folders) {
            let chunks = folder.read.chunks(AT_ONCE);
            plan.chunks.extend(chunks.map(|files| Chunk { dir, files: files.to_vec() }));
            plan.files += folder.files;
            plan.known.push(folder.known);
        }
        plan
    }

    /// What is known of a file that need not be read, by the places of directory and entry.
    pub(super) fn known(&self, dir: usize, entry: usize) -> Option<&'a Known> {
        *self.known.get(dir)?.get(entry)?
    }

    /// How many files are to be read, and how long they are together.
    pub(super) fn totals(&self) -> (u64, u64) {
        let files = self.chunks.iter().flat_map(|chunk| &chunk.files);
        files.fold((0, 0), |(count, bytes), file| (count + 1, bytes + file.stat.st_size as u64))
    }
}

/// What is to be done for one directory.
struct Folder<'a> {
    known: Vec<Option<&'a Known>>,
    read: Vec<&'a ScannedEntry>,
    files: u64,
}

impl<'a> Folder<'a> {
    fn new(
        scanned: &Scanned,
        cache: &'a KnownFiles<'a>,
        kind: LayerKind,
        dir: &'a ScannedDir,
    ) -> Self {
        let mut folder =
            Self { known: Vec::with_capacity(dir.entries.len()), read: Vec::new(), files: 0 };
        // A base layer gets every file, and each inode once; content that is known needs neither.
        let is_base = kind == LayerKind::Base;
        let mut remembered = if is_base { &[] } else { cache.folder(&dir.path) }.iter().peekable();
        for entry in &dir.entries {
            let name = entry.name.as_slice();
            while remembered.next_if(|(other, _)| *other < name).is_some() {}
            let same = remembered.next_if(|(other, _)| *other == name).map(|(_, known)| known);
            let is_file = matches!(entry.body, ScannedBody::File);
            let known = same.filter(|known| is_file && known.matches(&entry.stat));
            folder.known.push(known);
            folder.files += u64::from(is_file);
            let wanted = match is_base {
                true => is_file && scanned.is_first_name(entry, &join(&dir.path, name)),
                false => is_file && known.is_none(),
            };
            if wanted {
                folder.read.push(entry);
            }
        }
        folder
    }
}

impl Scanned {
    /// Whether a path is the only or the first name of its inode.
    pub(super) fn is_first_name(&self, entry: &ScannedEntry, path: &[u8]) -> bool {
        self.links.get(&inode(&entry.stat)).is_none_or(|names| names.paths[0] == path)
    }
}

/// The group of the names of one inode: from the first of them, so that it is the same on every import.
pub(crate) fn group_of(first: &[u8]) -> u64 {
    let hash = BlobId::of(first).0;
    let (start, _) = hash.split_first_chunk::<8>().expect("a hash has 32 bytes");
    u64::from_le_bytes(*start)
}
