//! What a side adds to a directory follows when another side moved the directory.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::gather::{Additions, Gathered};
use super::merged::Rename;
use super::renames::{Move, gone_directories, parents};
use crate::diff::change::Change;
use crate::error::Result;
use crate::hash::RootId;
use crate::links::Lookup;
use crate::objects::Objects;
use crate::path::VaultPath;

/// The states that are merged.
pub(super) struct Roots<'a> {
    pub(super) objects: &'a Objects,
    pub(super) base: &'a RootId,
    pub(super) sides: &'a [RootId],
}

/// Where the files of a directory went.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Target {
    To(VaultPath),
    /// As many to one place as to another.
    Split,
}

type Targets = HashMap<VaultPath, Target>;

/// Moves what sides added to directories that others moved.
pub(super) fn relocate(
    roots: &Roots<'_>,
    changes: &[Vec<Change>],
    moves: &[Vec<Move>],
    additions: &mut [Additions],
    gathered: &mut Gathered,
) -> Result<()> {
    let gone: Vec<HashSet<&VaultPath>> =
        changes.iter().map(|changes| gone_directories(changes)).collect();
    let targets: Vec<Targets> =
        moves.iter().zip(&gone).map(|(moves, gone)| targets(moves, gone)).collect();
    if targets.iter().all(HashMap::is_empty) {
        return Ok(());
    }
    let mut lookups = vec![Lookup::new(roots.objects, roots.base)?];
    for side in roots.sides {
        lookups.push(Lookup::new(roots.objects, side)?);
    }
    for (side, additions) in additions.iter_mut().enumerate() {
        let mut follower =
            Follower { side, targets: &targets, gone: &gone[side], lookups: &mut lookups };
        let plan = follower.plan(additions)?;
        apply(side, plan, additions, gathered);
    }
    Ok(())
}

/// Counts where files went from each directory that is gone, and takes the place where most of them are.
fn targets(moves: &[Move], gone: &HashSet<&VaultPath>) -> Targets {
    let mut counts: HashMap<VaultPath, BTreeMap<VaultPath, usize>> = HashMap::new();
    for Move { from, to, .. } in moves {
        let (mut old, mut new) = (from.parent(), to.parent());
        while let (Some(from), Some(to)) = (&old, &new) {
            if from == to || !gone.contains(from) {
                break;
            }
            *counts.entry(from.clone()).or_default().entry(to.clone()).or_insert(0) += 1;
            // Where the names agree, the directory above may be what was moved.
            if from.name() != to.name() {
                break;
            }
            (old, new) = (from.parent(), to.parent());
        }
    }
    let target = |counts: BTreeMap<VaultPath, usize>| {
        let most = counts.values().max().copied().unwrap_or(0);
        let mut best = counts.into_iter().filter(|(_, count)| *count == most);
        match (best.next(), best.next()) {
            (Some((to, _)), None) => Target::To(to),
            _ => Target::Split,
        }
    };
    counts.into_iter().map(|(from, counts)| (from, target(counts))).collect()
}

/// Where additions of one side go.
#[derive(Default)]
struct Plan {
    /// From the path where the side has it.
    to: BTreeMap<VaultPath, VaultPath>,
    /// Directories, to nowhere where another takes their place.
    folders: Vec<(VaultPath, Option<VaultPath>)>,
    unclear: Vec<VaultPath>,
}

struct Follower<'a, 'b> {
    side: usize,
    targets: &'a [Targets],
    /// The directories that this side itself no longer has.
    gone: &'a HashSet<&'a VaultPath>,
    /// The base and the sides.
    lookups: &'a mut [Lookup<'b>],
}

impl Follower<'_, '_> {
    fn plan(&mut self, additions: &Additions) -> Result<Plan> {
        let mut plan = Plan::default();
        let mut taken: HashSet<VaultPath> = HashSet::new();
        for path in additions.folders.keys() {
            // Directories go wherever their content goes. One that is there already needs no other.
            if let Some(Target::To(to)) = self.target(path)
                && !self.is_blocked(&to)?
            {
                let to = self.is_free(&to)?.then_some(to);
                plan.folders.push((path.clone(), to));
            }
        }
        let moved = additions.moved.values().map(|version| &version.path);
        for path in additions.leaves.keys().chain(moved) {
            match self.target(path) {
                Some(Target::To(to))
                    if self.is_free(&to)? && !self.is_blocked(&to)? && taken.insert(to.clone()) =>
                {
                    plan.to.insert(path.clone(), to);
                }
                Some(_) => plan.unclear.push(path.clone()),
                None => {}
            }
        }
        Ok(plan)
    }

    /// Where a path of this side leads when the directories that others moved are followed.
    fn target(&self, path: &VaultPath) -> Option<Target> {
        for parent in parents(path) {
            let others = self.targets.iter().enumerate().filter(|(side, _)| *side != self.side);
            let mut found: Vec<&Target> = Vec::new();
            for target in others.filter_map(|(_, targets)| targets.get(&parent)) {
                if !found.contains(&target) {
                    found.push(target);
                }
            }
            match found.as_slice() {
                [] => {}
                // What this side moved itself does not go around in circles.
                [Target::To(to)] if self.moved_away(to) => return None,
                [Target::To(to)] => {
                    let rest = &path.names()[parent.names().len()..];
                    let to = rest.iter().fold(to.clone(), |to, name| to.join(name));
                    return Some(Target::To(to));
                }
                _ => return Some(Target::Split),
            }
        }
        None
    }

    fn moved_away(&self, path: &VaultPath) -> bool {
        self.gone.contains(path) || parents(path).any(|parent| self.gone.contains(&parent))
    }

    /// Whether a state has something else than a directory at a path or above it: no directory can be there.
    fn is_blocked(&mut self, path: &VaultPath) -> Result<bool> {
        for path in parents(path).chain([path.clone()]) {
            let path = path.relative();
            for lookup in self.lookups.iter_mut() {
                if lookup.get(&path)?.is_some_and(|entry| entry.directory().is_none()) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Whether no state has anything at a path.
    fn is_free(&mut self, path: &VaultPath) -> Result<bool> {
        let path = path.relative();
        for lookup in self.lookups.iter_mut() {
            if lookup.get(&path)?.is_some() {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

fn apply(side: usize, plan: Plan, additions: &mut Additions, gathered: &mut Gathered) {
    gathered.unclear.extend(plan.unclear.into_iter().map(|path| (side, path)));
    for version in additions.moved.values_mut() {
        if let Some(to) = plan.to.get(&version.path) {
            version.path.clone_from(to);
        }
    }
    for rename in gathered.renames.iter_mut().filter(|rename| rename.side == side) {
        if let Some(to) = plan.to.get(&rename.to) {
            rename.to.clone_from(to);
        }
    }
    for (from, to) in plan.to {
        if let Some(entry) = additions.leaves.remove(&from) {
            additions.leaves.insert(to.clone(), entry);
            gathered.renames.push(Rename { side, from, to, similarity: None });
        }
    }
    for (from, to) in plan.folders {
        if let (Some(entry), Some(to)) = (additions.folders.remove(&from), to) {
            additions.folders.insert(to, entry);
        }
    }
}
