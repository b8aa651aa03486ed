//! The git directory of a folder that keeps it elsewhere: a linked working tree, a submodule, or `git init --separate-git-dir`.
//!
//! The `.git` file of a folder that somebody else made may name any directory of the host. It counts only where what it names is a git
//! directory that names the folder as its own in turn.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::repository::gitfile;

/// Nothing that is read here is longer in a repository that git made.
const LONGEST: u64 = 1 << 20;

/// A git directory outside of its folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Outside {
    /// What all checkouts of the repository share, without links; as it is written where it cannot be opened.
    pub(crate) directory: PathBuf,
    /// Why it is not taken for the folder's, where it is not.
    pub(crate) wrong: Option<NotOurs>,
}

/// Why a git directory is not taken for that of the folder which names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NotOurs {
    /// It cannot be opened.
    Missing(String),
    /// It is something else.
    NoRepository,
    /// It names another folder as its own, or none.
    Stranger,
}

/// Where the git directory of a folder is, if it is outside; the folder is given without links. Nothing is run and nothing is
/// written.
pub(crate) fn outside(folder: &Path) -> Option<Outside> {
    let link = folder.join(".git");
    let found = fs::symlink_metadata(&link).ok()?.file_type();
    let named = if found.is_symlink() {
        link
    } else if found.is_file() {
        folder.join(path(gitfile(&read(&link)?)?))
    } else {
        return None;
    };
    let target = match named.canonicalize() {
        Ok(target) => target,
        Err(error) => {
            let wrong = Some(NotOurs::Missing(error.to_string()));
            return Some(Outside { directory: named, wrong });
        }
    };
    let (directory, wrong) = match shared_by(&target) {
        Some(shared) => {
            let wrong = check_worktree(folder, &target, &shared).err();
            (shared, wrong)
        }
        None => (target.clone(), check_own(folder, &target).err()),
    };
    // What is in the folder is taken in with it.
    (!directory.starts_with(folder)).then_some(Outside { directory, wrong })
}

/// The checkout that a folder is a part of, where the folder has no repository of its own. Nothing is run and nothing is written.
pub(crate) fn checkout_above(folder: &Path) -> Option<&Path> {
    if fs::symlink_metadata(folder.join(".git")).is_ok() {
        return None;
    }
    for around in folder.ancestors() {
        if is_git_directory_on_host(around) {
            // A part of a repository is no part of its checkout.
            return None;
        }
        let link = around.join(".git");
        if is_git_directory_on_host(&link) || read(&link).is_some_and(|it| gitfile(&it).is_some()) {
            return Some(around);
        }
    }
    None
}

/// Whether a directory of the host is one that git takes for a repository.
pub(crate) fn is_git_directory_on_host(directory: &Path) -> bool {
    // A `HEAD` may be a link to a branch that is not there yet.
    fs::symlink_metadata(directory.join("HEAD")).is_ok_and(|head| !head.is_dir())
        && directory.join("objects").is_dir()
        && directory.join("refs").is_dir()
}

/// The directory that a linked working tree's repository shares with others.
fn shared_by(repository: &Path) -> Option<PathBuf> {
    let text = read(&repository.join("commondir"))?;
    repository.join(path(text.trim_ascii_end())).canonicalize().ok()
}

/// A linked working tree: its part of the shared directory names the folder's `.git` file, as git itself wants it.
fn check_worktree(folder: &Path, repository: &Path, shared: &Path) -> Result<(), NotOurs> {
    if !is_git_directory_on_host(shared) || !repository.join("HEAD").is_file() {
        return Err(NotOurs::NoRepository);
    }
    let lies_in = repository.parent().is_some_and(|above| above == shared.join("worktrees"));
    let back = read(&repository.join("gitdir")).ok_or(NotOurs::Stranger)?;
    let back = repository.join(path(back.trim_ascii_end()));
    let named = back.parent().and_then(|above| above.canonicalize().ok());
    let points_back =
        named.as_deref() == Some(folder) && back.file_name() == Some(OsStr::new(".git"));
    if lies_in && points_back { Ok(()) } else { Err(NotOurs::Stranger) }
}

/// A git directory of one folder: it names the folder as its working tree, or is that of a submodule of the repository around it.
fn check_own(folder: &Path, directory: &Path) -> Result<(), NotOurs> {
    if !is_git_directory_on_host(directory) {
        return Err(NotOurs::NoRepository);
    }
    let settings = ["config", "config.worktree"].map(|name| directory.join(name));
    let named = settings.iter().filter_map(|file| work_tree(&read(file)?));
    let mut named = named.filter_map(|tree| directory.join(path(&tree)).canonicalize().ok());
    let is_module = || {
        let mut above = folder.ancestors().skip(1).map(|above| above.join(".git"));
        above.any(|git| git.is_dir() && directory.starts_with(git.join("modules")))
    };
    if named.any(|tree| tree == folder) || is_module() { Ok(()) } else { Err(NotOurs::Stranger) }
}

/// What `core.worktree` says in a configuration; the last one counts.
fn work_tree(text: &[u8]) -> Option<Vec<u8>> {
    let (mut in_core, mut found) = (false, None);
    for line in text.split(|byte| *byte == b'\n') {
        let line = line.trim_ascii();
        if line.starts_with(b"[") {
            in_core = line.eq_ignore_ascii_case(b"[core]");
            continue;
        }
        let Some(at) = line.iter().position(|byte| *byte == b'=').filter(|_| in_core) else {
            continue;
        };
        if line[..at].trim_ascii().eq_ignore_ascii_case(b"worktree") {
            found = Some(unquoted(line[at + 1..].trim_ascii()));
        }
    }
    found
}

/// A value without its quotes and escapes. A comment after it is part of it here: then it names no folder, and nothing is bound.
fn unquoted(value: &[u8]) -> Vec<u8> {
    let (mut plain, mut escaped) = (Vec::new(), false);
    for byte in value {
        match byte {
            b'\\' if !escaped => escaped = true,
            b'"' if !escaped => {}
            byte => {
                plain.push(*byte);
                escaped = false;
            }
        }
    }
    plain
}

/// The bytes of a plain file that is not too long. Nothing waits for a pipe that somebody put there.
fn read(path: &Path) -> Option<Vec<u8>> {
    let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let file = File::options().read(true).custom_flags(flags).open(path).ok()?;
    let found = file.metadata().ok().filter(|found| found.is_file() && found.len() <= LONGEST)?;
    let mut bytes = Vec::with_capacity(usize::try_from(found.len()).ok()?);
    file.take(LONGEST).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

fn path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

#[cfg(test)]
mod tests;
