//! Whose work is committed: the commands that made it.

use std::collections::BTreeSet;

use offshoot_store::Id;
use offshoot_vault::{ExecRecord, Snapshot, Vault};

use crate::error::Result;

/// How many commands are read at a time.
const PAGE: u32 = 500;

/// The commands that made the snapshots since the main line and the workspace had something in common, oldest first.
pub(super) fn since(vault: &Vault, tip: &Snapshot, common: &[Id]) -> Result<Vec<Id>> {
    let made = snapshots_since(vault, tip, common)?;
    // A command starts after the snapshot that it starts from was made.
    let oldest = common.iter().map(Id::time_ms).min().unwrap_or(0);
    let is_late = |record: &ExecRecord| record.id.time_ms() >= oldest;
    let mut found = Vec::new();
    let mut before = None;
    loop {
        let page = vault.execs(None, before, PAGE)?;
        before = page.last().map(|record| record.id);
        for record in page.iter().filter(|record| is_late(record)) {
            found.extend(record.after.filter(|id| made.contains(id)).map(|_| record.id));
        }
        if page.last().is_none_or(|record| !is_late(record)) {
            found.reverse();
            return Ok(found);
        }
    }
}

fn snapshots_since(vault: &Vault, tip: &Snapshot, common: &[Id]) -> Result<BTreeSet<Id>> {
    let oldest = common.iter().min().copied();
    let mut pending = vec![tip.id];
    let mut made = BTreeSet::new();
    while let Some(id) = pending.pop() {
        let is_older = oldest.is_some_and(|oldest| id < oldest);
        if is_older || common.contains(&id) || !made.insert(id) {
            continue;
        }
        pending.extend(vault.snapshot(&id)?.parents);
    }
    Ok(made)
}
