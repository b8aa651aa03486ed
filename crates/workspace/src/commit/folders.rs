//! The bound folders, while nobody else captures or changes them.

use std::path::{Path, PathBuf};

use offshoot_folder::ApplyTarget;
use offshoot_host::FolderIdentity;
use offshoot_tree::diff;
use offshoot_tree::diff::Change;
use offshoot_tree::{RootId, VaultPath};
use offshoot_vault::{
    Actor, Binding, CAPTURE, FolderLock, Imported, NewSnapshot, SharedLock, SkipReason, Snapshot,
    Vault, VaultError,
};

use super::options::CommitOptions;
use crate::audited::audited;
use crate::binding::{capture, named, require_same, shared_directories};
use crate::error::{Result, ServiceError};
use crate::git::{GitFolder, GitOptions, check_folder, is_git_directory};

/// Holds all folders of a vault. Whatever was interrupted in them is settled.
#[derive(Debug)]
pub(crate) struct Folders<'a> {
    pub(super) vault: &'a Vault,
    pub(super) actor: &'a Actor,
    pub(super) options: &'a CommitOptions<'a>,
    pub(super) lock: FolderLock,
    /// Keeps other vaults away that have the same git directory.
    shared: Vec<SharedLock>,
    bindings: Vec<Binding>,
}

impl<'a> Folders<'a> {
    /// Waits for the folders and settles what was interrupted in them, by other vaults too where they have the same.
    pub(crate) fn lock(
        vault: &'a Vault,
        actor: &'a Actor,
        options: &'a CommitOptions<'a>,
    ) -> Result<Self> {
        let shared = shared_by(&vault.bindings()?);
        let around = shared.iter().filter_map(|directory| directory.parent().map(Path::to_owned));
        let places: Vec<PathBuf> = around.chain(shared.iter().cloned()).collect();
        for other in vault.others_at_work(&places)? {
            drop(Folders::lock_own(&other, actor, options)?);
        }
        Self::lock_own(vault, actor, options)
    }

    /// The same, whatever other vaults left.
    fn lock_own(
        vault: &'a Vault,
        actor: &'a Actor,
        options: &'a CommitOptions<'a>,
    ) -> Result<Self> {
        let lock = vault.lock_folders(Some(options.wait))?;
        let bindings = vault.bindings()?;
        let shared = vec![vault.lock_shared(&shared_by(&bindings), options.wait)?];
        let folders = Self { vault, actor, options, lock, shared, bindings };
        folders.settle()?;
        Ok(folders)
    }

    /// Holds what several vaults may have for as long as the folders.
    pub(crate) fn share(&mut self, lock: SharedLock) {
        self.shared.push(lock);
    }

    /// Takes note of what was bound since.
    pub(crate) fn look_again(&mut self) -> Result<()> {
        self.bindings = self.vault.bindings()?;
        Ok(())
    }

    /// What the vault is bound to.
    pub(crate) fn bindings(&self) -> &[Binding] {
        &self.bindings
    }

    /// The repository of the first folder, and where it is in the vault.
    pub(super) fn repository(
        &self,
        options: &GitOptions,
    ) -> Result<Option<(GitFolder, VaultPath)>> {
        let first = self.bindings.iter().find(|binding| binding.at().is_top());
        let found = first.map(|binding| GitFolder::find(&binding.host_path(), options));
        let Some(folder) = found.transpose()?.flatten() else { return Ok(None) };
        let outside = self.bindings.iter().find(|binding| binding.git);
        Ok(Some((folder, outside.map_or_else(|| VaultPath::top().join(b".git"), Binding::at))))
    }

    /// Fails where a git is at work in one of the folders.
    pub(super) fn require_git_at_rest(&self) -> Result<()> {
        // A git directory that is a folder of its own belongs to the first folder, and to checkouts that nothing is brought to.
        for target in self.targets().iter().filter(|target| !is_git_directory(&target.at)) {
            check_folder(&target.directory)?;
        }
        Ok(())
    }

    /// Where the folders are, and where in the tree.
    pub(super) fn targets(&self) -> Vec<ApplyTarget> {
        let target = |binding: &Binding| ApplyTarget {
            directory: binding.host_path(),
            at: binding.at(),
            identity: None,
        };
        self.bindings.iter().map(target).collect()
    }

    /// Fails where the folders are not those that were bound.
    pub(super) fn require_same(&self) -> Result<()> {
        if self.bindings.is_empty() {
            return Err(ServiceError::NoFolder);
        }
        require_same(&self.bindings)
    }

    /// Reads what is in the folders now; only files that changed are read.
    pub(crate) fn capture(&self) -> Result<Imported> {
        capture(self.vault, &self.bindings, &self.options.import)
    }

    /// Refuses to change what could not be read: nobody can say what that is by now.
    pub(super) fn require_readable(&self, captured: &Imported, after: &RootId) -> Result<()> {
        let mut hidden: Vec<(VaultPath, &str)> = Vec::new();
        for skipped in &captured.report.skipped {
            if let SkipReason::Unreadable(why) | SkipReason::Kept(why) = &skipped.why {
                let path = VaultPath::parse(&skipped.path).map_err(VaultError::from)?;
                hidden.push((path, why));
            }
        }
        if hidden.is_empty() {
            return Ok(());
        }
        let changes = diff::compare(self.vault.objects()?, &captured.root, after)?;
        for (path, why) in hidden {
            let is_touched = |change: &Change| {
                change.path.is_within(&path)
                    || (change.after.is_none() && path.is_within(&change.path))
            };
            if changes.iter().any(is_touched) {
                let (path, why) = (path.to_string(), why.to_owned());
                return Err(ServiceError::Unreadable { path, why });
            }
        }
        Ok(())
    }

    /// Makes the main line what was read, where it differs; says whether it did. From here on the folders that were read are the
    /// bound ones.
    pub(crate) fn follow(&self, captured: &Imported) -> Result<(Snapshot, bool)> {
        let before = self.vault.head()?;
        let moved = self.moved_bindings();
        if captured.root == before.root && moved.is_empty() {
            return Ok((before, false));
        }
        let files = audited(&diff::compare(self.vault.objects()?, &before.root, &captured.root)?);
        let committed = self.vault.transact(CAPTURE, self.actor, |tx| {
            for binding in &moved {
                tx.set_binding(binding)?;
            }
            tx.summary(format!("record what changed in {}", self.names()));
            if captured.root == before.root {
                return Ok(None);
            }
            captured.record(tx)?;
            let parents = tx.head()?.into_iter().collect();
            let snapshot = tx.add_snapshot(NewSnapshot {
                root: captured.root,
                content: captured.content,
                parents,
                reason: "import".to_owned(),
                message: None,
            })?;
            tx.set_head(snapshot.id)?;
            tx.files(files);
            Ok(Some(snapshot))
        })?;
        let changed = committed.value.is_some();
        Ok((committed.value.unwrap_or(before), changed))
    }

    /// The bindings of folders that are other ones than they were.
    fn moved_bindings(&self) -> Vec<Binding> {
        let moved = self.bindings.iter().filter_map(|binding| {
            let identity = FolderIdentity::of(&binding.host_path());
            (identity != binding.identity).then(|| Binding { identity, ..binding.clone() })
        });
        moved.collect()
    }

    /// The folders, for people.
    pub(super) fn names(&self) -> String {
        named(&self.bindings)
    }
}

/// The git directories that other vaults may have as well.
fn shared_by(bindings: &[Binding]) -> Vec<PathBuf> {
    let paths: Vec<PathBuf> = bindings.iter().map(Binding::host_path).collect();
    shared_directories(&paths)
}
