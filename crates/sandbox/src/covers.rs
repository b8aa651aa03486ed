//! Directories of the host whose files belong to the inside's own ids there.
//!
//! Root's commands have ids that nobody has outside. What they work on, and what is theirs of the home, is covered inside by mounts of itself that
//! translate ids: on disk everything keeps the owners that it has.

use std::ffi::CString;
use std::fs;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, StatxFlags, openat, statx};
use rustix::io::Errno;
use rustix::mount::{OpenTreeFlags, open_tree};

use crate::error::Result;
use crate::init::MOST_COVERS;
use crate::script::c_path;
use crate::spec::{Files, Spec};
use crate::sys;

/// A directory that is covered.
pub(crate) struct Cover {
    pub(crate) path: PathBuf,
    /// The same for the init.
    pub(crate) place: CString,
    /// Its mount, once there is one.
    mount: Option<OwnedFd>,
}

/// The directories that have to be covered; none where that cannot be done.
pub(crate) fn needed(spec: &Spec) -> Option<Vec<Cover>> {
    let home = spec.home.as_deref().and_then(|home| home.canonicalize().ok());
    let home = home.filter(|home| home.parent().is_some());
    let mut tops: Vec<PathBuf> = Vec::new();
    for path in used(spec) {
        let path = path.canonicalize().ok()?;
        let top = match &home {
            Some(home) if path.starts_with(home) => closed_above(home)?,
            _ => closed_above(&path)?,
        };
        if mount_of(&top)? != mount_of(&path)? {
            return None;
        }
        tops.push(top);
    }
    tops.sort();
    tops.dedup_by(|inner, outer| inner.starts_with(&*outer));
    let cover = |path: PathBuf| Some(Cover { place: c_path(&path).ok()?, path, mount: None });
    let covers: Vec<Cover> = tops.into_iter().map(cover).collect::<Option<_>>()?;
    (covers.len() <= MOST_COVERS).then_some(covers)
}

/// Everything that the command works on, and what it sees of the home.
fn used(spec: &Spec) -> Vec<PathBuf> {
    let mut used = match &spec.workspace.files {
        Files::Overlay(overlay) => vec![overlay.directory.clone()],
        Files::Directory(path) => vec![path.clone()],
    };
    for cache in &spec.caches {
        used.push(cache.layers.directory.clone());
        used.extend(cache.layers.lower.iter().filter(|lower| lower.is_absolute()).cloned());
    }
    let of_home = |path: &&PathBuf| {
        spec.home.as_ref().is_some_and(|home| path.starts_with(home)) && path.exists()
    };
    used.extend(spec.shown.iter().filter(of_home).cloned());
    used
}

/// The outermost directory on the way to a path that is closed to others; the path itself where none is.
fn closed_above(path: &Path) -> Option<PathBuf> {
    const OTHERS_ENTER: u32 = 0o001;
    let mut above: Vec<&Path> = path.ancestors().filter(|above| above.parent().is_some()).collect();
    above.reverse();
    for directory in above {
        if fs::metadata(directory).ok()?.mode() & OTHERS_ENTER == 0 {
            return Some(directory.to_owned());
        }
    }
    Some(path.to_owned())
}

fn mount_of(path: &Path) -> Option<u64> {
    let found = statx(CWD, path, AtFlags::empty(), StatxFlags::MNT_ID).ok()?;
    (found.stx_mask & StatxFlags::MNT_ID.bits() != 0).then_some(found.stx_mnt_id)
}

impl Cover {
    /// Makes its mount, by the ids of a user namespace.
    pub(crate) fn make(&mut self, user_namespace: BorrowedFd<'_>) -> Result<BorrowedFd<'_>, Errno> {
        let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
        let mount = open_tree(CWD, self.place.as_c_str(), flags)?;
        sys::translate_ids(mount.as_fd(), user_namespace)?;
        let mount: &OwnedFd = self.mount.insert(mount);
        Ok(mount.as_fd())
    }

    /// Opens a directory below it as who has the inside's ids sees it; none where it is not below.
    pub(crate) fn open(&self, path: &Path) -> Option<OwnedFd> {
        let below = path.strip_prefix(&self.path).ok()?;
        let below = if below.as_os_str().is_empty() { Path::new(".") } else { below };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        openat(self.mount.as_ref()?, below, flags, Mode::empty()).ok()
    }
}
