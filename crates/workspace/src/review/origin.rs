//! What changed each path of a workspace last.

use std::collections::{BTreeMap, BTreeSet};

use offshoot_store::Id;
use offshoot_tree::{VaultPath, diff};
use offshoot_vault::{Snapshot, Vault, WorkspaceRecord};

use crate::commit::KEPT;
use crate::error::Result;

/// Further back than this it is not looked for.
const MOST_SNAPSHOTS: usize = 300;
/// How many execs are looked through for those that made the snapshots.
const MOST_EXECS: u32 = 1000;

/// What made a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The snapshot.
    pub snapshot: Id,
    /// The command, if it was one.
    pub exec: Option<Id>,
    /// Why it was made, in a word.
    pub reason: String,
    /// The command line, or what its maker said about it.
    pub message: Option<String>,
    /// When it was made.
    pub time_ms: u64,
}

/// What changed each path last, from the newest snapshot of a workspace back to what it has in common with the main line.
pub(super) fn of(
    vault: &Vault,
    workspace: &WorkspaceRecord,
    common: &[Id],
) -> Result<BTreeMap<VaultPath, Origin>> {
    let mut origins = BTreeMap::new();
    let mut execs: Option<BTreeMap<Id, Id>> = None;
    let mut ends: BTreeSet<Id> = common.iter().copied().collect();
    let mut kept = Vec::new();
    let mut at = vault.snapshot(&workspace.state.head)?;
    for _ in 0..MOST_SNAPSHOTS {
        if ends.contains(&at.id) {
            break;
        }
        // What stays at a commit was changed by whatever changed it in the workspace before.
        let before = match at.parents.as_slice() {
            [committed, before] if at.reason == KEPT => {
                let main = vault.ancestry(*committed, MOST_SNAPSHOTS)?;
                ends.extend(main.iter().map(|snapshot| snapshot.id));
                let root = vault.snapshot(committed)?.root;
                kept.push((diff::compare(vault.objects()?, &root, &at.root)?, at.clone()));
                Some(*before)
            }
            _ => None,
        };
        let Some(parent) = before.or_else(|| at.parents.first().copied()) else { break };
        let parent = vault.snapshot(&parent)?;
        if vault.is_collected(&parent)? {
            break;
        }
        if before.is_some() {
            at = parent;
            continue;
        }
        let execs = match &mut execs {
            Some(known) => known,
            none => none.insert(by_snapshot(vault, workspace)?),
        };
        let origin = origin(&at, execs);
        for change in diff::compare(vault.objects()?, &parent.root, &at.root)? {
            origins.entry(change.path).or_insert_with(|| origin.clone());
        }
        at = parent;
    }
    for (changes, snapshot) in kept {
        let origin = origin(&snapshot, &BTreeMap::new());
        for change in changes {
            origins.entry(change.path).or_insert_with(|| origin.clone());
        }
    }
    Ok(origins)
}

fn by_snapshot(vault: &Vault, workspace: &WorkspaceRecord) -> Result<BTreeMap<Id, Id>> {
    let execs = vault.execs(Some(workspace.id), None, MOST_EXECS)?;
    let made = execs.into_iter().filter(|exec| exec.before != exec.after);
    Ok(made.filter_map(|exec| Some((exec.after?, exec.id))).collect())
}

fn origin(snapshot: &Snapshot, execs: &BTreeMap<Id, Id>) -> Origin {
    Origin {
        snapshot: snapshot.id,
        exec: execs.get(&snapshot.id).copied(),
        reason: snapshot.reason.clone(),
        message: snapshot.message.clone(),
        time_ms: snapshot.time_ms,
    }
}
