//! The further folders of a vault as a command sees them.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use offshoot_sandbox::FolderMount;
use offshoot_tree::{Entry, RootId, VaultPath};
use offshoot_vault::{Binding, Vault, WorkspaceRecord, bound_path};

use super::request::CommandLine;
use crate::error::Result;
use crate::standing::resolved;

/// What a command sees beside the top of its workspace.
#[derive(Debug, Default)]
pub(super) struct Shown {
    pub(super) folders: Vec<FolderMount>,
    /// What is seen at a place of its own is not seen below the workspace's top.
    pub(super) covered: Option<PathBuf>,
    pub(super) warnings: Vec<String>,
}

/// The folders that are there, both in this state of the workspace and on the host.
pub(super) fn shown(
    vault: &Vault,
    root: &RootId,
    workspace: &WorkspaceRecord,
    bindings: &[Binding],
    command: &CommandLine,
    cwd: &Path,
) -> Result<Shown> {
    let mut shown = Shown::default();
    for binding in bindings.iter().filter(|binding| !binding.is_first()) {
        let (at, target) = (binding.at(), binding.host_path());
        let entry = vault.tree(root)?.get(&at)?;
        let (name, place) = (&workspace.name, target.display());
        // A link on the way would lead elsewhere.
        if target.canonicalize().ok().as_ref() != Some(&target) || !target.is_dir() {
            let folder = &binding.name;
            shown.warnings.push(format!(
                "{place} is gone and was not shown; workspace {name} still has its files, and `offshoot binding move {folder} DIR` says where it is now"
            ));
        } else if entry.is_none_or(|entry| entry.directory().is_none()) {
            // Git finds its directory without being told where it is.
            if binding.git || leads_to(command, cwd, &target) {
                shown.warnings.push(format!(
                    "{place} is not part of workspace {name} and its changes are not kept; `offshoot pull -w {name}` brings it in"
                ));
            }
        } else {
            let below = host(&at);
            shown.folders.push(FolderMount { below, target });
        }
    }
    if !shown.folders.is_empty() {
        shown.covered = Some(host(&covered(vault, root)?));
    }
    Ok(shown)
}

/// Whether a command starts in a folder of the host, or names something in it.
fn leads_to(command: &CommandLine, cwd: &Path, folder: &Path) -> bool {
    let is_inside = |word: &str| resolved(cwd, Path::new(word)).starts_with(folder);
    // Words of a line of shell, and what is behind an option's `=`.
    let ends = |c: char| c.is_whitespace() || "'\"`=:;,|&<>()".contains(c);
    let names = |argument: &OsString| argument.to_string_lossy().split(ends).any(is_inside);
    cwd.starts_with(folder) || command.arguments().iter().any(names)
}

/// The directory that holds other folders; also what holds that and nothing else, which the first folder does not have on
/// disk, so that nothing can be put there.
fn covered(vault: &Vault, root: &RootId) -> Result<VaultPath> {
    let bound = bound_path();
    let tree = vault.tree(root)?;
    let Some(parent) = bound.parent() else { return Ok(bound) };
    let holder = tree.get(&parent)?;
    let holds = match holder.as_ref().and_then(Entry::directory) {
        Some(directory) => tree.list(directory)?.len(),
        None => 0,
    };
    Ok(if holds > 1 { bound } else { parent })
}

/// A path of the vault's tree as one below a directory of the host.
fn host(path: &VaultPath) -> PathBuf {
    OsString::from_vec(path.relative()).into()
}
