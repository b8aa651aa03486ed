//! What a command wrote beside the project, where nothing of it stays.

use std::ffi::OsStr;
use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use offshoot_host::disk;
use offshoot_profile::Preset;
use offshoot_protocol::{HomeKeep, HomeView};
use offshoot_sandbox::{DiscardedDirectory, Ended, Keeper, WrittenFile};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, openat, statat};

use super::envelope::DiscardedFiles;
use super::runtime::{Execution, ProxyRuntime};
use super::sight::Sight;
use crate::cache::tool_directories;

/// At most so many names are looked at: whoever unpacked an archive beside the project need not wait for a full count.
const MOST_LOOKED_AT: usize = 100_000;
/// What is in the names of files that tools write at every use: histories of shells, `less` and `wget`, and what editors and zsh remember.
const REMEMBERED: [&str; 4] = ["hist", "hst", "viminfo", "zcompdump"];

impl ProxyRuntime<'_> {
    /// What the command wrote where nothing of it stays.
    pub(super) fn discarded(
        &self,
        execution: &Execution<'_>,
        ended: &Ended,
        folders: &[PathBuf],
        sight: &Sight,
    ) -> DiscardedFiles {
        let (Some(in_force), Some(project)) =
            (&execution.result.in_force, &execution.result.mountpoint)
        else {
            return DiscardedFiles::default();
        };
        let ignored = self.ignored(execution, folders, sight);
        find(&ended.keeper, &in_force.scratch, &ignored, project)
    }

    /// What is no work of the command's.
    fn ignored(&self, execution: &Execution<'_>, folders: &[PathBuf], sight: &Sight) -> Ignored {
        let Execution { request, result, .. } = execution;
        let user_home = self.options.viewer.home.as_deref();
        let user_home = user_home.and_then(|home| home.canonicalize().ok());
        let mut directories = tool_directories(&request.environment);
        directories.extend(folders.iter().chain(&self.options.hidden).cloned());
        // Another directory that is thrown away is looked at by itself.
        let scratch = result.in_force.iter().flat_map(|in_force| &in_force.scratch);
        directories.extend(scratch.map(|scratch| scratch.path.clone()));
        // And so is a home that is kept.
        let kept = result.in_force.as_ref().is_some_and(|force| force.home == HomeView::Kept);
        directories.extend(user_home.clone().filter(|_| kept));
        directories.extend(result.mountpoint.clone());
        directories.extend(sight.shown());
        let copies = sight.copies().collect();
        Ignored { user_home, directories, copies, preset: None }
    }

    /// What the command wrote to a home that is kept, where no row of its preset keeps it, but for paths that are told already: to be found before that is
    /// removed.
    pub(super) fn lost_at_home(
        &self,
        execution: &Execution<'_>,
        folders: &[PathBuf],
        sight: &Sight,
        preset: &Preset,
    ) -> impl Fn(&Path, &[PathBuf]) -> DiscardedFiles + use<> {
        let mut ignored = self.ignored(execution, folders, sight);
        ignored.preset = Some(preset.clone());
        let project = execution.result.mountpoint.clone().unwrap_or_default();
        move |kept, told| {
            let mut ignored = ignored.clone();
            ignored.directories.extend(told.iter().cloned());
            let Some(home) = ignored.user_home.clone() else { return DiscardedFiles::default() };
            let mut walk = Walk::new(&ignored);
            if let Ok(top) = disk::open_dir(kept) {
                walk.known(&top, &home);
            }
            walk.finish(&project)
        }
    }
}

/// What to leave out.
#[derive(Clone, Debug)]
struct Ignored {
    /// The user's home: names in it that start with a dot are state of tools, unless they are settings.
    user_home: Option<PathBuf>,
    /// Directories that are kept, hidden, or full of what tools can get again.
    directories: Vec<PathBuf>,
    /// Files that were there when the command started.
    copies: Vec<WrittenFile>,
    /// What says which files of the home stay.
    preset: Option<Preset>,
}

impl Ignored {
    fn has(&self, path: &Path, kind: FileType) -> bool {
        let in_home = self.user_home.is_some() && path.parent() == self.user_home.as_deref();
        let name = path.file_name().unwrap_or_default().as_bytes();
        let is_state =
            || name.starts_with(b".") && (kind == FileType::Directory || !is_setting(path, name));
        in_home && is_state()
            || self.is_kept(path)
            || self.directories.iter().any(|directory| path == directory)
    }

    /// Whether a row of a preset says what becomes of a path.
    fn is_kept(&self, path: &Path) -> bool {
        let (Some(preset), Some(home)) = (&self.preset, &self.user_home) else { return false };
        let Ok(below) = path.strip_prefix(home) else { return false };
        let names: Vec<&[u8]> = below.iter().map(OsStrExt::as_bytes).collect();
        preset.row(&names).is_some_and(|row| row.keep != HomeKeep::Config)
    }

    /// Whether a directory of the home is where a tool keeps what it remembers.
    fn is_state(&self, path: &Path) -> bool {
        let in_home = self.user_home.is_some() && path.parent() == self.user_home.as_deref();
        in_home && path.file_name().is_some_and(|name| name.as_bytes().starts_with(b"."))
    }

    /// Whether a path lies in a directory that is left out, below a top that is not.
    fn lies_in(&self, path: &Path, top: &Path) -> bool {
        let mut above = path.ancestors().skip(1).take_while(|above| *above != top);
        above.any(|above| self.has(above, FileType::Directory))
    }

    /// What was put at a path.
    fn copy(&self, path: &Path) -> Option<&WrittenFile> {
        self.copies.iter().find(|copy| copy.path == path)
    }

    /// Whether a file is still what was put there.
    fn is_unchanged(&self, directory: &OwnedFd, name: &OsStr, path: &Path) -> bool {
        let Some(copy) = self.copy(path) else { return false };
        let Ok(now) = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) else { return false };
        let time = copy.modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        now.st_size == copy.content.len() as i64
            && time.is_some_and(|time| {
                (time.as_secs() as i64, time.subsec_nanos() as i64)
                    == (now.st_mtime, now.st_mtime_nsec as i64)
            })
    }

    /// Whether a directory is only there, or may only be there, because something that is left out lies in it.
    fn leads_through(&self, path: &Path) -> bool {
        self.directories.iter().any(|directory| directory.starts_with(path))
    }
}

/// Whether a file with a dot in a home is the user's rather than something that a tool remembers there: they have it already, or it is called
/// like a file of settings.
fn is_setting(path: &Path, name: &[u8]) -> bool {
    let remembers = |part: &&str| name.windows(part.len()).any(|at| at == part.as_bytes());
    (name.ends_with(b"rc") || fs::symlink_metadata(path).is_ok_and(|found| !found.is_dir()))
        && !REMEMBERED.iter().any(remembers)
}

/// Looks through what is about to be thrown away.
fn find(
    keeper: &Keeper,
    scratch: &[DiscardedDirectory],
    ignored: &Ignored,
    project: &Path,
) -> DiscardedFiles {
    let mut walk = Walk::new(ignored);
    for scratch in scratch.iter().filter(|scratch| !ignored.is_state(&scratch.path)) {
        // What cannot be looked at is not told about: the command itself was all right.
        if let Ok(top) = keeper.open_scratch(scratch) {
            walk.known(&top, &scratch.path);
        }
    }
    for copy in &ignored.copies {
        let tops = scratch.iter().map(|it| it.path.as_path());
        let Some(top) = tops.filter(|top| copy.path.starts_with(top)).max() else { continue };
        if walk.left > 0 && !walk.met.contains(&copy.path) && !ignored.lies_in(&copy.path, top) {
            walk.count += 1;
            walk.found.push(copy.path.clone());
        }
    }
    walk.finish(project)
}

/// The folder that a path lies in, or is, as the first one that is not on the way to the project.
pub(super) fn folder_beside(project: &Path, path: &Path, new: &[PathBuf]) -> Option<PathBuf> {
    let above = path.ancestors().find(|above| project.starts_with(above))?;
    let folder = above.join(path.strip_prefix(above).ok()?.components().next()?);
    (folder != path || new.contains(&folder)).then_some(folder)
}

struct Walk<'a> {
    ignored: &'a Ignored,
    found: Vec<PathBuf>,
    /// Those of them that are new directories.
    folders: Vec<PathBuf>,
    count: u64,
    bytes: u64,
    /// Files that were put there and still are.
    met: Vec<PathBuf>,
    /// How many names may still be looked at.
    left: usize,
}

impl<'a> Walk<'a> {
    fn new(ignored: &'a Ignored) -> Self {
        let (found, folders) = (Vec::new(), Vec::new());
        Self { ignored, found, folders, count: 0, bytes: 0, met: Vec::new(), left: MOST_LOOKED_AT }
    }

    /// What was found, that near the project first.
    fn finish(self, project: &Path) -> DiscardedFiles {
        let mut paths = self.found;
        let near = project.parent().unwrap_or(project);
        paths.sort_by_key(|path| (!path.starts_with(near), path.clone()));
        let folder = paths.iter().find_map(|path| folder_beside(project, path, &self.folders));
        paths.truncate(DiscardedFiles::MOST_NAMED);
        DiscardedFiles { count: self.count, bytes: self.bytes, paths, folder }
    }

    /// Looks into a directory that the host has too.
    fn known(&mut self, directory: &OwnedFd, path: &Path) {
        for (name, kind) in self.names(directory) {
            let path = path.join(&name);
            if self.ignored.has(&path, kind) {
                continue;
            }
            self.met.extend(self.ignored.copy(&path).map(|copy| copy.path.clone()));
            if kind != FileType::Directory {
                if !self.ignored.is_unchanged(directory, &name, &path) {
                    self.count += 1;
                    self.bytes += size(directory, &name, kind);
                    self.found.push(path);
                }
                continue;
            }
            let Some(inside) = open(directory, &name) else { continue };
            let on_host = fs::symlink_metadata(&path).is_ok_and(|found| found.is_dir());
            if on_host || self.ignored.leads_through(&path) {
                self.known(&inside, &path);
            } else {
                self.count += self.all(&inside).max(1);
                self.folders.push(path.clone());
                self.found.push(path);
            }
        }
    }

    /// How much a new directory holds.
    fn all(&mut self, directory: &OwnedFd) -> u64 {
        let mut count = 0;
        for (name, kind) in self.names(directory) {
            count += match open(directory, &name).filter(|_| kind == FileType::Directory) {
                Some(inside) => self.all(&inside).max(1),
                None => {
                    self.bytes += size(directory, &name, kind);
                    1
                }
            };
        }
        count
    }

    fn names(&mut self, directory: &OwnedFd) -> Vec<(std::ffi::OsString, FileType)> {
        let Ok(entries) = Dir::read_from(directory) else { return Vec::new() };
        let mut names = Vec::new();
        for entry in entries.flatten() {
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            if self.left == 0 {
                break;
            }
            self.left -= 1;
            names.push((OsStr::from_bytes(name).to_owned(), entry.file_type()));
        }
        names
    }
}

/// Bytes of a file; nothing else has any.
fn size(at: &OwnedFd, name: &OsStr, kind: FileType) -> u64 {
    if kind != FileType::RegularFile {
        return 0;
    }
    let found = statat(at, name, AtFlags::SYMLINK_NOFOLLOW);
    found.map_or(0, |found| u64::try_from(found.st_size).unwrap_or(0))
}

fn open(at: &OwnedFd, name: &OsStr) -> Option<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(at, name, flags, Mode::empty()).ok()
}
