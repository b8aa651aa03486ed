//! What snapshots have in common, found in their history.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use offshoot_store::Id;
use offshoot_tree::RootId;
use offshoot_tree::merge::Base;

use crate::error::Result;
use crate::operation::{COMMIT, REDO, UNDO};
use crate::snapshot::Snapshot;
use crate::vault::Vault;

/// Bases of bases of bases: where histories cross more often than this, the oldest crossings count as having nothing in
/// common.
const MOST_CROSSINGS: usize = 32;

impl Vault {
    /// What several snapshots have in common: the newest snapshots that all of them came from.
    pub fn merge_base(&self, snapshots: &[Id]) -> Result<Base> {
        self.base_of(snapshots, MOST_CROSSINGS)
    }

    /// Whether a snapshot is another one or came from it.
    pub fn came_from(&self, snapshot: &Id, older: &Id) -> Result<bool> {
        Ok(snapshot == older || self.common_ancestors(&[*snapshot, *older])? == [*older])
    }

    /// A state that was collected counts as one that they do not have in common. Collections keep what any two start from; but who takes
    /// in an undo comes to start from something older.
    fn base_of(&self, snapshots: &[Id], crossings: usize) -> Result<Base> {
        let mut common = Vec::new();
        let mut roots: Vec<RootId> = Vec::new();
        for id in self.common_ancestors(snapshots)? {
            let root = self.snapshot(&id)?.root;
            if self.objects()?.has_root(&root)? {
                common.push(id);
                roots.push(root);
            }
        }
        Ok(match roots.as_slice() {
            [] => Base::Nothing,
            [root, rest @ ..] if rest.iter().all(|other| other == root) => Base::Root(*root),
            _ if crossings == 0 => Base::Several { roots, base: Box::new(Base::Nothing) },
            _ => {
                let base = Box::new(self.base_of(&common, crossings - 1)?);
                Base::Several { roots, base }
            }
        })
    }

    /// The snapshots that all of these came from, without those that others of them came from. A side that
    /// undid a commit does not count as coming from what that commit brought.
    ///
    /// Ids sort by creation, so a snapshot is looked at after everything that came from it.
    pub fn common_ancestors(&self, snapshots: &[Id]) -> Result<Vec<Id>> {
        self.common(snapshots, &mut Brought::new())
    }

    fn common(&self, snapshots: &[Id], brought: &mut Brought) -> Result<Vec<Id>> {
        let mut pending: BinaryHeap<Id> = BinaryHeap::new();
        let mut reached_by: BTreeMap<Id, BTreeMap<usize, Reach>> = BTreeMap::new();
        for (at, id) in snapshots.iter().enumerate() {
            if reached_by.entry(*id).or_default().is_empty() {
                pending.push(*id);
            }
            reached_by.entry(*id).or_default().insert(at, Reach::default());
        }
        // What each side says last about commits: whether they are undone.
        let mut undone: BTreeMap<(usize, Id), bool> = BTreeMap::new();
        let mut covered: BTreeSet<Id> = BTreeSet::new();
        let mut common = Vec::new();
        while let Some(id) = pending.pop() {
            let mut reached = reached_by.remove(&id).unwrap_or_default();
            let is_covered = covered.remove(&id);
            let snapshot = self.snapshot(&id)?;
            if let Some((commit, is_undo)) = self.reverted(&snapshot)? {
                for (side, reach) in &mut reached {
                    if *undone.entry((*side, commit)).or_insert(is_undo) {
                        reach.under.insert(commit);
                    }
                }
            }
            let mut is_common = reached.len() == snapshots.len();
            for reach in reached.values_mut() {
                let was_brought = self.bringers(&id, &reach.under, brought)?;
                is_common = is_common && reach.armed.is_disjoint(&was_brought);
                reach.armed.extend(reach.under.difference(&was_brought));
            }
            if is_common && !is_covered {
                common.push(id);
            }
            // A parent that is not older comes from a damaged disk, and could lead around in a circle.
            for parent in snapshot.parents.into_iter().filter(|parent| *parent < id) {
                if !reached_by.contains_key(&parent) {
                    pending.push(parent);
                }
                let known = reached_by.entry(parent).or_default();
                reached.iter().for_each(|(side, reach)| reach.join(known, *side));
                if is_common || is_covered {
                    covered.insert(parent);
                }
            }
            // Once everything that is left came from something common, nothing else can be found.
            if pending.iter().all(|id| covered.contains(id)) {
                break;
            }
        }
        Ok(common)
    }

    /// The commit that a snapshot of the main line took back (`true`) or brought back: its last parent.
    fn reverted(&self, snapshot: &Snapshot) -> Result<Option<(Id, bool)>> {
        let is_undo = snapshot.reason == UNDO;
        let last = snapshot.parents.last().filter(|_| is_undo || snapshot.reason == REDO);
        let Some(last) = last else { return Ok(None) };
        Ok((self.snapshot(last)?.reason == COMMIT).then_some((*last, is_undo)))
    }

    /// Which of these commits brought a snapshot.
    fn bringers(
        &self,
        id: &Id,
        commits: &BTreeSet<Id>,
        brought: &mut Brought,
    ) -> Result<BTreeSet<Id>> {
        let mut found = BTreeSet::new();
        for commit in commits {
            if !brought.contains_key(commit) {
                let snapshots = self.brought_by(commit, brought)?;
                brought.insert(*commit, snapshots);
            }
            if brought.get(commit).is_some_and(|snapshots| snapshots.contains(id)) {
                found.insert(*commit);
            }
        }
        Ok(found)
    }

    /// The snapshots that a commit brought: those its workspace came from and the main line before it did not.
    fn brought_by(&self, commit: &Id, brought: &mut Brought) -> Result<BTreeSet<Id>> {
        let commit = self.snapshot(commit)?;
        let [main, work] = commit.parents.as_slice() else { return Ok(BTreeSet::new()) };
        let mut known: BTreeSet<Id> = self.common(&[*main, *work], brought)?.into_iter().collect();
        let mut pending = BinaryHeap::from([*work]);
        pending.extend(known.iter().copied());
        let mut found = BTreeSet::new();
        // Parents are older, so whether something is known is known when it is looked at.
        while let Some(id) = pending.pop() {
            while pending.peek() == Some(&id) {
                pending.pop();
            }
            let is_known = known.contains(&id);
            if !is_known {
                found.insert(id);
            }
            for parent in self.snapshot(&id)?.parents.into_iter().filter(|parent| *parent < id) {
                if is_known {
                    known.insert(parent);
                }
                pending.push(parent);
            }
            if pending.iter().all(|id| known.contains(id)) {
                break;
            }
        }
        Ok(found)
    }
}

/// What undone commits brought, as far as it was asked for.
type Brought = BTreeMap<Id, BTreeSet<Id>>;

/// How a side reaches a snapshot.
///
/// A commit has the main line and the workspace's snapshot as parents, and its undo, on top of the main line, has the commit as
/// its last parent. Who has the undo has the commit, so that it is taken back for them. But they do not have what the commit
/// brought: a way to such a snapshot counts only if nothing on it was there already when the commit was undone. So whoever has these
/// snapshots otherwise, first of all the workspace itself, still brings them.
#[derive(Clone, Default)]
struct Reach {
    /// Undone commits whose undo came from the snapshot.
    under: BTreeSet<Id>,
    /// Of these, those that did not bring something on every way to it: what they brought does not count.
    armed: BTreeSet<Id>,
}

impl Reach {
    /// One step further: one more way to a snapshot.
    fn join(&self, known: &mut BTreeMap<usize, Self>, side: usize) {
        match known.entry(side) {
            Entry::Vacant(vacant) => {
                vacant.insert(self.clone());
            }
            Entry::Occupied(mut occupied) => {
                let known = occupied.get_mut();
                known.under.extend(&self.under);
                known.armed = &self.armed & &known.armed;
            }
        }
    }
}
