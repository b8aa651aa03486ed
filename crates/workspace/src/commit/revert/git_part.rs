//! What git is asked to do for an undo or a redo, and what it did so far.

use offshoot_tree::VaultPath;
use offshoot_vault::{Actor, Operation, Vault};

use crate::error::Result;
use crate::git::{
    DueGitCommit, GitCommitRequest, GitEvent, GitFolder, GitMove, GitReport, set_due,
};

/// Something that git is asked to take back or forth, and the repository of the first folder.
#[derive(Clone)]
pub(super) struct GitPart {
    pub(super) moved: GitMove,
    pub(super) folder: GitFolder,
    /// The repository in the vault.
    pub(super) at: VaultPath,
}

impl GitPart {
    pub(super) fn revert(&self, redo: bool) -> Result<GitReport> {
        Ok(self.moved.revert(&self.folder, &self.at, redo)?)
    }
}

/// What git did so far.
#[derive(Default)]
pub(super) struct Steps {
    pub(super) parts: Vec<GitPart>,
    pub(super) report: GitReport,
    /// What the vault knows of, should this end here.
    announced: Vec<GitMove>,
}

impl Steps {
    pub(super) fn go(&mut self, part: &GitPart, redo: bool) -> Result<GitReport> {
        let told = part.revert(redo)?;
        if told.notes.iter().any(|note| note.event == GitEvent::Moved) {
            self.parts.push(part.clone());
        }
        self.report = std::mem::take(&mut self.report).then(told.clone());
        Ok(told)
    }

    /// Remembers that an undo is about to move refs of git, for whoever comes after it if it ends before it is recorded.
    pub(super) fn announce(
        &mut self,
        vault: &Vault,
        actor: &Actor,
        target: &Operation,
        part: &GitPart,
    ) -> Result<()> {
        let Some(workspace) = target.workspace else { return Ok(()) };
        self.announced.push(part.moved.clone());
        let due = DueGitCommit::of(workspace, target.id, GitCommitRequest::default());
        let due = DueGitCommit { undone: self.announced.clone(), ..due };
        vault.transact("git commit", actor, |tx| set_due(tx, due))?;
        Ok(())
    }

    /// Whether the vault knows of anything.
    pub(super) fn is_announced(&self) -> bool {
        !self.announced.is_empty()
    }
}
