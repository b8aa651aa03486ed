//! Storing a tree that was edited.

use offshoot_tree::{Batch, RootId, TreeEditor};
use offshoot_vault::Vault;

use crate::error::Result;

/// Makes the edited tree a state of its own. A transaction that follows makes it durable.
pub(crate) fn store_edited(vault: &Vault, editor: TreeEditor<'_>) -> Result<RootId> {
    let mut batch = Batch::default();
    let (root, _) = editor.finish(&mut batch)?;
    vault.store(&batch)?;
    Ok(root)
}
