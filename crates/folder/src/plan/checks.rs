//! Everything that can be found to stand in the way without writing.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::os::fd::{AsFd, OwnedFd};

use offshoot_host::disk;
use offshoot_host::disk::{join, split_last};
use offshoot_tree::{Entry, EntryKind, display_bytes};
use offshoot_vault::Result;
use rustix::fs::{self, Access, AtFlags, StatVfsMountFlags};

use super::captured::link_above;
use super::paths::{Changes, Where};
use super::{Planner, Work};
use crate::problem::{ApplyNote, ApplyProblem};
use crate::stamp::{Kind, Look, look};
use crate::writers::writers;

/// What the staged names and the journal may take besides the bytes of files.
const SLACK: u64 = 1 << 20;

impl Planner<'_> {
    /// Looks for everything at once, so that nobody has to clear one thing only to be told of the next.
    pub(super) fn check(&mut self, changes: &Changes) -> Result<()> {
        self.check_directories(changes);
        self.check_new_names();
        self.check_owners();
        self.check_writers();
        self.check_room();
        self.plan.problems.sort_by(|a, b| a.path().cmp(b.path()));
        self.plan.problems.dedup();
        Ok(())
    }

    /// Directories in which names change must be this user's to change.
    fn check_directories(&mut self, changes: &Changes) {
        let mut directories: BTreeMap<Where, Vec<Where>> = BTreeMap::new();
        for step in &self.plan.steps {
            let names =
                matches!(step.work, Work::Put { .. } | Work::Replace { .. } | Work::Remove { .. });
            if names {
                directories.entry(step.at.parent()).or_default().push(step.at.clone());
            }
        }
        for staging in &self.plan.stagings {
            let (folder, path) = (staging.folder, staging.directory.as_slice().into());
            directories.entry(Where { folder, path }).or_default();
        }
        for (directory, names) in directories {
            let problem = self.directory_problem(&directory, &names, changes);
            self.plan.problems.extend(problem);
        }
    }

    fn directory_problem(
        &self,
        at: &Where,
        names: &[Where],
        changes: &Changes,
    ) -> Option<ApplyProblem> {
        let folder = &self.plan.folders[at.folder];
        let path = || folder.host(&at.path);
        let opened = match folder.directory(&at.path) {
            Ok(opened) => opened,
            Err(rustix::io::Errno::ACCESS) => return Some(ApplyProblem::not_entered(path())),
            // It is going to be made, or was not what was captured, which its own step says; but for links.
            Err(_) => return names.first().and_then(|name| self.link_problem(name, changes)),
        };
        let look = crate::stamp::look_at(opened.as_fd()).ok()?;
        if look.fixed {
            return Some(ApplyProblem::Fixed { path: path() });
        }
        let mounted =
            fs::fstatvfs(&opened).is_ok_and(|it| it.f_flag.contains(StatVfsMountFlags::RDONLY));
        if mounted {
            return Some(ApplyProblem::ReadOnly { path: path() });
        }
        let access = Access::WRITE_OK | Access::EXEC_OK | Access::READ_OK;
        if fs::accessat(&opened, ".", access, AtFlags::EACCESS).is_err() {
            return Some(ApplyProblem::not_writable(path()));
        }
        self.sticky_problem(&look, &opened, names)
    }

    /// A link on the way to something new is refused, unless it was captured there and makes way for a directory. Whether it is
    /// the very link that was captured is for its own step to say.
    fn link_problem(&self, name: &Where, changes: &Changes) -> Option<ApplyProblem> {
        let link = link_above(&self.plan.folders[name.folder], &name.path)?;
        let change = changes.get(&Where { folder: name.folder, path: link.into() });
        let makes_way = change.is_some_and(|(old, new)| {
            let was_link = old.as_ref().is_some_and(|old| old.kind() == EntryKind::Symlink);
            was_link && new.as_ref().is_some_and(|new| new.directory().is_some())
        });
        (!makes_way).then(|| ApplyProblem::ThroughSymlink { path: self.host(name) })
    }

    /// In a sticky directory everybody may only touch what is theirs.
    fn sticky_problem(
        &self,
        look: &Look,
        opened: &OwnedFd,
        names: &[Where],
    ) -> Option<ApplyProblem> {
        let user = rustix::process::geteuid();
        if look.mode & 0o1000 == 0 || user.is_root() || look.uid == user.as_raw() {
            return None;
        }
        let theirs = names.iter().find(|name| {
            let found = crate::stamp::look(opened.as_fd(), split_last(&name.path).1);
            matches!(found, Ok(Some(found)) if found.uid != user.as_raw())
        })?;
        let why = "it is somebody else's, in a sticky directory".to_owned();
        Some(ApplyProblem::Denied { path: self.host(theirs), why })
    }

    /// Where something new goes there must be nothing, nor anything that the file system takes for it.
    fn check_new_names(&mut self) {
        let mut new: BTreeMap<Where, Vec<Vec<u8>>> = BTreeMap::new();
        for step in self.plan.steps.iter().filter(|step| matches!(step.work, Work::Put { .. })) {
            let name = split_last(&step.at.path).1;
            new.entry(step.at.parent()).or_default().push(name.to_vec());
        }
        for (directory, names) in new {
            let Ok(opened) = self.plan.folders[directory.folder].readable(&directory.path) else {
                continue;
            };
            let listed = disk::names(opened.as_fd()).unwrap_or_default();
            let problems = self.name_problems(&directory, &names, &opened, &listed);
            self.plan.problems.extend(problems);
        }
    }

    fn name_problems(
        &self,
        directory: &Where,
        names: &[Vec<u8>],
        opened: &OwnedFd,
        listed: &[Vec<u8>],
    ) -> Vec<ApplyProblem> {
        let mut problems = Vec::new();
        let mut folded: HashMap<Vec<u8>, &Vec<u8>> = HashMap::new();
        let mut folds = None;
        for name in names {
            let at = Where { folder: directory.folder, path: join(&directory.path, name).into() };
            let path = self.host(&at);
            let collision = |existing: &[u8]| {
                let (path, existing) = (path.clone(), display_bytes(existing));
                ApplyProblem::NameCollision { path, existing }
            };
            if let Ok(Some(found)) = look(opened.as_fd(), name) {
                let other =
                    listed.iter().find(|it| is_inode(opened, it, found.inode) && *it != name);
                problems.push(match other.filter(|_| listed.binary_search(name).is_err()) {
                    Some(other) => collision(other),
                    None => ApplyProblem::InTheWay { path: path.clone() },
                });
            } else if let Some(other) = folded.insert(fold(name), name)
                && *folds.get_or_insert_with(|| folds_case(opened, listed))
            {
                problems.push(collision(other));
            }
        }
        problems
    }

    /// Metadata can only be changed by the owner.
    fn check_owners(&mut self) {
        let user = rustix::process::geteuid();
        if user.is_root() {
            return;
        }
        let mut problems = Vec::new();
        for step in &self.plan.steps {
            let changes = match &step.work {
                Work::Retouch { .. } => true,
                Work::Settle { metas } => match &**metas {
                    (Some(before), Some(after)) => before.mode != after.mode,
                    _ => false,
                },
                _ => false,
            };
            let look = || self.plan.folders[step.at.folder].look(&step.at.path).ok().flatten();
            if changes && look().is_some_and(|look| look.uid != user.as_raw()) {
                let why = "its mode or time changes, and it is somebody else's".to_owned();
                problems.push(ApplyProblem::Denied { path: self.host(&step.at), why });
            }
        }
        self.plan.problems.extend(problems);
    }

    fn check_writers(&mut self) {
        let mut files = HashMap::new();
        for (number, step) in self.plan.steps.iter().enumerate() {
            if matches!(step.work, Work::Replace { .. } | Work::Remove { .. }) {
                files.extend(step.file.map(|file| (file, number)));
            }
        }
        for (number, process) in writers(&files) {
            let path = self.host(&self.plan.steps[number].at.clone());
            self.problem(ApplyProblem::OpenForWriting { path, process: Some(process) });
        }
    }

    fn check_room(&mut self) {
        for step in &self.plan.steps {
            if let Work::Put { after } | Work::Replace { after, .. } = &step.work {
                let bytes = if after.directory().is_some() { 0 } else { after.size() };
                self.plan.stagings[step.staging].bytes += bytes;
            }
        }
        let mut problems = Vec::new();
        for staging in &self.plan.stagings {
            let folder = &self.plan.folders[staging.folder];
            let Ok(opened) = folder.directory(&staging.directory) else { continue };
            let Ok(room) = fs::fstatvfs(&opened) else { continue };
            let root = rustix::process::geteuid().is_root();
            let blocks = if root { room.f_bfree } else { room.f_bavail };
            let free = blocks.saturating_mul(room.f_frsize);
            let needed = staging.bytes + SLACK;
            // Some file systems do not say how large they are.
            if room.f_blocks > 0 && needed > free {
                let path = folder.host(&staging.directory);
                problems.push(ApplyProblem::NoRoom { path, needed, free });
            }
        }
        self.plan.problems.extend(problems);
    }

    /// Notes a file that has more names than the vault knows.
    pub(super) fn note_links(
        &mut self,
        at: &Where,
        look: &Look,
        old: Option<&Entry>,
    ) -> Result<()> {
        if look.kind == Kind::Directory || look.links < 2 {
            return Ok(());
        }
        let known = match old.and_then(|old| old.group) {
            Some(group) => *self.names_of_groups()?.get(&group).unwrap_or(&1),
            None => 1,
        };
        if look.links > known {
            let path = self.host(at);
            self.plan.notes.push(ApplyNote::LinkedOutside { path });
        }
        Ok(())
    }
}

fn is_inode(opened: &OwnedFd, name: &[u8], inode: u64) -> bool {
    matches!(look(opened.as_fd(), name), Ok(Some(found)) if found.inode == inode)
}

/// A name as most file systems compare it that do not mind case.
fn fold(name: &[u8]) -> Vec<u8> {
    String::from_utf8_lossy(name).to_lowercase().into_bytes()
}

/// Whether a directory takes names for the same that differ in case: told by one that is there.
fn folds_case(opened: &OwnedFd, listed: &[Vec<u8>]) -> bool {
    let listed: BTreeSet<&[u8]> = listed.iter().map(Vec::as_slice).collect();
    let swapped = |name: &[u8]| -> Vec<u8> {
        let swap = |byte: &u8| match byte.is_ascii_lowercase() {
            true => byte.to_ascii_uppercase(),
            false => byte.to_ascii_lowercase(),
        };
        name.iter().map(swap).collect()
    };
    let told = listed.iter().find(|name| {
        let other = swapped(name);
        other != **name && !listed.contains(other.as_slice())
    });
    told.is_some_and(|name| matches!(look(opened.as_fd(), &swapped(name)), Ok(Some(_))))
}
