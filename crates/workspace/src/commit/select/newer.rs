//! Working trees that a workspace took away, and that the folder has newer work in.

use offshoot_host::Mtime;
use offshoot_tree::{EntryKind, Meta, RootId, Tree, TreeEditor};
use offshoot_vault::Vault;

use super::held::HeldReason;
use super::selected::Selected;
use crate::edited_tree::store_edited;
use crate::error::Result;
use crate::git::Planted;

impl Selected {
    /// A state of the workspace with the working trees that it took away and that stay, as it came by them. So it gets the folder's: with the
    /// newer work it has not taken anything away, and must not do so unasked the next time.
    pub(in crate::commit) fn with_newer(
        &self,
        vault: &Vault,
        workspace: &RootId,
    ) -> Result<RootId> {
        let newer = self.held.iter().filter(|it| it.reason == HeldReason::Git(Planted::Newer));
        let changes: Vec<_> = newer.map(|held| &held.change).collect();
        if changes.is_empty() {
            return Ok(*workspace);
        }
        let objects = vault.objects()?;
        let offered = Tree::open(objects, &self.root)?;
        let mut editor = TreeEditor::open(objects, workspace, Mtime::now())?;
        for change in changes {
            let (Some(before), None) = (&change.before, &change.after) else { continue };
            let is_directory = before.kind() == EntryKind::Directory;
            let mut above = change.path.parent().into_iter().collect::<Vec<_>>();
            while let Some(parent) = above.last().and_then(|path| path.parent()) {
                above.push(parent);
            }
            above.insert(0, change.path.clone());
            for directory in above.iter().skip(usize::from(!is_directory)).rev() {
                if editor.get(directory)?.is_none() {
                    let meta = offered.get(directory)?.map_or_else(Meta::default, |it| it.meta);
                    editor.put(directory, editor.empty_directory(meta)?)?;
                }
            }
            if !is_directory {
                editor.put(&change.path, before.as_ref().clone())?;
            }
        }
        store_edited(vault, editor)
    }
}
