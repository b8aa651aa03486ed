//! What nobody reads file by file: build output, and what git keeps for itself.

mod git_activity;
mod moved_refs;
mod names;

pub use git_activity::GitActivity;

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use offshoot_tree::diff::{Change, ChangeKind};
use offshoot_tree::{Objects, RootId, Tree, VaultPath};
use offshoot_vault::Vault;

use crate::change::without_frames;
use crate::error::Result;
use crate::git::{TrackedPaths, git_directory, planted};
use crate::ignore_rules::{IgnoreRules, text_at};
use names::is_output_name;

/// Tells which changes are folded: shown as one, by the directory that they are in.
///
/// Folded is what lies in a git directory, and what lies in a directory that `.gitignore` files ignore or that is named as build output
/// usually is. A file that git tracks is never build output, and what git would run or obey is never folded.
pub struct Noise<'v> {
    objects: &'v Objects,
    /// The states that changes are listed of, as far as they are known.
    roots: Vec<RootId>,
    rules: IgnoreRules<'v>,
    tracked: Rc<TrackedPaths>,
    /// Somebody asked for these, so they are not noise, and neither is a directory that they are in.
    named: Vec<VaultPath>,
    /// Directories, and the outermost ones of build output that they are in.
    outputs: HashMap<VaultPath, Option<VaultPath>>,
}

impl std::fmt::Debug for Noise<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Noise").field("named", &self.named).finish_non_exhaustive()
    }
}

/// What is in a folded directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FoldedKind {
    /// Build output, dependencies or caches.
    Output,
    /// A git directory, and what was done in it as far as its files tell.
    Git(GitActivity),
}

/// Changes that are shown as one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folded<T> {
    /// The directory.
    pub at: VaultPath,
    /// What is in it.
    pub kind: FoldedKind,
    /// The changes, in the order in which they came.
    pub items: Vec<T>,
}

/// Changes as people read them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sorted<T> {
    /// Those that are shown one by one, in the order in which they came.
    pub single: Vec<T>,
    /// Those that are not, by directory: build output first.
    pub folded: Vec<Folded<T>>,
}

/// A directory that changes are folded into.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum FoldKey {
    Output(VaultPath),
    Git(VaultPath),
}

/// Changes by path as people read them: without directories that only frame others, and folded by `noise`, without which
/// nothing is.
pub fn sorted<'c>(
    changes: &'c [Change],
    noise: Option<&mut Noise<'_>>,
) -> Result<Sorted<&'c Change>> {
    let single = without_frames(changes);
    match noise {
        Some(noise) => noise.sort(single, |change| change),
        None => Ok(Sorted { single, folded: Vec::new() }),
    }
}

impl<'v> Noise<'v> {
    /// By the ignore rules of these states: what any of them ignores is ignored.
    pub fn new(vault: &'v Vault, roots: &[RootId], tracked: Rc<TrackedPaths>) -> Result<Self> {
        let objects = vault.objects()?;
        let mut excludes = Vec::new();
        for root in roots {
            excludes.extend(excludes_of(objects, root)?);
        }
        let rules = IgnoreRules::new(objects, roots, &excludes)?;
        let (roots, named, outputs) = (roots.to_vec(), Vec::new(), HashMap::new());
        Ok(Self { objects, roots, rules, tracked, named, outputs })
    }

    /// The same of changes whose content these objects have: that of a state which the vault does not have.
    pub fn reading(self, objects: &'v Objects) -> Self {
        Self { objects, ..self }
    }

    /// The same without directories that these paths are, or are in: somebody asked for them.
    pub fn except(mut self, named: &[VaultPath]) -> Self {
        self.named.extend_from_slice(named);
        self
    }

    /// Sorts changes, or what has one each.
    pub fn sort<T>(&mut self, items: Vec<T>, of: impl Fn(&T) -> &Change) -> Result<Sorted<T>> {
        let mut keys = Vec::new();
        let mut repositories: HashMap<VaultPath, bool> = HashMap::new();
        for item in &items {
            let change = of(item);
            let key = self.fold_key_of(change)?;
            if let Some(FoldKey::Git(at)) = &key {
                *repositories.entry(at.clone()).or_default() |= comes_or_goes(at, change);
            }
            keys.push(key);
        }
        let mut single = Vec::new();
        let mut folded: BTreeMap<FoldKey, Vec<T>> = BTreeMap::new();
        for (item, key) in items.into_iter().zip(keys) {
            let change = of(&item);
            let is_planted = |at: &VaultPath| {
                let (before, after) = (change.before.as_deref(), change.after.as_deref());
                // In a repository that came as a whole there is nothing to find by it.
                !repositories[at] && planted(&change.path, before, after).is_some()
            };
            match key {
                Some(FoldKey::Git(at)) if is_planted(&at) => single.push(item),
                Some(key) => folded.entry(key).or_default().push(item),
                None => single.push(item),
            }
        }
        let folded = folded.into_iter().map(|(key, items)| self.folded(key, items, &of));
        Ok(Sorted { single, folded: folded.collect() })
    }

    fn folded<T>(&self, key: FoldKey, items: Vec<T>, of: &impl Fn(&T) -> &Change) -> Folded<T> {
        match key {
            FoldKey::Output(at) => Folded { at, kind: FoldedKind::Output, items },
            FoldKey::Git(at) => {
                let activity =
                    GitActivity::of(self.objects, &self.roots, &at, items.iter().map(of));
                Folded { at, kind: FoldedKind::Git(activity), items }
            }
        }
    }

    /// Where a change is folded. One that moves something out of build output, or into it, is not.
    fn fold_key_of(&mut self, change: &Change) -> Result<Option<FoldKey>> {
        let moved = change.moved.as_ref().map(|(from, _)| from);
        if let Some(from) = moved
            && self.fold_key(from)?.is_none()
        {
            return Ok(None);
        }
        self.fold_key(&change.path)
    }

    fn fold_key(&mut self, path: &VaultPath) -> Result<Option<FoldKey>> {
        let key = match git_directory(path).filter(|at| at != path) {
            Some(at) => Some(FoldKey::Git(at)),
            None => self.output_around(path)?.map(FoldKey::Output),
        };
        let asked = |at: &VaultPath| self.named.iter().any(|named| named.is_within(at));
        Ok(key.filter(|(FoldKey::Git(at) | FoldKey::Output(at))| !asked(at)))
    }

    /// The outermost directory of build output that a path is in.
    fn output_around(&mut self, path: &VaultPath) -> Result<Option<VaultPath>> {
        let Some(parent) = path.parent() else { return Ok(None) };
        let around = self.output_of(&parent)?;
        Ok(around.filter(|_| !self.tracked.has(path)))
    }

    fn output_of(&mut self, directory: &VaultPath) -> Result<Option<VaultPath>> {
        if let Some(known) = self.outputs.get(directory) {
            return Ok(known.clone());
        }
        let around = match directory.parent() {
            Some(parent) => self.output_of(&parent)?,
            None => None,
        };
        let found = match (around, directory.name()) {
            (Some(around), _) => Some(around),
            (None, Some(name)) if is_output_name(name) => Some(directory.clone()),
            (None, Some(_)) if self.rules.ignores(directory, true)? => Some(directory.clone()),
            _ => None,
        };
        self.outputs.insert(directory.clone(), found.clone());
        Ok(found)
    }
}

/// The rules that a repository at the top keeps for itself.
fn excludes_of(objects: &Objects, root: &RootId) -> Result<Vec<u8>> {
    let path = VaultPath::top().join(b".git").join(b"info").join(b"exclude");
    let text = text_at(objects, &Tree::open(objects, root)?, &path)?;
    Ok(text.map(|text| [text.as_slice(), b"\n"].concat()).unwrap_or_default())
}

/// Whether a change says that a repository is new, or gone.
fn comes_or_goes(at: &VaultPath, change: &Change) -> bool {
    let of_head = change.path == at.join(b"HEAD");
    of_head && matches!(change.kind(), ChangeKind::Added | ChangeKind::Deleted)
}
