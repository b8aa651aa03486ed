//! One change of folders: staged, done or taken back, and cleared up.

use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use offshoot_host::disk;
use offshoot_host::lock::DirLock;
use offshoot_store::Id;
use offshoot_tree::RootId;
use offshoot_vault::{FolderLock, Result, Vault};
use serde_json::Value;

use crate::error::io_error;
use crate::ground::Ground;
use crate::plan::ApplyPlan;
use crate::problem::{ApplyError, Kept};
use crate::rewritten::Rewritten;
use crate::step::{Journal, Step};
use crate::{finish, stage};

/// Everything that a change of folders needs is staged, and written down; [`Apply::swap`] makes it so. Dropped before
/// [`Apply::finish`], it is found again by [`UnfinishedApplies`](crate::UnfinishedApplies).
#[derive(Debug)]
pub struct Apply<'v> {
    pub(crate) vault: &'v Vault,
    pub(crate) journal: Journal,
    /// Its directory in the vault.
    pub(crate) place: PathBuf,
    /// It was taken back, and not done again since.
    pub(crate) back: bool,
    /// Nothing was moved yet.
    pub(crate) fresh: bool,
    pub(crate) rewritten: Rewritten<'v>,
    pub(crate) _lock: DirLock,
}

impl<'v> Apply<'v> {
    /// Writes everything new beside its place, and the journal; the folders have nothing but a staging directory more. From
    /// now on the apply is settled forwards should this process die.
    ///
    /// `id` names it, and `note` is kept for whoever settles it; the states that its `roots` list are not collected as garbage.
    /// On any error nothing is left behind.
    pub fn stage(
        vault: &'v Vault,
        _lock: &FolderLock,
        plan: ApplyPlan,
        id: Id,
        note: Value,
    ) -> Result<Self, ApplyError> {
        if !plan.problems().is_empty() {
            return Err(ApplyError::Problems(plan.problems().to_vec()));
        }
        vault.enter()?;
        let _held = vault.hold()?;
        let mut journal = Journal::new(id, plan.before, plan.after, plan.owners, note);
        stage::record(&plan, &mut journal)?;
        let applies = vault.applies_dir();
        std::fs::create_dir_all(&applies).map_err(io_error("create", &applies))?;
        let place = applies.join(id.to_string());
        let lock = DirLock::create(&place).map_err(io_error("create", &place))?;
        let mut apply = Self {
            vault,
            journal,
            place,
            back: true,
            fresh: true,
            rewritten: Rewritten::default(),
            _lock: lock,
        };
        match apply.stage_all(&plan) {
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

    fn stage_all(&mut self, plan: &ApplyPlan) -> Result<(), ApplyError> {
        // First where things are staged: so a staging directory is found by whoever comes next.
        self.journal.write_places(&self.place)?;
        let applies = self.vault.applies_dir();
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

    pub(crate) fn steps(
        &self,
    ) -> impl DoubleEndedIterator<Item = (usize, &Step)> + ExactSizeIterator {
        self.journal.steps.as_deref().unwrap_or_default().iter().enumerate()
    }

    /// Clears up, once the catalog has recorded it, or after it was taken back. Gives what somebody wrote in the last
    /// moment to files that are out of the folder, and where it is now.
    pub fn finish(self) -> Result<Vec<Kept>> {
        self.journal.mark(&self.place, self.back)?;
        self.clear()
    }

    /// Lets go of it: the folders stay as they are, with what is staged in them. For folders that are not there any more, or are others.
    pub fn give_up(self) -> Result<()> {
        self.forget()
    }

    pub(crate) fn clear(self) -> Result<Vec<Kept>> {
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
