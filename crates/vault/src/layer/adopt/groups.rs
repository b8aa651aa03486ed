//! The numbers of hard-link groups.

use std::collections::{BTreeMap, HashMap, HashSet};

use offshoot_host::disk::join;
use offshoot_tree::links::{Links, Lookup};
use offshoot_tree::{Objects, RootId};
use rustix::fs::Stat;

use crate::error::Result;
use crate::import::plan::group_of;
use crate::layer::written::{UpperDir, inode};

/// The group of each inode that was written under several names. No two inodes share one, nor does an inode share one with
/// names of the base that nothing was written over.
pub(super) struct Groups {
    numbers: HashMap<(u64, u64), u64>,
    taken: HashSet<u64>,
}

impl Groups {
    /// `remaining` are the paths of the base that carry a group and that nothing was written over, `placed` those that were
    /// there before anybody wrote.
    pub(super) fn find(
        objects: &Objects,
        base: &RootId,
        dirs: &[UpperDir],
        remaining: &Links,
        placed: &HashSet<&[u8]>,
    ) -> Result<Self> {
        let mut groups = Self { numbers: HashMap::new(), taken: HashSet::new() };
        let several = several(dirs);
        // Otherwise nobody asks for a number, and none has to be looked up.
        if several.is_empty() && placed.is_empty() {
            return Ok(groups);
        }
        let mut lookup = Lookup::new(objects, base)?;
        for path in remaining.paths() {
            groups.taken.extend(lookup.get(path)?.and_then(|entry| entry.group));
        }
        for (first, inode) in several {
            let old = lookup.get(&first)?.and_then(|entry| entry.group);
            let number = groups.free_number(&first, old);
            groups.numbers.insert(inode, number);
        }
        Ok(groups)
    }

    /// The group of something that was written, if it has several names.
    pub(super) fn of(&self, stat: &Stat) -> Option<u64> {
        self.numbers.get(&inode(stat)).copied()
    }

    /// Takes a number, unless somebody else has it.
    pub(super) fn claim(&mut self, number: u64) -> bool {
        self.taken.insert(number)
    }

    /// A number for the names of which `first` is the first: the one it had, if that is to be had.
    fn free_number(&mut self, first: &[u8], old: Option<u64>) -> u64 {
        let mut candidates: Vec<u64> = old.into_iter().chain([group_of(first)]).collect();
        let mut salted = first.to_vec();
        loop {
            for candidate in candidates.drain(..) {
                if self.claim(candidate) {
                    return candidate;
                }
            }
            // No path holds a NUL, so this is the number of no other.
            salted.push(0);
            candidates.push(group_of(&salted));
        }
    }
}

/// The first name of each inode that was written under several.
fn several(dirs: &[UpperDir]) -> BTreeMap<Vec<u8>, (u64, u64)> {
    let mut names: HashMap<(u64, u64), (Vec<u8>, usize)> = HashMap::new();
    for dir in dirs {
        for entry in &dir.entries {
            let Some(stat) = entry.linked() else { continue };
            let path = join(&dir.path, &entry.name);
            let (first, count) = names.entry(inode(stat)).or_insert_with(|| (path.clone(), 0));
            *count += 1;
            *first = path.min(std::mem::take(first));
        }
    }
    let several = names.into_iter().filter(|(_, (_, count))| *count > 1);
    several.map(|(inode, (first, _))| (first, inode)).collect()
}
