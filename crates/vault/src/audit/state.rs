//! Whether the catalog is where the log says that it is.

use std::collections::{BTreeMap, BTreeSet};

use offshoot_store::{Id, NewOperation, Reader, RefChange, RefKey, RefRow, StoreError};
use offshoot_tree::RootId;
use serde::Deserialize;

use super::KeyChange;
use super::key::PublicKey;
use super::log::pruned;
use super::records::{self, Records};
use crate::approval::Approval;
use crate::error::{Result, VaultError};
use crate::operation::ARRIVE;
use crate::refs::{APPROVAL, BINDING, CHECKPOINT, HEAD, WORKSPACE, snapshots_of};
use crate::session::{SESSION, verify as session};
use crate::vault::Vault;

/// The kinds of refs that are compared by what they are, which the changes of events say.
const COMPARED: [&str; 5] = [HEAD, WORKSPACE, CHECKPOINT, BINDING, SESSION];

/// What is read of an event.
#[derive(Deserialize)]
struct Event {
    time_ms: u64,
    kind: String,
    changes: Vec<RefChange>,
    #[serde(default)]
    records: Records,
    #[serde(default)]
    roots: BTreeMap<Id, String>,
    #[serde(default)]
    details: Details,
}

/// What is read of the details of an event.
#[derive(Default, Deserialize)]
struct Details {
    #[serde(default)]
    audit_key: Option<KeyChange>,
}

/// The event from which on something is recorded. Those of older programs, and those that were removed, say nothing about it.
#[derive(Clone, Copy)]
struct Since {
    seq: u64,
    time_ms: u64,
}

impl Since {
    /// Whether what has this id is from then or later. Nothing is older than the first event.
    fn covers(self, id: &Id) -> bool {
        self.seq == 1 || id.time_ms() >= self.time_ms
    }
}

/// What the newest event about a ref says.
struct Said {
    seq: u64,
    row: Option<RefRow>,
    name: Option<String>,
    roots: BTreeMap<Id, String>,
}

/// What a log says in the end.
#[derive(Default)]
pub(crate) struct Log {
    refs: BTreeMap<RefKey, Said>,
    recorded: BTreeMap<String, Option<String>>,
    /// The states of files of all snapshots that it names.
    roots: BTreeMap<Id, String>,
    /// The keys that signed for it.
    keys: BTreeSet<PublicKey>,
    /// From when on it has records of any kind, and of operations.
    since: Option<Since>,
    operations_since: Option<Since>,
}

impl Vault {
    /// What the main line, workspaces, checkpoints, bindings, approvals, operations, records of commands and what they printed are in the catalog, and the log does
    /// not say that they are. Whether the log is what was recorded is another question ([`verify_audit`](Self::verify_audit)).
    pub fn audit_differences(&self) -> Result<Vec<String>> {
        let id = self.id();
        self.read(|reader| differences(reader, &id))
    }
}

impl Log {
    pub(crate) fn read(reader: &Reader<'_>) -> Result<Self> {
        let mut log = Self::default();
        let arrive = format!("\"kind\":\"{ARRIVE}\"");
        let telling = ["\"changes\":[{", "\"records\":{", "\"audit_key\":{", &arrive];
        reader.each_audit_event(|seen| {
            // Most of a log is about commands that start, and changes neither a ref nor a record.
            if telling.iter().any(|part| seen.event.contains(part))
                && let Ok(event) = serde_json::from_str(seen.event)
            {
                log.add(seen.seq, event);
            }
            true
        })?;
        if let Some(pruned) = pruned(reader)? {
            log.keys.extend(pruned.former.iter().map(|former| former.key));
            log.keys.extend(pruned.key);
        }
        Ok(log)
    }

    fn add(&mut self, seq: u64, event: Event) {
        let Event { time_ms, kind, changes, records, roots, details } = event;
        self.keys.extend(details.audit_key.map(|change| change.key));
        let since = Since { seq, time_ms };
        if !records.is_empty() {
            self.since.get_or_insert(since);
        }
        if records.has_operations() {
            self.operations_since.get_or_insert(since);
        }
        for change in changes.into_iter().filter(|change| is_compared(&change.key.kind)) {
            let RefChange { key, before, after } = change;
            let name = after.as_ref().or(before.as_ref()).and_then(|row| row.name.clone());
            let named = after.as_ref().and_then(|row| snapshots_of(&key, row.clone()).ok());
            let named = named.unwrap_or_default();
            let roots = named.iter().filter_map(|id| Some((*id, roots.get(id)?.clone())));
            self.refs.insert(key, Said { seq, row: after, name, roots: roots.collect() });
        }
        for (name, hash) in records.0 {
            match name.split_once(' ').filter(|(kind, _)| hash.is_none() && is_compared(kind)) {
                Some((kind, id)) => {
                    self.gone(seq, RefKey { kind: kind.to_owned(), id: id.to_owned() });
                }
                None => drop(self.recorded.insert(name, hash)),
            }
        }
        self.roots.extend(roots);
        if kind == ARRIVE {
            // Folders and grants are those of the machine that it comes from, and stayed there.
            let folders = self.refs.iter_mut().filter(|(key, _)| key.kind == BINDING);
            folders.for_each(|(_, said)| said.row = None);
            let grants = self.recorded.iter_mut().filter(|(name, _)| records::is_approval(name));
            grants.for_each(|(_, hash)| *hash = None);
        }
    }

    /// A ref that went without a change that could be undone.
    fn gone(&mut self, seq: u64, key: RefKey) {
        let name = self.refs.get(&key).and_then(|said| said.name.clone());
        self.refs.insert(key, Said { seq, row: None, name, roots: BTreeMap::new() });
    }

    /// Whether it says that there is just this operation.
    pub(crate) fn has_operation(&self, operation: &NewOperation) -> bool {
        let said = self.recorded.get(&records::operation_name(&operation.id));
        said.is_some_and(|said| said.as_deref() == Some(&records::of(operation)))
    }

    /// Whether a ref that is gone went without an event because a program did not record that: collecting garbage removes checkpoints that nobody asked for.
    fn may_lapse(&self, key: &RefKey, said: &Said) -> bool {
        let is_recorded = self.operations_since.is_some_and(|since| said.seq >= since.seq);
        key.kind == CHECKPOINT && !is_recorded
    }

    /// Whether what is called so would be in it.
    fn covers(&self, name: &str, id: &Id) -> bool {
        let since = match records::is_operation(name) {
            true => self.operations_since,
            false => self.since,
        };
        since.is_some_and(|since| since.covers(id))
    }
}

fn differences(reader: &Reader<'_>, vault: &Id) -> Result<Vec<String>> {
    let log = Log::read(reader)?;
    let (mut found, mut seen) = (Vec::new(), BTreeSet::new());
    for (name, said) in &log.recorded {
        // These two are compared in other ways.
        if records::session_of(name).is_some() || records::snapshot_of(name).is_some() {
            continue;
        }
        found.extend(records::difference(reader, name, said.as_deref())?);
    }
    for (key, said) in &log.refs {
        let row = reader.get_ref(key)?;
        let what = label(key, said.name.as_deref());
        match (&row, &said.row) {
            (None, Some(_)) if log.may_lapse(key, said) => {}
            (None, Some(_)) => found.push(format!("{what} is gone, and no event says so")),
            (Some(_), None) => found.push(format!("{what} is there, and the log says it is gone")),
            (Some(row), Some(last)) if row != last => {
                let at = |row: &RefRow| snapshots_of(key, row.clone()).unwrap_or_default();
                let place = |ids: Vec<Id>| ids.first().map(Id::to_string).unwrap_or_default();
                let (now, then) = (place(at(row)), place(at(last)));
                found.push(match now == then {
                    true => format!("{what} is not what the log says"),
                    false => format!("{what} is at snapshot {now}, and the log says {then}"),
                });
            }
            (Some(row), Some(_)) => {
                found.extend(missing(reader, key, row)?.map(|why| format!("{what}: {why}")));
                for (id, root) in &said.roots {
                    seen.insert(id);
                    found.extend(altered(reader, id, root)?.map(|why| format!("{what}: {why}")));
                }
            }
            (None, None) => {}
        }
    }
    // Undo goes back to what refs named before.
    for (id, root) in log.roots.iter().filter(|(id, _)| !seen.contains(id)) {
        found.extend(altered(reader, id, root)?);
    }
    for (id, root) in signed_roots(reader)?.iter().filter(|(id, _)| !log.roots.contains_key(id)) {
        found.extend(altered(reader, id, root)?);
    }
    for (name, said) in &log.recorded {
        if let Some((id, said)) = records::snapshot_of(name).zip(said.as_deref()) {
            found.extend(rewritten(reader, &log, &id, said)?);
        }
    }
    found.extend(moved(reader, &log)?);
    found.extend(session_differences(reader, &log, vault)?);
    for (name, id) in records::present(reader)? {
        if log.covers(&name, &id) && !log.recorded.contains_key(&name) {
            found.push(format!("{} is there, and no event says so", records::label(&name)));
        }
    }
    // What happened before events were removed cannot be compared.
    if pruned(reader)?.is_none() {
        for kind in COMPARED {
            let refs = reader.refs(kind)?.into_iter();
            let unsaid = refs.filter(|(key, _)| !log.refs.contains_key(key));
            found.extend(unsaid.map(|(key, row)| {
                format!("{} is there, and no event says so", label(&key, row.name.as_deref()))
            }));
        }
    }
    Ok(found)
}

/// Sessions whose logs are not what was appended, that nobody made, or that are gone.
fn session_differences(reader: &Reader<'_>, log: &Log, vault: &Id) -> Result<Vec<String>> {
    let (mut found, mut there) = (Vec::new(), BTreeSet::new());
    let rows = match reader.sessions() {
        Err(damage @ StoreError::Damaged { .. }) => return Ok(vec![damage.to_string()]),
        rows => rows?,
    };
    for row in rows {
        let (id, name) = (row.id, format!("{SESSION} {}", row.id));
        there.insert(id);
        let said = log.recorded.get(&name).cloned().flatten();
        if said.is_none() && log.covers(&name, &id) {
            found.push(format!("{name} is there, and no event says so"));
        }
        match session::difference(reader, &row, (said.as_deref(), &log.keys), vault) {
            Err(VaultError::Store(damage @ StoreError::Damaged { .. })) => {
                found.push(damage.to_string());
            }
            flaw => found.extend(flaw?.map(|flaw| format!("{name}: {flaw}"))),
        }
    }
    for id in reader.session_owners()?.into_iter().filter(|id| !there.contains(id)) {
        // What is left of one that is being collected goes next.
        if reader.collected(id.as_bytes())?.is_none() {
            found.push(format!("events of session {id} are there, and no session"));
        }
    }
    for id in log.recorded.keys().filter_map(|name| records::session_of(name)) {
        if !there.contains(&id) && reader.collected(id.as_bytes())?.is_none() {
            found.push(format!("session {id} is gone, and no event says so"));
        }
    }
    Ok(found)
}

/// The states of files that approvals name: what was tried is of no history before somebody approves of it, and in no other event. Whether the
/// approvals are what the log says is told apart.
fn signed_roots(reader: &Reader<'_>) -> Result<BTreeMap<Id, String>> {
    let rows = reader.refs(APPROVAL)?;
    let approvals = rows.iter().filter_map(|(key, row)| Approval::from_row(key, row).ok());
    Ok(approvals.flat_map(|approval| approval.roots).collect())
}

/// Operations that are not in the order in which ids are given: undo would take another one for the newest.
fn moved(reader: &Reader<'_>, log: &Log) -> Result<Vec<String>> {
    let Some(since) = log.operations_since else { return Ok(Vec::new()) };
    let ids = reader.operation_ids()?;
    let is_moved = |pair: &&[Id]| pair[0] >= pair[1] && pair.iter().any(|id| since.covers(id));
    let moved = ids.windows(2).filter(is_moved);
    Ok(moved.map(|pair| format!("operation {} is not in its place", pair[1])).collect())
}

/// A snapshot whose files are others than the log says.
fn altered(reader: &Reader<'_>, id: &Id, root: &str) -> Result<Option<String>> {
    let now = match reader.snapshot(id) {
        Err(damage @ StoreError::Damaged { .. }) => return Ok(Some(damage.to_string())),
        now => now?.map(|row| RootId(row.root).to_hex()),
    };
    let is_another = now.is_some_and(|now| now != *root);
    Ok(is_another.then(|| format!("snapshot {id} has other files than the log says")))
}

/// A snapshot of which something else than its files is not what the log says. Collecting garbage takes it as a whole.
fn rewritten(reader: &Reader<'_>, log: &Log, id: &Id, said: &str) -> Result<Option<String>> {
    if let Some(root) = log.roots.get(id)
        && altered(reader, id, root)?.is_some()
    {
        return Ok(None);
    }
    let now = match reader.snapshot(id) {
        Err(damage @ StoreError::Damaged { .. }) => return Ok(Some(damage.to_string())),
        now => now?.map(|row| records::of(&row)),
    };
    let is_another = now.is_some_and(|now| now != said);
    Ok(is_another.then(|| format!("snapshot {id} is not what the log says")))
}

/// A snapshot that a ref names and that is not there. Collecting garbage takes the files of snapshots, and none of these.
fn missing(reader: &Reader<'_>, key: &RefKey, row: &RefRow) -> Result<Option<String>> {
    for id in snapshots_of(key, row.clone()).unwrap_or_default() {
        // What is damaged is told where its files are compared.
        if let Ok(None) = reader.snapshot(&id) {
            return Ok(Some(format!("snapshot {id} is gone, and no event says so")));
        }
    }
    Ok(None)
}

fn is_compared(kind: &str) -> bool {
    COMPARED.contains(&kind)
}

fn label(key: &RefKey, name: Option<&str>) -> String {
    match key.kind.as_str() {
        HEAD => "the main line".to_owned(),
        kind => format!("{kind} {}", name.unwrap_or(&key.id)),
    }
}
