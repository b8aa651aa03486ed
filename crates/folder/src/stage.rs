//! Writing what comes into a folder beside it, complete and durable.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use offshoot_host::disk::{join, split_last};
use offshoot_host::workers::share;
use offshoot_host::{Mtime, disk};
use offshoot_tree::{Body, Entry, Objects};
use offshoot_vault::{
    FolderRecord, JournalBytes, Materializer, Result, StagingRecord, staging_name,
};
use rayon::prelude::*;
use rustix::fs::{self, AtFlags, CWD, Gid, Mode, OFlags, RenameFlags, XattrFlags};
use rustix::io::Errno;

use crate::error::io_error;
use crate::folder::{Folder, by_descriptor};
use crate::ground::{IGNORE, slot_name};
use crate::plan::{ApplyPlan, Planned, Work};
use crate::problem::{ApplyError, ApplyProblem};
use crate::stamp::{Stamp, look};
use crate::step::{Action, Attributes, Journal, Step};
use crate::touch;

/// What a program may do beyond its user; new content must not inherit it.
const CAPABILITY: &[u8] = b"security.capability";

/// What the file says that keeps git away.
const IGNORES_ALL: &[u8] = b"*\n";

/// One staging directory being filled.
struct Staging<'a> {
    folder: &'a Folder,
    path: Vec<u8>,
    fd: OwnedFd,
    writer: Materializer<'a>,
}

/// The folders and staging directories as the journal has them, before anything is made.
pub(crate) fn record(plan: &ApplyPlan, journal: &mut Journal) -> Result<()> {
    for folder in &plan.folders {
        let path = JournalBytes(folder.host(b"").as_os_str().as_bytes().to_vec());
        let (device, inode) = (folder.look.place.device, folder.look.inode);
        journal.folders.push(FolderRecord { path, device, inode });
    }
    for staging in &plan.stagings {
        let folder = &plan.folders[staging.folder];
        let host = folder.host(&staging.directory);
        let look = folder.look(&staging.directory).map_err(io_error("stat", &host))?;
        let look = look.ok_or_else(|| io_error("open", &host)(Errno::NOENT))?;
        let mtime = (look.mtime.seconds, look.mtime.nanoseconds);
        let directory = JournalBytes(staging.directory.clone());
        journal.stagings.push(StagingRecord { folder: staging.folder, directory, mtime });
    }
    Ok(())
}

/// Everything that comes into folders, staged.
pub(crate) struct Staged<'a> {
    /// The directories, and how much is in each.
    stagings: Vec<(Staging<'a>, u64)>,
    /// What is to be done with it.
    pub(crate) steps: Vec<Step>,
}

/// Stages everything; nothing of it is durable yet.
pub(crate) fn stage<'a>(
    objects: &'a Objects,
    plan: &'a ApplyPlan,
    journal: &Journal,
) -> Result<Staged<'a>, ApplyError> {
    let mut stagings = Vec::new();
    for record in &journal.stagings {
        let folder = &plan.folders[record.folder];
        stagings.push(Staging::make(objects, folder, record, journal)?);
    }
    if plan.steps.iter().any(|step| matches!(step.work, Work::Replace { .. })) {
        stagings.iter().try_for_each(Staging::check_exchange)?;
    }
    let numbered: Vec<(usize, &Planned)> = plan.steps.iter().enumerate().collect();
    let steps: Result<Vec<Step>> = share(&numbered)
        .map(|(number, planned)| {
            let action = match &planned.work {
                Work::Put { after } => Action::Put {
                    new: stagings[planned.staging].write(
                        *number,
                        planned,
                        after,
                        false,
                        plan.owners,
                    )?,
                },
                Work::Replace { old, after } => Action::Replace {
                    old: *old,
                    new: Box::new(stagings[planned.staging].write(
                        *number,
                        planned,
                        after,
                        true,
                        plan.owners,
                    )?),
                },
                Work::Remove { old } => Action::Remove { old: *old },
                Work::Retouch { old, metas } => Action::Retouch {
                    old: *old,
                    before: Box::new(Attributes::new(&metas.0)),
                    after: Box::new(Attributes::new(&metas.1)),
                },
                Work::Settle { metas } => Action::Settle {
                    before: metas.0.as_ref().map(|meta| Box::new(Attributes::new(meta))),
                    after: metas.1.as_ref().map(|meta| Box::new(Attributes::new(meta))),
                },
            };
            let (folder, path) = (planned.at.folder, JournalBytes(planned.at.path.to_vec()));
            let stays = matches!(action, Action::Put { .. }) && plan.stays(&planned.at);
            Ok(Step { folder, path, staging: planned.staging, stays, action })
        })
        .collect();
    let steps = steps?;
    let written = |number: usize| {
        let is_here = |step: &&Step| step.staging == number && step.is_staged();
        steps.iter().filter(is_here).count() as u64
    };
    let stagings = stagings.into_iter().enumerate().map(|(at, staging)| (staging, written(at)));
    Ok(Staged { stagings: stagings.collect(), steps })
}

impl Staged<'_> {
    /// Makes it durable. Gives the file systems that were synced whole.
    pub(crate) fn sync(&self) -> Result<BTreeSet<u64>> {
        let mut done = BTreeSet::new();
        for (staging, written) in &self.stagings {
            staging.sync(*written, &mut done)?;
        }
        Ok(done)
    }
}

impl Step {
    /// Whether something new was written for it.
    fn is_staged(&self) -> bool {
        matches!(self.action, Action::Put { .. } | Action::Replace { .. })
    }
}

impl<'a> Staging<'a> {
    fn make(
        objects: &'a Objects,
        folder: &'a Folder,
        record: &StagingRecord,
        journal: &Journal,
    ) -> Result<Self, ApplyError> {
        let (directory, name) = (&record.directory.0, staging_name(&journal.id));
        let path = join(directory, &name);
        let host = folder.host(&path);
        let make = || -> std::result::Result<OwnedFd, Errno> {
            let parent = folder.directory(directory)?;
            fs::mkdirat(&parent, disk::bytes_path(&name), Mode::RWXU)?;
            folder.readable(&path)
        };
        let fd = make().map_err(io_error("create", &host))?;
        // What the folder hands down to new files is not for what only passes through.
        let _had_some = fs::fremovexattr(&fd, "system.posix_acl_default").is_ok();
        ignore_all(&fd).map_err(io_error("write", &folder.host(&join(&path, IGNORE))))?;
        let (seconds, nanoseconds) = record.mtime;
        touch::set_time(folder, directory, Mtime { seconds, nanoseconds })
            .map_err(io_error("set the time of", &host))?;
        let writer = fd.try_clone().map_err(io_error("open", &host))?;
        let writer = Materializer::export_to(objects, writer, &host, journal.owners);
        Ok(Self { folder, path, fd, writer })
    }

    fn host(&self, name: &[u8]) -> PathBuf {
        self.folder.host(&join(&self.path, name))
    }

    /// Tries whether names can be exchanged on this file system at all.
    fn check_exchange(&self) -> Result<(), ApplyError> {
        let (a, b, c) = ("a", "b", "c");
        let attempt = || -> std::result::Result<(), Errno> {
            fs::mkdirat(&self.fd, a, Mode::RWXU)?;
            fs::mkdirat(&self.fd, b, Mode::RWXU)?;
            fs::renameat_with(&self.fd, a, &self.fd, b, RenameFlags::EXCHANGE)?;
            fs::renameat_with(&self.fd, b, &self.fd, c, RenameFlags::NOREPLACE)
        };
        let tried = attempt();
        for name in [a, b, c] {
            match fs::unlinkat(&self.fd, name, AtFlags::REMOVEDIR) {
                Ok(()) | Err(Errno::NOENT) => {}
                Err(error) => {
                    return Err(io_error("remove", &self.host(name.as_bytes()))(error).into());
                }
            }
        }
        match tried {
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                let path = self.folder.host(split_last(&self.path).0);
                Err(ApplyError::Problems(vec![ApplyProblem::Unsupported { path }]))
            }
            other => Ok(other.map_err(io_error("exchange names in", &self.host(b"")))?),
        }
    }

    /// Writes something to its slot, with everything that it needs where it goes.
    fn write(
        &self,
        number: usize,
        planned: &Planned,
        after: &Entry,
        replaces: bool,
        owners: bool,
    ) -> Result<Stamp> {
        let slot = slot_name(number);
        if after.directory().is_some() {
            // Its metadata comes when all is in it; until then its owner must be able to work there.
            let mode = Mode::from_raw_mode(u32::from(after.meta.mode & 0o777 | 0o700));
            fs::mkdirat(&self.fd, disk::bytes_path(&slot), mode)
                .map_err(io_error("create", &self.host(&slot)))?;
        } else {
            let entry = Entry { name: slot.clone(), ..Entry::clone(after) };
            self.writer.entry(&entry)?;
        }
        if replaces {
            self.inherit(&planned.at.path, &slot, after)
                .map_err(io_error("read", &self.host(&slot)))?;
        }
        if !owners {
            self.join_group(&planned.at.path, &slot, after);
        }
        let written = look(self.fd.as_fd(), &slot).map_err(io_error("stat", &self.host(&slot)))?;
        let written = written.ok_or_else(|| io_error("stat", &self.host(&slot))(Errno::NOENT))?;
        Ok(Stamp::of_new(&written))
    }

    /// Gives what is staged the attributes that the vault does not record of what it replaces, as far as they can be set.
    fn inherit(&self, path: &[u8], slot: &[u8], after: &Entry) -> std::result::Result<(), Errno> {
        let Some(spot) = self.folder.spot(path)? else { return Ok(()) };
        let (from, to) =
            (by_descriptor(spot.at(), spot.name), by_descriptor(self.fd.as_fd(), slot));
        let mut list = vec![0; 256];
        let mut listed = fs::llistxattr(&from, list.as_mut_slice());
        if listed == Err(Errno::RANGE) {
            list = vec![0; 65_536];
            listed = fs::llistxattr(&from, list.as_mut_slice());
        }
        let Ok(length) = listed else { return Ok(()) };
        let mut acl = None;
        for name in list[..length].split(|&byte| byte == 0).filter(|name| !name.is_empty()) {
            if name.starts_with(b"user.") || name == CAPABILITY {
                continue;
            }
            let mut value = vec![0; 65_536];
            let name_text = OsStr::from_bytes(name);
            let Ok(length) = fs::lgetxattr(&from, name_text, value.as_mut_slice()) else {
                continue;
            };
            let set = fs::lsetxattr(&to, name_text, &value[..length], XattrFlags::empty());
            if set.is_ok() && name == disk::ACL.as_bytes() {
                value.truncate(length);
                acl = Some(value);
            }
        }
        let is_link = matches!(after.body, Body::Symlink { .. });
        if let Some(acl) = acl.filter(|_| !is_link) {
            // Setting an access list sets the mode that belongs to it.
            let beside = fs::lstat(&to)?.st_mode as u16;
            let read = |buffer: &mut [u8]| {
                let place = buffer.get_mut(..acl.len()).ok_or(Errno::RANGE)?;
                place.copy_from_slice(&acl);
                Ok(acl.len())
            };
            let without = disk::mode_without(read, beside);
            let mode = disk::mode_beside(beside, without, after.meta.mode);
            let mode = Mode::from_raw_mode(mode.into());
            fs::chmodat(CWD, &to, mode, AtFlags::empty())?;
        }
        Ok(())
    }

    /// Where a directory gives its group to what is made in it, gives it to what is staged for it, if this user may.
    fn join_group(&self, path: &[u8], slot: &[u8], after: &Entry) {
        let parent = self.folder.look(split_last(path).0).ok().flatten();
        let Some(parent) = parent.filter(|parent| parent.mode & 0o2000 != 0) else { return };
        let gid = Some(Gid::from_raw(parent.gid));
        let name = disk::bytes_path(slot);
        let given = fs::chownat(&self.fd, name, None, gid, AtFlags::SYMLINK_NOFOLLOW);
        if given.is_ok() && after.meta.mode & 0o6000 != 0 && after.directory().is_none() {
            // The change of group took the set-id bits; they come back as far as they were meant.
            let mode = Mode::from_raw_mode(u32::from(after.meta.mode & 0o1777));
            let _given = fs::chmodat(&self.fd, name, mode, AtFlags::empty()).is_ok();
        }
    }

    /// Makes what is staged durable: file by file where there are few.
    fn sync(&self, written: u64, done: &mut BTreeSet<u64>) -> Result<()> {
        let host = self.host(b"");
        let synced = if disk::syncs_each(written) { self.sync_each() } else { Err(Errno::ACCESS) };
        match synced {
            Err(Errno::ACCESS) => self.sync_all(done).map_err(io_error("sync", &host)),
            other => other.map_err(io_error("sync", &host)),
        }
    }

    fn sync_all(&self, done: &mut BTreeSet<u64>) -> std::result::Result<(), Errno> {
        let file_system = fs::fstat(&self.fd)?.st_dev;
        if !done.contains(&file_system) {
            fs::syncfs(&self.fd)?;
            done.insert(file_system);
        }
        Ok(())
    }

    /// The file that keeps git away is one of them: after a power cut it would be there and empty, as its name is made durable, and git would take in what is staged.
    fn sync_each(&self) -> std::result::Result<(), Errno> {
        for name in disk::names(self.fd.as_fd()).map_err(|_| Errno::ACCESS)? {
            let found = look(self.fd.as_fd(), &name)?;
            let flags = OFlags::RDONLY | OFlags::NONBLOCK;
            if found.is_some_and(|found| Stamp::of_new(&found).is_file()) {
                fs::fsync(disk::open_below(self.fd.as_fd(), &name, flags)?)?;
            }
        }
        fs::fsync(&self.fd)?;
        // Its own name, too: whoever settles looks for it there.
        fs::fsync(self.folder.readable(split_last(&self.path).0)?)
    }
}

/// Keeps git from taking in what is staged, for as long as it is there: the first file, before there is anything to ignore. It
/// appears whole where the file system can do that; an empty one would be seen itself.
fn ignore_all(staging: &OwnedFd) -> std::io::Result<()> {
    let mode = Mode::RUSR | Mode::WUSR;
    let flags = OFlags::WRONLY | OFlags::CLOEXEC;
    let name = disk::bytes_path(IGNORE);
    if let Ok(unnamed) = fs::openat(staging, ".", flags | OFlags::TMPFILE, mode) {
        let mut unnamed = File::from(unnamed);
        unnamed.write_all(IGNORES_ALL)?;
        let path = format!("/proc/self/fd/{}", unnamed.as_raw_fd());
        if fs::linkat(CWD, path, staging, name, AtFlags::SYMLINK_FOLLOW).is_ok() {
            return Ok(());
        }
    }
    let named = fs::openat(staging, name, flags | OFlags::CREATE | OFlags::EXCL, mode)?;
    File::from(named).write_all(IGNORES_ALL)
}
