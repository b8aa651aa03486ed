//! Keeping what could not be read: a file that nobody may open is not gone.

use offshoot_host::Mtime;
use offshoot_host::disk::join;
use offshoot_tree::{Batch, TreeEditor, VaultPath};

use super::Imported;
use super::report::{SkipReason, Skipped};
use crate::error::Result;
use crate::vault::Vault;

impl Vault {
    /// Puts in the place of all that could not be read what the main line has there, unchanged. What the main line does not have
    /// either stays out.
    pub(super) fn keep_unreadable(&self, mut imported: Imported) -> Result<Imported> {
        if !imported.report.skipped.iter().any(|skipped| hidden(skipped).is_some()) {
            return Ok(imported);
        }
        let objects = self.objects()?;
        let head = self.head()?.root;
        let before = self.tree(&head)?;
        let mut editor = TreeEditor::open(objects, &imported.root, Mtime::now())?;
        let mut kept: Vec<Vec<u8>> = Vec::new();
        for skipped in &mut imported.report.skipped {
            let Some(why) = hidden(skipped) else { continue };
            let path = VaultPath::parse(&skipped.path)?;
            let is_missing = editor.get(&path)?.is_none();
            if let Some(entry) = before.get(&path)?.filter(|_| is_missing) {
                editor.put_back(&path, entry)?;
                kept.push(skipped.path.clone());
                skipped.why = SkipReason::Kept(why);
            }
        }
        if kept.is_empty() {
            return Ok(imported);
        }
        let linked = self.linked_paths(&head, &[])?;
        let is_kept = |path: &&Vec<u8>| {
            kept.iter().any(|kept| kept == *path || path.starts_with(&join(kept, b"")))
        };
        linked.paths().filter(is_kept).for_each(|path| imported.links.set(path.clone(), true));
        let mut batch = Batch::default();
        let (root, top) = editor.finish(&mut batch)?;
        objects.store(&batch)?;
        imported.content = top.directory().map_or(imported.content, |dir| dir.content);
        (imported.root, imported.top, imported.stack) = (root, top, None);
        Ok(imported)
    }
}

/// Why something that is there could not be looked at.
fn hidden(skipped: &Skipped) -> Option<String> {
    match &skipped.why {
        SkipReason::Unreadable(error) => Some(error.clone()),
        SkipReason::Pseudo => Some("another file system is mounted there".to_owned()),
        _ => None,
    }
}
