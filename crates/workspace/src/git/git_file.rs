//! Where the `.git` file of a working tree leads, and what other paths in repositories mean.

use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use offshoot_host::disk::bytes_path;
use offshoot_tree::VaultPath;
use offshoot_vault::Binding;

use super::repository::{State, gitfile};
use crate::binding::path_on_host;
use crate::error::Result;

/// The place in the vault that the `.git` file of a working tree leads to.
pub(super) fn leads_to(
    state: State<'_>,
    folder: &VaultPath,
    bindings: &[Binding],
) -> Result<Option<VaultPath>> {
    let Some(text) = state.file(&folder.join(b".git"))? else { return Ok(None) };
    let (Some(target), Some(here)) = (gitfile(&text), on_host(bindings, folder)) else {
        return Ok(None);
    };
    Ok(resolved(&here, bytes_path(target)).and_then(|host_path| in_vault(bindings, &host_path)))
}

/// Where a path is on the host.
pub(super) fn on_host(bindings: &[Binding], path: &VaultPath) -> Option<PathBuf> {
    path_on_host(bindings, path).map(|(_, host_path)| host_path)
}

/// Where a place on the host is in the vault.
fn in_vault(bindings: &[Binding], host_path: &Path) -> Option<VaultPath> {
    let found = bindings.iter().filter_map(|binding| {
        let below = host_path.strip_prefix(binding.host_path()).ok()?;
        let names = below.components().map(|part| part.as_os_str().as_bytes());
        let path = names.fold(binding.at(), |path, name| path.join(name));
        Some((below.components().count(), path))
    });
    found.min_by_key(|(depth, _)| *depth).map(|(_, path)| path)
}

/// What a path means that was written in a directory. No link is followed: there are none on the way to what Offshoot knows.
pub(super) fn resolved(here: &Path, path: &Path) -> Option<PathBuf> {
    let mut host_path = PathBuf::new();
    for part in here.join(path).components() {
        match part {
            Component::ParentDir => host_path.pop().then_some(())?,
            Component::CurDir => {}
            part => host_path.push(part),
        }
    }
    Some(host_path)
}
