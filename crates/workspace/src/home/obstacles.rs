//! What in a folder keeps a commit from changing it, as far as a look at the paths tells.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use offshoot_vault::diff::{Change, ChangeKind};
use offshoot_vault::{ApplyError, ApplyProblem, Binding, VaultPath};
use rustix::fs::{Access, AtFlags, CWD, FileType, StatxAttributes, StatxFlags};
use rustix::io::Errno;

use crate::binding::host_place;
use crate::error::ServiceError;

/// The first thing that a commit of these changes would be refused for. Open files, room and names that a file system takes for
/// others are not looked for: that takes more than a look at the paths.
pub(super) fn first_obstacle(bindings: &[Binding], changes: &[Change]) -> Option<ServiceError> {
    let gone: Vec<bool> = bindings.iter().map(Binding::is_gone).collect();
    let mut looked_at = HashSet::new();
    for change in changes {
        let moved = change.moved.as_ref().map(|(from, _)| from);
        for path in moved.into_iter().chain([&change.path]) {
            let Some((binding, place)) = host_place(bindings, path) else { continue };
            if gone[binding] {
                continue;
            }
            let is_new = change.before.is_none() || moved.is_some_and(|from| from != path);
            if let Some(found) = at_path(path, &place, is_new) {
                return Some(found);
            }
            let top = bindings[binding].host_path();
            let keeps_names = matches!(change.kind(), ChangeKind::Mode | ChangeKind::Metadata);
            let around = place.parent().filter(|around| !keeps_names && around.starts_with(&top));
            let fresh = around.filter(|around| looked_at.insert(around.to_path_buf()));
            if let Some(problem) = fresh.and_then(|around| around_path(around, &top)) {
                return Some(ApplyError::Problems(vec![problem]).into());
            }
        }
    }
    None
}

/// What a path itself stands in the way with: something fixed, closed, or unknown to vaults where something new comes.
fn at_path(path: &VaultPath, place: &Path, is_new: bool) -> Option<ServiceError> {
    let (kind, fixed) = look(place).ok()?;
    let place_path = || place.to_owned();
    let problem = match kind {
        _ if fixed => ApplyProblem::Fixed { path: place_path() },
        _ if is_new && is_unknown(kind) => ApplyProblem::InTheWay { path: place_path() },
        FileType::RegularFile if access(place, Access::READ_OK) == Err(Errno::ACCESS) => {
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
            Ok((kind, _)) if is_unknown(kind) => Some(ApplyProblem::InTheWay { path: own(path) }),
            Ok((FileType::Directory, true)) => Some(ApplyProblem::Fixed { path: own(path) }),
            Ok((FileType::Directory, false)) => {
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

/// What a path is, and whether it is immutable or append-only. Links are not followed.
fn look(path: &Path) -> Result<(FileType, bool), Errno> {
    let found = rustix::fs::statx(CWD, path, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::TYPE)?;
    let fixed = StatxAttributes::IMMUTABLE | StatxAttributes::APPEND;
    let kind = FileType::from_raw_mode(u32::from(found.stx_mode));
    Ok((kind, found.stx_attributes.intersects(fixed)))
}

fn access(path: &Path, wanted: Access) -> Result<(), Errno> {
    rustix::fs::accessat(CWD, path, wanted, AtFlags::EACCESS)
}

/// Whether no vault takes in such a thing.
fn is_unknown(kind: FileType) -> bool {
    matches!(kind, FileType::Socket | FileType::CharacterDevice | FileType::BlockDevice)
}
