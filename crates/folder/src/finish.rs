//! Clearing away what an apply left: staged and replaced files, and its journal.

use std::os::fd::{AsFd, BorrowedFd};

use offshoot_host::disk::join;
use offshoot_host::workers::share;
use offshoot_host::{Mtime, disk};
use offshoot_vault::{Result, StagingRecord, staging_name};
use rayon::prelude::*;
use rustix::fs::{self, AtFlags};
use rustix::io::Errno;

use crate::error::io_error;
use crate::ground::{Ground, IGNORE, slot_name};
use crate::problem::Kept;
use crate::stamp::{Stamp, look, missing_is_none};
use crate::step::{Action, Attributes, Journal, Step};
use crate::touch;

/// Removes the staging directories. What somebody wrote meanwhile to a file that was taken out of the folder is kept beside
/// its place.
pub(crate) fn clear(ground: &Ground, journal: &Journal, back: bool) -> Result<Vec<Kept>> {
    let mut kept = Vec::new();
    let steps = journal.steps.as_deref().unwrap_or_default();
    for (number, record) in journal.stagings.iter().enumerate() {
        if let Some(staging) = ground.staging(number) {
            // Freeing what a file holds takes longer than removing its name, and need not be waited for one by one.
            let slots = share(steps).enumerate().filter(|(_, step)| step.staging == number);
            let cleared = slots.map(|(slot, step)| clear_slot(ground, staging, slot, step));
            kept.extend(cleared.collect::<Result<Vec<_>>>()?.into_iter().flatten());
            clear_unrecorded(ground, staging, journal, record)?;
        }
        let intended = intended_mtime(journal, record, back);
        remove_staging(ground, journal, number, record, intended)?;
    }
    Ok(kept)
}

/// Removes what a step left, if it is what the step put there.
fn clear_slot(
    ground: &Ground,
    staging: BorrowedFd<'_>,
    slot: usize,
    step: &Step,
) -> Result<Option<Kept>> {
    let ours: &[&Stamp] = match &step.action {
        Action::Put { new } => &[new],
        Action::Replace { old, new } => &[old, new],
        Action::Remove { old } => &[old],
        _ => return Ok(None),
    };
    let host = ground.host(step);
    let name = slot_name(slot);
    let Some(found) = look(staging, &name).map_err(io_error("stat", &host))? else {
        return Ok(None);
    };
    if ours.iter().any(|stamp| stamp.is(&found)) {
        let how = if found.is_directory() { AtFlags::REMOVEDIR } else { AtFlags::empty() };
        match fs::unlinkat(staging, disk::bytes_path(&name), how) {
            Ok(()) | Err(Errno::NOENT) => return Ok(None),
            // Somebody was in it and made files there.
            Err(Errno::NOTEMPTY | Errno::EXIST) => {}
            Err(error) => return Err(io_error("remove", &host)(error)),
        }
    }
    ground.site(slot, step)?.keep_aside()
}

/// Removes what was staged before its steps were written down.
fn clear_unrecorded(
    ground: &Ground,
    staging: BorrowedFd<'_>,
    journal: &Journal,
    record: &StagingRecord,
) -> Result<()> {
    if journal.steps.is_some() {
        return Ok(());
    }
    let path = join(&record.directory.0, &staging_name(&journal.id));
    let host = ground.folders[record.folder].host(&path);
    let opened = ground.folders[record.folder].readable(&path).map_err(io_error("open", &host))?;
    let names = disk::names(opened.as_fd()).map_err(io_error("read", &host))?;
    // What keeps git away goes last, with the directory.
    for name in names.into_iter().filter(|name| name != IGNORE) {
        let found = look(staging, &name).map_err(io_error("stat", &host))?;
        let is_directory = found.is_some_and(|found| found.is_directory());
        let how = if is_directory { AtFlags::REMOVEDIR } else { AtFlags::empty() };
        fs::unlinkat(staging, disk::bytes_path(&name), how).map_err(io_error("remove", &host))?;
    }
    Ok(())
}

/// Removes an empty staging directory, durably, and leaves the directory that it was in with the time that it had.
fn remove_staging(
    ground: &Ground,
    journal: &Journal,
    number: usize,
    record: &StagingRecord,
    intended: Mtime,
) -> Result<()> {
    let folder = &ground.folders[record.folder];
    let directory = &record.directory.0;
    let host = folder.host(&join(directory, &staging_name(&journal.id)));
    let remove = || -> std::result::Result<(), Errno> {
        let Some(before) = folder.look(directory)? else { return Ok(()) };
        let mtime = match ground.staging(number) {
            Some(staging) => {
                let parent = folder.directory(directory)?;
                let name = staging_name(&journal.id);
                missing_is_none(fs::unlinkat(staging, disk::bytes_path(IGNORE), AtFlags::empty()))?;
                fs::unlinkat(&parent, disk::bytes_path(&name), AtFlags::REMOVEDIR)?;
                // Before the steps were written down nothing was done but to make it.
                if journal.steps.is_some() { before.mtime } else { intended }
            }
            // Whoever removed it did not come to this.
            None => intended,
        };
        touch::set_time(folder, directory, mtime)?;
        match folder.readable(directory) {
            Ok(opened) => fs::fsync(opened),
            Err(Errno::ACCESS) => Ok(()),
            Err(error) => Err(error),
        }
    };
    remove().map_err(io_error("remove", &host))
}

/// The time that a directory with a staging directory in it is to have in the end.
fn intended_mtime(journal: &Journal, record: &StagingRecord, back: bool) -> Mtime {
    let steps = journal.steps.iter().flatten();
    let mut here = steps.filter(|it| it.folder == record.folder && it.path == record.directory);
    let settled = here.find_map(|step| match &step.action {
        Action::Settle { before, after } => {
            let side = if back { before } else { after };
            side.as_deref().map(Attributes::mtime)
        }
        _ => None,
    });
    let (seconds, nanoseconds) = record.mtime;
    settled.unwrap_or(Mtime { seconds, nanoseconds })
}
