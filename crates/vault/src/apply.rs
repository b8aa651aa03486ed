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
pub(crate) mod ground;
mod journal;
pub(crate) mod plan;
pub(crate) mod problem;
pub(crate) mod rewritten;
pub(crate) mod shared;
mod stage;
mod stamp;
mod swap;
pub(crate) mod target;
mod touch;
pub(crate) mod unfinished;
mod writers;

use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::Duration;

use offshoot_host::disk;
use offshoot_host::lock::DirLock;
use offshoot_store::Id;
use offshoot_tree::RootId;
use serde_json::Value;

use ground::Ground;
use journal::{APPLIES, Journal, Step};
use plan::ApplyPlan;
use problem::{ApplyError, Kept};
use rewritten::Rewritten;

use crate::error::{Result, io_error};
use crate::vault::Vault;

/// The file that everybody locks who captures or changes a folder.
const LOCK: &str = "apply";

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
    rewritten: Rewritten<'v>,
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
        let mut apply = Apply {
            vault: self,
            journal,
            place,
            back: true,
            fresh: true,
            rewritten: Rewritten::default(),
            _lock: lock,
        };
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

    fn stage(&mut self, plan: &ApplyPlan) -> Result<(), ApplyError> {
        // First where things are staged: so a staging directory is found by whoever comes next.
        self.journal.write_places(&self.place)?;
        let applies = self.vault.dir().join(APPLIES);
        for directory in [applies.as_path(), self.vault.dir()] {
            disk::sync_dir(directory).map_err(io_error("sync", directory))?;
        }
        let mut staged = stage::stage(self.vault.objects()?, plan, &self.journal)?;
        self.journal.steps = Some(std::mem::take(&mut staged.steps));
        // Where vault and folder are on one file system, one sync is enough for both.
        let prepared = self.journal.prepare(&self.place)?;
        let file_systems = staged.sync()?;
        let own = std::fs::metadata(&self.place).map_err(io_error("stat", &self.place))?.dev();
        Ok(Journal::publish(&prepared, &self.place, file_systems.contains(&own))?)
    }

    fn steps(&self) -> impl DoubleEndedIterator<Item = (usize, &Step)> + ExactSizeIterator {
        self.journal.steps.as_deref().unwrap_or_default().iter().enumerate()
    }

    /// Clears up, once the catalog has recorded it, or after it was taken back. Gives what somebody wrote in the last
    /// moment to files that are out of the folder, and where it is now.
    pub fn finish(self) -> Result<Vec<Kept>> {
        finish::mark(&self.place, self.back)?;
        self.clear()
    }

    /// Lets go of it: the folders stay as they are, with what is staged in them. For folders that are not there any more, or are others.
    pub fn give_up(self) -> Result<()> {
        self.forget()
    }

    fn clear(self) -> Result<Vec<Kept>> {
        let ground = Ground::open(&self.journal, self.fresh).map_err(|problem| {
            let gone = std::io::Error::new(std::io::ErrorKind::NotFound, problem.to_string());
            io_error("clear up in", problem.path())(gone)
        })?;
        let kept = finish::clear(&ground, &self.journal, self.back)?;
        self.forget()?;
        Ok(kept)
    }

    fn forget(self) -> Result<()> {
        // In one moment it is none any more, however far removing it comes.
        let hidden = self.place.with_file_name(format!(".{}", self.journal.id));
        std::fs::rename(&self.place, &hidden).map_err(io_error("rename", &self.place))?;
        disk::remove_tree(&hidden).map_err(io_error("remove", &hidden))
    }
}
