//! Making the steps of a plan.

use std::collections::{BTreeSet, HashMap};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::Arc;

use offshoot_host::disk::{join, names, split_last};
use offshoot_tree::{Entry, EntryKind, Meta, Objects, RootId, Tree, VaultPath};
use offshoot_vault::{Result, Vault};

use super::paths::{Changes, Where};
use super::{ApplyPlan, Planned, PlannedStaging, Work, captured};
use crate::problem::{ApplyNote, ApplyProblem};
use crate::stamp::{Kind, Look, Stamp};

/// Someone who makes a plan.
pub(super) struct Planner<'v> {
    pub(super) vault: &'v Vault,
    pub(super) objects: &'v Objects,
    pub(super) before: Tree<'v>,
    pub(super) plan: ApplyPlan,
    /// The directories that were looked at; nothing where there is none.
    pub(super) looks: HashMap<Where, Option<Look>>,
    /// How many names of each hard link the vault knows; found when first needed.
    pub(super) group_sizes: Option<HashMap<u64, u32>>,
}

impl Planner<'_> {
    pub(super) fn problem(&mut self, problem: ApplyProblem) {
        self.plan.problems.push(problem);
    }

    pub(super) fn host(&self, at: &Where) -> PathBuf {
        self.plan.folders[at.folder].host(&at.path)
    }

    /// The path in the tree.
    pub(super) fn in_tree(&self, at: &Where) -> Result<VaultPath> {
        Ok(self.plan.targets[at.folder].at.concat(&VaultPath::parse(&at.path)?))
    }

    /// Makes the steps: what comes from the top down, then what goes from the bottom up.
    pub(super) fn steps(&mut self, changes: &Changes, regrouped: &BTreeSet<Where>) -> Result<()> {
        let verified = captured::verify(&self.plan.folders, changes);
        let staying = self.staying(changes)?;
        let (mut coming, mut going) = (Vec::new(), Vec::new());
        for ((at, (old, new)), verified) in changes.iter().zip(verified) {
            let mut file = None;
            let stamp = match &verified {
                Some(Err(problem)) => {
                    self.problem(problem.clone());
                    continue;
                }
                Some(Ok(look)) => {
                    self.note_links(at, look, old.as_deref())?;
                    if look.kind == Kind::File {
                        file = Some((look.place.device, look.inode));
                    }
                    Some(Stamp::of(look))
                }
                None => None,
            };
            let work = match (old, new, stamp) {
                (_, Some(after), None) => Work::Put { after: after.clone() },
                (Some(_), None, Some(old)) if staying.contains(at) => {
                    debug_assert!(old.is_directory(), "only directories stay");
                    continue;
                }
                (Some(_), None, Some(old)) => Work::Remove { old },
                (Some(before), Some(after), Some(old)) => {
                    let again = regrouped.contains(at);
                    match self.change(before, after, old, again) {
                        Some(work) => work,
                        None => continue,
                    }
                }
                _ => continue,
            };
            let from_directory = old.as_ref().is_some_and(|old| old.directory().is_some());
            let goes = match &work {
                Work::Remove { .. } => true,
                Work::Replace { .. } => from_directory,
                _ => false,
            };
            let staging = match work {
                Work::Retouch { .. } => 0,
                _ => self.staging_of(at),
            };
            let planned = Planned { at: at.clone(), staging, work, file };
            if goes { going.push(planned) } else { coming.push(planned) }
        }
        going.reverse();
        coming.append(&mut going);
        self.plan.steps = coming;
        Ok(())
    }

    /// What it takes to make something of something else; nothing where it is the same on disk.
    pub(super) fn change(
        &self,
        before: &Entry,
        after: &Arc<Entry>,
        old: Stamp,
        again: bool,
    ) -> Option<Work> {
        let both_directories = before.directory().is_some() && after.directory().is_some();
        if both_directories {
            // Its own metadata comes last, with that of all directories.
            return None;
        }
        let is_file = before.kind() == EntryKind::File;
        if before.body != after.body || again {
            return Some(Work::Replace { old, after: after.clone() });
        }
        let owners = self.plan.owners;
        let owner = |meta: &Meta| owners.then_some((meta.uid, meta.gid));
        let (from, to) = (&before.meta, &after.meta);
        let same_mode = from.mode == to.mode || before.kind() == EntryKind::Symlink;
        if from.xattrs != to.xattrs && is_file {
            return Some(Work::Replace { old, after: after.clone() });
        }
        if same_mode && from.mtime == to.mtime && owner(from) == owner(to) {
            return None;
        }
        Some(match is_file {
            true => Work::Retouch { old, metas: Box::new((from.clone(), to.clone())) },
            // Neither can be opened to be changed, and both are made anew in no time.
            false => Work::Replace { old, after: after.clone() },
        })
    }

    /// Removed directories that hold something that the vault does not know, and those above them that are removed.
    pub(super) fn staying(&mut self, changes: &Changes) -> Result<BTreeSet<Where>> {
        let mut staying = BTreeSet::new();
        for (at, (old, new)) in changes.iter().rev() {
            let Some(dir) = old.as_deref().and_then(Entry::directory) else { continue };
            if new.as_ref().is_some_and(|new| new.directory().is_some()) {
                continue;
            }
            let known = self.objects.entries(dir)?;
            let Ok(listing) = self.plan.folders[at.folder].readable(&at.path) else { continue };
            let listed = names(listing.as_fd()).unwrap_or_default();
            let is_known = |name: &Vec<u8>| known.binary_search_by(|it| it.name.cmp(name)).is_ok();
            let unknown = listed.iter().find(|name| !is_known(name));
            let below = |it: &Where| it.folder == at.folder && split_last(&it.path).0 == &*at.path;
            let unknown =
                unknown.map(|name| Where { folder: at.folder, path: join(&at.path, name).into() });
            let Some(unknown) = unknown.or_else(|| staying.iter().find(|it| below(it)).cloned())
            else {
                continue;
            };
            staying.insert(at.clone());
            match new {
                Some(_) => self.problem(ApplyProblem::InTheWay { path: self.host(&unknown) }),
                None => self.plan.notes.push(ApplyNote::Stays { path: self.host(at) }),
            }
        }
        Ok(staying)
    }

    /// Which staging directory serves a path: the one on its parent's mount.
    pub(super) fn staging_of(&mut self, at: &Where) -> usize {
        let mut directory = split_last(&at.path).0.to_vec();
        let folder = at.folder;
        let top = self.plan.folders[folder].look.place;
        let place = loop {
            match self.look_at_directory(&Where { folder, path: directory.as_slice().into() }) {
                Some(look) => break look.place,
                // It is going to be made, where its parent is.
                None if directory.is_empty() => break top,
                None => directory = split_last(&directory).0.to_vec(),
            }
        };
        while !directory.is_empty() {
            let above = Where { folder, path: split_last(&directory).0.into() };
            match self.look_at_directory(&above) {
                Some(look) if look.place == place => directory = above.path.to_vec(),
                _ => break,
            }
        }
        self.staging_in(folder, directory)
    }

    pub(super) fn staging_in(&mut self, folder: usize, directory: Vec<u8>) -> usize {
        let stagings = &mut self.plan.stagings;
        let known = |it: &PlannedStaging| it.folder == folder && it.directory == directory;
        stagings.iter().position(known).unwrap_or_else(|| {
            stagings.push(PlannedStaging { folder, directory, bytes: 0 });
            stagings.len() - 1
        })
    }

    /// How many names of each hard link the vault knows.
    pub(super) fn names_of_groups(&mut self) -> Result<&HashMap<u64, u32>> {
        if self.group_sizes.is_none() {
            let mut sizes = HashMap::new();
            for path in self.vault.links(&self.plan.before, &[])? {
                let entry = self.before.get(&VaultPath::parse(&path)?)?;
                if let Some(group) = entry.and_then(|entry| entry.group) {
                    *sizes.entry(group).or_default() += 1;
                }
            }
            self.group_sizes = Some(sizes);
        }
        Ok(self.group_sizes.as_ref().expect("it was just found"))
    }

    pub(super) fn look_at_directory(&mut self, at: &Where) -> Option<Look> {
        if let Some(known) = self.looks.get(at) {
            return *known;
        }
        let look = self.plan.folders[at.folder].look(&at.path).ok().flatten();
        let look = look.filter(Look::is_directory);
        self.looks.insert(at.clone(), look);
        look
    }

    /// Adds the metadata of every directory in which something is changed, or that is different itself, from the bottom up.
    pub(super) fn settle_directories(&mut self, changes: &Changes, after: &RootId) -> Result<()> {
        let mut directories: BTreeSet<Where> = BTreeSet::new();
        let mut last = None;
        for step in self.plan.steps.iter().filter(|step| !matches!(step.work, Work::Retouch { .. }))
        {
            let parent = step.at.parent();
            if last.as_ref() != Some(&parent) {
                last = Some(parent.clone());
                directories.insert(parent);
            }
        }
        let is_directory =
            |entry: &Option<Arc<Entry>>| entry.as_ref().is_some_and(|it| it.directory().is_some());
        let changed =
            changes.iter().filter(|(_, (old, new))| is_directory(old) || is_directory(new));
        directories.extend(changed.map(|(at, _)| at.clone()));
        let after = Tree::open(self.objects, after)?;
        let goes = |work: &Work| match work {
            Work::Remove { old } | Work::Replace { old, .. } => old.is_directory(),
            _ => false,
        };
        let removed = self.plan.steps.iter().filter(|step| goes(&step.work));
        let removed: BTreeSet<Where> = removed.map(|step| step.at.clone()).collect();
        for at in directories.into_iter().rev() {
            let path = self.in_tree(&at)?;
            let meta = |entry: Option<Entry>| {
                entry.filter(|it| it.directory().is_some()).map(|it| it.meta)
            };
            let (old, mut new) = (meta(self.before.get(&path)?), meta(after.get(&path)?));
            if new.is_none() && !removed.contains(&at) {
                // It stays, as it was.
                new.clone_from(&old);
            }
            let work = Work::Settle { metas: Box::new((old, new)) };
            self.plan.steps.push(Planned { at, staging: 0, work, file: None });
        }
        Ok(())
    }
}
