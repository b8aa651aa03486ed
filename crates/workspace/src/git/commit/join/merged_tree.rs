//! The tree of a merge: git's own, with what the workspace decided where both sides changed the same lines.

use std::collections::BTreeSet;

use offshoot_tree::Entry;
use offshoot_vault::Vault;

use super::Kept;
use crate::error::Result;
use crate::git::commit::committed_changes::CommittedChanges;
use crate::git::commit::prepared::GitCommit;
use crate::git::commit::wanted::{Wanted, submodules};
use crate::git::error::GitResult;
use crate::git::export::mode_of;
use crate::git::folder::GitFolder;
use crate::git::run::succeeded;

/// What git makes of two commits.
pub(super) struct MergedTree {
    /// Its tree; conflicts are in it as markers.
    tree: String,
    /// The paths that git cannot merge.
    conflicts: BTreeSet<Vec<u8>>,
}

impl MergedTree {
    /// Merges commits that were kept apart with what is checked out.
    pub(super) fn of(folder: &GitFolder, kept: &Kept, parent: &str) -> GitResult<Self> {
        if kept.has(folder, parent)? {
            let tree = format!("{}^{{tree}}", kept.tip);
            let tree = folder.git.line(&["rev-parse", "--verify", &tree])?;
            return Ok(Self { tree, conflicts: BTreeSet::new() });
        }
        let arguments =
            ["merge-tree", "--write-tree", "--no-messages", "--name-only", "-z", parent, &kept.tip];
        let ran = folder.git.try_output(&arguments, &[])?;
        // It ends with 1 where there are conflicts.
        let answer = match ran.status.code() {
            Some(1) => ran.stdout,
            _ => succeeded(&arguments, ran)?,
        };
        let mut parts = answer.split(|byte| *byte == 0).filter(|part| !part.is_empty());
        let tree = String::from_utf8_lossy(parts.next().unwrap_or_default()).trim().to_owned();
        Ok(Self { tree, conflicts: parts.map(<[u8]>::to_vec).collect() })
    }
}

impl GitCommit {
    /// The tree of a merge. Where git finds conflicts, it has what the workspace made of them, as long as the folder has the same.
    pub(super) fn decided(
        &self,
        vault: &Vault,
        came: &CommittedChanges<'_>,
        kept: &Kept,
        parent: &str,
        merged: MergedTree,
    ) -> Result<String> {
        let MergedTree { tree, conflicts } = merged;
        if conflicts.is_empty() {
            return Ok(tree);
        }
        if self.has_names_of_its_own(&tree, &[parent, &kept.tip], &conflicts)? {
            let why = "one side has a directory where the other has a file".to_owned();
            return Err(self.cannot_join(kept, why, None)?.into());
        }
        let submodules = submodules(&self.folder)?;
        let is_submodule = |path: &&Vec<u8>| {
            self.folder.in_folder(path).is_some_and(|below| submodules.contains(below))
        };
        if let Some(path) = conflicts.iter().find(is_submodule) {
            let why = format!("both sides moved submodule {}", String::from_utf8_lossy(path));
            return Err(self.cannot_join(kept, why, None)?.into());
        }
        let (offered, folder) = (vault.tree(&came.offered)?, vault.tree(&came.after)?);
        let mut wanted: Vec<Wanted> = Vec::new();
        for path in conflicts {
            let decided = match self.vault_path(came.at, &path) {
                Some(at) => {
                    let (decided, now) = (offered.get(&at)?, folder.get(&at)?);
                    is_same(decided.as_ref(), now.as_ref()).then_some(decided)
                }
                None => None,
            };
            let Some(decided) = decided else {
                let path = String::from_utf8_lossy(&path);
                let why = format!(
                    "both sides changed the same lines of {path}, and the folder's was changed since"
                );
                return Err(self.cannot_join(kept, why, None)?.into());
            };
            wanted.push((path, decided));
        }
        let lines = self.index_lines(vault, &wanted)?;
        Ok(self.new_tree(Some(&tree), &lines)?.unwrap_or(tree))
    }

    /// Whether git had to think of names for conflicts, as for a file that cannot be beside a directory.
    fn has_names_of_its_own(
        &self,
        tree: &str,
        sides: &[&str],
        conflicts: &BTreeSet<Vec<u8>>,
    ) -> GitResult<bool> {
        let names = |tree: &str| -> GitResult<BTreeSet<Vec<u8>>> {
            let arguments = ["ls-tree", "-r", "-z", "--name-only", "--full-tree", tree];
            let listed = self.folder.git.output(&arguments)?;
            Ok(listed.split(|byte| *byte == 0).map(<[u8]>::to_vec).collect())
        };
        let mut new: BTreeSet<Vec<u8>> = names(tree)?.intersection(conflicts).cloned().collect();
        for side in sides {
            let known = names(side)?;
            new.retain(|name| !known.contains(name));
        }
        Ok(!new.is_empty())
    }
}

/// Whether git sees the same in two entries: none, or a file or link of one mode and content.
pub(super) fn is_same(one: Option<&Entry>, other: Option<&Entry>) -> bool {
    match (one, other) {
        (None, None) => true,
        (Some(one), Some(other)) => {
            let mode = mode_of(one);
            mode.is_some() && mode == mode_of(other) && one.body == other.body
        }
        _ => false,
    }
}
