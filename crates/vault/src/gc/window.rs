//! What must stay: what refs name, what kept operations need to be undone, and what running commands build upon.

use std::collections::{BTreeSet, HashMap, HashSet};

use offshoot_store::{Hash, Id, Reader, RefChange, RefKey};
use offshoot_tree::{Objects, RootId};

use super::bases;
use super::mark::Marks;
use super::pins::Pins;
use super::report::GcOptions;
use super::session_marks;
use crate::error::{Result, VaultError};
use crate::refs::snapshots_of;
use crate::refs::{CHECKPOINT, Checkpoint, from_json};
use crate::session::SESSION;
use crate::vault::Vault;

/// Operations are read from the log in pages of this many.
const PAGE: u32 = 256;

/// The operations that are kept, and how far the log was read.
#[derive(Debug, Default)]
pub(super) struct Window {
    pub(super) operations: HashSet<Id>,
    /// Operations that were given up because content would take too much room.
    pub(super) given_up: u64,
    /// When the oldest that is kept was done.
    pub(super) oldest_ms: Option<u64>,
    /// Checkpoints that were made by themselves, with operations that are not kept.
    pub(super) lapsed: Vec<Checkpoint>,
    /// Sessions that are there, or that a kept operation names.
    pub(super) sessions: HashSet<Id>,
    /// The last operation that was looked at.
    pub(super) seq: i64,
    /// The same of what sessions keep.
    pub(super) contents: i64,
}

/// An operation, the refs that it changed, and the snapshots that undoing, redoing and restoring it need.
struct Kept {
    id: Id,
    time_ms: u64,
    refs: Vec<RefKey>,
    snapshots: Vec<Id>,
}

/// What refs name.
#[derive(Default)]
struct Refs {
    snapshots: HashSet<Id>,
    /// Sessions.
    sessions: HashSet<Id>,
    /// Checkpoints that nobody asked for; they are kept as long as the operations that made them.
    automatic: HashMap<RefKey, Checkpoint>,
}

/// Marks everything that must stay.
pub(super) fn mark(
    vault: &Vault,
    options: &GcOptions,
    now_ms: u64,
    pins: &Pins,
    marks: &mut Marks,
) -> Result<Window> {
    let (seq, contents, mut refs, kept) = vault.read(|reader| {
        let kept = kept_operations(reader, options, now_ms)?;
        let contents = reader.last_session_content()?;
        Ok((reader.last_operation_seq()?, contents, Refs::read(reader)?, kept))
    })?;
    let roots = vault.read(|reader| Ok(reader.snapshot_roots()?))?;
    let objects = vault.objects()?;
    for id in &refs.snapshots {
        let root = roots.get(id).ok_or(VaultError::NoSnapshot(*id))?;
        marks.root(objects, &RootId(*root))?;
    }
    let mut tips: BTreeSet<Id> = refs.snapshots.iter().copied().collect();
    mark_merge_bases(vault, objects, marks)?;
    mark_bases(vault, &tips, marks)?;
    pins.mark(vault, marks)?;
    refs.sessions.iter().try_for_each(|id| session_marks::mark(vault, id, marks))?;
    marks.settle();
    let mut window = Window { seq, contents, ..Window::default() };
    let mut kept_sessions = std::mem::take(&mut refs.sessions);
    let total = kept.len() as u64;
    for operation in kept {
        for id in &operation.snapshots {
            mark_if_there(objects, roots.get(id), marks)?;
        }
        let named: Vec<Id> = operation.refs.iter().filter_map(session_of).collect();
        named.iter().try_for_each(|id| session_marks::mark(vault, id, marks))?;
        if options.max_size.is_some_and(|limit| marks.bytes > limit) {
            // What this one alone would keep goes, and so does everything older.
            marks.take_back();
            break;
        }
        marks.settle();
        let there = operation.snapshots.iter().filter(|id| roots.contains_key(id));
        tips.extend(there);
        window.operations.insert(operation.id);
        kept_sessions.extend(named);
        window.oldest_ms = Some(operation.time_ms);
        operation.refs.iter().for_each(|key| drop(refs.automatic.remove(key)));
    }
    // A workspace that goes back to where it was is merged as it was then.
    mark_bases(vault, &tips, marks)?;
    marks.settle();
    window.sessions = kept_sessions;
    window.lapsed = refs.automatic.into_values().collect();
    window.given_up = total - window.operations.len() as u64;
    Ok(window)
}

fn mark_bases(vault: &Vault, tips: &BTreeSet<Id>, marks: &mut Marks) -> Result<()> {
    bases::mark(vault, &tips.iter().copied().collect::<Vec<_>>(), marks)
}

/// Marks what a commit or a pull of each workspace is merged against, also where histories crossed more than once.
fn mark_merge_bases(vault: &Vault, objects: &Objects, marks: &mut Marks) -> Result<()> {
    let head = vault.head()?.id;
    for workspace in vault.workspaces()? {
        for root in vault.merge_base(&[head, workspace.state.head])?.roots() {
            mark_if_there(objects, Some(&root.0), marks)?;
        }
    }
    Ok(())
}

/// Marks what was committed since.
pub(super) fn refresh(vault: &Vault, window: &mut Window, marks: &mut Marks) -> Result<()> {
    let operations = vault.read(|reader| Ok(reader.operations_after(window.seq)?))?;
    let objects = vault.objects()?;
    for row in operations {
        window.seq = row.seq;
        window.operations.insert(row.operation.id);
        let (refs, snapshots) = named(&row.operation.id, &row.operation.changes)?;
        for session in refs.iter().filter_map(session_of) {
            session_marks::mark(vault, &session, marks)?;
            window.sessions.insert(session);
        }
        for id in snapshots {
            let root = vault.read(|reader| Ok(reader.snapshot(&id)?))?.map(|row| row.root);
            mark_if_there(objects, root.as_ref(), marks)?;
        }
    }
    window.contents = session_marks::mark_since(vault, window.contents, marks)?;
    // They are in no operation.
    for approval in vault.approvals()? {
        for id in approval.snapshots() {
            let root = vault.read(|reader| Ok(reader.snapshot(&id)?))?.map(|row| row.root);
            mark_if_there(objects, root.as_ref(), marks)?;
        }
    }
    Ok(())
}

/// Kept operations may name what an earlier collection took, when more was given up then.
pub(super) fn mark_if_there(
    objects: &Objects,
    root: Option<&Hash>,
    marks: &mut Marks,
) -> Result<()> {
    match root.map(|root| RootId(*root)) {
        Some(root) if objects.has_root(&root)? => marks.root(objects, &root),
        _ => Ok(()),
    }
}

/// The operations to keep, newest first.
fn kept_operations(reader: &Reader<'_>, options: &GcOptions, now_ms: u64) -> Result<Vec<Kept>> {
    let mut execs: HashMap<Id, Vec<Id>> = HashMap::new();
    for exec in reader.exec_ends()? {
        if let Some(operation) = exec.operation {
            execs.entry(operation).or_default().extend(exec.snapshots);
        }
    }
    let age = u64::try_from(options.keep_age.as_millis()).unwrap_or(u64::MAX);
    let oldest = now_ms.saturating_sub(age);
    let mut kept = Vec::new();
    let mut before = None;
    loop {
        let page = reader.operations(None, before, PAGE)?;
        let Some(last) = page.last() else { return Ok(kept) };
        before = Some(last.seq);
        for row in page {
            let operation = row.operation;
            let is_young = age > 0 && operation.time_ms >= oldest;
            if kept.len() as u64 >= options.keep_operations && !is_young {
                return Ok(kept);
            }
            let (refs, mut snapshots) = named(&operation.id, &operation.changes)?;
            snapshots.extend(execs.remove(&operation.id).unwrap_or_default());
            kept.push(Kept { id: operation.id, time_ms: operation.time_ms, refs, snapshots });
        }
    }
}

impl Refs {
    fn read(reader: &Reader<'_>) -> Result<Self> {
        let mut refs = Self::default();
        for (key, row) in reader.all_refs()? {
            if key.kind == CHECKPOINT {
                let checkpoint = Checkpoint::from_row(&key, row.clone())?;
                if checkpoint.state.automatic {
                    refs.automatic.insert(key, checkpoint);
                    continue;
                }
            }
            refs.sessions.extend(session_of(&key));
            refs.snapshots.extend(snapshots_of(&key, row)?);
        }
        Ok(refs)
    }
}

/// The session that a ref is.
fn session_of(key: &RefKey) -> Option<Id> {
    key.id.parse().ok().filter(|_| key.kind == SESSION)
}

/// The refs that an operation changed, and the snapshots that they named before and after.
fn named(operation: &Id, changes: &str) -> Result<(Vec<RefKey>, Vec<Id>)> {
    let changes: Vec<RefChange> = from_json(&format!("operation {operation}"), changes)?;
    let (mut refs, mut snapshots) = (Vec::new(), Vec::new());
    for RefChange { key, before, after } in changes {
        for row in before.into_iter().chain(after) {
            snapshots.extend(snapshots_of(&key, row)?);
        }
        refs.push(key);
    }
    Ok((refs, snapshots))
}
