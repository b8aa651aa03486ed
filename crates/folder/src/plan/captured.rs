//! Whether what is going to be replaced is what was captured.

use std::fs::File;
use std::os::fd::AsFd;
use std::thread;

use offshoot_host::disk;
use offshoot_host::workers::share;
use offshoot_tree::{BlobId, Body, Entry};
use offshoot_vault::unsettled_for;
use rayon::prelude::*;
use rustix::fs as sys;
use rustix::io::Errno;

use super::paths::{Changes, Pair, Where};
use crate::folder::Folder;
use crate::problem::ApplyProblem;
use crate::stamp::{Kind, Look, Stamp, look_at};

/// What is at each path that had something, or why it cannot be changed; in the order of the changes.
pub(super) type Verified = Vec<Option<Result<Look, ApplyProblem>>>;

/// Looks at everything that is going to change. Files are read again: their times alone do not say what is in them.
pub(super) fn verify(folders: &[Folder], changes: &Changes) -> Verified {
    let changes: Vec<_> = changes.iter().collect();
    let look = |(at, (old, new)): (&Where, &Pair)| {
        let old = old.as_ref()?;
        Some(one(&folders[at.folder], &at.path, old, new.as_deref()))
    };
    share(changes).map(look).collect()
}

fn one(
    folder: &Folder,
    path: &[u8],
    old: &Entry,
    new: Option<&Entry>,
) -> Result<Look, ApplyProblem> {
    let host = || folder.host(path);
    let changed = || ApplyProblem::Changed { path: host() };
    let look = folder.look(path).map_err(|error| denied(folder, path, error))?;
    let look = look.ok_or_else(|| through_symlink(folder, path).unwrap_or_else(changed))?;
    if look.kind != Kind::of(old.kind()) {
        return Err(changed());
    }
    let stays = old.directory().is_some() && new.is_some_and(|new| new.directory().is_some());
    if look.mounted_on && !stays {
        return Err(ApplyProblem::MountPoint { path: host() });
    }
    if look.fixed {
        return Err(ApplyProblem::Fixed { path: host() });
    }
    if old.directory().is_some() {
        return Ok(look);
    }
    let meta = &old.meta;
    let same_mode = || look.mode == meta.mode || folder.recorded_mode(path, &look) == meta.mode;
    let same = (look.uid, look.gid) == (meta.uid, meta.gid) && same_mode()
        || matches!(old.body, Body::Symlink { .. });
    if !same || look.mtime != meta.mtime {
        return Err(changed());
    }
    match &old.body {
        Body::File { blob, .. } => file(folder, path, &look, blob),
        Body::Symlink { target } => link(folder, path, target).map(|()| look),
        _ => Ok(look),
    }
}

fn link(folder: &Folder, path: &[u8], target: &[u8]) -> Result<(), ApplyProblem> {
    let read = || -> Result<Vec<u8>, Errno> {
        let spot = folder.spot(path)?.ok_or(Errno::NOENT)?;
        let found = sys::readlinkat(spot.at(), disk::bytes_path(spot.name), Vec::new())?;
        Ok(found.into_bytes())
    };
    match read() {
        Ok(found) if found == target => Ok(()),
        _ => Err(ApplyProblem::Changed { path: folder.host(path) }),
    }
}

/// Reads a file, and waits before until a change in the same tick of the clock would show.
fn file(folder: &Folder, path: &[u8], look: &Look, blob: &BlobId) -> Result<Look, ApplyProblem> {
    let fail = |error: Errno| denied(folder, path, error);
    let open = File::from(folder.file(path).map_err(fail)?);
    let stat = sys::fstat(&open).map_err(fail)?;
    if let Some(wait) = unsettled_for(&stat) {
        thread::sleep(wait);
    }
    let start = look_at(open.as_fd()).map_err(fail)?;
    let found = BlobId::of_file(&open);
    let end = look_at(open.as_fd()).map_err(fail)?;
    let stamp = Stamp::of(&start);
    let same = stamp.is(look) && stamp.is_untouched(&end) && found.is_ok_and(|it| it == *blob);
    if same { Ok(end) } else { Err(ApplyProblem::Changed { path: folder.host(path) }) }
}

fn denied(folder: &Folder, path: &[u8], error: Errno) -> ApplyProblem {
    match error {
        Errno::NOENT | Errno::NOTDIR | Errno::LOOP => through_symlink(folder, path)
            .unwrap_or(ApplyProblem::Changed { path: folder.host(path) }),
        error => ApplyProblem::Denied { path: folder.host(path), why: error.to_string() },
    }
}

/// Whether a directory on the way to a path is a symbolic link.
fn through_symlink(folder: &Folder, path: &[u8]) -> Option<ApplyProblem> {
    link_above(folder, path).map(|_| ApplyProblem::ThroughSymlink { path: folder.host(path) })
}

/// The symbolic link on the way to a path, where one is.
pub(super) fn link_above<'p>(folder: &Folder, path: &'p [u8]) -> Option<&'p [u8]> {
    let ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
    for end in ends {
        match folder.look(&path[..end]) {
            Ok(Some(look)) if look.kind == Kind::Symlink => return Some(&path[..end]),
            Ok(Some(_)) => {}
            _ => return None,
        }
    }
    None
}
