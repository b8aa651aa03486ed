//! The branches that checkouts need where they are. Whatever moves or deletes a ref asks here first.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use offshoot_host::read_regular;
use offshoot_tree::VaultPath;

use super::error::GitResult;
use super::folder::{GitFolder, LARGEST_POINTER, shared_dir};
use super::merge::InUse;
use super::repository::{State, led_over};
use crate::error::Result;

/// Where a rebase says what it moves when it is done. The second file lists refs, each with two ids below it.
const REBASE: [&str; 4] = [
    "rebase-merge/head-name",
    "rebase-merge/update-refs",
    "rebase-apply/head-name",
    "rebase-apply/update-refs",
];
/// Where a search says what it goes back to.
const BISECT: &str = "BISECT_START";

/// The branches that something in progress goes back to, or moves when it is done, by the files of a checkout.
fn steps_back<E>(
    mut file: impl FnMut(&str) -> std::result::Result<Option<Vec<u8>>, E>,
) -> std::result::Result<BTreeMap<Vec<u8>, InUse>, E> {
    let mut found = BTreeMap::new();
    for name in REBASE {
        let text = file(name)?.unwrap_or_default();
        let lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
        let refs = lines.filter(|line| line.starts_with(b"refs/"));
        found.extend(refs.map(|name| (name.to_vec(), InUse::Rebased)));
    }
    if let Some(start) = file(BISECT)? {
        found.insert([b"refs/heads/", start.trim_ascii()].concat(), InUse::Bisected);
    }
    Ok(found)
}

impl State<'_> {
    /// The branches that a checkout needs where they are: the one that is checked out, and those that something in progress goes back to. A
    /// branch that only stands for another one needs that as well.
    pub(crate) fn in_use(&self, at: &VaultPath) -> Result<BTreeMap<Vec<u8>, InUse>> {
        let refs = self.refs(at)?;
        let named = steps_back(|name| {
            let names = name.split('/').map(str::as_bytes);
            self.file(&names.fold(at.clone(), |path, name| path.join(name)))
        })?;
        let mut found = BTreeMap::new();
        for (name, why) in named {
            found.extend(led_over(&refs, &name).into_iter().map(|name| (name, why)));
            found.insert(name, why);
        }
        found.extend(led_over(&refs, b"HEAD").into_iter().map(|name| (name, InUse::CheckedOut)));
        Ok(found)
    }
}

/// A checkout that needs a branch where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct User {
    /// Its working tree.
    pub(crate) worktree: PathBuf,
    /// What the branch is to it.
    pub(crate) why: InUse,
}

impl GitFolder {
    /// The checkouts of the repository that need a branch, or the one that it stands for, where it is.
    pub(crate) fn users(&self, reference: &str) -> GitResult<Vec<User>> {
        let wanted = self.stands_for(reference)?;
        let wanted = wanted.as_deref().unwrap_or(reference).as_bytes();
        let listed = self.git.output(&["worktree", "list", "--porcelain", "-z"])?;
        let path = |bytes: &[u8]| PathBuf::from(OsString::from_vec(bytes.to_vec()));
        let (mut first, mut worktree) = (None, PathBuf::new());
        let mut users = Vec::new();
        for line in listed.split(|byte| *byte == 0) {
            if let Some(at) = line.strip_prefix(b"worktree ") {
                worktree = path(at);
                first.get_or_insert(worktree.clone());
            } else if line.strip_prefix(b"branch ") == Some(wanted) {
                let worktree = worktree.clone();
                users.push(User { worktree, why: InUse::CheckedOut });
            }
        }
        let shared = shared_dir(&self.git_dir);
        // The main working tree is listed first, whether or not there is one.
        let main = [(shared.clone(), first.unwrap_or_default())];
        for (directory, worktree) in main.into_iter().chain(linked(&shared)) {
            let named =
                steps_back(|name| Ok(read_regular(&directory.join(name), LARGEST_POINTER).ok()))?;
            for (name, why) in named {
                let name = String::from_utf8_lossy(&name);
                let leads_to = self.stands_for(&name)?;
                if leads_to.as_deref().unwrap_or(&name).as_bytes() == wanted {
                    users.push(User { worktree: worktree.clone(), why });
                }
            }
        }
        Ok(users)
    }

    /// The same without the folder's own HEAD.
    pub(crate) fn other_users(&self, reference: &str) -> GitResult<Vec<User>> {
        let mut users = self.users(reference)?;
        let wanted = self.stands_for(reference)?.unwrap_or_else(|| reference.to_owned());
        if self.checked_out()? == Some(wanted) {
            // Where a branch is checked out twice, the other one is left.
            let own = users.iter().position(|user| user.why == InUse::CheckedOut);
            own.map(|own| users.remove(own));
        }
        Ok(users)
    }

    /// The ref that a symbolic one stands for; nothing where it is none.
    pub(crate) fn stands_for(&self, reference: &str) -> GitResult<Option<String>> {
        let ran = self.git.try_output(&["symbolic-ref", "--quiet", reference], &[])?;
        let name = String::from_utf8_lossy(&ran.stdout).trim().to_owned();
        Ok(Some(name).filter(|name| ran.status.success() && !name.is_empty()))
    }
}

/// The repositories of linked working trees, with those.
fn linked(shared: &Path) -> Vec<(PathBuf, PathBuf)> {
    let listed = std::fs::read_dir(shared.join("worktrees")).into_iter().flatten().flatten();
    let both = listed.map(|entry| {
        let directory = entry.path();
        let text = read_regular(&directory.join("gitdir"), LARGEST_POINTER).unwrap_or_default();
        let pointer = directory.join(OsStr::from_bytes(text.trim_ascii()));
        let worktree = pointer.parent().unwrap_or(&directory).to_owned();
        (directory, worktree)
    });
    both.collect()
}
