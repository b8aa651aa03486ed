//! A commit of what reached the folder some time ago.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use offshoot_tree::VaultPath;
use offshoot_vault::Vault;

use super::committed::{AboutTo, GitCommitted};
use super::committed_changes::{CommittedChanges, GitCommitMessage};
use super::prepared::GitCommit;
use super::wanted::Wanted;
use crate::error::Result;
use crate::git::error::GitError;
use crate::git::moved::staged;

/// Files by path, with mode and object.
type Versions = BTreeMap<Vec<u8>, (Vec<u8>, Vec<u8>)>;

impl GitCommit {
    /// Commits what reached the folder before, by somebody who died before that. Nothing where git has it by now. Fails where git has something
    /// else by now: a commit would take that back.
    pub fn commit_late(
        &self,
        vault: &Vault,
        came: &CommittedChanges<'_>,
        words: &GitCommitMessage<'_>,
        about_to: AboutTo<'_>,
    ) -> Result<Option<GitCommitted>> {
        let moved = self.moved_on(vault, came)?;
        if !moved.is_empty() {
            return Err(GitError::MovedOn(moved).into());
        }
        self.make(vault, came, words, about_to)
    }

    /// Whether git has everything by now that reached the folder before: somebody else committed it, or took it back.
    pub fn is_settled(&self, vault: &Vault, came: &CommittedChanges<'_>) -> Result<bool> {
        let wanted = self.tracked_or_not_ignored(self.wanted(vault, came)?)?;
        let Some(head) = self.folder.commit("HEAD")? else { return Ok(wanted.is_empty()) };
        let arguments = ["ls-tree", "-r", "-z", "--name-only", "--full-tree", &head];
        let listed = self.folder.git.output(&arguments)?;
        let known: BTreeSet<&[u8]> = listed.split(|byte| *byte == 0).collect();
        let is_there = |path: &[u8]| {
            self.folder.top().join(OsStr::from_bytes(path)).symlink_metadata().is_ok()
        };
        // A file that git does not know is as it came, or gone again.
        Ok(wanted.iter().all(|(path, _)| {
            !self.dirty.contains(path) && (known.contains(path.as_slice()) || !is_there(path))
        }))
    }

    /// Files that git has neither as they were before they reached the folder nor as they came.
    fn moved_on(&self, vault: &Vault, came: &CommittedChanges<'_>) -> Result<Vec<VaultPath>> {
        let after = self.tracked_or_not_ignored(self.wanted(vault, came)?)?;
        let tree = vault.tree(&came.before)?;
        let mut before: Vec<Wanted> = Vec::new();
        for (path, _) in &after {
            let at = self.vault_path(came.at, path);
            let entry = at.map(|at| tree.get(&at)).transpose()?.flatten();
            before.push((path.clone(), entry));
        }
        let before = versions(&self.index_lines(vault, &before)?, 1);
        let came_as = versions(&self.index_lines(vault, &after)?, 1);
        let git = &self.folder.git;
        let head = match self.folder.commit("HEAD")? {
            Some(head) => versions(&git.output(&["ls-tree", "-r", "-z", "--full-tree", &head])?, 2),
            None => Versions::new(),
        };
        let index = staged(&git.output(&["ls-files", "--stage", "-z"])?);
        let is_known = |path: &Vec<u8>| {
            let (was, is) = (before.get(path), came_as.get(path));
            let (head, index) = (head.get(path), index.get(path));
            let is_either = |version| version == was || version == is;
            (head.is_none() || is_either(head)) && (index == head || is_either(index))
        };
        let moved = after.iter().map(|(path, _)| path).filter(|path| !is_known(path));
        Ok(moved.filter_map(|path| self.vault_path(came.at, path)).collect())
    }
}

/// What a list says, whose lines have the object as their `object`th word after the mode. What goes has mode 0.
fn versions(listed: &[u8], object: usize) -> Versions {
    let lines = listed.split(|byte| *byte == 0);
    let parsed = lines.filter_map(|line| {
        let tab = line.iter().position(|byte| *byte == b'\t')?;
        let mut words = line[..tab].split(|byte| *byte == b' ');
        let mode = words.next().filter(|mode| *mode != b"0")?.to_vec();
        let object = words.nth(object - 1)?.to_vec();
        Some((line[tab + 1..].to_vec(), (mode, object)))
    });
    parsed.collect()
}
