//! Indexes that git rewrote without changing what they say: `git status` notes when it last looked at each file.

use offshoot_vault::diff::Change;
use offshoot_vault::{Batch, Mtime, RootId, Tree, TreeEditor, Vault, VaultPath};

use super::index;
use super::names::within_repository;
use super::repository::State;
use crate::error::Result;

/// The state `now` with the changed indexes as they were `left`, where git has only looked at the files again since.
pub(crate) fn with_indexes_as_left(
    vault: &Vault,
    left: &RootId,
    now: &RootId,
    changes: &[Change],
) -> Result<RootId> {
    let objects = vault.objects()?;
    let (left_tree, now_tree) = (Tree::open(objects, left)?, Tree::open(objects, now)?);
    let (was, is) = (State { objects, tree: &left_tree }, State { objects, tree: &now_tree });
    let paths = changes.iter().map(|change| &change.path).filter(|path| is_index(path));
    let mut refreshed = Vec::new();
    for path in paths {
        if looked_at_again(&was, &is, path)? {
            refreshed.push(path);
        }
    }
    if refreshed.is_empty() {
        return Ok(*now);
    }
    put_back(vault, &left_tree, now, &refreshed)
}

fn is_index(path: &VaultPath) -> bool {
    path.name() == Some(b"index".as_slice()) && within_repository(path).is_some()
}

fn looked_at_again(was: &State<'_>, is: &State<'_>, path: &VaultPath) -> Result<bool> {
    let (before, after) = (was.file(path)?, is.file(path)?);
    if before == after {
        return Ok(false);
    }
    let read = |bytes: Option<Vec<u8>>| bytes.and_then(|bytes| index::parse(&bytes));
    Ok(match (read(before), read(after)) {
        (Some(before), Some(after)) => index::same_files(&before, &after),
        _ => false,
    })
}

fn put_back(vault: &Vault, left: &Tree<'_>, now: &RootId, paths: &[&VaultPath]) -> Result<RootId> {
    let mut editor = TreeEditor::open(vault.objects()?, now, Mtime::now())?;
    for path in paths {
        if let Some(entry) = left.get(path)? {
            editor.put(path, entry)?;
        }
    }
    let mut batch = Batch::default();
    let (root, _) = editor.finish(&mut batch)?;
    vault.store(&batch)?;
    Ok(root)
}
