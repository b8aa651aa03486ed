//! Forwards and back, over all steps.

use std::collections::{BTreeSet, HashMap};
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use offshoot_host::disk;
use offshoot_host::disk::split_last;
use offshoot_vault::{Result, staging_name};
use rustix::io::Errno;

use crate::apply::Apply;
use crate::error::io_error;
use crate::ground::Ground;
use crate::problem::{ApplyError, ApplyProblem, Kept};
use crate::rewritten::{IsRewritten, Rewritten};
use crate::stamp::Kind;
use crate::step::Action;
use crate::{backward, forward, touch, writers};

/// Why going forwards ended.
enum Stop {
    /// All is done.
    Nothing,
    /// Somebody changed what is at this path.
    Interfered { path: PathBuf, kept: Vec<Kept> },
}

impl<'v> Apply<'v> {
    /// Takes a file that was written anew, and means the same, for what was put there when everything is taken back.
    pub fn know_rewritten(&mut self, is_rewritten: IsRewritten<'v>) {
        self.rewritten = Rewritten(Some(is_rewritten));
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
        let mut files: HashMap<writers::FileKey, usize> = HashMap::new();
        for (number, step) in self.steps() {
            let (Action::Replace { old, .. } | Action::Remove { old }) = &step.action else {
                continue;
            };
            let Some(out) = forward::held(&ground.site(number, step)?, old)? else {
                return Ok(Stop::Interfered { path: ground.host(step), kept: Vec::new() });
            };
            if old.is_file() {
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
            let back = backward::step(ground, number, step, owners, &self.rewritten)?;
            paths.extend(back.changed.then(|| ground.host(step)));
            kept.extend(back.kept);
        }
        self.sync(ground)?;
        Ok((paths, kept))
    }

    /// Makes all renames durable: directory by directory where there are few.
    fn sync(&self, ground: &Ground) -> Result<()> {
        let mut places: BTreeSet<(usize, &[u8], Kind)> = BTreeSet::new();
        for (_, step) in self.steps() {
            let (path, kind) = match step.action {
                Action::Settle { .. } => (step.path.0.as_slice(), Kind::Directory),
                Action::Retouch { .. } => (step.path.0.as_slice(), Kind::File),
                _ => (split_last(&step.path.0).0, Kind::Directory),
            };
            places.insert((step.folder, path, kind));
        }
        let mut syncing = Syncing::new(places.len());
        for (folder, path, kind) in places {
            let folder = &ground.folders[folder];
            // What is not there, or is a pipe or a link by now, needs no sync, and what cannot be opened is synced with
            // everything else.
            let found = folder.look(path).ok().flatten();
            let Some(_) = found.filter(|found| found.kind == kind) else { continue };
            let Ok(opened) = folder.file(path) else { continue };
            syncing.sync(&opened).map_err(io_error("sync", &folder.host(path)))?;
            if !syncing.each {
                break;
            }
        }
        for record in &self.journal.stagings {
            let folder = &ground.folders[record.folder];
            let path = disk::join(&record.directory.0, &staging_name(&self.journal.id));
            let host = folder.host(&path);
            let opened = folder.readable(&path).map_err(io_error("open", &host))?;
            syncing.sync(&opened).map_err(io_error("sync", &host))?;
        }
        Ok(())
    }
}

/// Directories made durable: one by one where there are few, else by their file systems.
struct Syncing {
    each: bool,
    /// The file systems that were synced.
    done: BTreeSet<u64>,
}

impl Syncing {
    fn new(directories: usize) -> Self {
        Self { each: disk::syncs_each(directories as u64), done: BTreeSet::new() }
    }

    fn sync(&mut self, opened: &OwnedFd) -> std::result::Result<(), Errno> {
        if self.each {
            return rustix::fs::fsync(opened);
        }
        if self.done.insert(rustix::fs::fstat(opened)?.st_dev) {
            rustix::fs::syncfs(opened)?;
        }
        Ok(())
    }
}
