//! Making the merged tree: only directories on the way to a change are read and written.

use std::collections::BTreeMap;

use super::Merger;
use super::combine::Problem;
use super::fields::merge_meta;
use super::gather::{Gathered, Item};
use super::place::Places;
use super::record::{Record, add, merge_records};
use crate::entry::{Body, Entry, Meta};
use crate::error::Result;
use crate::hash::RootId;
use crate::path::VaultPath;

/// A directory that is being made.
struct Folder {
    /// What is in it so far.
    entries: BTreeMap<Vec<u8>, Entry>,
    meta: Meta,
    conflict: Record,
    /// Whether it is only there for what is in it.
    vanishes: bool,
}

impl Merger<'_> {
    /// Applies everything to the base.
    pub(super) fn build(
        &mut self,
        base: &RootId,
        gathered: &Gathered,
        places: Places,
    ) -> Result<RootId> {
        let mut top = self.objects.root(base)?;
        let mut folders = self.open_folders(&top, gathered, &places)?;
        for path in gathered.known.keys() {
            if let Some((folder, name)) = folder_of(&mut folders, path) {
                folder.entries.remove(name);
            }
        }
        for (path, entry) in places {
            if let Some((folder, name)) = folder_of(&mut folders, &path) {
                let entry = Entry { name: name.to_vec(), ..entry };
                folder.entries.insert(name.to_vec(), entry);
            }
        }
        self.keep_conflicts(&mut folders);
        // Those that are deeper come later in the order of paths.
        while let Some((path, folder)) = folders.pop_last() {
            let entries: Vec<Entry> = folder.entries.into_values().collect();
            let Some((parent, name)) = folder_of(&mut folders, &path) else {
                (top.meta, top.conflict) = (folder.meta, folder.conflict);
                top.body = Body::Directory(self.batch.directory(&entries));
                break;
            };
            if !entries.is_empty() || !folder.vanishes {
                let (name, body) = (name.to_vec(), Body::Directory(self.batch.directory(&entries)));
                let Folder { meta, conflict, .. } = folder;
                let entry = Entry { name: name.clone(), conflict, ..Entry::new(meta, body) };
                parent.entries.insert(name, entry);
            } else if parent.entries.get(name).is_some_and(|entry| entry.directory().is_some()) {
                parent.entries.remove(name);
            }
        }
        Ok(self.batch.root(&top))
    }

    /// Reads the directories of the base that something changes in, and makes those that it lacks.
    fn open_folders(
        &mut self,
        top: &Entry,
        gathered: &Gathered,
        places: &Places,
    ) -> Result<BTreeMap<VaultPath, Folder>> {
        let mut wanted: BTreeMap<VaultPath, Option<&Item>> =
            gathered.folders.iter().map(|(path, item)| (path.clone(), Some(item))).collect();
        wanted.entry(VaultPath::top()).or_insert(None);
        let changed = gathered.folders.keys().chain(gathered.known.keys()).chain(places.keys());
        for path in changed {
            let mut at = path.parent();
            while let Some(folder) = at.filter(|folder| !wanted.contains_key(folder)) {
                at = folder.parent();
                wanted.insert(folder, None);
            }
        }
        let mut folders: BTreeMap<VaultPath, Folder> = BTreeMap::new();
        for (path, item) in wanted {
            let parent = path.parent().and_then(|parent| folders.get(&parent));
            let found = match (parent, path.name()) {
                (Some(parent), Some(name)) => parent.entries.get(name),
                _ => Some(top),
            };
            let found = found.filter(|entry| entry.directory().is_some());
            let entries = match found.and_then(Entry::directory) {
                Some(dir) => self.objects.entries(dir)?,
                None => Vec::new(),
            };
            // One that nobody recorded is made for what comes into it, like the one that it is in.
            let meta = found.map(|entry| entry.meta.clone()).or_else(|| {
                parent.map(|parent| Meta { xattrs: Vec::new(), ..parent.meta.clone() })
            });
            let (meta, vanishes) = (meta.unwrap_or_default(), found.is_none());
            let conflict = found.and_then(|entry| entry.conflict.clone());
            let named = |entry: Entry| (entry.name.clone(), entry);
            let entries = entries.into_iter().map(named).collect();
            let mut folder = Folder { entries, meta, conflict, vanishes };
            if let Some(item) = item {
                self.decide_folder(&path, item, &mut folder);
            }
            folders.insert(path, folder);
        }
        Ok(folders)
    }

    /// What a directory is itself. One that a side deleted stays only for what others have in it.
    fn decide_folder(&mut self, path: &VaultPath, item: &Item, folder: &mut Folder) {
        folder.vanishes = item.is_deleted() && !path.is_top();
        let base = item.base.as_ref().map(|base| &base.entry);
        let sides: Vec<&Entry> = item.here().map(|(_, version)| &version.entry).collect();
        let Some(first) = sides.first() else { return };
        let merged = merge_meta(base, &sides, first);
        folder.meta = merged.meta;
        folder.conflict = merge_records(base, &sides);
        if !folder.vanishes {
            for kind in merged.problems {
                self.note(path, item, &Problem::of(kind));
            }
        }
    }
}

impl Merger<'_> {
    /// Gives every conflict to the entry that shows it.
    fn keep_conflicts(&self, folders: &mut BTreeMap<VaultPath, Folder>) {
        for (path, record) in self.records() {
            let leaf = folder_of(folders, &path).and_then(|(folder, name)| {
                folder.entries.get_mut(name).filter(|entry| entry.directory().is_none())
            });
            let kept = match leaf {
                Some(leaf) => Some(&mut leaf.conflict),
                None => folders.get_mut(&path).map(|folder| &mut folder.conflict),
            };
            if let Some(kept) = kept {
                add(kept, record);
            }
        }
    }
}

/// The directory that a path is in, with its name there; nothing for the top.
fn folder_of<'a, 'b>(
    folders: &'a mut BTreeMap<VaultPath, Folder>,
    path: &'b VaultPath,
) -> Option<(&'a mut Folder, &'b [u8])> {
    let folder = folders.get_mut(&path.parent()?)?;
    Some((folder, path.name()?))
}
