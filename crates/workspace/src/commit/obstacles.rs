//! What in a folder keeps a commit from changing it, as far as a look at the paths tells.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use offshoot_folder::{ApplyError, ApplyProblem};
use offshoot_tree::diff::{Change, ChangeKind};
use offshoot_tree::{Entry, Tree, VaultPath};
use offshoot_vault::Binding;
use rustix::fs::{Access, AtFlags, CWD, FileType, StatxAttributes, StatxFlags};
use rustix::io::Errno;

use crate::binding::path_on_host;
use crate::error::{Result, ServiceError};

/// The first thing that a commit of these changes would be refused for. Open files, room and names that a file system takes for
/// others are not looked for: that takes more than a look at the paths. `after` is what the folders are to become.
pub(super) fn first_obstacle(
    bindings: &[Binding],
    changes: &[Change],
    after: &Tree<'_>,
) -> Result<Option<ServiceError>> {
    let gone: Vec<bool> = bindings.iter().map(Binding::is_gone).collect();
    let mut looked_at = HashSet::new();
    for change in changes {
        let moved = change.moved.as_ref().map(|(from, _)| from);
        for path in moved.into_iter().chain([&change.path]) {
            let Some((binding, host_path)) = path_on_host(bindings, path) else { continue };
            if gone[binding] {
                continue;
            }
            let is_new = change.before.is_none() || moved.is_some_and(|from| from != path);
            if let Some(found) = at_path(path, &host_path, is_new) {
                return Ok(Some(found));
            }
            let top = bindings[binding].host_path();
            let goes = change.after.is_none() || moved == Some(path);
            if goes && let Some(path) = mount_that_goes(path, &host_path, &top, after)? {
                let problem = ApplyProblem::MountPoint { path };
                return Ok(Some(ApplyError::Problems(vec![problem]).into()));
            }
            let keeps_names = matches!(change.kind(), ChangeKind::Mode | ChangeKind::Metadata);
            let around =
                host_path.parent().filter(|around| !keeps_names && around.starts_with(&top));
            let fresh = around.filter(|around| looked_at.insert(around.to_path_buf()));
            if let Some(problem) = fresh.and_then(|around| around_path(around, &top)) {
                return Ok(Some(ApplyError::Problems(vec![problem]).into()));
            }
        }
    }
    Ok(None)
}

/// Something mounted on what is taken away or replaced, at a path or above it.
fn mount_that_goes(
    path: &VaultPath,
    host_path: &Path,
    top: &Path,
    after: &Tree<'_>,
) -> Result<Option<PathBuf>> {
    let (mut path, mut host_path) = (path.clone(), host_path);
    while host_path != top && !is_directory(after.get(&path)?.as_ref()) {
        if look(host_path).is_ok_and(|found| found.mounted_on) {
            return Ok(Some(host_path.to_owned()));
        }
        let (Some(above), Some(around)) = (path.parent(), host_path.parent()) else { break };
        (path, host_path) = (above, around);
    }
    Ok(None)
}

fn is_directory(entry: Option<&Entry>) -> bool {
    entry.is_some_and(|entry| entry.directory().is_some())
}

/// What a path itself stands in the way with: something fixed, closed, or unknown to vaults where something new comes.
fn at_path(path: &VaultPath, host_path: &Path, is_new: bool) -> Option<ServiceError> {
    let Look { kind, fixed, mounted_on } = look(host_path).ok()?;
    let own_path = || host_path.to_owned();
    let problem = match kind {
        _ if fixed => ApplyProblem::Fixed { path: own_path() },
        _ if mounted_on && kind != FileType::Directory => {
            ApplyProblem::MountPoint { path: own_path() }
        }
        _ if is_new && is_unknown(kind) => ApplyProblem::InTheWay { path: own_path() },
        FileType::RegularFile if access(host_path, Access::READ_OK) == Err(Errno::ACCESS) => {
            let (path, why) = (path.to_string(), Errno::ACCESS.to_string());
            return Some(ServiceError::Unreadable { path, why });
        }
        _ => return None,
    };
    Some(ApplyError::Problems(vec![problem]).into())
}

/// What the directory of a path stands in the way with. One that is not there is going to be made, in the next one that is.
fn around_path(directory: &Path, top: &Path) -> Option<ApplyProblem> {
    let own = |path: &Path| -> PathBuf { path.to_owned() };
    for path in directory.ancestors().take_while(|path| path.starts_with(top)) {
        return match look(path) {
            Err(Errno::NOENT | Errno::NOTDIR) => continue,
            Err(Errno::ACCESS) => Some(ApplyProblem::not_entered(own(path))),
            Ok(found) if is_unknown(found.kind) => Some(ApplyProblem::InTheWay { path: own(path) }),
            Ok(Look { kind: FileType::Directory, fixed: true, .. }) => {
                Some(ApplyProblem::Fixed { path: own(path) })
            }
            Ok(Look { kind: FileType::Directory, .. }) => {
                match access(path, Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK) {
                    Err(Errno::ROFS) => Some(ApplyProblem::ReadOnly { path: own(path) }),
                    Err(Errno::ACCESS) => Some(ApplyProblem::not_writable(own(path))),
                    _ => None,
                }
            }
            _ => None,
        };
    }
    None
}

/// What is at a path.
struct Look {
    kind: FileType,
    /// Immutable or append-only.
    fixed: bool,
    /// Something is mounted on it.
    mounted_on: bool,
}

/// Looks at a path. Links are not followed.
fn look(path: &Path) -> Result<Look, Errno> {
    let found = rustix::fs::statx(CWD, path, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::TYPE)?;
    let fixed = StatxAttributes::IMMUTABLE | StatxAttributes::APPEND;
    Ok(Look {
        kind: FileType::from_raw_mode(u32::from(found.stx_mode)),
        fixed: found.stx_attributes.intersects(fixed),
        mounted_on: found.stx_attributes.contains(StatxAttributes::MOUNT_ROOT),
    })
}

fn access(path: &Path, wanted: Access) -> Result<(), Errno> {
    rustix::fs::accessat(CWD, path, wanted, AtFlags::EACCESS)
}

/// Whether no vault takes in such a thing.
fn is_unknown(kind: FileType) -> bool {
    matches!(kind, FileType::Socket | FileType::CharacterDevice | FileType::BlockDevice)
}
