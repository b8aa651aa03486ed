//! Commits of the workspace that came home beside the branch: a git commit that has all their changes is a merge of them.

use std::collections::{BTreeMap, BTreeSet};

use crate::git::apart::GitReport;
use crate::git::error::GitResult;
use crate::git::folder::GitFolder;

/// A ref with commits of the workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Kept {
    /// Its full name.
    pub(super) reference: String,
    /// Its commit.
    pub(super) tip: String,
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
                return Ok(Some(Self { reference: reference.to_owned(), tip: tip.clone() }));
            }
        }
        Ok(None)
    }

    /// Whether a tree that came of a parent has everything that these commits changed. What both sides changed must be among the
    /// paths that came home merged.
    pub(super) fn is_within(
        &self,
        folder: &GitFolder,
        parent: &str,
        tree: &str,
        came: &BTreeSet<&[u8]>,
    ) -> GitResult<bool> {
        let base = folder.git.try_output(&["merge-base", parent, &self.tip], &[])?;
        if !base.status.success() {
            return Ok(false);
        }
        let base = String::from_utf8_lossy(&base.stdout).trim().to_owned();
        let theirs = changes(folder, &base, &self.tip)?;
        let (ours, all) = (changes(folder, &base, parent)?, changes(folder, &base, tree)?);
        Ok(theirs.iter().all(|(path, version)| {
            all.get(path) == Some(version)
                || (ours.contains_key(path) && came.contains(path.as_slice()))
        }))
    }

    /// Takes the ref away: the branch has its commits.
    pub(super) fn remove(&self, folder: &GitFolder) -> GitResult<()> {
        let arguments = ["update-ref", "-d", &self.reference, &self.tip];
        folder.git.output(&arguments).map(drop)
    }
}

/// What is different in a tree or commit, by path.
pub(super) fn changes(
    folder: &GitFolder,
    from: &str,
    to: &str,
) -> GitResult<BTreeMap<Vec<u8>, Version>> {
    let arguments = ["diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", from, to];
    let listed = folder.git.output(&arguments)?;
    let mut parts = listed.split(|byte| *byte == 0);
    let mut changes = BTreeMap::new();
    while let (Some(line), Some(path)) = (parts.next(), parts.next()) {
        let words: Vec<&[u8]> = line.split(|byte| *byte == b' ').collect();
        if let [_, mode, _, object, ..] = words[..] {
            changes.insert(path.to_vec(), (mode.to_vec(), object.to_vec()));
        }
    }
    Ok(changes)
}
