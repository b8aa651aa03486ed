//! Which files must be read, and which the stat cache knows.

use std::collections::HashMap;

use rustix::fs::Stat;

use super::cache::{Known, KnownFiles};
use super::scan::{LinkedNames, Scanned, ScannedBody, ScannedDir, ScannedEntry, inode};
use crate::disk::join;
use crate::hash::BlobId;
use crate::layer::LayerKind;

/// Files of one directory that a worker takes at once.
const AT_ONCE: usize = 32;

/// What is to be read.
pub(super) struct Plan<'a> {
    pub(super) chunks: Vec<Chunk<'a>>,
    /// What earlier imports knew of files, by path.
    cache: &'a KnownFiles<'a>,
    kind: LayerKind,
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
        let mut plan = Self { chunks: Vec::new(), cache, kind, groups: groups.collect() };
        for dir in &scanned.dirs {
            plan.directory(scanned, dir);
        }
        plan
    }

    /// What is known of a file that need not be read.
    pub(super) fn known(&self, path: &[u8], stat: &Stat) -> Option<&Known> {
        let known = self.cache.get(path).filter(|_| self.kind != LayerKind::Base);
        known.filter(|known| known.matches(stat))
    }

    fn directory(&mut self, scanned: &Scanned, dir: &'a ScannedDir) {
        let mut files = Vec::new();
        for file in dir.entries.iter().filter(|entry| matches!(entry.body, ScannedBody::File)) {
            let path = join(&dir.path, &file.name);
            // A base layer gets every file, and each inode once; content that is known needs neither.
            let wanted = match self.kind {
                LayerKind::Base => scanned.is_first_name(file, &path),
                _ => self.known(&path, &file.stat).is_none(),
            };
            if wanted {
                files.push(file);
            }
        }
        let chunks = files.chunks(AT_ONCE).map(|files| Chunk { dir, files: files.to_vec() });
        self.chunks.extend(chunks);
    }

    /// How many files are to be read, and how long they are together.
    pub(super) fn totals(&self) -> (u64, u64) {
        let files = self.chunks.iter().flat_map(|chunk| &chunk.files);
        files.fold((0, 0), |(count, bytes), file| (count + 1, bytes + file.stat.st_size as u64))
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
