//! Where a command sees its workspace.

use std::path::{Path, PathBuf};

/// Where a workspace lies that belongs to no directory of the host.
const UNBOUND: &str = "/workspace";

/// Where a workspace lies: at the path of the directory that it was made from, so that absolute paths in caches and in
/// debug information stay true. The inside's root is read-only, so that path must be one that can be mounted on.
pub(super) fn target_for(bound: Option<&Path>) -> PathBuf {
    match bound {
        Some(path) if path.is_dir() && path != Path::new("/") => path.to_owned(),
        _ => PathBuf::from(UNBOUND),
    }
}
