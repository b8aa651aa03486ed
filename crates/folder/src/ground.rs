//! The folders of an apply and its staging directories, open.

use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;

use offshoot_host::disk;
use offshoot_host::disk::{join, split_last};
use offshoot_store::Id;
use offshoot_vault::{Result, VaultError, staging_name};
use rustix::fs::{self, OFlags, RenameFlags};
use rustix::io::Errno;

use crate::error::io_error;
use crate::folder::{Folder, Spot};
use crate::problem::{ApplyProblem, Kept};
use crate::stamp::{Kind, Look, Stamp, look, look_at, missing_is_none};
use crate::step::{Journal, Step};

/// The file of a staging directory that keeps git from taking the directory in: it ignores all that is there, itself too.
pub(crate) const IGNORE: &[u8] = b".gitignore";
/// A larger file is not read to see what it means.
const MOST_READ: u64 = 64 << 20;
/// So many names are tried to keep something beside its place.
const NAMES: usize = 100;

/// The name in a staging directory of what belongs to a step.
pub(crate) fn slot_name(number: usize) -> Vec<u8> {
    number.to_string().into_bytes()
}

/// Everything open that an apply works with.
#[derive(Debug)]
pub(crate) struct Ground {
    id: Id,
    /// Nothing was moved yet: then even the times that moving changes must be as they were.
    fresh: bool,
    pub(crate) folders: Vec<Folder>,
    stagings: Vec<Option<OwnedFd>>,
}

/// A step with the descriptors that it needs.
#[derive(Debug)]
pub(crate) struct Site<'g> {
    pub(crate) step: &'g Step,
    folder: &'g Folder,
    staging: BorrowedFd<'g>,
    slot: Vec<u8>,
    id: Id,
    fresh: bool,
}

impl Ground {
    /// Opens the folders of a journal. The inode tells that they are the right ones, and where there is no staging directory in it the
    /// device as well. A copy of a folder has other inodes, by which nobody could see how far it came.
    pub(crate) fn open(journal: &Journal, fresh: bool) -> std::result::Result<Self, ApplyProblem> {
        let mut folders = Vec::new();
        for (number, record) in journal.folders.iter().enumerate() {
            let staged = journal.stagings.iter().any(|staging| staging.folder == number);
            let identity = ((!staged).then_some(record.device), record.inode);
            folders.push(Folder::open(disk::bytes_path(&record.path.0), Some(identity))?);
        }
        let mut stagings = Vec::new();
        for record in &journal.stagings {
            let path = join(&record.directory.0, &staging_name(&journal.id));
            stagings.push(folders[record.folder].directory(&path).ok());
        }
        Ok(Self { id: journal.id, fresh, folders, stagings })
    }

    /// The host path of a step.
    pub(crate) fn host(&self, step: &Step) -> PathBuf {
        self.folders[step.folder].host(&step.path.0)
    }

    /// The staging directory of a number, if it is there.
    pub(crate) fn staging(&self, number: usize) -> Option<BorrowedFd<'_>> {
        self.stagings.get(number)?.as_ref().map(AsFd::as_fd)
    }

    /// A step that moves a name.
    pub(crate) fn site<'g>(&'g self, number: usize, step: &'g Step) -> Result<Site<'g>> {
        let folder = &self.folders[step.folder];
        let staging = self.staging(step.staging).ok_or_else(|| {
            let path = folder.host(&staging_name(&self.id));
            io_error("open", &path)(Errno::NOENT)
        })?;
        Ok(Site { step, folder, staging, slot: slot_name(number), id: self.id, fresh: self.fresh })
    }
}

impl Site<'_> {
    /// The place of the path; nothing where its directory is gone.
    pub(crate) fn spot(&self) -> Result<Option<Spot<'_>>> {
        self.folder.spot(&self.step.path.0).map_err(self.failed("open"))
    }

    /// What is at a place.
    pub(crate) fn at(&self, spot: &Spot<'_>) -> Result<Option<Look>> {
        spot.look().map_err(self.failed("stat"))
    }

    /// The host path.
    pub(crate) fn host(&self) -> PathBuf {
        self.folder.host(&self.step.path.0)
    }

    /// The bytes of a file at the path, as long as it is the one that was looked at.
    pub(crate) fn bytes(&self, there: &Look) -> std::io::Result<Option<Vec<u8>>> {
        if there.kind != Kind::File || there.size > MOST_READ {
            return Ok(None);
        }
        let mut file = File::from(self.folder.file(&self.step.path.0)?);
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let now = look_at(file.as_fd())?;
        Ok(Stamp::of_new(there).is(&now).then_some(bytes))
    }

    /// Whether what is at the path is what was captured.
    pub(crate) fn is_as_captured(&self, there: &Look, old: &Stamp) -> Result<bool> {
        let same = if self.fresh { old.is_untouched(there) } else { old.is(there) };
        Ok(same && self.is_empty(there)?)
    }

    /// What is staged.
    pub(crate) fn in_slot(&self) -> Result<Option<Look>> {
        look(self.staging, &self.slot).map_err(self.failed("stat"))
    }

    /// Exchanges what is staged and what is at the path; false where one of the two is not there.
    pub(crate) fn exchange(&self, spot: &Spot<'_>) -> Result<bool> {
        self.moved(fs::renameat_with(
            self.staging,
            disk::bytes_path(&self.slot),
            spot.at(),
            disk::bytes_path(spot.name),
            RenameFlags::EXCHANGE,
        ))
    }

    /// Moves what is staged to the path; false where something is there, or nothing is staged.
    pub(crate) fn move_in(&self, spot: &Spot<'_>) -> Result<bool> {
        self.moved(fs::renameat_with(
            self.staging,
            disk::bytes_path(&self.slot),
            spot.at(),
            disk::bytes_path(spot.name),
            RenameFlags::NOREPLACE,
        ))
    }

    /// Moves what is at the path into staging; false where nothing is there, or something is staged.
    pub(crate) fn move_out(&self, spot: &Spot<'_>) -> Result<bool> {
        self.moved(fs::renameat_with(
            spot.at(),
            disk::bytes_path(spot.name),
            self.staging,
            disk::bytes_path(&self.slot),
            RenameFlags::NOREPLACE,
        ))
    }

    fn moved(&self, result: std::result::Result<(), Errno>) -> Result<bool> {
        match result {
            Ok(()) => Ok(true),
            Err(Errno::NOENT | Errno::EXIST | Errno::NOTDIR) => Ok(false),
            Err(error) => Err(self.failed("rename")(error)),
        }
    }

    /// Whether a directory at the path has nothing in it; true for all that is no directory.
    pub(crate) fn is_empty(&self, look: &Look) -> Result<bool> {
        if !look.is_directory() {
            return Ok(true);
        }
        let opened = missing_is_none(self.folder.readable(&self.step.path.0));
        self.has_no_names(opened)
    }

    /// The same for what is staged.
    pub(crate) fn slot_is_empty(&self, look: &Look) -> Result<bool> {
        if !look.is_directory() {
            return Ok(true);
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let opened = missing_is_none(disk::open_below(self.staging, &self.slot, flags));
        self.has_no_names(opened)
    }

    fn has_no_names(&self, opened: std::result::Result<Option<OwnedFd>, Errno>) -> Result<bool> {
        let Some(opened) = opened.map_err(self.failed("open"))? else { return Ok(true) };
        let names = disk::names(opened.as_fd());
        let host = || self.folder.host(&self.step.path.0);
        Ok(names.map_err(|error| io_error("read", &host())(error))?.is_empty())
    }

    /// Moves what is staged to a new name beside the path: it is somebody's, and its place is taken.
    pub(crate) fn keep_aside(&self) -> Result<Option<Kept>> {
        if self.in_slot()?.is_none() {
            return Ok(None);
        }
        let path = &self.step.path.0;
        let (parent, name) = split_last(path);
        let parent = if self.spot()?.is_some() { parent } else { &[] };
        let into = self.folder.directory(parent).map_err(self.failed("open"))?;
        for number in 1..=NAMES {
            let beside = beside(name, &self.id, number);
            let (from, to) = (disk::bytes_path(&self.slot), disk::bytes_path(&beside));
            match fs::renameat_with(self.staging, from, &into, to, RenameFlags::NOREPLACE) {
                Ok(()) => {
                    let place = self.folder.host(&join(parent, &beside));
                    return Ok(Some(Kept { path: self.folder.host(path), place }));
                }
                Err(Errno::EXIST) => {}
                Err(error) => return Err(self.failed("keep")(error)),
            }
        }
        Err(self.failed("keep")(Errno::EXIST))
    }

    fn failed(&self, action: &'static str) -> impl FnOnce(Errno) -> VaultError + use<> {
        let path = self.folder.host(&self.step.path.0);
        move |error| io_error(action, &path)(error)
    }
}

fn beside(name: &[u8], id: &Id, number: usize) -> Vec<u8> {
    let suffix = match number {
        1 => format!(".kept-{}", id.short()),
        _ => format!(".kept-{}-{number}", id.short()),
    };
    let length = name.len().min(255 - suffix.len());
    [&name[..length], suffix.as_bytes()].concat()
}
