//! Recording what was committed: one transaction moves head and workspace.

use offshoot_store::Id;
use offshoot_tree::{ContentId, RootId, diff};
use offshoot_vault::{
    COMMIT, NewSnapshot, Operation, REDO, Transaction, UNDO, Vault, VaultError, WorkspaceRecord,
    WorkspaceState,
};

use super::commit_refs::CommitRefs;
use super::note::{CommitRecord, Note, Record, RevertRecord};
use crate::audited::audited;
use crate::error::Result;
use crate::git::{DueGitCommit, GitCommitRequest, clear_due, git_move_of, set_due};
use crate::moved_files::MovedFiles;

/// Why the snapshot was made that has what a commit left in its workspace.
pub(crate) const KEPT: &str = "keep";

/// What was recorded.
#[derive(Clone, Debug)]
pub(super) struct Recorded {
    pub(super) operation: Id,
    /// The main line now.
    pub(super) head: Id,
}

/// Records what a note says; nothing where main line or workspace are not what they were.
pub(super) fn record(vault: &Vault, note: &Note, apply: Option<Id>) -> Result<Option<Recorded>> {
    match &note.record {
        Record::Commit(commit) => record_commit(vault, note, commit, apply),
        Record::Revert(revert) => record_revert(vault, note, revert, apply),
    }
}

fn record_commit(
    vault: &Vault,
    note: &Note,
    commit: &CommitRecord,
    apply: Option<Id>,
) -> Result<Option<Recorded>> {
    let content = |root: &RootId| content_of(vault, root);
    let [offered, merged, kept] = [commit.offered.0, commit.merged.0, commit.kept.0];
    let contents = [content(&offered)?, content(&merged)?, content(&kept)?];
    let workspace_root = vault.snapshot(&commit.state.head)?.root;
    let head = vault.snapshot(&commit.head)?.root;
    let files = audited(&diff::compare(vault.objects()?, &head, &merged)?);
    let committed = vault.transact(COMMIT, &note.actor, |tx| {
        let Some(mut now) = unmoved(tx, &commit.workspace, &commit.state, &commit.head)? else {
            return Ok(None);
        };
        let mut add = |root: RootId, content: ContentId, parents: Vec<Id>, reason: &str| {
            let (reason, message) = (reason.to_owned(), Some(commit.message.clone()));
            let message = message.filter(|_| reason == COMMIT);
            tx.add_snapshot(NewSnapshot { root, content, parents, reason, message })
        };
        // Only where all of the workspace was committed does the main line come from its newest snapshot.
        let offered = match offered == workspace_root {
            true => commit.state.head,
            false => add(offered, contents[0], commit.common.clone(), "select")?.id,
        };
        let on_main = add(merged, contents[1], vec![commit.head, offered], COMMIT)?;
        let state = match kept == merged {
            true => on_main.id,
            false => add(kept, contents[2], vec![on_main.id, commit.state.head], KEPT)?.id,
        };
        tx.set_head(on_main.id)?;
        now.state.head = state;
        now.state.base = on_main.id;
        tx.set_workspace(&now)?;
        tx.scope(now.id);
        tx.summary(commit.summary.clone());
        tx.files(files);
        let execs: Vec<String> = commit.execs.iter().map(Id::to_string).collect();
        tx.detail("execs", execs);
        if let Some(apply) = &apply {
            tx.mark_applied(apply)?;
        }
        if let Some(asked) = commit.git.clone() {
            let due = DueGitCommit::of(now.id, tx.operation(), asked);
            set_due(tx, due)?;
        }
        Ok(Some(on_main.id))
    })?;
    let recorded = committed.value.zip(committed.operation);
    Ok(recorded.map(|(head, operation)| Recorded { operation, head }))
}

fn record_revert(
    vault: &Vault,
    note: &Note,
    revert: &RevertRecord,
    apply: Option<Id>,
) -> Result<Option<Recorded>> {
    let target = vault.operation(&revert.target)?;
    let sides = CommitRefs::of(&target)?;
    let wanted = if revert.redo { &sides.after } else { &sides.before };
    let content = content_of(vault, &revert.root.0)?;
    // A git commit is moved after the files.
    let had_git = revert.redo && git_move_of(vault, &target)?.is_some();
    let asked = GitCommitRequest::default();
    let mut recorded = None;
    let kind = if revert.redo { REDO } else { UNDO };
    let said = vault.snapshot(&sides.after.head)?.message.unwrap_or_default();
    let message = format!("{kind}: {said}");
    let files = MovedFiles::new(vault)
        .expecting_roots(vault.snapshot(&revert.head)?.root, revert.root.0)
        .expecting_move(&revert.workspace.head, &wanted.workspace.state.head);
    let reverted = vault.revert_with(kind, &target, &note.actor, |tx| {
        let id = &wanted.workspace.id;
        let Some(mut now) = unmoved(tx, id, &revert.workspace, &revert.head)? else {
            return Ok(());
        };
        now.state = wanted.workspace.state.clone();
        // The main line never goes back, so that everybody who has the commit from there sees that it was undone.
        let mut parents = vec![revert.head];
        parents.extend(Some(sides.after.head).filter(|commit| *commit != revert.head));
        let (root, reason) = (revert.root.0, kind.to_owned());
        let new = NewSnapshot { root, content, parents, reason, message: Some(message.clone()) };
        let head = tx.add_snapshot(new)?.id;
        tx.set_head(head)?;
        tx.set_workspace(&now)?;
        if let Some(apply) = &apply {
            tx.mark_applied(apply)?;
        }
        match (revert.redo, had_git) {
            (true, true) => set_due(tx, DueGitCommit::of(*id, target.id, asked))?,
            (true, false) => {}
            (false, _) => clear_due(tx, id)?,
        }
        files.note(tx)?;
        recorded = Some(head);
        Ok(())
    });
    match recorded {
        Some(head) => Ok(Some(Recorded { operation: reverted?.operation, head })),
        // Nothing moved, so nothing was recorded.
        None => match reverted {
            Err(VaultError::NoOperation(_)) => Ok(None),
            other => other.map(|_| None).map_err(Into::into),
        },
    }
}

/// The workspace, if it and the main line are where they were.
fn unmoved(
    tx: &mut Transaction<'_, '_>,
    workspace: &Id,
    state: &WorkspaceState,
    head: &Id,
) -> offshoot_vault::Result<Option<WorkspaceRecord>> {
    if tx.head()?.as_ref() != Some(head) {
        return Ok(None);
    }
    Ok(tx.workspace(workspace)?.filter(|now| now.state == *state))
}

/// The content of a state.
pub(super) fn content_of(vault: &Vault, root: &RootId) -> Result<ContentId> {
    let top = vault.objects()?.root(root)?;
    let content = top.directory().map(|dir| dir.content);
    Ok(content.unwrap_or(ContentId([0; 32])))
}

impl Note {
    /// What the apply does, for people.
    pub(super) fn summary(&self) -> String {
        match &self.record {
            Record::Commit(commit) => commit.summary.clone(),
            Record::Revert(revert) => {
                let verb = if revert.redo { REDO } else { UNDO };
                format!("{verb} of commit {}", revert.target.short())
            }
        }
    }
}

/// Whether an operation took a workspace's changes home.
pub(crate) fn is_commit(operation: &Operation) -> bool {
    operation.kind == COMMIT
}
