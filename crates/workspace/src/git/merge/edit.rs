//! Changing the target.

use std::path::Path;

use offshoot_host::Mtime;
use offshoot_tree::{Body, Entry, Meta, RootId, Tree, TreeEditor, VaultPath};
use offshoot_vault::Vault;

use crate::edited_tree::store_edited;
use crate::error::Result;

/// A state being changed.
pub(super) struct Edit<'a> {
    vault: &'a Vault,
    editor: TreeEditor<'a>,
}

impl<'a> Edit<'a> {
    pub(super) fn open(vault: &'a Vault, root: &RootId) -> Result<Self> {
        let editor = TreeEditor::open(vault.objects()?, root, Mtime::now())?;
        Ok(Self { vault, editor })
    }

    pub(super) fn with(vault: &'a Vault, editor: TreeEditor<'a>) -> Self {
        Self { vault, editor }
    }

    /// Puts an entry at a path, with the directories that it is in as one of the trees has them. `false` where something that is no
    /// directory is in the way.
    pub(super) fn put(
        &mut self,
        path: &VaultPath,
        entry: Entry,
        holders: &[&Tree<'_>],
    ) -> Result<bool> {
        let names = path.names();
        let mut at = VaultPath::top();
        for name in names.split_last().map_or(&[][..], |(_, parents)| parents) {
            let (inside, last) = (at.clone(), name);
            at = inside.join(last);
            match self.editor.get(&at)? {
                Some(there) if there.directory().is_some() => {}
                Some(_) => return Ok(false),
                None => {
                    let meta = self.directory_meta(&at, &inside, holders)?;
                    let empty = self.editor.empty_directory(meta)?;
                    self.editor.put(&at, empty)?;
                }
            }
        }
        self.editor.put(path, entry)?;
        Ok(true)
    }

    /// The metadata of a directory that has to be made: as one of the trees has it, or like the one that it is in.
    fn directory_meta(
        &mut self,
        path: &VaultPath,
        inside: &VaultPath,
        holders: &[&Tree<'_>],
    ) -> Result<Meta> {
        for tree in holders {
            let found = tree.get(path)?.filter(|entry| entry.directory().is_some());
            if let Some(entry) = found {
                return Ok(entry.meta);
            }
        }
        let above = self.editor.get(inside)?.map(|entry| entry.meta).unwrap_or_default();
        Ok(Meta { xattrs: Vec::new(), mtime: Mtime::now(), ..above })
    }

    /// Writes a file, with the rights and the owner of `like`.
    pub(super) fn write(
        &mut self,
        path: &VaultPath,
        bytes: &[u8],
        like: &Meta,
        holders: &[&Tree<'_>],
    ) -> Result<bool> {
        let content = self.vault.add_content(&mut &*bytes, Path::new("a file of git"))?;
        let meta = Meta { xattrs: Vec::new(), mtime: Mtime::now(), ..like.clone() };
        let body = Body::File { size: content.size, blob: content.blob };
        self.put(path, Entry::new(meta, body), holders)
    }

    /// Takes something away, if it is there.
    pub(super) fn remove(&mut self, path: &VaultPath) -> Result<()> {
        if self.editor.get(path)?.is_some() {
            self.editor.remove(path)?;
        }
        Ok(())
    }

    /// Whether nothing is in a directory.
    pub(super) fn is_empty(&mut self, path: &VaultPath) -> Result<bool> {
        Ok(self.editor.is_empty(path)?)
    }

    /// Whether a directory is at a path.
    pub(super) fn is_directory(&mut self, path: &VaultPath) -> Result<bool> {
        Ok(self.editor.get(path)?.is_some_and(|entry| entry.directory().is_some()))
    }

    pub(super) fn finish(self) -> Result<RootId> {
        store_edited(self.vault, self.editor)
    }
}
