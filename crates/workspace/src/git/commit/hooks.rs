//! What git would do for a commit, and is not done here: no hook runs, and nothing is signed. Whoever wants that is told.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use crate::git::error::GitResult;
use crate::git::folder::{GitFolder, shared_dir};

const HOOKS: [&str; 4] = ["pre-commit", "prepare-commit-msg", "commit-msg", "post-commit"];

/// The hooks of a commit that a repository has.
pub(super) fn hooks(folder: &GitFolder) -> GitResult<Vec<String>> {
    let directory = directory(folder)?;
    let runs = |name: &&&str| {
        let found = std::fs::metadata(directory.join(name));
        found.is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    Ok(HOOKS.iter().filter(runs).map(|name| (*name).to_owned()).collect())
}

/// Where the repository's hooks are.
fn directory(folder: &GitFolder) -> GitResult<PathBuf> {
    Ok(match setting(folder, "--type=path", "core.hooksPath")? {
        Some(path) => folder.top.join(OsStr::from_bytes(&path)),
        None => shared_dir(&folder.git_dir).join("hooks"),
    })
}

/// Whether git would sign a commit.
pub(super) fn would_sign(folder: &GitFolder) -> GitResult<bool> {
    let set = setting(folder, "--type=bool", "commit.gpgSign")?;
    Ok(set.is_some_and(|value| value == b"true"))
}

/// What the person set where it is set otherwise here.
fn setting(folder: &GitFolder, kind: &str, name: &str) -> GitResult<Option<Vec<u8>>> {
    let listed = folder.git.try_output(&["config", "-z", kind, "--get-all", name], &[])?;
    let mut set: Vec<&[u8]> = listed.stdout.split(|byte| *byte == 0).collect();
    // The last ones are the end of the list, and what is set here.
    set.truncate(set.len().saturating_sub(2));
    Ok(set.last().map(|value| value.to_vec()))
}
