//! The operation log: undo, redo, and going back to an earlier operation.

use std::collections::{BTreeMap, BTreeSet};

use offshoot_store::{Id, Reader, RefChange, RefKey, RefRow, StoreError};

use crate::actor::Actor;
use crate::error::{Result, VaultError};
use crate::operation::{CAPTURE, CREATE, Operation, OperationLog, REDO, Reverted, Scope, UNDO};
use crate::refs::{BINDING, WORKSPACE, from_json, head_key, head_row, head_snapshot};
use crate::transact::{NewSnapshot, Transaction};
use crate::vault::Vault;

/// Operations are read from the log in pages of this many.
const PAGE: u32 = 64;

impl Vault {
    /// Operations newest first, at most `limit`, older than `before` if given.
    pub fn operations(
        &self,
        scope: Scope,
        before: Option<i64>,
        limit: u32,
    ) -> Result<Vec<Operation>> {
        self.catalog().read(|reader| page(reader, scope, before, limit))
    }

    /// The same without those whose records are damaged, and what is wrong with each of these.
    pub fn operation_log(&self, scope: Scope, limit: u32) -> Result<OperationLog> {
        let key = scope.key();
        let records =
            self.read(|reader| Ok(reader.operation_records(key.as_deref(), None, limit)?))?;
        let mut log = OperationLog::default();
        for record in records {
            match record.map_err(VaultError::from).and_then(Operation::from_row) {
                Ok(operation) => log.operations.push(operation),
                Err(error) => log.problems.push(error.to_string()),
            }
        }
        Ok(log)
    }

    /// One operation.
    pub fn operation(&self, id: &Id) -> Result<Operation> {
        let row = self.catalog().read(|reader| reader.operation(id))?;
        Operation::from_row(row.ok_or(VaultError::NoOperation(*id))?)
    }

    /// The names of all folders that the vault was ever bound to here. What an imported vault was bound to elsewhere is not among them.
    pub fn names_ever_bound(&self) -> Result<BTreeSet<String>> {
        let mut names = BTreeSet::new();
        for row in self.read(|reader| Ok(reader.operations_after(0)?))? {
            let changes = Operation::from_row(row)?.changes.into_iter();
            let bound = changes.filter(|change| change.key.kind == BINDING);
            names.extend(
                bound
                    .flat_map(|change| [change.before, change.after])
                    .flatten()
                    .filter_map(|row| row.name),
            );
        }
        Ok(names)
    }

    /// What an operation noted beside the refs that it moved, by [`Transaction::detail`].
    pub fn operation_details(&self, id: &Id) -> Result<serde_json::Map<String, serde_json::Value>> {
        let event = self.catalog().read(|reader| reader.audit_of(id))?;
        let what = format!("operation {id}");
        let Some(event) = event else { return Ok(serde_json::Map::new()) };
        let event: serde_json::Value = from_json(&what, &event)?;
        let details = event.get("details").and_then(|details| details.as_object());
        Ok(details.cloned().unwrap_or_default())
    }

    /// Takes back the newest operation of the scope that is not taken back yet.
    pub fn undo(&self, scope: Scope, actor: &Actor) -> Result<Reverted> {
        self.undo_and(scope, actor, |_| Ok(()))
    }

    /// The same; `also` adds to the transaction once the refs are moved.
    pub fn undo_and(
        &self,
        scope: Scope,
        actor: &Actor,
        also: impl FnOnce(&mut Transaction<'_, '_>) -> Result<()>,
    ) -> Result<Reverted> {
        self.revert(UNDO, scope, actor, undo_target, also)
    }

    /// Brings back what the last undo took back, unless something else happened since.
    pub fn redo(&self, scope: Scope, actor: &Actor) -> Result<Reverted> {
        self.redo_and(scope, actor, |_| Ok(()))
    }

    /// The same; `also` adds to the transaction once the refs are moved.
    pub fn redo_and(
        &self,
        scope: Scope,
        actor: &Actor,
        also: impl FnOnce(&mut Transaction<'_, '_>) -> Result<()>,
    ) -> Result<Reverted> {
        self.revert(REDO, scope, actor, redo_target, also)
    }

    /// Makes the refs what they were right after an operation: all of the vault's or one workspace's.
    /// Returns the operation that did it, or `None` where they are that already.
    pub fn restore_operation(&self, id: &Id, scope: Scope, actor: &Actor) -> Result<Option<Id>> {
        self.restore_operation_and(id, scope, actor, |_| Ok(()))
    }

    /// The same; `also` adds to the transaction once the refs are moved.
    pub fn restore_operation_and(
        &self,
        id: &Id,
        scope: Scope,
        actor: &Actor,
        also: impl FnOnce(&mut Transaction<'_, '_>) -> Result<()>,
    ) -> Result<Option<Id>> {
        let target = self.operation(id)?;
        let committed = self.transact("op restore", actor, |tx| {
            let changes = changes_back_to(tx.reader(), &target, scope)?;
            tx.summary(format!("restore to operation {}", id.short()));
            if let Scope::Workspace(workspace) = scope {
                tx.scope(workspace);
            }
            tx.apply(changes)?;
            also(tx)
        });
        Ok(committed.map_err(|error| overtaken(error, *id, "restored"))?.operation)
    }

    /// What [`Self::undo`] would take back.
    pub fn undo_target(&self, scope: Scope) -> Result<Operation> {
        self.catalog().read(|reader| undo_target(reader, scope))
    }

    /// What [`Self::redo`] would bring back.
    pub fn redo_target(&self, scope: Scope) -> Result<Operation> {
        self.catalog().read(|reader| redo_target(reader, scope))
    }

    /// Takes an operation back, or brings it back, in a way of its own: `work` moves the refs. `kind` is [`UNDO`] or [`REDO`].
    pub fn revert_with(
        &self,
        kind: &'static str,
        target: &Operation,
        actor: &Actor,
        work: impl FnOnce(&mut Transaction<'_, '_>) -> Result<()>,
    ) -> Result<Reverted> {
        let verb = if kind == UNDO { "undone" } else { "redone" };
        let committed = self.transact(kind, actor, |tx| {
            tx.summary(format!("{kind} {}: {}", target.id.short(), target.summary));
            tx.reverts(target.id);
            if let Some(workspace) = target.workspace {
                tx.scope(workspace);
            }
            work(tx)
        });
        let committed = committed.map_err(|error| overtaken(error, target.id, verb))?;
        let operation = committed.operation.ok_or(VaultError::NoOperation(target.id))?;
        Ok(Reverted { target: target.clone(), operation })
    }

    fn revert(
        &self,
        kind: &'static str,
        scope: Scope,
        actor: &Actor,
        find: fn(&Reader<'_>, Scope) -> Result<Operation>,
        also: impl FnOnce(&mut Transaction<'_, '_>) -> Result<()>,
    ) -> Result<Reverted> {
        let mut found = None;
        let verb = if kind == UNDO { "undone" } else { "redone" };
        let committed = self.transact(kind, actor, |tx| {
            let target = find(tx.reader(), scope)?;
            tx.summary(format!("{kind} {}: {}", target.id.short(), target.summary));
            tx.reverts(target.id);
            if let Some(workspace) = target.workspace {
                tx.scope(workspace);
            }
            let changes = target.changes.iter();
            let changes = changes.map(|change| match kind {
                UNDO => change.reversed(),
                _ => change.clone(),
            });
            found = Some(target.clone());
            let changes = changes.map(|change| on_top(tx, change)).collect::<Result<_>>()?;
            tx.apply(changes)?;
            also(tx)?;
            Ok(target)
        });
        match (committed, found) {
            (Ok(committed), _) => Ok(Reverted {
                target: committed.value,
                operation: committed
                    .operation
                    .expect("only operations that change a ref are reverted"),
            }),
            (Err(error), Some(target)) => Err(overtaken(error, target.id, verb)),
            (Err(error), None) => Err(error),
        }
    }
}

/// The main line never forgets a commit that was undone, so what it was before is not where it is. Where it has the same files, it
/// gets a new snapshot instead of going back.
fn on_top(tx: &mut Transaction<'_, '_>, change: RefChange) -> Result<RefChange> {
    let now = tx.reader().get_ref(&change.key)?;
    let (Some(left), Some(wanted), Some(row)) = (&change.before, &change.after, &now) else {
        return Ok(change);
    };
    if change.key != head_key() || left == row {
        return Ok(change);
    }
    let [left, wanted, head] = [left, wanted, row].map(head_snapshot);
    let (left, wanted, head) = (tx.snapshot(&left?)?, tx.snapshot(&wanted?)?, tx.snapshot(&head?)?);
    if left.root != head.root {
        return Ok(change);
    }
    let snapshot = tx.add_snapshot(NewSnapshot {
        root: wanted.root,
        content: wanted.content,
        parents: vec![head.id],
        reason: "restore".to_owned(),
        message: None,
    })?;
    Ok(RefChange { key: change.key, before: now, after: Some(head_row(snapshot.id)) })
}

/// Says what stands in the way of a revert in terms of the operation.
fn overtaken(error: VaultError, operation: Id, verb: &'static str) -> VaultError {
    let because = match &error {
        VaultError::Store(StoreError::Stale { kind, .. }) if *kind == head_key().kind => {
            "the main line was changed since".to_owned()
        }
        VaultError::Store(StoreError::Stale { kind, name }) => {
            format!("{kind} {name} was changed since")
        }
        VaultError::Store(StoreError::NameTaken { .. }) | VaultError::Orphaned { .. } => {
            error.to_string()
        }
        _ => return error,
    };
    VaultError::Overtaken { operation, verb, because }
}

fn page(
    reader: &Reader<'_>,
    scope: Scope,
    before: Option<i64>,
    limit: u32,
) -> Result<Vec<Operation>> {
    let rows = reader.operations(scope.key().as_deref(), before, limit)?;
    rows.into_iter().map(Operation::from_row).collect()
}

/// Looks through the log from its end until `decide` has an answer.
fn search(
    reader: &Reader<'_>,
    scope: Scope,
    mut decide: impl FnMut(Operation) -> Option<Result<Operation>>,
    nothing: VaultError,
) -> Result<Operation> {
    let mut before = None;
    loop {
        let operations = page(reader, scope, before, PAGE)?;
        let Some(last) = operations.last() else { return Err(nothing) };
        before = Some(last.seq);
        for operation in operations {
            if let Some(answer) = decide(operation) {
                return answer;
            }
        }
    }
}

/// The newest operation that stands: the latest word on it is not an undo. What was brought back is as new as its redo.
fn undo_target(reader: &Reader<'_>, scope: Scope) -> Result<Operation> {
    let mut decided: BTreeSet<Id> = BTreeSet::new();
    let mut undone: BTreeSet<Id> = BTreeSet::new();
    let decide = |operation: Operation| match (operation.kind.as_str(), operation.reverts) {
        (UNDO, Some(target)) => {
            if decided.insert(target) {
                undone.insert(target);
            }
            None
        }
        (REDO, Some(target)) => decided.insert(target).then(|| load(reader, &target)),
        (CREATE, _) => Some(Err(VaultError::NothingToUndo)),
        _ if undone.contains(&operation.id) || operation.changes.is_empty() => None,
        _ => match is_overtaken_capture(reader, &operation) {
            Ok(overtaken) => (!overtaken).then_some(Ok(operation)),
            Err(error) => Some(Err(error)),
        },
    };
    search(reader, scope, decide, VaultError::NothingToUndo)
}

/// Whether an operation only took in what is in the folders, and the main line went on from there. Nothing is lost where an undo passes
/// it over: the folders have it.
fn is_overtaken_capture(reader: &Reader<'_>, operation: &Operation) -> Result<bool> {
    let [change] = operation.changes.as_slice() else { return Ok(false) };
    let (left, now) = (&change.after, reader.get_ref(&change.key)?);
    let (Some(left), Some(now)) = (left, &now) else { return Ok(false) };
    if operation.kind != CAPTURE || change.key != head_key() || left == now {
        return Ok(false);
    }
    let root = |row: &RefRow| -> Result<_> {
        Ok(reader.snapshot(&head_snapshot(row)?)?.map(|snapshot| snapshot.root))
    };
    Ok(root(left)? != root(now)?)
}

/// What the newest undo took back that no redo brought back, if nothing else happened since.
fn redo_target(reader: &Reader<'_>, scope: Scope) -> Result<Operation> {
    let mut redone: BTreeSet<Id> = BTreeSet::new();
    let decide = |operation: Operation| match (operation.kind.as_str(), operation.reverts) {
        (REDO, Some(target)) => {
            redone.insert(target);
            None
        }
        (UNDO, Some(target)) if redone.contains(&target) => {
            redone.remove(&target);
            None
        }
        (UNDO, Some(target)) => Some(load(reader, &target)),
        // What changed nothing did not happen as far as undo is concerned.
        _ if operation.changes.is_empty() => None,
        _ => Some(Err(VaultError::NothingToRedo)),
    };
    search(reader, scope, decide, VaultError::NothingToRedo)
}

fn load(reader: &Reader<'_>, id: &Id) -> Result<Operation> {
    Operation::from_row(reader.operation(id)?.ok_or(VaultError::NoOperation(*id))?)
}

/// The changes that lead from the refs as they are to the refs right after `target`.
fn changes_back_to(
    reader: &Reader<'_>,
    target: &Operation,
    scope: Scope,
) -> Result<Vec<RefChange>> {
    let mut back: BTreeMap<RefKey, Option<RefRow>> = BTreeMap::new();
    let mut before = None;
    'log: loop {
        let operations = page(reader, Scope::Vault, before, PAGE)?;
        let Some(last) = operations.last() else { break };
        before = Some(last.seq);
        for operation in operations {
            if operation.seq <= target.seq {
                break 'log;
            }
            for change in operation.changes {
                if in_scope(&change, scope) {
                    back.insert(change.key, change.before);
                }
            }
        }
    }
    let mut changes = Vec::new();
    for (key, after) in back {
        changes.push(RefChange { before: reader.get_ref(&key)?, key, after });
    }
    Ok(changes)
}

/// Whether a ref belongs to the scope: the workspace itself or something in it.
fn in_scope(change: &RefChange, scope: Scope) -> bool {
    let Scope::Workspace(id) = scope else { return true };
    let id = id.to_string();
    let row = change.after.as_ref().or(change.before.as_ref());
    (change.key.kind == WORKSPACE && change.key.id == id) || row.is_some_and(|row| row.scope == id)
}
