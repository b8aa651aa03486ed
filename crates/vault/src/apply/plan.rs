//! What has to be done to a folder, and everything that stands in the way.

mod captured;
mod checks;
mod classes;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;

use super::folder::Folder;
use super::problem::{ApplyNote, ApplyProblem};
use super::stamp::{Kind, Look, Stamp};
use super::writers::FileKey;
use super::{ApplyOptions, ApplyTarget};
use crate::diff;
use crate::disk::{join, split_last};
use crate::entry::{Entry, EntryKind, Meta};
use crate::error::Result;
use crate::hash::RootId;
use crate::objects::Objects;
use crate::path::VaultPath;
use crate::tree::Tree;
use crate::vault::Vault;

/// Where, in the tree, the folders are that are not the first.
const BOUND: [&[u8]; 2] = [b".offshoot", b"bound"];

/// What an apply is going to do. Nothing was written yet.
#[derive(Debug)]
pub struct ApplyPlan {
    pub(super) targets: Vec<ApplyTarget>,
    pub(super) before: RootId,
    pub(super) after: RootId,
    pub(super) owners: bool,
    pub(super) steps: Vec<Planned>,
    pub(super) stagings: Vec<PlannedStaging>,
    pub(super) folders: Vec<Folder>,
    problems: Vec<ApplyProblem>,
    notes: Vec<ApplyNote>,
}

/// A path in a folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Where {
    pub(super) folder: usize,
    pub(super) path: Vec<u8>,
}

/// One step.
#[derive(Debug)]
pub(super) struct Planned {
    pub(super) at: Where,
    pub(super) staging: usize,
    pub(super) work: Work,
}

/// What is done at a path; see the actions of the journal.
#[derive(Debug)]
pub(super) enum Work {
    Put { after: Entry },
    Replace { old: Stamp, after: Entry },
    Remove { old: Stamp },
    Retouch { old: Stamp, before: Meta, after: Meta },
    Settle { before: Option<Meta>, after: Option<Meta> },
}

/// Where a staging directory goes.
#[derive(Debug)]
pub(super) struct PlannedStaging {
    pub(super) folder: usize,
    pub(super) directory: Vec<u8>,
    /// The bytes that will be staged there.
    pub(super) bytes: u64,
}

impl ApplyPlan {
    /// Everything that stands in the way; with any, nothing can be staged.
    pub fn problems(&self) -> &[ApplyProblem] {
        &self.problems
    }

    /// What is worth knowing.
    pub fn notes(&self) -> &[ApplyNote] {
        &self.notes
    }

    /// The host paths that will be changed, in the order in which they are.
    pub fn steps(&self) -> impl Iterator<Item = PathBuf> {
        self.steps.iter().map(|step| self.folders[step.at.folder].host(&step.at.path))
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }
}

impl Vault {
    /// Says what it takes to bring folders from the state `before`, which they have, to `after`, and everything that stands
    /// in the way. Reads only.
    pub fn plan_apply(
        &self,
        targets: &[ApplyTarget],
        before: &RootId,
        after: &RootId,
        options: &ApplyOptions,
    ) -> Result<ApplyPlan> {
        let mut plan = ApplyPlan {
            targets: targets.to_vec(),
            before: *before,
            after: *after,
            owners: options.owners,
            steps: Vec::new(),
            stagings: Vec::new(),
            folders: Vec::new(),
            problems: Vec::new(),
            notes: Vec::new(),
        };
        for target in targets {
            match Folder::open(&target.directory, target.identity) {
                Ok(folder) => plan.folders.push(folder),
                Err(problem) => plan.problems.push(problem),
            }
        }
        if !plan.problems.is_empty() {
            return Ok(plan);
        }
        let objects = self.objects()?;
        let mut changes = Changes::default();
        for change in diff::compare(objects, before, after)? {
            if let Some(at) = locate(targets, &change.path) {
                changes.insert(at, (change.before, change.after));
            }
        }
        let regrouped = classes::regrouped(self, targets, before, after, &changes)?;
        let mut planner = Planner {
            vault: self,
            objects,
            before: Tree::open(objects, before)?,
            plan,
            looks: HashMap::new(),
            files: HashMap::new(),
            group_sizes: None,
        };
        for (at, (old, new)) in &regrouped {
            changes.entry(at.clone()).or_insert_with(|| (Some(old.clone()), Some(new.clone())));
        }
        planner.steps(&changes, &regrouped.into_iter().map(|(at, _)| at).collect())?;
        planner.settle_directories(&changes, after)?;
        planner.check()?;
        Ok(planner.plan)
    }
}

/// What is different, by where.
type Changes = BTreeMap<Where, (Option<Entry>, Option<Entry>)>;

/// The folder that a path of the tree belongs to, and where in it.
fn locate(targets: &[ApplyTarget], path: &VaultPath) -> Option<Where> {
    let within = targets.iter().enumerate().filter(|(_, target)| path.is_within(&target.at));
    let (folder, target) = within.max_by_key(|(_, target)| target.at.names().len())?;
    let below = &path.names()[target.at.names().len()..];
    // Other folders are no part of the first, also where they are not among the targets.
    if target.at.is_top()
        && below.len() >= BOUND.len()
        && below.iter().zip(BOUND).all(|(a, b)| a == b)
    {
        return None;
    }
    Some(Where { folder, path: below.join(&b'/') })
}

struct Planner<'v> {
    vault: &'v Vault,
    objects: &'v Objects,
    before: Tree<'v>,
    plan: ApplyPlan,
    /// The directories that were looked at; nothing where there is none.
    looks: HashMap<Where, Option<Look>>,
    /// The files that go, by device and inode.
    files: HashMap<Where, FileKey>,
    /// How many names of each hard link the vault knows; found when first needed.
    group_sizes: Option<HashMap<u64, u32>>,
}

impl Planner<'_> {
    fn problem(&mut self, problem: ApplyProblem) {
        self.plan.problems.push(problem);
    }

    fn host(&self, at: &Where) -> PathBuf {
        self.plan.folders[at.folder].host(&at.path)
    }

    /// The path in the tree.
    fn in_tree(&self, at: &Where) -> VaultPath {
        let mut path = self.plan.targets[at.folder].at.clone();
        for name in at.path.split(|&byte| byte == b'/').filter(|name| !name.is_empty()) {
            path = path.join(name);
        }
        path
    }

    /// Makes the steps: what comes from the top down, then what goes from the bottom up.
    fn steps(&mut self, changes: &Changes, regrouped: &BTreeSet<Where>) -> Result<()> {
        let verified = captured::verify(&self.plan.folders, changes);
        let staying = self.staying(changes)?;
        let (mut coming, mut going) = (Vec::new(), Vec::new());
        for (at, (old, new)) in changes {
            let stamp = match verified.get(at) {
                Some(Err(problem)) => {
                    self.problem(problem.clone());
                    continue;
                }
                Some(Ok(look)) => {
                    self.note_links(at, look, old.as_ref())?;
                    if look.kind == Kind::File {
                        self.files.insert(at.clone(), (look.place.device, look.inode));
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
            let planned = Planned { at: at.clone(), staging, work };
            if goes { going.push(planned) } else { coming.push(planned) }
        }
        going.reverse();
        coming.append(&mut going);
        self.plan.steps = coming;
        Ok(())
    }

    /// What it takes to make something of something else; nothing where it is the same on disk.
    fn change(&self, before: &Entry, after: &Entry, old: Stamp, again: bool) -> Option<Work> {
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
            true => Work::Retouch { old, before: from.clone(), after: to.clone() },
            // Neither can be opened to be changed, and both are made anew in no time.
            false => Work::Replace { old, after: after.clone() },
        })
    }

    /// Removed directories that hold something that the vault does not know, and those above them that are removed.
    fn staying(&mut self, changes: &Changes) -> Result<BTreeSet<Where>> {
        let mut staying = BTreeSet::new();
        for (at, (old, new)) in changes.iter().rev() {
            let Some(dir) = old.as_ref().and_then(Entry::directory) else { continue };
            if new.as_ref().is_some_and(|new| new.directory().is_some()) {
                continue;
            }
            let known = self.objects.entries(dir)?;
            let Ok(listing) = self.plan.folders[at.folder].readable(&at.path) else { continue };
            let names = crate::disk::names(std::os::fd::AsFd::as_fd(&listing)).unwrap_or_default();
            let is_known = |name: &Vec<u8>| known.binary_search_by(|it| it.name.cmp(name)).is_ok();
            let unknown = names.iter().find(|name| !is_known(name));
            let below = |it: &Where| it.folder == at.folder && split_last(&it.path).0 == at.path;
            let unknown =
                unknown.map(|name| Where { folder: at.folder, path: join(&at.path, name) });
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
    fn staging_of(&mut self, at: &Where) -> usize {
        let mut directory = split_last(&at.path).0.to_vec();
        let folder = at.folder;
        let top = self.plan.folders[folder].look.place;
        let place = loop {
            match self.look_at_directory(&Where { folder, path: directory.clone() }) {
                Some(look) => break look.place,
                // It is going to be made, where its parent is.
                None if directory.is_empty() => break top,
                None => directory = split_last(&directory).0.to_vec(),
            }
        };
        while !directory.is_empty() {
            let above = Where { folder, path: split_last(&directory).0.to_vec() };
            match self.look_at_directory(&above) {
                Some(look) if look.place == place => directory = above.path,
                _ => break,
            }
        }
        self.staging_in(folder, directory)
    }

    fn staging_in(&mut self, folder: usize, directory: Vec<u8>) -> usize {
        let stagings = &mut self.plan.stagings;
        let known = |it: &PlannedStaging| it.folder == folder && it.directory == directory;
        stagings.iter().position(known).unwrap_or_else(|| {
            stagings.push(PlannedStaging { folder, directory, bytes: 0 });
            stagings.len() - 1
        })
    }

    /// How many names of each hard link the vault knows.
    fn names_of_groups(&mut self) -> Result<&HashMap<u64, u32>> {
        if self.group_sizes.is_none() {
            let mut sizes = HashMap::new();
            for path in self.vault.linked_paths(&self.plan.before, &[])?.paths() {
                let entry = self.before.get(&VaultPath::parse(path)?)?;
                if let Some(group) = entry.and_then(|entry| entry.group) {
                    *sizes.entry(group).or_default() += 1;
                }
            }
            self.group_sizes = Some(sizes);
        }
        Ok(self.group_sizes.as_ref().expect("it was just found"))
    }

    fn look_at_directory(&mut self, at: &Where) -> Option<Look> {
        if let Some(known) = self.looks.get(at) {
            return *known;
        }
        let look = self.plan.folders[at.folder].look(&at.path).ok().flatten();
        let look = look.filter(Look::is_directory);
        self.looks.insert(at.clone(), look);
        look
    }

    /// Adds the metadata of every directory in which something is changed, or that is different itself, from the bottom up.
    fn settle_directories(&mut self, changes: &Changes, after: &RootId) -> Result<()> {
        let mut directories: BTreeSet<Where> = BTreeSet::new();
        for step in self.plan.steps.iter().filter(|step| !matches!(step.work, Work::Retouch { .. }))
        {
            let path = split_last(&step.at.path).0.to_vec();
            directories.insert(Where { folder: step.at.folder, path });
        }
        let is_directory =
            |entry: &Option<Entry>| entry.as_ref().is_some_and(|it| it.directory().is_some());
        let changed =
            changes.iter().filter(|(_, (old, new))| is_directory(old) || is_directory(new));
        directories.extend(changed.map(|(at, _)| at.clone()));
        let after = Tree::open(self.objects, after)?;
        let removed = self.plan.steps.iter().filter(|step| !matches!(step.work, Work::Put { .. }));
        let removed: BTreeSet<Where> = removed.map(|step| step.at.clone()).collect();
        for at in directories.into_iter().rev() {
            let path = self.in_tree(&at);
            let meta = |entry: Option<Entry>| {
                entry.filter(|it| it.directory().is_some()).map(|it| it.meta)
            };
            let (old, mut new) = (meta(self.before.get(&path)?), meta(after.get(&path)?));
            if new.is_none() && !removed.contains(&at) {
                // It stays, as it was.
                new.clone_from(&old);
            }
            let work = Work::Settle { before: old, after: new };
            self.plan.steps.push(Planned { at, staging: 0, work });
        }
        Ok(())
    }
}
