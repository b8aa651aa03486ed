//! What snapshots have in common, found in their history.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use offshoot_store::Id;

use super::Base;
use crate::error::Result;
use crate::hash::RootId;
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

    fn base_of(&self, snapshots: &[Id], crossings: usize) -> Result<Base> {
        let common = self.common_ancestors(snapshots)?;
        let roots: Vec<RootId> = common
            .iter()
            .map(|id| self.snapshot(id).map(|snapshot| snapshot.root))
            .collect::<Result<_>>()?;
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

    /// The snapshots that all of these came from, without those that others of them came from. What a side took back by undoing
    /// a commit it did not come from; see [`Reach`].
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
            let mut is_common = reached.len() == snapshots.len();
            for reach in reached.values() {
                is_common = is_common && !self.is_taken_back(&id, reach, brought)?;
            }
            if is_common && !is_covered {
                common.push(id);
            }
            let snapshot = self.snapshot(&id)?;
            if let Some((commit, is_undo)) = self.reverted(&snapshot)? {
                for (side, reach) in &mut reached {
                    if *undone.entry((*side, commit)).or_insert(is_undo) {
                        reach.passed.insert(commit);
                    }
                }
            }
            // A parent that is not older comes from a damaged disk, and could lead around in a circle.
            let parents = snapshot.parents.into_iter().enumerate();
            for (at, parent) in parents.filter(|(_, parent)| *parent < id) {
                let goes_on = |side: usize| at == 0 || undone.get(&(side, id)) != Some(&true);
                let sides = reached.iter().filter(|(side, _)| goes_on(**side));
                let mut sides = sides.map(|(side, reach)| (*side, reach.step(at))).peekable();
                if sides.peek().is_none() {
                    continue;
                }
                if !reached_by.contains_key(&parent) {
                    pending.push(parent);
                }
                let known = reached_by.entry(parent).or_default();
                sides.for_each(|(side, reach)| reach.join(known, side));
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

    /// Whether a commit brought a snapshot, and every way to it leads through what was there when the commit was taken back.
    fn is_taken_back(&self, id: &Id, reach: &Reach, brought: &mut Brought) -> Result<bool> {
        for commit in &reach.armed {
            if !brought.contains_key(commit) {
                let found = self.brought_by(commit, brought)?;
                brought.insert(*commit, found);
            }
            if brought.get(commit).is_some_and(|brought| brought.contains(id)) {
                return Ok(true);
            }
        }
        Ok(false)
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
/// its last parent. Who has the undo has the commit: it is taken back for them. But they do not have what the commit brought, so for
/// them the way from the commit to the workspace's snapshots counts as not there, and neither do ways to these snapshots from
/// what was on the main line when it was undone. Everybody who has those snapshots otherwise still brings them.
#[derive(Clone, Default)]
struct Reach {
    /// Undone commits whose undo was passed, while only first parents were followed since: the main line itself is never taken back.
    passed: BTreeSet<Id>,
    /// Those since whose undo the main line was left.
    armed: BTreeSet<Id>,
}

impl Reach {
    /// The same one step further, to the parent at a place.
    fn step(&self, at: usize) -> Self {
        match at {
            0 => self.clone(),
            _ => Self { passed: BTreeSet::new(), armed: &self.passed | &self.armed },
        }
    }

    /// One more way to a snapshot: only what is on all of them counts.
    fn join(self, known: &mut BTreeMap<usize, Self>, side: usize) {
        match known.entry(side) {
            Entry::Vacant(vacant) => {
                vacant.insert(self);
            }
            Entry::Occupied(mut occupied) => {
                let known = occupied.get_mut();
                let passed = |it: &Self| &it.passed | &it.armed;
                let both = &passed(&self) & &passed(known);
                known.armed = &self.armed & &known.armed;
                known.passed = &both - &known.armed;
            }
        }
    }
}
