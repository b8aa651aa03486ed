//! The only door to refs.
//!
//! A transaction collects changes to refs and writes them together with the operation that made them and its audit
//! event, in one commit. Objects and layers it mentions are already durable, or become so with it.

mod moves;
mod sessions;
mod verify;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use offshoot_store::{ExecRow, Id, NewOperation, RefChange, RefKey, RefRow, StackRow, Writer};
use offshoot_tree::{ContentId, RootId};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use crate::actor::Actor;
use crate::approval::Approval;
use crate::audit::key::{AuditKey, PublicKey};
use crate::audit::records::Records;
use crate::audit::signing::Signing;
use crate::audit::{AUDIT_KEY, SignedHead, audit_chain};
use crate::error::{Result, VaultError};
use crate::exec::{ExecRecord, STDERR, STDOUT};
use crate::measured;
use crate::refs::{
    APPROVAL, BINDING, Binding, CHECKPOINT, Checkpoint, WORKSPACE, WorkspaceRecord, head_key,
    head_row, head_snapshot, key, snapshots_of, to_json,
};
use crate::session::SESSION;
use crate::session::chain::sign_anew;
use crate::snapshot::Snapshot;

pub use moves::{MovedRef, RefMove};

/// Where the id of the vault is kept.
pub(crate) const VAULT: &str = "vault";
/// Where the id of the last apply that was recorded is kept.
pub(crate) const APPLIED: &str = "applied";
/// Where the path of the git directory is kept that somebody let go of.
pub(crate) const DECLINED: &str = "declined_git";

/// Where it is kept which git commits are still to be made.
pub(crate) const GIT_DUE: &str = "git_due";

/// Where the signature for the newest audit event is kept.
pub(crate) const AUDIT_SIGNATURE: &str = "audit_signature";
/// Where it is kept how far audit events were removed.
pub(crate) const AUDIT_PRUNED: &str = "audit_pruned";
/// Where the rules and settings are kept that the audit log knows as those in force.
pub(crate) const AUDIT_RULES: &str = "audit_rules";

/// A snapshot about to be made.
#[derive(Clone, Debug)]
pub struct NewSnapshot {
    /// The state of files; its objects are stored.
    pub root: RootId,
    /// The content of that state.
    pub content: ContentId,
    /// What it came from.
    pub parents: Vec<Id>,
    /// Why it is made.
    pub reason: String,
    /// What its maker says about it.
    pub message: Option<String>,
}

/// What a committed transaction was recorded as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Committed<T> {
    /// What the work returned.
    pub value: T,
    /// The operation, unless no ref was changed and none was asked for.
    pub operation: Option<Id>,
}

/// Whether what is recorded is an entry of the operation log too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Recorded {
    /// An operation and its event.
    Operation,
    /// An event alone, of something that moves no ref and that nobody undoes.
    Event,
}

/// Changes to the refs of a vault, committed together.
#[derive(Debug)]
pub struct Transaction<'a, 'b> {
    writer: &'a mut Writer<'b>,
    signing: &'a Signing,
    recorded: Recorded,
    /// The key that signs from here on, in place of the one that does.
    successor: Option<AuditKey>,
    actor: Actor,
    kind: String,
    operation: Id,
    time_ms: u64,
    scope: Option<Id>,
    summary: String,
    reverts: Option<Id>,
    /// The state of each touched ref before this transaction, and now.
    touched: BTreeMap<RefKey, (Option<RefRow>, Option<RefRow>)>,
    /// Recorded also where no ref is changed.
    always: bool,
    /// Changes of refs that are no part of what can be undone.
    unlogged: Vec<RefChange>,
    /// The commands that this transaction records.
    execs: Vec<ExecRow>,
    /// What the event covers beside refs.
    records: Records,
    /// The snapshots that it makes.
    made: HashSet<Id>,
    details: BTreeMap<String, Box<RawValue>>,
}

#[derive(Serialize)]
struct AuditEvent<'a> {
    operation: Id,
    time_ms: u64,
    actor: &'a Actor,
    /// The account of the process, as the kernel knows it: who the actor is, the caller says.
    uid: u32,
    kind: &'a str,
    workspace: Option<Id>,
    summary: &'a str,
    changes: &'a [RefChange],
    /// The states of files that the refs name, so that the chain covers what was in them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    roots: BTreeMap<Id, String>,
    /// Hashes of records that are kept elsewhere, so that the chain covers those too.
    #[serde(skip_serializing_if = "Records::is_empty")]
    records: Records,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    details: BTreeMap<String, Box<RawValue>>,
}

impl<'a, 'b> Transaction<'a, 'b> {
    pub(crate) fn new(
        writer: &'a mut Writer<'b>,
        signing: &'a Signing,
        recorded: Recorded,
        kind: &str,
        actor: &Actor,
    ) -> Self {
        let operation = writer.new_id();
        Self {
            writer,
            signing,
            recorded,
            successor: None,
            actor: actor.clone(),
            kind: kind.to_owned(),
            operation,
            time_ms: operation.time_ms(),
            scope: None,
            summary: kind.to_owned(),
            reverts: None,
            touched: BTreeMap::new(),
            always: recorded == Recorded::Event,
            unlogged: Vec::new(),
            execs: Vec::new(),
            records: Records::default(),
            made: HashSet::new(),
            details: BTreeMap::new(),
        }
    }

    /// The time of the operation.
    pub fn time_ms(&self) -> u64 {
        self.time_ms
    }

    /// A new id, later than all before.
    pub fn new_id(&mut self) -> Id {
        self.writer.new_id()
    }

    /// Says in one line what the operation does.
    pub fn summary(&mut self, text: impl Into<String>) {
        self.summary = text.into();
    }

    /// Says which workspace the operation belongs to, for undo.
    pub fn scope(&mut self, workspace: Id) {
        self.scope = Some(workspace);
    }

    /// Adds something to the audit event.
    pub fn detail(&mut self, name: &str, value: impl Serialize) {
        self.details.insert(name.to_owned(), written(&value));
    }

    /// Adds the files that changed to the audit event, as they are written there.
    pub fn files(&mut self, files: Box<RawValue>) {
        self.details.insert("files".to_owned(), files);
    }

    /// Notes the rules and settings that are in force from here on. They are no ref: undo does not take that back.
    pub fn set_rules_in_force(&mut self, rules: &impl Serialize) -> Result<()> {
        Ok(self.writer.set_meta(AUDIT_RULES, to_json(rules).as_bytes())?)
    }

    pub(crate) fn writer(&mut self) -> &mut Writer<'b> {
        self.writer
    }

    /// Records the operation and its audit event although no ref may be changed. Undo and redo pass over an operation
    /// without changes.
    pub fn record_always(&mut self) {
        self.always = true;
    }

    /// Has a new key sign from here on.
    pub(crate) fn hand_over(&mut self) -> Result<PublicKey> {
        let (vault, signer) = (self.signing.vault(), self.signer()?.public());
        let successor = self.signing.make_next()?;
        let public = successor.public();
        self.summary(format!("audit key {public}"));
        // What the old key vouched for, the new one does.
        for (key, row) in self.writer.refs(APPROVAL)? {
            if let Ok(approval) = Approval::genuine(&key, &row, &vault, &signer) {
                let after = Some(approval.row(&vault, &successor));
                self.unlogged.push(RefChange { key, before: Some(row), after });
            }
        }
        sign_anew(self.writer, &vault, (&signer, &successor))?;
        self.successor = Some(successor);
        self.always = true;
        Ok(public)
    }

    /// Has the event cover these records too.
    pub(crate) fn cover(&mut self, records: Records) {
        self.records.0.extend(records.0);
    }

    pub(crate) fn reverts(&mut self, operation: Id) {
        self.reverts = Some(operation);
    }

    /// The id of the operation that this is recorded as.
    pub fn operation(&self) -> Id {
        self.operation
    }

    /// The reader of the state under the write lock, without the changes of this transaction.
    pub fn reader(&self) -> &Writer<'b> {
        self.writer
    }

    /// A snapshot.
    pub fn snapshot(&self, id: &Id) -> Result<Snapshot> {
        Snapshot::load(self.writer, id)
    }

    /// Makes a snapshot.
    pub fn add_snapshot(&mut self, new: NewSnapshot) -> Result<Snapshot> {
        let snapshot = Snapshot {
            id: self.writer.new_id(),
            root: new.root,
            content: new.content,
            parents: new.parents,
            time_ms: self.time_ms,
            actor: self.actor.clone(),
            reason: new.reason,
            message: new.message,
            operation: self.operation,
        };
        let row = snapshot.row();
        self.writer.add_snapshot(&row)?;
        self.records.snapshot(&row);
        self.made.insert(snapshot.id);
        Ok(snapshot)
    }

    /// Records what a command did and what it wrote. Whatever `exec` says of its operation, it is this one where one is
    /// recorded (see [`record_always`](Self::record_always)), and none where none is.
    pub fn add_exec(&mut self, exec: &ExecRecord, stdout: &[u8], stderr: &[u8]) -> Result<()> {
        for (stream, bytes) in [(STDOUT, stdout), (STDERR, stderr)] {
            if !bytes.is_empty() {
                self.writer.add_exec_output(&exec.id, stream, bytes)?;
                self.records.output(&exec.id, stream, bytes);
            }
        }
        self.execs.push(exec.row(None));
        Ok(())
    }

    /// Records the stack that shows a root.
    pub fn set_stack(&mut self, stack: &StackRow) -> Result<()> {
        Ok(self.writer.set_stack(stack)?)
    }

    /// Remembers which paths of a root are hard links.
    pub(crate) fn set_links(&mut self, root: &RootId, links: &[u8]) -> Result<()> {
        Ok(self.writer.set_links(&root.0, links)?)
    }

    /// Records which vault this is and the name that it is made with.
    pub(crate) fn record_vault(&mut self, id: &Id, name: &str) -> Result<()> {
        self.writer.set_meta(VAULT, id.as_bytes())?;
        Ok(self.writer.set_meta("name", name.as_bytes())?)
    }

    /// Notes that the folders are what this transaction says, by the apply of that id. It is no ref: undo does not take it
    /// back.
    pub fn mark_applied(&mut self, apply: &Id) -> Result<()> {
        Ok(self.writer.set_meta(APPLIED, apply.as_bytes())?)
    }

    /// Notes that this git directory is not to be bound again unasked. It is no ref: undo binds it again by itself.
    pub fn decline_git_directory(&mut self, path: &[u8]) -> Result<()> {
        Ok(self.writer.set_meta(DECLINED, path)?)
    }

    /// What is remembered of git commits that are still to be made.
    pub fn git_due(&self) -> Result<Option<Vec<u8>>> {
        Ok(self.writer.meta(GIT_DUE)?)
    }

    /// Remembers that. It is no ref: undo does not take it back.
    pub fn set_git_due(&mut self, due: &[u8]) -> Result<()> {
        Ok(self.writer.set_meta(GIT_DUE, due)?)
    }

    /// The vault's main line.
    pub fn head(&mut self) -> Result<Option<Id>> {
        self.current(head_key())?.map(|row| head_snapshot(&row)).transpose()
    }

    /// Moves the vault's main line.
    pub fn set_head(&mut self, snapshot: Id) -> Result<()> {
        self.set(head_key(), Some(head_row(snapshot)))
    }

    /// A workspace by its id.
    pub fn workspace(&mut self, id: &Id) -> Result<Option<WorkspaceRecord>> {
        let key = key(WORKSPACE, id);
        let row = self.current(key.clone())?;
        row.map(|row| WorkspaceRecord::from_row(&key, row)).transpose()
    }

    /// Makes or changes a workspace.
    pub fn set_workspace(&mut self, workspace: &WorkspaceRecord) -> Result<()> {
        self.set(key(WORKSPACE, &workspace.id), Some(workspace.row()))
    }

    /// Removes a workspace with its checkpoints and sessions.
    pub fn remove_workspace(&mut self, id: &Id) -> Result<()> {
        for kind in [CHECKPOINT, SESSION] {
            for (within, row) in self.writer.refs(kind)? {
                if row.scope == id.to_string() {
                    self.set(within, None)?;
                }
            }
        }
        self.set(key(WORKSPACE, id), None)
    }

    /// Whether a workspace has sessions.
    pub fn has_sessions(&self, workspace: &Id) -> Result<bool> {
        let scope = workspace.to_string();
        Ok(self.writer.refs(SESSION)?.iter().any(|(_, row)| row.scope == scope))
    }

    /// Whether a workspace has checkpoints or sessions.
    pub fn has_belongings(&self, workspace: &Id) -> Result<bool> {
        let scope = workspace.to_string();
        let checkpoints = self.writer.refs(CHECKPOINT)?;
        Ok(checkpoints.iter().any(|(_, row)| row.scope == scope) || self.has_sessions(workspace)?)
    }

    /// A checkpoint by its id.
    pub fn checkpoint(&mut self, id: &Id) -> Result<Option<Checkpoint>> {
        let key = key(CHECKPOINT, id);
        let row = self.current(key.clone())?;
        row.map(|row| Checkpoint::from_row(&key, row)).transpose()
    }

    /// Makes or changes a checkpoint.
    pub fn set_checkpoint(&mut self, checkpoint: &Checkpoint) -> Result<()> {
        self.set(key(CHECKPOINT, &checkpoint.id), Some(checkpoint.row()))
    }

    /// Removes a checkpoint.
    pub fn remove_checkpoint(&mut self, id: &Id) -> Result<()> {
        self.set(key(CHECKPOINT, id), None)
    }

    /// Removes a checkpoint for good: undo and redo pass over that, since what it names is about to be collected. Nothing
    /// happens to one that is not as it was when it was looked at.
    pub(crate) fn lapse_checkpoint(&mut self, checkpoint: &Checkpoint) -> Result<bool> {
        let (key, row) = (key(CHECKPOINT, &checkpoint.id), checkpoint.row());
        let is_as_it_was = self.current(key.clone())?.as_ref() == Some(&row);
        if is_as_it_was {
            self.unlogged.push(RefChange { key, before: Some(row), after: None });
        }
        Ok(is_as_it_was)
    }

    /// An approval as it is under the write lock. One that this vault did not sign is refused.
    pub fn approval(&mut self, id: &Id) -> Result<Option<Approval>> {
        let key = key(APPROVAL, id);
        let Some(row) = self.writer.get_ref(&key)? else { return Ok(None) };
        let signer = self.signer()?.public();
        let approval = Approval::genuine(&key, &row, &self.signing.vault(), &signer)?;
        for (id, root) in self.roots_of(&approval)? {
            if approval.roots.get(&id).is_some_and(|signed| *signed != root) {
                return Err(VaultError::SwappedTrial { approval: approval.id, snapshot: id });
            }
        }
        Ok(Some(approval))
    }

    /// Makes or changes an approval. It is no part of what can be undone.
    pub fn set_approval(&mut self, approval: &Approval) -> Result<()> {
        let key = key(APPROVAL, &approval.id);
        let signer = self.signer()?;
        let mut approval = approval.clone();
        for (id, root) in self.roots_of(&approval)? {
            approval.roots.entry(id).or_insert(root);
        }
        let after = Some(approval.row(&self.signing.vault(), &signer));
        self.unlogged.retain(|change| change.key != key);
        let before = self.writer.get_ref(&key)?;
        self.unlogged.push(RefChange { key, before, after });
        self.always = true;
        Ok(())
    }

    /// The states of files that an approval is about, as the catalog has them.
    fn roots_of(&self, approval: &Approval) -> Result<BTreeMap<Id, String>> {
        named_roots(self.writer, approval.base.into_iter().chain(approval.trial))
    }

    /// Forgets an approval that was decided.
    pub(crate) fn forget_approval(&mut self, id: &Id) -> Result<()> {
        let key = key(APPROVAL, id);
        let before = self.writer.get_ref(&key)?;
        self.unlogged.push(RefChange { key, before, after: None });
        self.always = true;
        Ok(())
    }

    /// The key that signs for this vault.
    fn signer(&self) -> Result<Arc<AuditKey>> {
        let recorded = self.writer.meta(AUDIT_SIGNATURE)?;
        let recorded = recorded.and_then(|bytes| SignedHead::from_bytes(&bytes));
        self.signing.key(recorded.as_ref().map(|signed| &signed.key))
    }

    /// Makes or changes a binding.
    pub fn set_binding(&mut self, binding: &Binding) -> Result<()> {
        self.set(key(BINDING, &binding.id), Some(binding.row()))
    }

    /// The bindings as they are under the write lock, without the changes of this transaction.
    pub fn bindings(&self) -> Result<Vec<Binding>> {
        crate::refs::bindings(self.writer)
    }

    /// Removes a binding.
    pub fn remove_binding(&mut self, id: &Id) -> Result<()> {
        self.set(key(BINDING, id), None)
    }

    /// Applies changes as they are, each only if the ref holds its state before.
    pub(crate) fn apply(&mut self, changes: Vec<RefChange>) -> Result<()> {
        for change in changes {
            self.touched.insert(change.key, (change.before, change.after));
        }
        Ok(())
    }

    fn current(&mut self, key: RefKey) -> Result<Option<RefRow>> {
        if let Some((_, now)) = self.touched.get(&key) {
            return Ok(now.clone());
        }
        Ok(self.writer.get_ref(&key)?)
    }

    fn set(&mut self, key: RefKey, row: Option<RefRow>) -> Result<()> {
        let before = match self.touched.get(&key) {
            Some((before, _)) => before.clone(),
            None => self.writer.get_ref(&key)?,
        };
        self.touched.insert(key, (before, row));
        Ok(())
    }

    /// Writes the refs, the operation and its audit event. Without a changed ref there is no operation, unless one was asked
    /// for.
    pub(crate) fn finish(mut self) -> Result<Option<Id>> {
        let changes: Vec<RefChange> = self
            .touched
            .into_iter()
            .filter(|(_, (before, after))| before != after)
            .map(|(key, (before, after))| RefChange { key, before, after })
            .collect();
        let operation = Some(self.operation).filter(|_| !changes.is_empty() || self.always);
        for exec in self.execs {
            let exec = ExecRow { operation, ..exec };
            self.writer.add_exec(&exec)?;
            self.records.exec(&exec);
        }
        if operation.is_none() {
            return Ok(None);
        }
        verify::verify(self.writer, &changes, &self.made)?;
        self.writer.change_refs(&changes)?;
        verify::verify(self.writer, &self.unlogged, &self.made)?;
        self.writer.change_refs(&self.unlogged)?;
        self.unlogged.iter().for_each(|change| self.records.unlogged(change));
        // What moves a ref can be undone, whoever recorded it.
        if self.recorded == Recorded::Operation || !changes.is_empty() {
            let operation = NewOperation {
                id: self.operation,
                time_ms: self.time_ms,
                actor: to_json(&self.actor),
                kind: self.kind.clone(),
                scope: self.scope.map_or_else(String::new, |id| id.to_string()),
                summary: self.summary.clone(),
                reverts: self.reverts,
                changes: to_json(&changes),
            };
            self.writer.add_operation(&operation)?;
            self.records.operation(&operation);
        }
        if measured::leaves_out_events() {
            return Ok(Some(self.operation));
        }
        let recorded = self.writer.meta(AUDIT_SIGNATURE)?;
        let recorded = recorded.and_then(|bytes| SignedHead::from_bytes(&bytes));
        let own = self.signing.key(recorded.as_ref().map(|signed| &signed.key))?;
        let key = self.successor.as_ref().unwrap_or(&own);
        if let Some(change) = self.signing.change(key, recorded.as_ref(), Some(&own)) {
            self.details.insert(AUDIT_KEY.to_owned(), written(&change));
        }
        let event = to_json(&AuditEvent {
            operation: self.operation,
            time_ms: self.time_ms,
            actor: &self.actor,
            uid: rustix::process::getuid().as_raw(),
            kind: &self.kind,
            workspace: self.scope,
            summary: &self.summary,
            changes: &changes,
            roots: roots(self.writer, &changes)?,
            records: self.records,
            details: std::mem::take(&mut self.details),
        });
        let chain = |before: &_| audit_chain(before, event.as_bytes());
        let (seq, chain) = self.writer.add_audit(self.time_ms, &self.operation, &event, chain)?;
        let signed = self.signing.sign(key, seq, chain);
        self.writer.set_meta(AUDIT_SIGNATURE, &signed.to_bytes())?;
        Ok(Some(self.operation))
    }
}

fn written(value: &impl Serialize) -> Box<RawValue> {
    to_raw_value(value).expect("details are plain values with text keys")
}

/// The states of files that refs named before and name now. Of a snapshot that is gone or damaged nothing can be said, and a repair
/// goes on.
fn roots(writer: &Writer<'_>, changes: &[RefChange]) -> Result<BTreeMap<Id, String>> {
    let mut ids = BTreeSet::new();
    for change in changes {
        for row in change.before.iter().chain(&change.after) {
            ids.extend(snapshots_of(&change.key, row.clone())?);
        }
    }
    named_roots(writer, ids)
}

/// The states of files of these snapshots.
fn named_roots(
    writer: &Writer<'_>,
    ids: impl IntoIterator<Item = Id>,
) -> Result<BTreeMap<Id, String>> {
    let mut roots = BTreeMap::new();
    for id in ids {
        if let Ok(Some(row)) = writer.snapshot(&id) {
            roots.insert(id, RootId(row.root).to_hex());
        }
    }
    Ok(roots)
}
