//! Doing without a layer that is gone, incomplete or damaged.

use offshoot_store::{Id, StackRow};
use offshoot_tree::RootId;

use crate::error::{Result, VaultError};
use crate::vault::Vault;

/// What was done about a layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rebuilt {
    /// Stacks in use that were built anew from objects.
    pub rebuilt: u64,
    /// Other stacks that were forgotten; they are built when they are needed.
    pub forgotten: u64,
}

impl Vault {
    /// Takes a layer out of all stacks. The stacks of workspaces and of the head that used it are built anew, from objects;
    /// where the bytes of one of those are nowhere else that fails, and the stacks that are left are as they were.
    ///
    /// The layer itself stays: objects may say that their bytes are in it, and commands that run may use it.
    pub fn rebuild_layer(&self, layer: &Id) -> Result<Rebuilt> {
        self.enter()?;
        let _held = self.hold()?;
        let uses = |stack: &StackRow| stack.layers.contains(layer) || stack.data.contains(layer);
        let heads = self.read(head_roots)?;
        let stacks = self.read(|reader| Ok(reader.stacks()?))?;
        let mut done = Rebuilt::default();
        for stack in stacks.iter().filter(|stack| uses(stack) && heads.contains(&stack.root)) {
            let near: Vec<RootId> = heads.iter().map(|root| RootId(*root)).collect();
            self.stack_that(&RootId(stack.root), &near, |stack| !uses(stack))?;
            done.rebuilt += 1;
        }
        self.catalog().write(|writer| {
            for stack in writer.stacks()?.iter().filter(|stack| uses(stack)) {
                writer.remove_stack(&stack.root)?;
                done.forgotten += 1;
            }
            Ok::<(), VaultError>(())
        })?;
        Ok(done)
    }
}

/// The roots that commands start from: of the head, and of each workspace and what it was forked from.
pub(super) fn head_roots(reader: &offshoot_store::Reader<'_>) -> Result<Vec<offshoot_store::Hash>> {
    let mut snapshots = crate::refs::working_heads(reader)?;
    snapshots.sort_unstable();
    snapshots.dedup();
    let mut roots = Vec::new();
    for id in snapshots {
        roots.extend(reader.snapshot(&id)?.map(|snapshot| snapshot.root));
    }
    Ok(roots)
}
