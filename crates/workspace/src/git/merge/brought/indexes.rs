//! What indexes list.

use offshoot_tree::VaultPath;
use offshoot_vault::Symlinks;

use super::super::store::hex;
use super::trees::Item;
use super::{Brought, Look, Staged, Surroundings, TREE};
use crate::error::Result;
use crate::git::index::index_trees;
use crate::git::index::{Index, IndexEntry};

impl Brought<'_> {
    /// The files of an index that count and that none of some others has: git puts them into the working tree when it is asked to take
    /// changes back.
    pub(crate) fn staged(&self, index: &Index, others: &[Index]) -> Result<Staged> {
        let (mut staged, mut links) = (Staged::default(), Symlinks::new());
        for (key, entry) in index {
            let same =
                |other: &IndexEntry| (&other.object, other.mode) == (&entry.object, entry.mode);
            if others.iter().any(|other| other.get(key).is_some_and(same)) {
                continue;
            }
            let names = key.0.split(|byte| *byte == b'/').filter(|name| !name.is_empty());
            let path = names.fold(VaultPath::top(), |path, name| path.join(name));
            let full = self.full(&path);
            if self.around.judge.takes(&full) {
                staged.taken.push(full.clone());
            }
            let item = |entry: &IndexEntry| Item {
                mode: entry.mode,
                name: Vec::new(),
                id: hex(&entry.object),
            };
            let old: Vec<Item> = others.iter().filter_map(|it| it.get(key)).map(item).collect();
            let (new, old): (_, Vec<&Item>) = (item(entry), old.iter().collect());
            let is_left = match entry.mode {
                // A directory that a sparse checkout leaves out.
                TREE => {
                    let old = old.iter().filter(|item| item.mode == TREE);
                    let bases: Vec<Vec<u8>> = old.map(|item| item.id.clone()).collect();
                    let look = self.compare_at(path.clone(), &new.id, &bases, false)?;
                    matches!(look, Look::Found)
                }
                _ => self.brings(&path, Some(&new), &old, &mut links)?,
            };
            if is_left {
                staged.left.insert(full);
            }
        }
        if self.around.judge.leads_astray(&links) {
            staged.left.extend(links.into_keys());
        }
        Ok(staged)
    }

    /// Whether the host's index has a file as it is.
    pub(super) fn is_listed(&self, path: &VaultPath, item: &Item) -> Result<bool> {
        let key = (path.names().join(&b'/'), 0);
        let is_same = |entry: &IndexEntry| entry.mode == item.mode && hex(&entry.object) == item.id;
        Ok(self.indexes()?.iter().any(|index| index.get(&key).is_some_and(is_same)))
    }

    /// Whether the host's index has a directory as it is: where objects cannot be read, such as those that are borrowed or in a large pack,
    /// that is what is known of them.
    pub(super) fn is_checked_out(&self, path: &VaultPath, tree: &[u8]) -> Result<bool> {
        if self.index_trees.get().is_none() {
            let width = tree.len() / 2;
            let trees = self.indexes()?.iter().flat_map(|index| index_trees(index, width));
            let trees = trees.map(|(path, id)| (path, hex(&id))).collect();
            self.index_trees.get_or_init(|| trees);
        }
        let key = (path.names().join(&b'/'), tree.to_vec());
        Ok(self.index_trees.get().is_some_and(|trees| trees.contains(&key)))
    }

    fn indexes(&self) -> Result<&[Index]> {
        if let Some(indexes) = self.indexes.get() {
            return Ok(indexes);
        }
        let Surroundings { host, base, .. } = self.around;
        let indexes = [host.whole_index(&self.at)?, base.whole_index(&self.at)?];
        Ok(self.indexes.get_or_init(|| indexes.into_iter().flatten().collect()))
    }
}
