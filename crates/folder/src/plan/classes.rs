//! Hard links: which files have to be written anew because their names are shared with others than before.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use offshoot_tree::{Entry, RootId, Tree, VaultPath};
use offshoot_vault::{Result, Vault};

use super::paths::{Changes, Where, locate};
use crate::target::ApplyTarget;

/// The names of one inode.
type Names = BTreeSet<Where>;

/// Files that keep their bytes and must be replaced all the same, with what they were and are.
pub(super) fn regrouped(
    vault: &Vault,
    targets: &[ApplyTarget],
    before: &RootId,
    after: &RootId,
    changes: &Changes,
) -> Result<BTreeMap<Where, (Entry, Entry)>> {
    let entries = changes.values().flat_map(|(old, new)| [old, new]).flatten();
    let touched: HashSet<u64> = entries.filter_map(|entry| entry.group).collect();
    let mut found = BTreeMap::new();
    if touched.is_empty() {
        return Ok(found);
    }
    let linked_before = vault.links(before, &[])?;
    let linked_after = vault.links(after, &[*before])?;
    let trees = (Tree::open(vault.objects()?, before)?, Tree::open(vault.objects()?, after)?);
    let mut both: BTreeMap<Where, (Option<Entry>, Option<Entry>)> = BTreeMap::new();
    for path in linked_before.iter().chain(&linked_after) {
        let path = VaultPath::parse(path)?;
        let Some(at) = locate(targets, &path) else { continue };
        let (old, new) = (trees.0.get(&path)?, trees.1.get(&path)?);
        let group = |entry: &Option<Entry>| entry.as_ref().and_then(|entry| entry.group);
        if [group(&old), group(&new)].into_iter().flatten().any(|it| touched.contains(&it)) {
            both.insert(at, (old, new));
        }
    }
    let (old_names, new_names) = (shared(&both, |pair| &pair.0), shared(&both, |pair| &pair.1));
    for (at, (old, new)) in &both {
        let (Some(old), Some(new)) = (old, new) else { continue };
        if old.body != new.body || new.directory().is_some() {
            continue;
        }
        // The names that still share the inode when nothing but content is replaced.
        let alone = Names::from([at.clone()]);
        let was = old_names.get(&key(old)).filter(|_| old.group.is_some()).unwrap_or(&alone);
        let kept: Names = was.iter().filter(|name| keeps_bytes(&both, name)).cloned().collect();
        let wanted = new_names.get(&key(new)).filter(|_| new.group.is_some()).unwrap_or(&alone);
        if kept != *wanted {
            found.insert(at.clone(), (old.clone(), new.clone()));
        }
    }
    Ok(found)
}

/// What the names of one inode have in common.
type Key = (Option<u64>, Vec<u8>);

fn key(entry: &Entry) -> Key {
    // Everything but the name: the number alone may come back with a file from elsewhere.
    let mut encoded = Vec::new();
    Entry { name: Vec::new(), ..entry.clone() }.encode(&mut encoded);
    (entry.group, encoded)
}

fn shared(
    both: &BTreeMap<Where, (Option<Entry>, Option<Entry>)>,
    side: impl Fn(&(Option<Entry>, Option<Entry>)) -> &Option<Entry>,
) -> HashMap<Key, Names> {
    let mut names: HashMap<Key, Names> = HashMap::new();
    for (at, pair) in both {
        if let Some(entry) = side(pair).as_ref().filter(|entry| entry.group.is_some()) {
            names.entry(key(entry)).or_default().insert(at.clone());
        }
    }
    names
}

fn keeps_bytes(both: &BTreeMap<Where, (Option<Entry>, Option<Entry>)>, at: &Where) -> bool {
    let pair = both.get(at);
    pair.is_some_and(|(old, new)| match (old, new) {
        (Some(old), Some(new)) => old.body == new.body,
        _ => false,
    })
}
