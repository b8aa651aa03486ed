//! Changing folders of the host from one state to another, so that nobody's bytes are lost whatever happens meanwhile.
//!
//! In passes, each with its own type: [`ApplyPlan`] says what is to be done and what stands in the way; staging writes
//! everything new beside its place and a journal of what is to come; [`Apply::swap`] renames, looking at each file before and after;
//! [`Apply::finish`] clears up. A process that dies in between leaves an apply that another one
//! settles, forwards or back. The design is in `docs/design/commit.md`.
//!
//! The order for callers: [`Vault::lock_folders`], settle [`Vault::unfinished_applies`], capture, plan, stage, swap, commit to the
//! catalog, finish. They hold [`Vault::hold`] from the capture to the commit.

mod backward;
mod finish;
mod folder;
mod forward;
mod ground;
mod journal;
mod plan;
mod problem;
mod stage;
mod stamp;
mod touch;
mod unfinished;
mod writers;

pub use plan::ApplyPlan;
pub use problem::{ApplyError, ApplyNote, ApplyProblem, Kept};

pub(crate) use ground::is_staging;
pub(crate) use unfinished::pinned_roots;

use std::collections::BTreeSet;
use std::fs::File;
use std::path::PathBuf;
use std::time::Duration;

use offshoot_store::Id;
use serde_json::Value;

use ground::Ground;
use journal::{Action, Journal, Step};

use crate::disk::{self, split_last};
use crate::error::{Result, io_error};
use crate::hash::RootId;
use crate::layer::{DirLock, syncs_each};
use crate::path::VaultPath;
use crate::vault::Vault;

/// The directory of a vault with one directory for each apply.
const APPLIES: &str = "applies";
/// The file that everybody locks who captures or changes a folder.
const LOCK: &str = "apply";

/// A folder to change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApplyTarget {
    /// The host directory.
    pub directory: PathBuf,
    /// Where it is in the tree; the top for the first.
    pub at: VaultPath,
    /// Its device and inode, where they are known: another directory at its path is refused.
    pub identity: Option<(u64, u64)>,
}

/// How to change folders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ApplyOptions {
    /// Give files their recorded owners. Only root can; by default root does.
    pub owners: bool,
}

impl Default for ApplyOptions {
    fn default() -> Self {
        Self { owners: rustix::process::geteuid().is_root() }
    }
}

/// Keeps everybody else from capturing or changing the folders of a vault, until dropped; the kernel lets go of it when the
/// process dies.
#[derive(Debug)]
pub struct FolderLock {
    _held: File,
}

/// Everything that a change of folders needs is staged, and written down; [`Apply::swap`] makes it so. Dropped before
/// [`Apply::finish`], it is found again by [`Vault::unfinished_applies`].
#[derive(Debug)]
pub struct Apply<'v> {
    vault: &'v Vault,
    journal: Journal,
    /// Its directory in the vault.
    place: PathBuf,
    /// It was taken back, and not done again since.
    back: bool,
    /// Nothing was moved yet.
    fresh: bool,
    _lock: DirLock,
}

impl Vault {
    /// Waits up to `wait`, or for as long as it takes without one, until nobody else captures or changes a folder of this
    /// vault.
    pub fn lock_folders(&self, wait: Option<Duration>) -> Result<FolderLock> {
        self.enter()?;
        let held = crate::lock::take(&self.dir().join(LOCK), wait)?;
        Ok(FolderLock { _held: held })
    }

    /// Writes everything new beside its place, and the journal; the folders have nothing but a staging directory more. From
    /// now on the apply is settled forwards should this process die.
    ///
    /// `id` names it, and `note` is kept for whoever settles it; the states that its `roots` list are not collected as garbage.
    /// On any error nothing is left behind.
    pub fn stage_apply(
        &self,
        _lock: &FolderLock,
        plan: ApplyPlan,
        id: Id,
        note: Value,
    ) -> Result<Apply<'_>, ApplyError> {
        if !plan.problems().is_empty() {
            return Err(ApplyError::Problems(plan.problems().to_vec()));
        }
        self.enter()?;
        let _held = self.hold()?;
        let mut journal = Journal::new(id, plan.before, plan.after, plan.owners, note);
        stage::record(&plan, &mut journal)?;
        let applies = self.dir().join(APPLIES);
        std::fs::create_dir_all(&applies).map_err(io_error("create", &applies))?;
        let place = applies.join(id.to_string());
        let lock = DirLock::create(&place).map_err(io_error("create", &place))?;
        let mut apply = Apply { vault: self, journal, place, back: true, fresh: true, _lock: lock };
        match apply.stage(&plan) {
            Ok(()) => {
                apply.back = false;
                Ok(apply)
            }
            Err(error) => {
                // The first error is the one to report; what is left is cleared when the next one settles.
                apply.journal.steps = None;
                drop(apply.finish());
                Err(error)
            }
        }
    }
}

impl Apply<'_> {
    /// Its id.
    pub fn id(&self) -> Id {
        self.journal.id
    }

    /// What the caller noted when it was staged.
    pub fn note(&self) -> &Value {
        &self.journal.note
    }

    /// The state that the folders had.
    pub fn before(&self) -> RootId {
        self.journal.before
    }

    /// The state that they get.
    pub fn after(&self) -> RootId {
        self.journal.after
    }

    /// The folders.
    pub fn folders(&self) -> Vec<PathBuf> {
        let folders = self.journal.folders.iter();
        folders.map(|folder| disk::bytes_path(&folder.path.0).to_owned()).collect()
    }

    /// Whether all was staged, so that the folders may have been changed. If not, only [`Apply::finish`] is left.
    pub fn begun(&self) -> bool {
        self.journal.steps.is_some()
    }

    fn stage(&mut self, plan: &ApplyPlan) -> Result<(), ApplyError> {
        // First where things are staged: so a staging directory is found by whoever comes next.
        self.journal.write(&self.place)?;
        let applies = self.vault.dir().join(APPLIES);
        for directory in [applies.as_path(), self.vault.dir()] {
            disk::sync_dir(directory).map_err(io_error("sync", directory))?;
        }
        let steps = stage::stage(self.vault.objects()?, plan, &self.journal)?;
        self.journal.steps = Some(steps);
        Ok(self.journal.write(&self.place)?)
    }

    fn steps(&self) -> impl DoubleEndedIterator<Item = (usize, &Step)> + ExactSizeIterator {
        self.journal.steps.as_deref().unwrap_or_default().iter().enumerate()
    }

    /// Brings the folders to their new state, from wherever they are in between. Where somebody changes what is to be
    /// replaced, or a call fails, all is taken back.
    pub fn swap(&mut self) -> Result<(), ApplyError> {
        let ground = self.ground()?;
        self.fresh = false;
        let stopped = match self.forward(&ground) {
            Ok(Stop::Nothing) => {
                self.back = false;
                return Ok(());
            }
            Ok(Stop::Interfered { path, kept }) => (Ok(path), kept),
            Err(error) => (Err(error), Vec::new()),
        };
        let (cause, mut kept) = stopped;
        let back = self.backward(&ground);
        let (paths, more) = match back {
            Ok(back) => back,
            Err(source) => return Err(ApplyError::Stuck { source: Box::new(source), kept }),
        };
        kept.extend(more);
        self.back = true;
        Err(match cause {
            Ok(path) => {
                let paths: BTreeSet<PathBuf> = paths.into_iter().chain([path]).collect();
                ApplyError::Interfered { paths: paths.into_iter().collect(), kept }
            }
            Err(source) => ApplyError::Failed { source: Box::new(source), kept },
        })
    }

    /// Brings the folders back to their old state, from wherever they are in between. What somebody changed since stays as
    /// they left it: that is told by [`ApplyError::Interfered`], and all else is taken back all the same.
    pub fn take_back(&mut self) -> Result<(), ApplyError> {
        let ground = self.ground()?;
        let (paths, kept) = self
            .backward(&ground)
            .map_err(|source| ApplyError::Stuck { source: Box::new(source), kept: Vec::new() })?;
        self.back = true;
        if paths.is_empty() && kept.is_empty() {
            return Ok(());
        }
        Err(ApplyError::Interfered { paths, kept })
    }

    /// Clears up, once the catalog has recorded it, or after it was taken back. Gives what somebody wrote in the last
    /// moment to files that are out of the folder, and where it is now.
    pub fn finish(self) -> Result<Vec<Kept>> {
        finish::mark(&self.place, self.back)?;
        self.clear()
    }

    fn clear(self) -> Result<Vec<Kept>> {
        let kept = match Ground::open(&self.journal, self.fresh) {
            Ok(ground) => finish::clear(&ground, &self.journal, self.back)?,
            // A folder that is gone took what was staged in it along.
            Err(_) => Vec::new(),
        };
        disk::remove_tree(&self.place).map_err(io_error("remove", &self.place))?;
        Ok(kept)
    }

    fn ground(&self) -> Result<Ground, ApplyError> {
        let ground = Ground::open(&self.journal, self.fresh)
            .map_err(|problem| ApplyError::Problems(vec![problem]))?;
        if let Some(lost) =
            (0..self.journal.stagings.len()).find(|it| ground.staging(*it).is_none())
        {
            let folder = &ground.folders[self.journal.stagings[lost].folder];
            let problem = ApplyProblem::NotThatFolder { path: folder.host(b"") };
            return Err(ApplyError::Problems(vec![problem]));
        }
        if !rustix::process::geteuid().is_root() {
            let settled =
                self.steps().rev().filter(|(_, it)| matches!(it.action, Action::Settle { .. }));
            for (_, step) in settled {
                touch::open_up(&ground, step)?;
            }
        }
        Ok(ground)
    }

    fn forward(&self, ground: &Ground) -> Result<Stop> {
        let owners = self.journal.owners;
        for (number, step) in self.steps() {
            if let forward::Outcome::Interfered(kept) = forward::step(ground, number, step, owners)?
            {
                return Ok(Stop::Interfered { path: ground.host(step), kept });
            }
        }
        self.sync(ground)?;
        self.written_since(ground)
    }

    /// Whether somebody wrote to what was taken out, or can still do so.
    fn written_since(&self, ground: &Ground) -> Result<Stop> {
        let mut files = std::collections::HashMap::new();
        for (number, step) in self.steps() {
            let (Action::Replace { old, .. } | Action::Remove { old }) = &step.action else {
                continue;
            };
            let site = ground.site(number, step)?;
            if !forward::holds(&site, old)? {
                return Ok(Stop::Interfered { path: ground.host(step), kept: Vec::new() });
            }
            if let Some(out) = site.in_slot()?.filter(|_| old.is_file()) {
                files.insert((out.place.device, out.inode), number);
            }
        }
        let writer = writers::writers(&files).into_keys().next();
        let step = writer.and_then(|number| self.steps().nth(number));
        Ok(match step {
            Some((_, step)) => Stop::Interfered { path: ground.host(step), kept: Vec::new() },
            None => Stop::Nothing,
        })
    }

    fn backward(&self, ground: &Ground) -> Result<(Vec<PathBuf>, Vec<Kept>)> {
        let owners = self.journal.owners;
        let (mut paths, mut kept) = (Vec::new(), Vec::new());
        let (settled, moved): (Vec<_>, Vec<_>) =
            self.steps().partition(|(_, it)| matches!(it.action, Action::Settle { .. }));
        // Metadata of directories last, also on the way back.
        for (number, step) in moved.into_iter().rev().chain(settled) {
            let back = backward::step(ground, number, step, owners)?;
            paths.extend(back.changed.then(|| ground.host(step)));
            kept.extend(back.kept);
        }
        self.sync(ground)?;
        Ok((paths, kept))
    }

    /// Makes all renames durable: directory by directory where there are few.
    fn sync(&self, ground: &Ground) -> Result<()> {
        let mut places: BTreeSet<(usize, &[u8])> = BTreeSet::new();
        for (_, step) in self.steps() {
            let path = match step.action {
                Action::Settle { .. } | Action::Retouch { .. } => step.path.0.as_slice(),
                _ => split_last(&step.path.0).0,
            };
            places.insert((step.folder, path));
        }
        let few = syncs_each(places.len() as u64);
        for (folder, path) in places {
            let folder = &ground.folders[folder];
            let host = folder.host(path);
            // What was taken away needs no sync, and what cannot be opened is synced with everything else.
            let Ok(opened) = folder.file(path) else { continue };
            if few {
                rustix::fs::fsync(&opened).map_err(io_error("sync", &host))?;
            } else {
                rustix::fs::syncfs(&opened).map_err(io_error("sync", &host))?;
                break;
            }
        }
        for number in 0..self.journal.stagings.len() {
            self.sync_staging(ground, number, few)?;
        }
        Ok(())
    }

    fn sync_staging(&self, ground: &Ground, number: usize, few: bool) -> Result<()> {
        let record = &self.journal.stagings[number];
        let folder = &ground.folders[record.folder];
        let path = disk::join(&record.directory.0, &ground::staging_name(&self.journal.id));
        let host = folder.host(&path);
        let opened = folder.readable(&path).map_err(io_error("open", &host))?;
        let synced = if few { rustix::fs::fsync(&opened) } else { rustix::fs::syncfs(&opened) };
        synced.map_err(io_error("sync", &host))
    }
}

/// Why going forwards ended.
enum Stop {
    /// All is done.
    Nothing,
    /// Somebody changed what is at this path.
    Interfered { path: PathBuf, kept: Vec<Kept> },
}
