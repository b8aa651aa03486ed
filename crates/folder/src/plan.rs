//! What has to be done to a folder, and everything that stands in the way.

mod captured;
mod checks;
mod classes;
pub(crate) mod paths;
mod steps;

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use offshoot_host::disk::join;
use offshoot_tree::{Entry, Meta, RootId, Tree, VaultPath, diff};
use offshoot_vault::{Result, Vault, bound_path};

use crate::folder::Folder;
use crate::problem::{ApplyNote, ApplyProblem};
use crate::stamp::Stamp;
use crate::target::{ApplyOptions, ApplyTarget};
use crate::writers::FileKey;
use paths::{Changes, Pair, Where, locate};
use steps::Planner;

/// What an apply is going to do. Nothing was written yet.
#[derive(Debug)]
pub struct ApplyPlan {
    pub(crate) targets: Vec<ApplyTarget>,
    pub(crate) before: RootId,
    pub(crate) after: RootId,
    pub(crate) owners: bool,
    pub(crate) stays: fn(&VaultPath) -> bool,
    pub(crate) steps: Vec<Planned>,
    pub(crate) stagings: Vec<PlannedStaging>,
    pub(crate) folders: Vec<Folder>,
    problems: Vec<ApplyProblem>,
    notes: Vec<ApplyNote>,
}

impl ApplyPlan {
    /// Whether what is new at a path stays there also where everything else is taken back.
    pub(crate) fn stays(&self, at: &Where) -> bool {
        let below = VaultPath::parse(&at.path);
        below.is_ok_and(|below| (self.stays)(&self.targets[at.folder].at.concat(&below)))
    }
}

/// One step.
#[derive(Debug)]
pub(crate) struct Planned {
    pub(crate) at: Where,
    pub(crate) staging: usize,
    pub(crate) work: Work,
    /// The file that is there, where one is.
    pub(crate) file: Option<FileKey>,
}

/// What is done at a path; see the actions of the journal.
#[derive(Debug)]
pub(crate) enum Work {
    Put {
        after: Arc<Entry>,
    },
    Replace {
        old: Stamp,
        after: Arc<Entry>,
    },
    Remove {
        old: Stamp,
    },
    /// From and to.
    Retouch {
        old: Stamp,
        metas: Box<(Meta, Meta)>,
    },
    /// From and to.
    Settle {
        metas: Box<(Option<Meta>, Option<Meta>)>,
    },
}

/// Where a staging directory goes.
#[derive(Debug)]
pub(crate) struct PlannedStaging {
    pub(crate) folder: usize,
    pub(crate) directory: Vec<u8>,
    /// The bytes that will be staged there.
    pub(crate) bytes: u64,
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

    fn open_folders(&mut self) {
        for target in &self.targets {
            let identity = target.identity.map(|(device, inode)| (Some(device), inode));
            match Folder::open(&target.directory, identity) {
                Ok(folder) => self.folders.push(folder),
                Err(problem) => self.problems.push(problem),
            }
        }
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Says what it takes to bring folders from the state `before`, which they have, to `after`, and everything that stands
    /// in the way. Reads only.
    pub fn new(
        vault: &Vault,
        targets: &[ApplyTarget],
        before: &RootId,
        after: &RootId,
        options: &ApplyOptions,
    ) -> Result<Self> {
        let mut plan = Self {
            targets: targets.to_vec(),
            before: *before,
            after: *after,
            owners: options.owners,
            stays: options.stays,
            steps: Vec::new(),
            stagings: Vec::new(),
            folders: Vec::new(),
            problems: Vec::new(),
            notes: Vec::new(),
        };
        plan.open_folders();
        if plan.problems.is_empty() { plan.fill(vault) } else { Ok(plan) }
    }

    fn fill(self, vault: &Vault) -> Result<Self> {
        let (before, after, targets) = (&{ self.before }, &{ self.after }, &self.targets);
        let objects = vault.objects()?;
        let mut changes = Changes::default();
        for change in diff::compare(objects, before, after)? {
            if let Some(at) = locate(targets, &change.path) {
                changes.insert(at, (change.before, change.after));
            }
        }
        make_own(&self, &mut changes, Tree::open(objects, after)?.get(&own_path())?);
        let regrouped = classes::regrouped(vault, targets, before, after, &changes)?;
        let mut planner = Planner {
            vault,
            objects,
            before: Tree::open(objects, before)?,
            plan: self,
            looks: HashMap::new(),
            group_sizes: None,
        };
        let mut again = BTreeSet::new();
        for (at, (old, new)) in regrouped {
            changes.entry(at.clone()).or_insert_with(|| (Some(old.into()), Some(new.into())));
            again.insert(at);
        }
        planner.steps(&changes, &again)?;
        planner.settle_directories(&changes, after)?;
        planner.check(&changes)?;
        Ok(planner.plan)
    }
}

/// The directory of a tree that holds what belongs to Offshoot.
fn own_path() -> VaultPath {
    bound_path().parent().expect("bound folders lie in it")
}

/// The directory that holds other folders may be in the tree alone; what else comes into it needs it on disk.
fn make_own(plan: &ApplyPlan, changes: &mut Changes, after: Option<Entry>) {
    let Some(at) = locate(&plan.targets, &own_path()) else { return };
    let is_there = plan.folders[at.folder].look(&at.path).is_ok_and(|look| look.is_some());
    let holds_others = plan.targets.iter().any(|target| target.at.is_within(&bound_path()));
    if is_there || !holds_others {
        return;
    }
    changes.remove(&at);
    let is_below = |it: &Where| it.folder == at.folder && it.path.starts_with(&join(&at.path, b""));
    let comes = |(it, pair): (&Where, &Pair)| is_below(it) && pair.1.is_some();
    if changes.iter().any(comes) {
        changes.insert(at, (None, after.map(Arc::new)));
    }
}
