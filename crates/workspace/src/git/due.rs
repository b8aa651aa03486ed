//! Git commits that were asked for and are still to be made. They are remembered with what reached the folder, in one transaction: whoever comes
//! after a process that died in between knows what is missing.

use offshoot_store::Id;
use offshoot_vault::{Actor, Transaction, Vault};
use serde::{Deserialize, Serialize};

use super::commit::GitCommitted;
use super::folder::GitFolder;
use super::moved::GitMove;
use crate::error::Result;

/// A git commit that is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitCommitRequest {
    /// Who made it, where somebody else than git is configured for was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
}

/// A git commit that is still to be made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DueGitCommit {
    /// The workspace whose changes reached the folder.
    pub workspace: Id,
    /// The operation that brought them.
    pub commit: Id,
    /// How it was asked for.
    #[serde(default)]
    pub asked: GitCommitRequest,
    /// What git is about to do for it. Where the ref is there already, it was done, and only not remembered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) moving: Option<GitMove>,
    /// It was made, and an undo of the commit is about to move these refs back: until that is recorded, they have to come forth again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) undone: Vec<GitMove>,
}

impl DueGitCommit {
    /// One that nobody has begun with.
    pub(crate) fn of(workspace: Id, commit: Id, asked: GitCommitRequest) -> Self {
        Self { workspace, commit, asked, moving: None, undone: Vec::new() }
    }
}

/// The git commits that are still to be made, of workspaces that are there.
pub fn git_dues(vault: &Vault) -> Result<Vec<DueGitCommit>> {
    let mut dues = parsed(vault.git_due()?.as_deref());
    dues.retain(|due| due.undone.is_empty());
    if !dues.is_empty() {
        let workspaces = vault.workspaces()?;
        dues.retain(|due| workspaces.iter().any(|workspace| workspace.id == due.workspace));
    }
    Ok(dues)
}

/// Undos that moved refs of git back, or were about to, and are not recorded.
pub(crate) fn git_undos(vault: &Vault) -> Result<Vec<DueGitCommit>> {
    let mut dues = parsed(vault.git_due()?.as_deref());
    dues.retain(|due| !due.undone.is_empty());
    Ok(dues)
}

/// The one of a workspace.
pub(crate) fn git_due_of(vault: &Vault, workspace: &Id) -> Result<Option<DueGitCommit>> {
    Ok(git_dues(vault)?.into_iter().find(|due| due.workspace == *workspace))
}

/// Says that the git commit of a workspace is made, or is not wanted any more.
pub fn forget_git_due(vault: &Vault, actor: &Actor, workspace: &Id) -> Result<()> {
    if parsed(vault.git_due()?.as_deref()).iter().any(|due| due.workspace == *workspace) {
        vault.transact("git commit", actor, |tx| clear_due(tx, workspace))?;
    }
    Ok(())
}

/// Remembers what git is about to do, so that it is known where whoever does it dies in between.
pub fn announce_git_commit(
    vault: &Vault,
    actor: &Actor,
    workspace: &Id,
    made: &GitCommitted,
) -> Result<()> {
    let Some(due) = git_due_of(vault, workspace)? else { return Ok(()) };
    let due = DueGitCommit { moving: Some(GitMove::of(made)), ..due };
    vault.transact("git commit", actor, |tx| set_due(tx, due.clone()))?;
    Ok(())
}

/// Remembers a git commit that was made by somebody who died before that. Whether there was one.
pub fn settle_git_due(
    vault: &Vault,
    actor: &Actor,
    folder: &GitFolder,
    due: &DueGitCommit,
) -> Result<bool> {
    match &due.moving {
        Some(moving) if moving.is_done(folder)? => {
            moving.record(vault, actor, &due.commit, due.workspace)?;
            Ok(true)
        }
        _ => Ok(false),
    }
}

/// The same, as a part of something.
pub(crate) fn clear_due(
    tx: &mut Transaction<'_, '_>,
    workspace: &Id,
) -> offshoot_vault::Result<()> {
    change(tx, workspace, None)
}

/// Remembers that one is to be made, in place of another of the same workspace.
pub(crate) fn set_due(
    tx: &mut Transaction<'_, '_>,
    due: DueGitCommit,
) -> offshoot_vault::Result<()> {
    change(tx, &due.workspace.clone(), Some(due))
}

fn change(
    tx: &mut Transaction<'_, '_>,
    workspace: &Id,
    due: Option<DueGitCommit>,
) -> offshoot_vault::Result<()> {
    let before = parsed(tx.git_due()?.as_deref());
    let others = before.iter().filter(|other| other.workspace != *workspace).cloned();
    let after: Vec<DueGitCommit> = others.chain(due).collect();
    if after == before {
        return Ok(());
    }
    // A list of ids and names can always be written.
    tx.set_git_due(&serde_json::to_vec(&after).unwrap_or_default())
}

/// What cannot be understood is of a newer version, which sees to it.
fn parsed(bytes: Option<&[u8]>) -> Vec<DueGitCommit> {
    bytes.and_then(|bytes| serde_json::from_slice(bytes).ok()).unwrap_or_default()
}
