//! Taking what a command changed, and recording the exec: all in one transaction.

use std::time::{Duration, Instant};

use offshoot_mount::{After, Captured, MountError, MountSession};
use offshoot_policy::Verdict;
use offshoot_protocol::{CheckpointMode, ExecState as State, PolicyDecision};
use offshoot_sandbox::Ended;
use offshoot_store::Id;
use offshoot_tree::diff::{BinaryForm, Change, ChangeKind};
use offshoot_tree::{Entry, EntryKind};
use offshoot_vault::{
    ExecRecord, NewSnapshot, SkipReason, Snapshot, Transaction, VaultError, WorkspaceRecord,
};

use super::access::KeeperAccess;
use super::announce::details;
use super::clearance::Purpose;
use super::envelope::ExecutionResult;
use super::request::ExecutionRequest;
use super::runtime::{Execution, ProxyRuntime};
use super::summary::shortened;
use crate::approval::used;
use crate::audited::audited;
use crate::change::ChangeSummaryService;
use crate::checkpoint::add_automatic;
use crate::error::{Result, ServiceError};
use crate::undecided::TRIAL;
use crate::wire::{skip_reason, stored_envelope};

/// At most so many things that are not kept are named one by one.
const MOST_NAMED: usize = 10;

/// However late a command ends, what it wrote has this long to be read and kept.
const SEAL_AT_LEAST: Duration = Duration::from_secs(10);

/// What is said where policy was wrong in the direction in which it must not be.
const MISJUDGED: &str = "policy took this command for one that only reads, and it changed files; there is a checkpoint \
                         to come back to";

impl ProxyRuntime<'_> {
    /// Seals what the command left and records everything about it.
    pub(super) fn seal(
        &self,
        execution: &mut Execution<'_>,
        workspace: &WorkspaceRecord,
        session: MountSession<'_>,
        mut ended: Ended,
        started: Instant,
    ) -> Result<()> {
        if execution.is_trial() && execution.result.interrupted {
            // Whoever ends a trial wants nothing of it.
            session.discard();
            return Err(ServiceError::Cancelled);
        }
        // What is sealed is part of no history until the transaction below.
        let _held = self.vault.hold()?;
        let mut sealed = match execution.result.read_only {
            true => {
                session.discard();
                None
            }
            false => {
                let until = seal_until(execution.request, &ended);
                let access = KeeperAccess { keeper: &ended.keeper, until };
                let captured = session.capture(&After { busy: ended.busy, access: &access });
                if let Err(MountError::Vault(VaultError::OutOfTime)) = &captured {
                    execution.result.timed_out = true;
                }
                Some(captured?)
            }
        };
        ended.keeper.release();
        let before = self.vault.snapshot(&workspace.state.head)?;
        if let Some(sealed) = &sealed {
            self.summarise(execution, &before, sealed)?;
        }
        let root = sealed.as_ref().map_or(before.root, |sealed| sealed.adopted.root);
        execution.result.conflicts = self.vault.tree(&root)?.conflict_count();
        execution.result.total = started.elapsed();
        let is_trial = execution.is_trial();
        let request = &*execution.request;
        let (result, purpose) = (&mut execution.result, &execution.purpose);
        let recorded = self.vault.transact("exec", &request.actor, |tx| {
            let sealed = sealed.as_ref();
            if is_trial {
                self.park_trial(tx, workspace, &before, sealed, request, result)?;
                self.record(tx, request, result, State::PendingApproval, Some(workspace.id))?;
                return Ok(None);
            }
            if let Purpose::Granted(grant) = purpose {
                used(tx, &grant.approval)?;
            }
            let moved = self.move_workspace(tx, workspace, &before, sealed, request, result)?;
            let state = if moved.is_none() { State::Completed } else { State::Failed };
            self.record(tx, request, result, state, Some(workspace.id))?;
            Ok(moved)
        });
        let moved = recorded.inspect_err(|_| forget_changes(result))?.value;
        // It is recorded: a note that cannot be removed only says what the history says too.
        let _note_stays = sealed.take().is_some_and(|sealed| sealed.adopted.settle().is_err());
        match moved {
            None => Ok(()),
            Some(checkpoint) => {
                let workspace = workspace.name.clone();
                Err(ServiceError::Moved { workspace, checkpoint })
            }
        }
    }

    /// What changed, for the envelope.
    fn summarise(
        &self,
        execution: &mut Execution<'_>,
        before: &Snapshot,
        sealed: &Captured,
    ) -> Result<()> {
        let service = ChangeSummaryService::new(self.vault, self.options.diff);
        let changes = service.told(&before.root, &sealed.adopted.root)?;
        if execution.request.patch {
            let mut patch = Vec::new();
            // The output of a build would be many times as long as all lines.
            service.patch(&changes, BinaryForm::Named, &mut patch)?;
            execution.result.patch = Some(patch);
        }
        let verdict = execution.result.decision.as_ref();
        let misjudged = verdict.is_some_and(|verdict| verdict.categories.is_read_only());
        if !changes.is_empty() && misjudged && execution.result.rerun.is_none() {
            execution.result.warnings.push(MISJUDGED.to_owned());
        }
        execution.result.kept_bytes = changes.iter().map(kept_bytes).sum();
        execution.result.changes = changes;
        execution.result.warnings.extend(sealed.warnings.iter().cloned());
        execution.result.warnings.extend(not_kept(sealed));
        execution.result.warnings.extend(damaged(sealed));
        Ok(())
    }

    /// Keeps what a trial left for a person to decide about. The workspace stays where it is.
    fn park_trial(
        &self,
        tx: &mut Transaction<'_, '_>,
        workspace: &WorkspaceRecord,
        before: &Snapshot,
        sealed: Option<&Captured>,
        request: &ExecutionRequest,
        result: &mut ExecutionResult,
    ) -> Result<(), VaultError> {
        let command = shortened(&request.command.display());
        tx.scope(workspace.id);
        tx.summary(format!("try {command} in {}", workspace.name));
        tx.record_always();
        let after = keep(tx, before, sealed, TRIAL, command)?;
        if after != before.id {
            tx.detail("tried_files", audited(&result.changes));
        }
        result.after = Some(after);
        self.park(tx, request, result, (Some(workspace.id), Some(before.id), Some(after)))?;
        self.tell_pending(result);
        Ok(())
    }

    /// Moves the workspace to what the command left. Where it moved meanwhile, the result becomes a checkpoint, whose
    /// name is returned.
    fn move_workspace(
        &self,
        tx: &mut Transaction<'_, '_>,
        workspace: &WorkspaceRecord,
        before: &Snapshot,
        sealed: Option<&Captured>,
        request: &ExecutionRequest,
        result: &mut ExecutionResult,
    ) -> Result<Option<String>, VaultError> {
        let found = tx.workspace(&workspace.id)?;
        let command = request.command.display();
        // It may have another name by now.
        let name = found.as_ref().map_or(&workspace.name, |now| &now.name);
        result.workspace = Some((workspace.id, name.clone()));
        tx.scope(workspace.id);
        tx.summary(format!("exec {} in {name}", shortened(&command)));
        tx.record_always();
        let after = keep(tx, before, sealed, "exec", shortened(&command))?;
        if after != before.id {
            tx.files(audited(&result.changes));
        }
        result.after = Some(after);
        let Some(mut now) = found else {
            if sealed.is_none() {
                // There is nothing to move, and whoever deleted the workspace need not have waited for it.
                return Ok(None);
            }
            return Err(offshoot_store::StoreError::Stale {
                kind: "workspace".to_owned(),
                name: workspace.name.clone(),
            }
            .into());
        };
        if now.state.head != before.id && after != before.id {
            let reason = format!("the result of {}", shortened(&command));
            return add_automatic(tx, &now.id, after, reason).map(Some);
        }
        if wants_checkpoint(request, result, after != before.id) {
            let reason = format!("before {}", shortened(&command));
            result.checkpoint = Some(add_automatic(tx, &now.id, before.id, reason)?);
        }
        if after != before.id {
            now.state.head = after;
            tx.set_workspace(&now)?;
        }
        result.removed = false;
        if now == *workspace && result.checkpoint.is_none() {
            result.removed = remove_unchanged(tx, request, result, &now)?;
        }
        Ok(None)
    }

    /// Records an exec that failed on its way.
    pub(super) fn record_failure(
        &self,
        request: &ExecutionRequest,
        result: &mut ExecutionResult,
    ) -> Result<()> {
        let recorded = self.vault.exec(&result.id)?;
        if recorded.is_some_and(|record| record.state != State::PendingApproval.as_str()) {
            return Ok(());
        }
        self.vault.transact("exec", &request.actor, |tx| {
            result.removed = false;
            if let Some((workspace, name)) = &result.workspace {
                tx.scope(*workspace);
                let command = shortened(&request.command.display());
                tx.summary(format!("exec {command} in {name} failed"));
                let now = tx.workspace(workspace)?.filter(|now| now.state.head == now.state.base);
                if let Some(now) = now.filter(|_| !result.recoverable) {
                    result.removed = remove_unchanged(tx, request, result, &now)?;
                }
            }
            tx.record_always();
            used(tx, &result.id)?;
            let workspace = result.workspace.as_ref().map(|(id, _)| *id);
            self.record(tx, request, result, result.state, workspace)
        })?;
        Ok(())
    }

    pub(super) fn record(
        &self,
        tx: &mut Transaction<'_, '_>,
        request: &ExecutionRequest,
        result: &ExecutionResult,
        state: State,
        workspace: Option<Id>,
    ) -> Result<(), VaultError> {
        let envelope = stored_envelope(request, result, state);
        for (name, value) in details(request, (result, state), self.options) {
            tx.detail(&name, value);
        }
        let record = ExecRecord {
            id: result.id,
            workspace,
            operation: None,
            started_ms: result.started_ms,
            ended_ms: result.started_ms + result.total.as_millis() as u64,
            state: state.as_str().to_owned(),
            command: request.command.display(),
            exit_code: result.exit_code,
            signal: result.signal,
            changed: result.changes.len() as u64,
            before: result.before,
            after: result.after,
            actor: request.actor.clone(),
            envelope: Some(envelope),
        };
        request.call.iter().try_for_each(|call| tx.call_exec(call, &result.id))?;
        tx.add_exec(&record, result.stdout(), result.stderr())
    }
}

/// The snapshot of what a command left; the one before where it left nothing else.
fn keep(
    tx: &mut Transaction<'_, '_>,
    before: &Snapshot,
    sealed: Option<&Captured>,
    reason: &str,
    message: String,
) -> Result<Id, VaultError> {
    let Some(sealed) = sealed.filter(|sealed| sealed.adopted.root != before.root) else {
        return Ok(before.id);
    };
    sealed.adopted.record(tx)?;
    let snapshot = tx.add_snapshot(NewSnapshot {
        root: sealed.adopted.root,
        content: sealed.adopted.content,
        parents: vec![before.id],
        reason: reason.to_owned(),
        message: Some(message),
    })?;
    Ok(snapshot.id)
}

/// Until when what a command wrote must be read: for as long as its time lasts, and a little longer for one that used all of it.
fn seal_until(request: &ExecutionRequest, ended: &Ended) -> Option<Instant> {
    let left = request.timeout.duration()?.saturating_sub(ended.duration);
    Some(Instant::now() + left.max(SEAL_AT_LEAST))
}

/// Removes a workspace that was made for a command which left nothing in it. Undo brings it back.
fn remove_unchanged(
    tx: &mut Transaction<'_, '_>,
    request: &ExecutionRequest,
    result: &ExecutionResult,
    workspace: &WorkspaceRecord,
) -> Result<bool, VaultError> {
    let removes = result.forked && !request.keep && !tx.has_belongings(&workspace.id)?;
    if removes {
        tx.remove_workspace(&workspace.id)?;
    }
    Ok(removes)
}

/// What could not be recorded did not happen to the workspace.
fn forget_changes(result: &mut ExecutionResult) {
    result.changes.clear();
    result.kept_bytes = 0;
    result.patch = None;
    result.checkpoint = None;
    result.removed = false;
    result.after = result.before;
}

/// The state before stays the workspace's own until the command's result replaces it in one transaction, so the
/// checkpoint is written there, and what changed nothing needs none.
fn wants_checkpoint(request: &ExecutionRequest, result: &ExecutionResult, changed: bool) -> bool {
    match request.checkpoint {
        CheckpointMode::Auto => {
            let verdict = result.decision.as_ref();
            // What policy took for reading alone and wrote all the same can be taken back like anything else.
            let asks = |verdict: &Verdict| {
                verdict.decision.takes_checkpoint()
                    || verdict.decision == PolicyDecision::RequireApproval
                    || verdict.categories.is_read_only()
            };
            changed && verdict.is_none_or(asks)
        }
        CheckpointMode::Always => true,
        CheckpointMode::Never => false,
    }
}

/// The size of a file whose content is new at its path.
fn kept_bytes(change: &Change) -> u64 {
    use ChangeKind::{Added, Modified, Renamed};
    let file = change.after.as_deref().filter(|entry| entry.kind() == EntryKind::File);
    let file = file.filter(|_| matches!(change.kind(), Added | Modified | Renamed));
    file.map_or(0, Entry::size)
}

/// A word about what the command made and a vault does not keep.
fn not_kept(sealed: &Captured) -> Vec<String> {
    let skipped = &sealed.adopted.skipped;
    let mut warnings: Vec<String> = skipped
        .iter()
        .take(MOST_NAMED)
        .map(|skipped| {
            let path = offshoot_tree::display_bytes(&skipped.path);
            match &skipped.why {
                SkipReason::Attributes(names) => {
                    format!("/{path}: these attributes are not kept: {}", names.join(", "))
                }
                other => format!("/{path} is not kept: {}", skip_reason(other).1),
            }
        })
        .collect();
    if skipped.len() > MOST_NAMED {
        warnings.push(format!("and {} more are not kept", skipped.len() - MOST_NAMED));
    }
    warnings
}

/// A word about files whose bytes were damaged before the command touched them.
fn damaged(sealed: &Captured) -> Vec<String> {
    let damaged = &sealed.adopted.damaged;
    let named = damaged.iter().take(MOST_NAMED).map(|path| {
        format!(
            "/{} is damaged in the vault: the command saw other bytes than were recorded; what was recorded is kept, and \
             `offshoot vault check --repair` looks for a good copy",
            offshoot_tree::display_bytes(path)
        )
    });
    let more = damaged.len().saturating_sub(MOST_NAMED);
    named.chain((more > 0).then(|| format!("and {more} more files are damaged"))).collect()
}
