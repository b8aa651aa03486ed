//! Which snapshots lead from one to another.

use std::collections::{BTreeMap, BTreeSet};

use offshoot_store::Id;
use offshoot_vault::{Snapshot, Vault};

use crate::error::Result;

/// The snapshots after `from` up to `to`, oldest first, along one line of parents; from the very first one where `from` is not given.
/// Nothing where `to` did not come from `from`.
pub(super) fn between(vault: &Vault, to: Id, from: Option<Id>) -> Result<Option<Vec<Snapshot>>> {
    let ancestry = vault.ancestry(to, usize::MAX)?;
    let leading = from.map(|from| leading_to(&ancestry, from));
    let by_id: BTreeMap<Id, &Snapshot> = ancestry.iter().map(|s| (s.id, s)).collect();
    let mut line = Vec::new();
    let mut at = Some(to);
    while let Some(snapshot) = at.and_then(|id| by_id.get(&id)) {
        if Some(snapshot.id) == from {
            line.reverse();
            return Ok(Some(line));
        }
        line.push((*snapshot).clone());
        let mut parents = snapshot.parents.iter();
        at = match &leading {
            // A parent that is the end itself is the shortest way to it.
            Some(_) if from.is_some_and(|from| snapshot.parents.contains(&from)) => from,
            Some(leading) => parents.find(|parent| leading.contains(parent)).copied(),
            None => parents.next().copied(),
        };
    }
    line.reverse();
    Ok(from.is_none().then_some(line))
}

/// Which of these, newest first, came from one of them.
fn leading_to(ancestry: &[Snapshot], end: Id) -> BTreeSet<Id> {
    let mut leading = BTreeSet::new();
    for snapshot in ancestry.iter().rev() {
        let leads = snapshot.parents.iter().any(|parent| leading.contains(parent));
        if snapshot.id == end || leads {
            leading.insert(snapshot.id);
        }
    }
    leading
}
