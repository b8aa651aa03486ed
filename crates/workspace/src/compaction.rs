//! Keeping the stacks of workspaces low.

use std::cell::OnceCell;

use offshoot_vault::{CompactOptions, Compacted, Id, RootId, Vault};

use crate::error::{Result, ServiceError};
use crate::exec::data_layers::data_layers_work;

/// While layers are merged commands go on, and leave stacks to merge once more. After so many times it is left to the next
/// command.
const ROUNDS: usize = 4;

/// Whose layers to merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompactScope {
    /// Those of one workspace.
    Workspace(Id),
    /// Those of the main line and of all workspaces.
    Vault,
}

/// A stack that was merged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompactedStack {
    /// What was done.
    pub compacted: Compacted,
    /// The workspaces that stood at its root, by name.
    pub workspaces: Vec<String>,
}

/// Merges layers of the stacks that commands start from.
#[derive(Clone, Copy, Debug)]
pub struct CompactionService<'a> {
    vault: &'a Vault,
}

impl<'a> CompactionService<'a> {
    /// Works on a vault.
    pub fn new(vault: &'a Vault) -> Self {
        Self { vault }
    }

    /// Merges the stacks of more than `depth` layers. One process at a time does it.
    pub fn run(&self, scope: CompactScope, depth: usize) -> Result<Vec<CompactedStack>> {
        let Some(_lock) = self.vault.lock_compaction()? else {
            return Err(ServiceError::Compacting);
        };
        let able = OnceCell::new();
        let data_layers = || *able.get_or_init(|| data_layers_work(self.vault));
        let options = CompactOptions { depth, data_layers: &data_layers, way: None };
        let mut done = Vec::new();
        for _ in 0..ROUNDS {
            let mut merged = false;
            for (root, workspaces) in self.heads(scope)? {
                if self.vault.stack_depth(&root)? <= depth {
                    continue;
                }
                if let Some(compacted) = self.vault.compact(&root, &options)? {
                    merged = true;
                    done.push(CompactedStack { compacted, workspaces });
                }
            }
            if !merged {
                break;
            }
        }
        Ok(done)
    }

    /// Whether the stack of a workspace has more layers than it should, and nobody is merging it. Where that did not
    /// help, as with damaged files, it is due again only after some more layers.
    pub fn is_due(&self, workspace: &Id, depth: usize) -> Result<bool> {
        let Some(workspace) = self.vault.workspace(workspace)? else { return Ok(false) };
        let root = self.vault.snapshot(&workspace.state.head)?.root;
        let Some(over) = self.vault.stack_depth(&root)?.checked_sub(depth + 1) else {
            return Ok(false);
        };
        let due = over.is_multiple_of((depth / 2).max(1));
        Ok(due && self.vault.lock_compaction()?.is_some())
    }

    /// The roots that commands start from, with the names of the workspaces that stand at each.
    fn heads(&self, scope: CompactScope) -> Result<Vec<(RootId, Vec<String>)>> {
        let mut heads: Vec<(RootId, Vec<String>)> = Vec::new();
        if scope == CompactScope::Vault {
            heads.push((self.vault.head()?.root, Vec::new()));
        }
        for workspace in self.vault.workspaces()? {
            if matches!(scope, CompactScope::Workspace(id) if id != workspace.id) {
                continue;
            }
            let root = self.vault.snapshot(&workspace.state.head)?.root;
            match heads.iter_mut().find(|(other, _)| *other == root) {
                Some((_, names)) => names.push(workspace.name),
                None => heads.push((root, vec![workspace.name])),
            }
        }
        Ok(heads)
    }
}
