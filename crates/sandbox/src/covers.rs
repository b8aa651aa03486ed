//! Directories of the host whose files belong to the inside's own ids there.
//!
//! Root's commands have ids that nobody has outside. What they work on, and what is theirs of the home, is covered inside by mounts of itself that
//! translate ids: on disk everything keeps the owners that it has.

use std::ffi::CString;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, StatxFlags, openat, statx};
use rustix::io::Errno;
use rustix::mount::{OpenTreeFlags, open_tree};

use crate::error::Result;
use crate::looked::Looked;
use crate::script::{MOST_COVERS, c_path};
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
pub(crate) fn needed(spec: &Spec, looked: &mut Looked) -> Option<Vec<Cover>> {
    let home = spec.home.as_deref().and_then(|home| home.canonicalize().ok());
    let home = home.filter(|home| home.parent().is_some());
    let mut tops: Vec<PathBuf> = Vec::new();
    for path in worked_on(spec) {
        let path = path.canonicalize().ok()?;
        let top = match &home {
            Some(home) if path.starts_with(home) => looked.closed_above(home)?.unwrap_or(home),
            _ => looked.closed_above(&path)?.unwrap_or(&path),
        };
        if mount_of(top)? != mount_of(&path)? {
            return None;
        }
        tops.push(top.to_owned());
    }
    for path in &spec.shown {
        // What lies on another file system is seen as others see it.
        if let Some(top) = shown_top(path, home.as_deref(), looked) {
            tops.push(top);
        }
    }
    tops.sort();
    tops.dedup_by(|inner, outer| inner.starts_with(&*outer));
    let cover = |path: PathBuf| Some(Cover { place: c_path(&path).ok()?, path, mount: None });
    let covers: Vec<Cover> = tops.into_iter().map(cover).collect::<Option<_>>()?;
    (covers.len() <= MOST_COVERS).then_some(covers)
}

/// What the command works on.
fn worked_on(spec: &Spec) -> Vec<PathBuf> {
    let mut used = match &spec.workspace.files {
        Files::Overlay(overlay) => vec![overlay.directory.clone()],
        Files::Directory(path) => vec![path.clone()],
    };
    used.extend(spec.kept_home.clone());
    used.extend(spec.shared.iter().cloned());
    for cache in &spec.caches {
        used.push(cache.layers.directory.clone());
        used.extend(cache.layers.lower.iter().filter(|lower| lower.is_absolute()).cloned());
    }
    used
}

/// What has to be covered for something to be seen: where it lies in the home, or where the way to it is closed to others.
fn shown_top(path: &Path, home: Option<&Path>, looked: &mut Looked) -> Option<PathBuf> {
    let in_home = home.filter(|home| path.starts_with(home));
    if in_home.is_none() && looked.closed_above(path)?.is_none() {
        return None;
    }
    let path = path.canonicalize().ok()?;
    let top = match in_home {
        Some(home) => looked.closed_above(home)?.unwrap_or(home),
        None => looked.closed_above(&path)?.unwrap_or(&path),
    };
    (mount_of(top)? == mount_of(&path)?).then(|| top.to_owned())
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
