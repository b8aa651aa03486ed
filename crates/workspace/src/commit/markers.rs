//! What nobody decided yet: conflicts of the workspace, and texts with the markers of one.

use std::sync::Arc;

use offshoot_tree::conflicts::texts_with_markers;
use offshoot_tree::diff::Change;
use offshoot_tree::{RootId, Tree, VaultPath};
use offshoot_vault::{Vault, WorkspaceRecord};

use crate::error::{Result, ServiceError};
use crate::git::within_repository;

/// Fails where a workspace has conflicts that nobody decided.
pub(super) fn require_decided(
    vault: &Vault,
    workspace: &WorkspaceRecord,
    root: &RootId,
) -> Result<()> {
    let tree = vault.tree(root)?;
    if tree.conflict_count() == 0 {
        return Ok(());
    }
    let undecided = tree.conflicts(&VaultPath::top())?;
    let paths = undecided.into_iter().map(|(path, _)| path.to_string()).collect();
    Err(ServiceError::Undecided { workspace: workspace.name.clone(), paths })
}

/// Fails where a file that is committed has markers, and neither the folder's file nor the base's had any.
pub(super) fn require_none(vault: &Vault, base: &RootId, brought: &[Change]) -> Result<()> {
    let objects = vault.objects()?;
    // Git keeps conflicts with their markers for itself, and quotes them in messages.
    let is_own = |change: &&Change| within_repository(&change.path).is_none();
    let brought: Vec<Change> = brought.iter().filter(is_own).cloned().collect();
    let new_in_folder = texts_with_markers(objects, &brought)?;
    let base = Tree::open(objects, base)?;
    let mut since_base = Vec::new();
    for change in brought.iter().filter(|change| new_in_folder.contains(&change.path)) {
        let before = base.get(&change.path)?.map(Arc::new);
        since_base.push(Change { before, ..change.clone() });
    }
    let marked = texts_with_markers(objects, &since_base)?;
    if marked.is_empty() {
        return Ok(());
    }
    Err(ServiceError::Markers(marked.iter().map(ToString::to_string).collect()))
}
