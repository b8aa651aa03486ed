//! Making the merged tree: only directories on the way to a change are read and written.

use std::collections::BTreeMap;

use super::Merger;
use super::combine::Problem;
use super::fields::merge_meta;
use super::gather::{Gathered, Item};
use super::place::Places;
use super::record::{Record, add, merge_records};
use crate::entry::{Body, DirRef, Entry, Meta};
use crate::error::{Result, TreeError};
use crate::hash::RootId;
use crate::node::edit::Changes;
use crate::objects::Batch;
use crate::objects::nodes::Nodes;
use crate::path::VaultPath;

/// A directory that is being made.
struct Folder {
    /// What the base has there.
    base: Option<DirRef>,
    /// What becomes different in it.
    changes: Changes,
    meta: Meta,
    conflict: Record,
    /// Whether it is only there for what is in it.
    vanishes: bool,
}

impl Folder {
    /// An entry as it stands.
    fn get(&self, nodes: &Nodes<'_>, name: &[u8]) -> Result<Option<Entry>> {
        match (self.changes.get(name), &self.base) {
            (Some(entry), _) => Ok(entry.clone()),
            (None, Some(dir)) => nodes.entry(dir, name),
            (None, None) => Ok(None),
        }
    }

    fn put(&mut self, name: &[u8], entry: Entry) {
        let entry = Entry { name: name.to_vec(), ..entry };
        self.changes.insert(name.to_vec(), Some(entry));
    }
}

impl<E: From<TreeError>> Merger<'_, E> {
    /// Applies everything to the base.
    pub(super) fn build(
        &mut self,
        nodes: &Nodes<'_>,
        base: &RootId,
        gathered: &Gathered,
        places: Places,
    ) -> Result<RootId, E> {
        let mut top = self.objects.root(base)?;
        let mut folders = self.open_folders(nodes, &top, gathered, &places)?;
        for path in gathered.known.keys() {
            if let Some((folder, name)) = folder_of(&mut folders, path) {
                folder.changes.insert(name.to_vec(), None);
            }
        }
        for (path, entry) in places {
            if let Some((folder, name)) = folder_of(&mut folders, &path) {
                folder.put(name, entry);
            }
        }
        self.keep_conflicts(nodes, &mut folders)?;
        // Those that are deeper come later in the order of paths.
        while let Some((path, folder)) = folders.pop_last() {
            let mut made = Batch::default();
            let dir = made.edited_directory(nodes, folder.base.as_ref(), &folder.changes)?;
            let Some((parent, name)) = folder_of(&mut folders, &path) else {
                (top.meta, top.conflict) = (folder.meta, folder.conflict);
                top.body = Body::Directory(dir.into());
                self.batch.append(&mut made);
                break;
            };
            if dir.entries > 0 || !folder.vanishes {
                let Folder { meta, conflict, .. } = folder;
                let entry = Entry { conflict, ..Entry::new(meta, Body::Directory(dir.into())) };
                parent.put(name, entry);
                self.batch.append(&mut made);
            } else if parent.get(nodes, name)?.is_some_and(|entry| entry.directory().is_some()) {
                parent.changes.insert(name.to_vec(), None);
            }
        }
        Ok(self.batch.root(&top))
    }

    /// Reads the directories of the base that something changes in, and makes those that it lacks.
    fn open_folders(
        &mut self,
        nodes: &Nodes<'_>,
        top: &Entry,
        gathered: &Gathered,
        places: &Places,
    ) -> Result<BTreeMap<VaultPath, Folder>, E> {
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
                (Some(parent), Some(name)) => parent.get(nodes, name)?,
                _ => Some(top.clone()),
            };
            let found = found.filter(|entry| entry.directory().is_some());
            // One that nobody recorded is made for what comes into it, like the one that it is in.
            let meta = found.as_ref().map(|entry| entry.meta.clone()).or_else(|| {
                parent.map(|parent| Meta { xattrs: Vec::new(), ..parent.meta.clone() })
            });
            let (meta, vanishes) = (meta.unwrap_or_default(), found.is_none());
            let base = found.as_ref().and_then(Entry::directory).copied();
            let conflict = found.and_then(|entry| entry.conflict);
            let mut folder = Folder { base, changes: Changes::new(), meta, conflict, vanishes };
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

impl<E: From<TreeError>> Merger<'_, E> {
    /// Gives every conflict to the entry that shows it.
    fn keep_conflicts(
        &self,
        nodes: &Nodes<'_>,
        folders: &mut BTreeMap<VaultPath, Folder>,
    ) -> Result<(), E> {
        for (path, record) in self.records() {
            if let Some((folder, name)) = folder_of(folders, &path)
                && let Some(mut leaf) = folder.get(nodes, name)?
                && leaf.directory().is_none()
            {
                add(&mut leaf.conflict, record);
                folder.put(name, leaf);
            } else if let Some(folder) = folders.get_mut(&path) {
                add(&mut folder.conflict, record);
            }
        }
        Ok(())
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
