//! Commits of the workspace that reached the folder beside the branch: a git commit that has all their changes is a merge of them.

mod merged_tree;

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt;

use offshoot_tree::VaultPath;
use offshoot_vault::Vault;

use super::committed::{AboutTo, GitCommitted, commit_note};
use super::committed_changes::{CommittedChanges, GitCommitMessage};
use super::hooks;
use super::prepared::GitCommit;
use crate::error::Result;
use crate::git::error::{GitError, GitResult};
use crate::git::folder::GitFolder;
use crate::git::merge::{GitReport, NextStep, own_branches, short_ref};
use crate::git::moved::{Side, move_index};
use merged_tree::{MergedTree, is_same};

/// A ref with commits of the workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Kept {
    /// Its full name.
    pub(super) reference: String,
    /// Its commit.
    pub(super) tip: String,
    /// A checkout uses it, so it stays when it is merged.
    pub(super) in_use: bool,
    /// What to do first, where it cannot be merged at once.
    first: Option<NextStep>,
}

/// A path as a commit has it: its mode and its object.
type Version = (Vec<u8>, Vec<u8>);

impl Kept {
    /// What was kept apart because the branch that is checked out was moved on both sides, and is still there.
    pub(super) fn find(folder: &GitFolder, report: &GitReport) -> GitResult<Option<Self>> {
        let Some(branch) = folder.checked_out()? else { return Ok(None) };
        for note in report.notes.iter().filter(|note| note.name == branch) {
            let (Some(reference), Some(tip)) = (note.event.kept_as(), &note.to) else { continue };
            if folder.commit(reference)?.as_ref() == Some(tip) {
                let kept = Self::new(folder, reference, tip)?;
                let first = note.way.clone().filter(|way| way.when.is_some());
                return Ok(Some(Self { first, ..kept }));
            }
        }
        Ok(None)
    }

    fn new(folder: &GitFolder, reference: &str, tip: &str) -> GitResult<Self> {
        let in_use = !folder.users(reference)?.is_empty();
        Ok(Self { reference: reference.to_owned(), tip: tip.to_owned(), in_use, first: None })
    }

    /// What was kept apart of a workspace's branch that is checked out, and is still not merged, whatever was said of it.
    fn left(folder: &GitFolder, workspace: &str) -> GitResult<Option<Self>> {
        let Some(branch) = folder.checked_out()? else { return Ok(None) };
        let Some(name) = branch.strip_prefix("refs/heads/") else { return Ok(None) };
        let own = String::from_utf8_lossy(&own_branches(workspace)).into_owned() + name;
        let arguments = ["for-each-ref", "--format=%(refname)", "--no-merged", "HEAD", "--"];
        let listed =
            folder.git.output(&[&arguments[..], &[own.as_str(), &format!("{own}-*")]].concat())?;
        let listed = String::from_utf8_lossy(&listed).into_owned();
        // A number may follow.
        let is_it = |found: &&str| {
            let rest = found.strip_prefix(own.as_str()).unwrap_or("?");
            rest.trim_start_matches('-').bytes().all(|byte| byte.is_ascii_digit())
        };
        let Some(reference) = listed.lines().find(is_it) else { return Ok(None) };
        match folder.commit(reference)? {
            Some(tip) => Self::new(folder, reference, &tip).map(Some),
            None => Ok(None),
        }
    }

    /// The paths that these commits changed and that are something else in a tree that came of a parent. What both sides changed must be
    /// among the paths that reached the folder merged. Nothing where the two have no commit in common.
    pub(super) fn not_within(
        &self,
        folder: &GitFolder,
        parent: &str,
        tree: &str,
        came: &BTreeSet<&[u8]>,
    ) -> GitResult<Option<Vec<Vec<u8>>>> {
        let base = folder.git.try_output(&["merge-base", parent, &self.tip], &[])?;
        if !base.status.success() {
            return Ok(None);
        }
        let base = String::from_utf8_lossy(&base.stdout).trim().to_owned();
        let mut theirs = changes(folder, &base, &self.tip)?;
        let (ours, all) = (changes(folder, &base, parent)?, changes(folder, &base, tree)?);
        theirs.retain(|path, version| {
            all.get(path) != Some(version)
                && !(ours.contains_key(path) && came.contains(path.as_slice()))
        });
        Ok(Some(theirs.into_keys().collect()))
    }

    /// Whether these commits came from another one.
    fn has(&self, folder: &GitFolder, commit: &str) -> GitResult<bool> {
        let arguments = ["merge-base", "--is-ancestor", commit, &self.tip];
        Ok(folder.git.try_output(&arguments, &[])?.status.success())
    }

    /// Whether these commits have none in common with another one.
    fn is_unrelated(&self, folder: &GitFolder, commit: &str) -> GitResult<bool> {
        let found = folder.git.try_output(&["merge-base", commit, &self.tip], &[])?;
        Ok(found.status.code() == Some(1))
    }

    /// The name as people say it.
    fn name(&self) -> String {
        short_ref(&self.reference).to_owned()
    }
}

/// A merge about to be made.
pub(super) struct Joined {
    kept: Kept,
    /// What is checked out.
    parent: String,
    /// The tree of the merge.
    tree: String,
    /// What the merge changes on the branch.
    changed: BTreeMap<Vec<u8>, Version>,
}

impl GitCommit {
    /// What a merge of commits of the workspace would be that were kept apart and whose files reached the folder before. Nothing where there are
    /// none. Fails where it cannot be made.
    pub(super) fn joined(
        &self,
        vault: &Vault,
        came: &CommittedChanges<'_>,
    ) -> Result<Option<Joined>> {
        let folder = &self.folder;
        let (kept, parent) = (Kept::find(folder, came.git)?, folder.commit("HEAD")?);
        let (Some(kept), Some(parent)) = (kept, parent) else { return Ok(None) };
        if kept.is_unrelated(folder, &parent)? {
            let why = "it has no commit in common with what is checked out".to_owned();
            return Err(self.cannot_join(&kept, why, None)?.into());
        }
        let merged = MergedTree::of(folder, &kept, &parent)?;
        let tree = self.decided(vault, came, &kept, &parent, merged)?;
        let changed = changes(folder, &parent, &tree)?;
        self.require_free(came.at, &kept, &changed)?;
        Ok(Some(Joined { kept, parent, tree, changed }))
    }

    /// Merges commits of the workspace that were kept apart and whose files reached the folder before. The files stay as they are: what the person
    /// changed in them is not committed.
    pub(super) fn join(
        &self,
        vault: &Vault,
        came: &CommittedChanges<'_>,
        words: &GitCommitMessage<'_>,
        about_to: AboutTo<'_>,
    ) -> Result<Option<GitCommitted>> {
        let folder = &self.folder;
        let Some(joined) = self.joined(vault, came)? else { return Ok(None) };
        let Joined { kept, parent, tree, changed } = joined;
        let is_new = !kept.has(folder, &parent)?;
        let reference = folder.checked_out()?.unwrap_or_else(|| "HEAD".to_owned());
        let hooks = if is_new { hooks::hooks(folder)? } else { Vec::new() };
        let (commit, note) = match is_new {
            true => {
                let message = self.message(words);
                let commit = self.write_commit(&tree, &[&parent, &kept.tip], &message)?;
                (commit, commit_note(Some(&parent), &message))
            }
            false => (kept.tip.clone(), format!("merge {}: Fast-forward", kept.name())),
        };
        // The index first, as for every commit.
        let side = |commit| Side { commit: Some(commit), index: None };
        move_index(folder, side(&parent), side(&tree))?;
        let made = GitCommitted {
            commit,
            branch: reference.strip_prefix("refs/heads/").map(str::to_owned),
            reference,
            before: Some(parent.clone()),
            files: changed.len() as u64,
            merged: Some(kept.reference.clone()),
            merged_commit: Some(kept.tip.clone()),
            merged_stays: kept.in_use,
            is_new,
            hooks,
            unsigned: is_new && hooks::would_sign(folder)?,
        };
        about_to(&made)?;
        self.move_head(&made.commit, Some(&parent), Some(&kept), &note)?;
        Ok(Some(made))
    }

    /// Whether the workspace itself has these paths as a tree of what reached the folder has them: it changed them further, or back, since it
    /// committed them.
    pub(super) fn is_decided(
        &self,
        vault: &Vault,
        came: &CommittedChanges<'_>,
        tree: &str,
        paths: &BTreeSet<&[u8]>,
        left: &[Vec<u8>],
    ) -> Result<bool> {
        let (own, folder) = (vault.tree(&came.workspace)?, vault.tree(&came.after)?);
        let arguments = ["ls-tree", "-r", "-z", "--name-only", "--full-tree", tree];
        let listed = self.folder.git.output(&arguments)?;
        let known: BTreeSet<&[u8]> = listed.split(|byte| *byte == 0).collect();
        for path in left {
            let Some(at) = self.vault_path(came.at, path) else { return Ok(false) };
            let (own, now) = (own.get(&at)?, folder.get(&at)?);
            // The tree has what the folder has where that reached the folder, and where nobody changed it.
            let is_committed = paths.contains(path.as_slice()) || !self.is_changed(path);
            let is_there = own.is_some() == known.contains(path.as_slice());
            if !is_committed || !is_there || !is_same(own.as_ref(), now.as_ref()) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Fails where commits of a workspace that has nothing more to commit are still apart: nothing tells how its files reached the folder.
    pub fn check_left(&self, workspace: &str) -> GitResult<()> {
        match Kept::left(&self.folder, workspace)? {
            Some(kept) => {
                let why = format!("{workspace} has nothing more to commit");
                Err(self.cannot_join(&kept, why, None)?)
            }
            None => Ok(()),
        }
    }

    /// Fails where the person staged something else in files that the merge changes, and where one of them did not reach the folder.
    fn require_free(
        &self,
        at: &VaultPath,
        kept: &Kept,
        changed: &BTreeMap<Vec<u8>, Version>,
    ) -> GitResult<()> {
        let git = &self.folder.git;
        let listed = |arguments: &[&str]| -> GitResult<BTreeSet<Vec<u8>>> {
            let listed = git.output(arguments)?;
            Ok(listed.split(|byte| *byte == 0).map(<[u8]>::to_vec).collect())
        };
        let staged = changes_of(&git.output(&[
            "diff-index",
            "--cached",
            "-r",
            "-z",
            "--raw",
            "--no-renames",
            "--no-abbrev",
            "HEAD",
        ])?);
        let other = changed
            .iter()
            .filter(|(path, version)| staged.get(*path).is_some_and(|staged| staged != *version));
        let both: Vec<VaultPath> =
            other.filter_map(|(path, _)| self.vault_path(at, path)).collect();
        if !both.is_empty() {
            return Err(GitError::Dirty(both));
        }
        // A git that looked into submodules would obey their settings, which nobody looked at.
        let different = listed(&[
            "diff",
            "--name-only",
            "-z",
            "--no-renames",
            "--no-ext-diff",
            "--no-textconv",
            "--ignore-submodules=dirty",
            "HEAD",
        ])?;
        let known = listed(&["ls-files", "-z"])?;
        let came = |path: &Vec<u8>| match known.contains(path) || different.contains(path) {
            true => different.contains(path),
            false => {
                let name = std::ffi::OsStr::from_bytes(path);
                self.folder.top().join(name).symlink_metadata().is_ok()
            }
        };
        match changed.keys().find(|path| !came(path)) {
            Some(path) => {
                let path = String::from_utf8_lossy(path).into_owned();
                let why = format!("the folder does not have its {path}");
                Err(self.cannot_join(kept, why, Some(path))?)
            }
            None => Ok(()),
        }
    }

    /// Why commits cannot be merged, and what to do instead.
    fn cannot_join(
        &self,
        kept: &Kept,
        why: String,
        missing: Option<String>,
    ) -> GitResult<GitError> {
        if let Some(way) = &kept.first {
            let way = Box::new(way.clone());
            return Ok(GitError::CannotJoin { kept: kept.name(), why, missing, way });
        }
        let staged = ["diff-index", "--cached", "--quiet", "HEAD"];
        let nothing_staged = self.folder.git.try_output(&staged, &[])?.status.success();
        let parent = self.folder.commit("HEAD")?.unwrap_or_default();
        let way = NextStep::record(&kept.reference);
        let way = if kept.is_unrelated(&self.folder, &parent)? { way.unrelated() } else { way };
        let way = Box::new(if nothing_staged { way } else { way.after_commit() });
        Ok(GitError::CannotJoin { kept: kept.name(), why, missing, way })
    }
}

/// What is different in a tree or commit, by path.
pub(super) fn changes(
    folder: &GitFolder,
    from: &str,
    to: &str,
) -> GitResult<BTreeMap<Vec<u8>, Version>> {
    let arguments = ["diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", from, to];
    Ok(changes_of(&folder.git.output(&arguments)?))
}

/// The versions that a list of changes leads to.
fn changes_of(listed: &[u8]) -> BTreeMap<Vec<u8>, Version> {
    let mut parts = listed.split(|byte| *byte == 0);
    let mut changes = BTreeMap::new();
    while let (Some(line), Some(path)) = (parts.next(), parts.next()) {
        let words: Vec<&[u8]> = line.split(|byte| *byte == b' ').collect();
        if let [_, mode, _, object, ..] = words[..] {
            changes.insert(path.to_vec(), (mode.to_vec(), object.to_vec()));
        }
    }
    changes
}
