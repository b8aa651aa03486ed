//! The states that a selection is made from.

use offshoot_store::Id;
use offshoot_tree::RootId;
use offshoot_tree::merge::{MergeInputs, MergeOptions};
use offshoot_vault::{Vault, WorkspaceRecord};

use crate::error::Result;

/// The states that a selection is made from.
#[derive(Clone, Copy, Debug)]
pub struct SelectionStates {
    /// What the workspace has in common with the main line.
    pub base: RootId,
    /// The workspace.
    pub workspace: RootId,
    /// The main line, whose repository may have rules of its own about what is ignored.
    pub main: RootId,
}

impl SelectionStates {
    /// Those of a workspace, with the main line as it was captured last.
    pub fn of(vault: &Vault, workspace: &WorkspaceRecord, options: &MergeOptions) -> Result<Self> {
        let head = vault.head()?;
        let tip = vault.snapshot(&workspace.state.head)?;
        Self::between(vault, [head.id, tip.id], tip.root, head.root, options)
    }

    /// Those of two snapshots, the main line's first, whose newest states may be newer than they are.
    pub(in crate::commit) fn between(
        vault: &Vault,
        snapshots: [Id; 2],
        workspace: RootId,
        main: RootId,
        options: &MergeOptions,
    ) -> Result<Self> {
        let base = vault.merge_base(&snapshots)?;
        // A merge of nothing gives what it starts from: several bases as one.
        let nothing = MergeInputs { base: &base, sides: &[] };
        let base = vault.merge(&nothing, options)?.root;
        Ok(Self { base, workspace, main })
    }
}
