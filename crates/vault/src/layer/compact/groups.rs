//! Hard links that a difference would break up.

use std::collections::{BTreeSet, HashSet};

use offshoot_tree::RootId;
use offshoot_tree::diff::Change;
use offshoot_tree::links::Lookup;

use crate::error::Result;
use crate::vault::Vault;

/// The names of all groups of which some names changed, came or went: they are written together, so that they are one file
/// with as many names as can be seen.
pub(super) fn broken_up(
    vault: &Vault,
    root: &RootId,
    changes: &[Change],
) -> Result<BTreeSet<Vec<u8>>> {
    let sides = changes.iter().flat_map(|change| [&change.before, &change.after]);
    let groups: HashSet<u64> = sides.filter_map(|entry| entry.as_ref()?.group).collect();
    let mut names = BTreeSet::new();
    if groups.is_empty() {
        return Ok(names);
    }
    let mut lookup = Lookup::new(vault.objects()?, root)?;
    for path in vault.links(root, &[])? {
        let group = lookup.get(&path)?.and_then(|entry| entry.group);
        if group.is_some_and(|group| groups.contains(&group)) {
            names.insert(path);
        }
    }
    Ok(names)
}
