//! Looking at every record of a file before it becomes a vault's, and leaving behind what is about another machine.

use std::collections::{HashMap, HashSet};

use offshoot_store::{AuditRow, Id, NewOperation, OperationRow, Reader, RefChange, RefKey, RefRow};
use serde::de::IgnoredAny;
use serde_json::Value;

use super::refused::Vetted;
use super::sessions;
use crate::actor::Actor;
use crate::audit::records as audit;
use crate::audit::state::Log;
use crate::error::{Result, VaultError};
use crate::exec::ExecRecord;
use crate::name::check_name;
use crate::operation::Operation;
use crate::refs::{
    APPROVAL, BINDING, Binding, CHECKPOINT, Checkpoint, WORKSPACE, WorkspaceRecord, from_json,
    head_key, snapshots_of, to_json,
};
use crate::session::{SESSION, SessionRecord};
use crate::snapshot::Snapshot;
use crate::transact::{AUDIT_PRUNED, AUDIT_SIGNATURE, VAULT};
use crate::vault::Vault;

/// What is kept of the settings in a file. All others are about folders, repositories and work of the machine that it comes from.
const KEPT: [&str; 6] = [VAULT, "name", LAST_ID, "audit_head", AUDIT_SIGNATURE, AUDIT_PRUNED];
/// The time of the newest id.
const LAST_ID: &str = "last_id_ms";

/// A clock may be this wrong. Ids that are later than the clock make all that follow later too.
const AHEAD_MS: u64 = 24 * 60 * 60 * 1000;
/// The last millisecond of the year 9999.
const LAST_MS: u64 = 253_402_300_799_999;
/// The longest text that a person or a program gave: a message, a summary, a command line, a name of somebody.
const LONGEST_TEXT: usize = 1 << 20;
/// The longest word: the kind of an operation, the state of a command.
const LONGEST_WORD: usize = 64;
/// Rows are read in pages of this many.
const PAGE: u32 = 256;

/// Takes away what a file says about folders of the machine that it comes from. Nothing brings it back, undo neither: a binding says
/// where a commit writes to, and whoever made the file could name any folder. Returns the records of operations that are others now, for the
/// event that tells of the import.
pub(super) fn leave_behind(vault: &Vault) -> Result<audit::Records> {
    let (operations, log) =
        vault.read(|reader| Ok((reader.operations_after(0)?, Log::read(reader)?)))?;
    let mut altered = audit::Records::default();
    vault.catalog().write(|writer| {
        writer.keep_meta(&KEPT)?;
        writer.forget_refs(BINDING)?;
        // A grant is one for the machine that it was given on.
        writer.forget_refs(APPROVAL)?;
        for row in &operations {
            let what = format!("operation {}", row.operation.id);
            let mut changes: Vec<RefChange> = from_json(&what, &row.operation.changes)?;
            let before = changes.len();
            changes.retain(|change| change.key.kind != BINDING);
            if changes.len() < before {
                let changes = to_json(&changes);
                writer.set_changes(row, &changes)?;
                // What was another one than its event says before stays so.
                if log.has_operation(&row.operation) {
                    altered.operation(&NewOperation { changes, ..row.operation.clone() });
                }
            }
        }
        Ok::<(), VaultError>(())
    })?;
    Ok(altered)
}

/// Looks at every record.
pub(super) fn vet(vault: &Vault) -> Vetted {
    let latest_ms = Id::random().time_ms().saturating_add(AHEAD_MS);
    vault.catalog().read(|reader| -> Vetted {
        let snapshots = reader.snapshot_ids()?.into_iter().collect();
        let mut records = Records { reader, latest_ms, snapshots, operations: HashMap::new() };
        records.settings()?;
        records.log()?;
        records.snapshots()?;
        records.refs()?;
        records.execs()?;
        sessions::vet(vault, reader, &records)
    })
}

pub(super) struct Records<'r> {
    reader: &'r Reader<'r>,
    /// Nothing can be later.
    latest_ms: u64,
    pub(super) snapshots: HashSet<Id>,
    /// The operations by their places in the log.
    operations: HashMap<Id, i64>,
}

impl Records<'_> {
    fn settings(&self) -> Vetted {
        let last = self.reader.meta(LAST_ID)?.and_then(|bytes| bytes.try_into().ok());
        self.time("the newest id", last.map_or(0, u64::from_be_bytes))
    }

    /// The log, and the audit events that go with it.
    fn log(&mut self) -> Vetted {
        let rows = self.reader.operations_after(0)?;
        for row in &rows {
            self.operations.insert(row.operation.id, row.seq);
        }
        // Some events belong to no operation, and those of the oldest ones may have been removed.
        let events = self.audit()?;
        let first = events.first().map(|event| event.operation);
        let known = events.iter().filter(|event| self.operations.contains_key(&event.operation));
        let mut events = known.peekable();
        for row in rows {
            let id = row.operation.id;
            let event = events.next_if(|event| event.operation == id);
            if event.is_none() && first.is_none_or(|first| id >= first) {
                return Err(format!("operation {id} has no audit event in its place").into());
            }
            self.operation(row)?;
        }
        match events.next() {
            Some(event) => Err(format!("audit event {} is not in its place", event.seq).into()),
            None => Ok(()),
        }
    }

    fn audit(&self) -> Vetted<Vec<AuditRow>> {
        let (mut events, mut after) = (Vec::new(), 0);
        loop {
            let page = self.reader.audit(after, PAGE)?;
            let Some(last) = page.last() else { return Ok(events) };
            after = last.seq;
            for event in page {
                let what = format!("audit event {}", event.seq);
                self.time(&what, event.time_ms)?;
                from_json::<Value>(&what, &event.event)?;
                events.push(AuditRow { event: String::new(), ..event });
            }
        }
    }

    fn operation(&self, row: OperationRow) -> Vetted {
        let (scope, operation) = (row.operation.scope.clone(), Operation::from_row(row)?);
        let what = format!("operation {}", operation.id);
        self.id(&what, &operation.id)?;
        self.time(&what, operation.time_ms)?;
        actor(&what, &operation.actor)?;
        word(&what, &operation.kind)?;
        text(&what, &operation.summary)?;
        if !scope.is_empty() && operation.workspace.is_none() {
            return Err(format!("{what} belongs to no workspace that there can be").into());
        }
        let reverted = operation.reverts.map(|id| self.operations.get(&id));
        if reverted.is_some_and(|seq| seq.is_none_or(|seq| *seq >= operation.seq)) {
            return Err(format!("{what} takes back an operation that was not before it").into());
        }
        for change in &operation.changes {
            for row in change.before.iter().chain(&change.after) {
                self.reference(&change.key, row)?;
            }
        }
        Ok(())
    }

    fn snapshots(&self) -> Vetted {
        for id in &self.snapshots {
            let snapshot = Snapshot::load(self.reader, id)?;
            let what = format!("snapshot {id}");
            self.id(&what, id)?;
            self.time(&what, snapshot.time_ms)?;
            actor(&what, &snapshot.actor)?;
            text(&what, &snapshot.reason)?;
            text(&what, snapshot.message.as_deref().unwrap_or_default())?;
            if !self.operations.contains_key(&snapshot.operation) {
                return Err(format!("{what} was made by no operation of the log").into());
            }
            for parent in &snapshot.parents {
                if !self.snapshots.contains(parent) {
                    return Err(format!("{what} has the parent {parent}, which is missing").into());
                }
                // Ids are given in order. So nothing comes from something later, and nothing from itself.
                if parent >= id {
                    return Err(format!("{what} has the parent {parent}, which is no older").into());
                }
            }
        }
        Ok(())
    }

    fn refs(&self) -> Vetted {
        let refs = self.reader.all_refs()?;
        let mut parents: HashMap<Id, Option<Id>> = HashMap::new();
        for (key, row) in &refs {
            self.reference(key, row)?;
            if key.kind == WORKSPACE {
                let workspace = WorkspaceRecord::from_row(key, row.clone())?;
                parents.insert(workspace.id, workspace.state.parent);
            }
        }
        for (key, row) in &refs {
            let known = row.scope.parse().is_ok_and(|id: Id| parents.contains_key(&id));
            if [CHECKPOINT, SESSION].contains(&key.kind.as_str()) && !known {
                return Err(format!("{} {} is of no workspace", key.kind, key.id).into());
            }
        }
        for workspace in parents.keys() {
            let mut next = parents.get(workspace).copied().flatten();
            for _ in 0..parents.len() {
                let Some(parent) = next.filter(|parent| parent != workspace) else { break };
                next = parents.get(&parent).copied().flatten();
            }
            if next.is_some() {
                return Err(format!("workspace {workspace} comes from itself").into());
            }
        }
        Ok(())
    }

    /// One ref as it is, was or would be.
    fn reference(&self, key: &RefKey, row: &RefRow) -> Vetted {
        let what = format!("a {} in it", key.kind.escape_debug());
        let is_vaults = row.scope.is_empty();
        let (name, in_place) = match key.kind.as_str() {
            WORKSPACE => {
                let workspace = WorkspaceRecord::from_row(key, row.clone())?;
                let state = &workspace.state;
                self.time(&what, state.created_ms)?;
                if state.expires_ms.is_some_and(|expires| expires > LAST_MS) {
                    return Err(format!("{what} has a time that is in no calendar").into());
                }
                (Some(workspace.name), is_vaults)
            }
            CHECKPOINT => {
                let checkpoint = Checkpoint::from_row(key, row.clone())?;
                self.time(&what, checkpoint.state.created_ms)?;
                text(&what, &checkpoint.state.reason)?;
                (Some(checkpoint.name), true)
            }
            SESSION => {
                let session = SessionRecord::from_row(key, row.clone())?;
                self.time(&what, session.origin.created_ms)?;
                actor(&what, &session.origin.created_by)?;
                (Some(session.name), true)
            }
            BINDING => {
                let name = Binding::from_row(key, row)?.name;
                (Some(name).filter(|name| !name.is_empty()), is_vaults)
            }
            _ if *key == head_key() => (row.name.clone(), is_vaults && row.name.is_none()),
            _ => return Err(format!("it has {what}, which is not known").into()),
        };
        if !in_place {
            return Err(format!("{what} is in the wrong place").into());
        }
        if let Some(name) = name {
            check_name(&name).map_err(|error| {
                let why = error.why;
                format!("{what} is called \"{}\": {why}", name.escape_debug())
            })?;
        }
        for id in snapshots_of(key, row.clone())? {
            if !self.snapshots.contains(&id) {
                return Err(format!("{what} names snapshot {id}, which is missing").into());
            }
        }
        Ok(())
    }

    fn execs(&self) -> Vetted {
        let mut before = None;
        let mut execs = HashSet::new();
        loop {
            let page = self.reader.execs(None, before.as_ref(), PAGE)?;
            let Some(last) = page.last() else { break };
            before = Some(last.id);
            for row in page {
                let exec = ExecRecord::from_row(row)?;
                execs.insert(exec.id);
                self.exec(&exec)?;
            }
        }
        for exec in self.reader.kept_outputs()?.into_keys() {
            if !execs.contains(&exec) {
                return Err(format!("it has the output of command {exec}, which is missing").into());
            }
        }
        Ok(())
    }

    fn exec(&self, exec: &ExecRecord) -> Vetted {
        let what = format!("command {}", exec.id);
        self.id(&what, &exec.id)?;
        self.time(&what, exec.started_ms)?;
        self.time(&what, exec.ended_ms)?;
        actor(&what, &exec.actor)?;
        word(&what, &exec.state)?;
        text(&what, &exec.command)?;
        if exec.operation.is_some_and(|id| !self.operations.contains_key(&id)) {
            return Err(format!("{what} was recorded by no operation of the log").into());
        }
        if let Some(snapshot) =
            exec.before.iter().chain(&exec.after).find(|id| !self.snapshots.contains(id))
        {
            return Err(format!("{what} names snapshot {snapshot}, which is missing").into());
        }
        let envelope = self.reader.exec(&exec.id)?.and_then(|row| row.envelope);
        let what = format!("the envelope of {what}");
        envelope.map_or(Ok(()), |text| Ok(from_json::<IgnoredAny>(&what, &text).map(drop)?))
    }

    fn id(&self, what: &str, id: &Id) -> Vetted {
        self.time(what, id.time_ms())
    }

    pub(super) fn time(&self, what: &str, time_ms: u64) -> Vetted {
        match time_ms > self.latest_ms {
            true => Err(format!("{what} is of a time that is yet to come").into()),
            false => Ok(()),
        }
    }
}

fn actor(what: &str, actor: &Actor) -> Vetted {
    let parts = [Some(&actor.user), actor.agent.as_ref(), actor.session.as_ref()];
    parts.into_iter().flatten().try_for_each(|part| text(what, part))
}

pub(super) fn text(what: &str, text: &str) -> Vetted {
    match text.len() > LONGEST_TEXT {
        true => Err(format!("{what} has a text that is too long").into()),
        false => Ok(()),
    }
}

/// A word of the log's own.
pub(super) fn word(what: &str, word: &str) -> Vetted {
    let is_word = (1..=LONGEST_WORD).contains(&word.len())
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b" _-".contains(&byte));
    match is_word {
        true => Ok(()),
        false => Err(format!("{what} is called \"{}\"", word.escape_debug()).into()),
    }
}
