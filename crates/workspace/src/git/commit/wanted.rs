//! The files that a commit is of: those that reached the folder, and that git sees.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use offshoot_tree::Entry;
use offshoot_tree::diff::Change;
use offshoot_vault::Vault;

use super::committed_changes::CommittedChanges;
use super::prepared::GitCommit;
use crate::error::Result;
use crate::git::error::GitResult;
use crate::git::export::{Nested, Sight, Visibility, mode_of};
use crate::git::folder::GitFolder;
use crate::git::index::first_index;
use crate::git::marks::Marks;
use crate::git::run::{Git, succeeded};

/// A file of the repository as it is to be: nothing where it goes.
pub(super) type Wanted = (Vec<u8>, Option<Entry>);

impl GitCommit {
    /// The files of the repository that reached the folder, as they are to be.
    pub(super) fn wanted(&self, vault: &Vault, came: &CommittedChanges<'_>) -> Result<Vec<Wanted>> {
        let tree = vault.tree(&came.after)?;
        let mut nested = Nested::of(&tree);
        let submodules = submodules(&self.folder)?;
        let mut visibility = Visibility { at: came.at.clone(), rules: None, submodules };
        // What a sparse checkout of the workspace leaves out is not deleted there: git in it still has it.
        let is_gone = |change: &Change| change.after.is_none() || change.moved.is_some();
        let index = match came.changes.iter().any(is_gone) {
            true => first_index(vault, &came.workspace)?,
            false => None,
        };
        let marks = index.as_ref().map(Marks::in_index).unwrap_or_default();
        let mut wanted = BTreeMap::new();
        for change in came.changes {
            let moved = change.moved.as_ref().map(|(from, _)| from);
            for path in moved.into_iter().chain([&change.path]) {
                let now = tree.get(path)?;
                let was = change.before.as_deref().or(change.after.as_deref());
                let Some(entry) = now.as_ref().or(was) else { continue };
                let sight = visibility.of(&mut nested, path, entry, |_| true)?;
                let Some(below) = visibility.below(path) else { continue };
                let below = self.folder.in_repository(&below.join(&b'/'));
                match (sight, now) {
                    (_, None) if marks.leaves_out(&below) => {}
                    (Sight::Visible, now) => drop(wanted.insert(below, now)),
                    // A directory or a pipe in place of a file: the file goes.
                    (Sight::Directory | Sight::Pipe, Some(_))
                        if change.before.as_ref().is_some_and(|e| mode_of(e).is_some()) =>
                    {
                        wanted.insert(below, None);
                    }
                    _ => {}
                }
            }
        }
        Ok(wanted.into_iter().collect())
    }

    /// Leaves out what is ignored and new to git: it may reach the folder, but nobody would add it.
    pub(super) fn tracked_or_not_ignored(&self, wanted: Vec<Wanted>) -> GitResult<Vec<Wanted>> {
        if wanted.is_empty() {
            return Ok(wanted);
        }
        // A path must not look like a pattern. Git does not look at one that lies beyond a symbolic link, as long as that is there.
        let line = |path: &[u8]| [b"./", path, b"\0"].concat();
        let asked = wanted.iter().filter(|(path, _)| !self.is_beyond_link(path));
        let input: Vec<u8> = asked.flat_map(|(path, _)| line(path)).collect();
        let arguments = ["check-ignore", "-z", "--stdin"];
        let ran = self.folder.git.try_output(&arguments, &input)?;
        // It ends with 1 where nothing is ignored.
        let listed = match ran.status.code() {
            Some(1) => Vec::new(),
            _ => succeeded(&arguments, ran)?,
        };
        let paths = listed.split(|byte| *byte == 0).filter_map(|path| path.strip_prefix(b"./"));
        let ignored: BTreeSet<&[u8]> = paths.collect();
        Ok(wanted.into_iter().filter(|(path, _)| !ignored.contains(path.as_slice())).collect())
    }

    /// Whether a directory on the way to a path of the repository is a symbolic link in the folder.
    fn is_beyond_link(&self, path: &[u8]) -> bool {
        let path = Path::new(OsStr::from_bytes(path));
        let above = path.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty());
        above.map(|above| self.folder.top().join(above)).any(|above| above.is_symlink())
    }
}

/// Directories of the folder that git knows as repositories of their own, by their paths below the folder.
pub(super) fn submodules(folder: &GitFolder) -> GitResult<BTreeSet<Vec<u8>>> {
    let git: Git = folder.git.in_directory(&folder.folder);
    let listed = git.output(&[OsStr::new("ls-files"), OsStr::new("-z"), OsStr::new("--stage")])?;
    let lines = listed.split(|byte| *byte == 0).filter(|line| line.starts_with(b"160000 "));
    let paths = lines.filter_map(|line| {
        let tab = line.iter().position(|byte| *byte == b'\t')?;
        Some(line[tab + 1..].to_vec())
    });
    Ok(paths.collect())
}
