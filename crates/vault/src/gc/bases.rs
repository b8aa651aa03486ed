//! The states that merges start from, which refs need not name.

use std::collections::BTreeMap;

use offshoot_store::Id;

use super::mark::Marks;
use super::window::mark_if_there;
use crate::error::Result;
use crate::vault::Vault;

/// Marks what a merge of any of these snapshots with any other starts from, and one of what is made of them later.
///
/// A merge of two starts from what both came from and nothing newer did. Whatever it came from that is reached by more of them than each
/// snapshot that follows it may be that for two of them. Merging adds none: what a merged state and another one have in common, one
/// of its sides has.
pub(super) fn mark(vault: &Vault, tips: &[Id], marks: &mut Marks) -> Result<()> {
    let mut walk = Walk::new(tips);
    let objects = vault.objects()?;
    while let Some((id, reached)) = walk.pending.pop_last() {
        if reached.most == tips.len() && walk.is_settled(tips.len()) {
            break;
        }
        let snapshot = vault.snapshot(&id)?;
        let count = reached.by.count();
        if count > reached.most {
            mark_if_there(objects, Some(&snapshot.root.0), marks)?;
        }
        // A parent that is not older comes from a damaged disk, and could lead around in a circle.
        for parent in snapshot.parents.iter().filter(|parent| **parent < id) {
            let known = walk.pending.entry(*parent).or_default();
            known.by.extend(&reached.by);
            known.most = known.most.max(count);
        }
    }
    Ok(())
}

/// What is still to be looked at. Ids sort by creation, so a snapshot is looked at after everything that came from it.
struct Walk {
    pending: BTreeMap<Id, Reached>,
}

/// Who reaches a snapshot.
#[derive(Default)]
struct Reached {
    by: Numbers,
    /// How many of them reach one snapshot that follows it.
    most: usize,
}

impl Walk {
    fn new(tips: &[Id]) -> Self {
        let mut pending: BTreeMap<Id, Reached> = BTreeMap::new();
        for (number, id) in tips.iter().enumerate() {
            pending.entry(*id).or_default().by.insert(number);
        }
        Self { pending }
    }

    /// Whether all that is left is reached by everybody, and was before.
    fn is_settled(&self, all: usize) -> bool {
        self.pending.values().all(|reached| reached.most == all)
    }
}

/// A set of small numbers.
#[derive(Default)]
struct Numbers(Vec<u64>);

impl Numbers {
    fn insert(&mut self, number: usize) {
        let word = number / 64;
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (number % 64);
    }

    fn extend(&mut self, other: &Self) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (word, more) in self.0.iter_mut().zip(&other.0) {
            *word |= more;
        }
    }

    fn count(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }
}
