//! A repository to try a commit in: it has everything that the folder's will have by then, and nothing that is done in it stays.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use offshoot_host::Mtime;
use offshoot_tree::diff;
use offshoot_tree::diff::Change;
use offshoot_tree::{Batch, Entry, Meta, RootId, TreeEditor, VaultPath};
use offshoot_vault::{Binding, ExportOptions, Scratch, Vault};

use super::committed_changes::CommittedChanges;
use crate::error::Result;
use crate::git::error::GitError;
use crate::git::folder::{GitFolder, shared_dir};

/// What a commit comes from. Settings are not among it: those that reach the folder are obeyed by nobody before they are there.
const STATE: [&[u8]; 7] =
    [b"HEAD", b"refs", b"packed-refs", b"reftable", b"index", b"shallow", b"worktrees"];
/// The settings, which are the folder's own.
const SETTINGS: [&str; 4] = ["config", "config.worktree", "info/exclude", "info/attributes"];

/// The repository, which goes at the end.
#[derive(Debug)]
pub(super) struct Rehearsal {
    directory: Scratch,
    /// The folder, with this repository in place of its own.
    pub(super) folder: GitFolder,
}

impl Rehearsal {
    /// Makes one. Nothing where the vault does not have the folder's: then nothing of it reaches the folder either.
    pub(super) fn new(
        folder: &GitFolder,
        vault: &Vault,
        came: &CommittedChanges<'_>,
    ) -> Result<Option<Self>> {
        let bindings = vault.bindings()?;
        let outside = bindings.iter().find(|binding| binding.git).map(Binding::at);
        let at = outside.unwrap_or_else(|| came.at.join(b".git"));
        let entry = vault.tree(&came.after)?.get(&at)?;
        if entry.is_none_or(|entry| entry.directory().is_none()) {
            return Ok(None);
        }
        let failed = |source| GitError::Run { what: "in a scratch repository".to_owned(), source };
        let own = folder.git_dir.canonicalize().map_err(failed)?;
        let shared = shared_dir(&own).canonicalize().map_err(failed)?;
        // The repository of a linked working tree lies in the one that it belongs to.
        let below = own.strip_prefix(&shared).unwrap_or(Path::new("")).to_owned();
        let directory = vault.scratch()?;
        let root = state(vault, came, &at)?;
        let git_dir = directory.path().join(&below);
        let git = folder.git.with_repository(&git_dir, &folder.top);
        let folder = GitFolder { git, git_dir: git_dir.clone(), ..folder.clone() };
        let made = Self { directory, folder };
        vault.export(&root, &at, made.directory.path(), &ExportOptions::default())?;
        made.complete(&shared, [&own, &git_dir]).map_err(failed)?;
        Ok(Some(made))
    }

    /// Adds what is the folder's own: its objects, by reference, and its settings.
    fn complete(&self, shared: &Path, [own, git_dir]: [&Path; 2]) -> io::Result<()> {
        let directory = self.directory.path();
        let info = directory.join("objects/info");
        fs::create_dir_all(&info)?;
        fs::create_dir_all(directory.join("refs"))?;
        fs::create_dir_all(directory.join("info"))?;
        let objects = shared.join("objects");
        fs::write(info.join("alternates"), [objects.as_os_str().as_bytes(), b"\n"].concat())?;
        if own != shared {
            fs::create_dir_all(git_dir)?;
            fs::write(git_dir.join("commondir"), b"../..\n")?;
            copy(&own.join("config.worktree"), &git_dir.join("config.worktree"))?;
        }
        SETTINGS.iter().try_for_each(|name| copy(&shared.join(name), &directory.join(name)))
    }
}

/// Copies a file, if it is there.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    match fs::copy(from, to) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The state that the folder will have, with nothing in its repository but refs, checkouts, and those objects that are new.
fn state(vault: &Vault, came: &CommittedChanges<'_>, at: &VaultPath) -> Result<RootId> {
    let objects = vault.objects()?;
    let tree = vault.tree(&came.after)?;
    let repository = tree.find(at)?;
    let mut editor = TreeEditor::open(objects, &came.after, Mtime::now())?;
    let known: BTreeSet<&[u8]> = STATE.into_iter().collect();
    let entries = repository.directory().map(|dir| tree.list(dir)).transpose()?;
    for entry in entries.unwrap_or_default() {
        if !known.contains(entry.name.as_slice()) && !entry.name.starts_with(b"sharedindex.") {
            editor.remove(&at.join(&entry.name))?;
        }
    }
    let stored = at.join(b"objects");
    let changes = diff::compare(objects, &came.before, &came.after)?;
    let is_new = |change: &&Change| change.path.is_within(&stored);
    for change in changes.iter().filter(is_new) {
        let (Some(entry), Some(parent)) = (&change.after, change.path.parent()) else { continue };
        if entry.directory().is_none() {
            editor.make_directories(&parent, &Meta { mode: 0o755, ..Meta::default() })?;
            editor.put(&change.path, Entry::clone(entry))?;
        }
    }
    let mut batch = Batch::default();
    let (root, _) = editor.finish(&mut batch)?;
    vault.store(&batch)?;
    Ok(root)
}
