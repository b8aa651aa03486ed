//! Changing the files of a workspace without a mount.

use std::time::{Duration, Instant};

use offshoot_host::Mtime;
use offshoot_store::Id;
use offshoot_tree::diff::Change;
use offshoot_tree::{Batch, Entry, RootId, TreeEditor, diff};
use offshoot_vault::{Actor, CallKey, NewSnapshot, Snapshot, Vault, WorkspaceRecord};

use crate::audited::audited;
use crate::error::{Result, ServiceError};
use crate::exec::summary::is_directory_time;
use crate::mtimes::stamp;
use crate::workspace_lock::share_workspace;

/// An edit computed while somebody else changed the workspace is computed again, for at most this long.
const PATIENCE: Duration = Duration::from_secs(30);
/// The longest pause before another try; a random part of it is waited, so that many can take turns.
const LONGEST_PAUSE_MS: u64 = 20;

/// What an edit did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edited {
    /// The snapshot that it made, or the one that already was as wanted.
    pub snapshot: Snapshot,
    /// The operation, unless nothing changed.
    pub operation: Option<Id>,
    /// What changed, metadata included.
    pub changes: Vec<Change>,
}

/// An edit with the words that describe it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EditKind<'a> {
    pub(crate) kind: &'a str,
    pub(crate) reason: &'a str,
    pub(crate) summary: &'a str,
    /// Whether files that get other bytes get the current time, whatever is put there.
    pub(crate) stamps: bool,
}

/// Applies `change` to the newest state of a workspace and makes the result its next snapshot. `record` adds to the
/// transaction what the change needs in the catalog, and `call` is the key under which an agent asked for it.
pub(crate) fn edit(
    (vault, call): (&Vault, Option<&CallKey>),
    actor: &Actor,
    workspace: &WorkspaceRecord,
    words: EditKind<'_>,
    mut change: impl FnMut(&mut TreeEditor<'_>) -> Result<()>,
    mut record: impl FnMut(&mut offshoot_vault::Transaction<'_, '_>) -> offshoot_vault::Result<()>,
) -> Result<Edited> {
    let _shared = share_workspace(vault, workspace)?;
    let _held = vault.hold()?;
    call.iter().try_for_each(|call| vault.require_new_call(call))?;
    let started = Instant::now();
    while started.elapsed() < PATIENCE {
        let current = current(vault, workspace)?;
        let before = vault.snapshot(&current.state.head)?;
        let (root, top, changes) = apply(vault, &before.root, words.stamps, &mut change)?;
        // Under a key it is recorded that all was as wanted: whoever asks later is not told that nothing happened.
        if root == before.root && call.is_none() {
            return Ok(Edited { snapshot: before, operation: None, changes });
        }
        let content = top.directory().map_or(before.content, |dir| dir.content);
        let committed = vault.transact(words.kind, actor, |tx| {
            let Some(mut now) = tx.workspace(&current.id)?.filter(|now| now.state == current.state)
            else {
                return Ok(None);
            };
            record(tx)?;
            call.iter().try_for_each(|call| tx.call_change(call))?;
            if root == before.root {
                tx.record_always();
                tx.scope(now.id);
                tx.summary(format!("{} in {}", words.summary, now.name));
                return Ok(Some(before.clone()));
            }
            let snapshot = tx.add_snapshot(NewSnapshot {
                root,
                content,
                parents: vec![before.id],
                reason: words.reason.to_owned(),
                message: None,
            })?;
            now.state.head = snapshot.id;
            tx.scope(now.id);
            tx.summary(format!("{} in {}", words.summary, now.name));
            tx.files(audited(&changes));
            tx.set_workspace(&now)?;
            Ok(Some(snapshot))
        })?;
        if let Some(snapshot) = committed.value {
            return Ok(Edited { snapshot, operation: committed.operation, changes });
        }
        std::thread::sleep(Duration::from_millis(random_below(LONGEST_PAUSE_MS)));
    }
    Err(ServiceError::Contended(workspace.name.clone()))
}

fn random_below(limit: u64) -> u64 {
    let last = Id::random().as_bytes().last_chunk::<8>().copied().unwrap_or_default();
    u64::from_le_bytes(last) % limit
}

/// The workspace as it is now.
pub(crate) fn current(vault: &Vault, workspace: &WorkspaceRecord) -> Result<WorkspaceRecord> {
    vault.workspace(&workspace.id)?.ok_or(ServiceError::Vanished(workspace.id))
}

fn apply(
    vault: &Vault,
    root: &RootId,
    stamps: bool,
    change: &mut impl FnMut(&mut TreeEditor<'_>) -> Result<()>,
) -> Result<(RootId, Entry, Vec<Change>)> {
    let objects = vault.objects()?;
    let mut editor = TreeEditor::open(objects, root, Mtime::now())?;
    change(&mut editor)?;
    let mut batch = Batch::default();
    let (mut edited, mut top) = editor.finish(&mut batch)?;
    vault.store(&batch)?;
    if stamps {
        edited = stamp(vault, root, &edited)?;
        top = objects.root(&edited)?;
    }
    let mut changes = diff::compare(objects, root, &edited)?;
    changes.retain(|change| !is_directory_time(change));
    Ok((edited, top, changes))
}
