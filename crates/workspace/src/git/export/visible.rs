//! What of a tree git can see.

use std::collections::{BTreeSet, HashMap};

use offshoot_tree::{Entry, EntryKind, Tree, VaultPath};

use crate::error::Result;
use crate::git::names::is_git_directory_name;
use crate::ignore_rules::IgnoreRules;

/// The place of other folders of a vault, which are no part of the first one.
const OTHER_FOLDERS: [&[u8]; 2] = [b".offshoot", b"bound"];

/// What git can see of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::git) enum Sight {
    /// A file or a link.
    Visible,
    /// Something that has no meaning to git: what belongs to git or Offshoot.
    Nothing,
    /// A directory, which has none by itself.
    Directory,
    /// A pipe.
    Pipe,
    /// Something in a repository of its own, whose directory this is.
    Repository(usize),
    /// Something that ignore rules name.
    Ignored,
}

/// Decides for one repository.
pub(in crate::git) struct Visibility<'a> {
    /// What of the vault's tree lies in the folder.
    pub(in crate::git) at: VaultPath,
    /// Rules of what is ignored; none where all is wanted.
    pub(in crate::git) rules: Option<IgnoreRules<'a>>,
    /// Directories, below the folder, that the repository knows as submodules.
    pub(in crate::git) submodules: BTreeSet<Vec<u8>>,
}

impl Visibility<'_> {
    /// What git can see of an entry of a tree. `tracked` says whether git has it already, by its path below the folder.
    pub(in crate::git) fn of(
        &mut self,
        nested: &mut Nested<'_>,
        path: &VaultPath,
        entry: &Entry,
        tracked: impl Fn(&[u8]) -> bool,
    ) -> Result<Sight> {
        let Some(below) = self.below(path) else { return Ok(Sight::Nothing) };
        let others =
            self.at.is_top() && path.names().len() >= 2 && path.names()[..2] == OTHER_FOLDERS;
        if others || below.is_empty() || below.iter().any(|name| is_git_directory_name(name)) {
            return Ok(Sight::Nothing);
        }
        for depth in 1..=below.len() {
            if self.submodules.contains(&below[..depth].join(&b'/')) {
                return Ok(Sight::Nothing);
            }
            let whole = self.at.names().len() + depth;
            if depth < below.len() && nested.is_repository(&path.names()[..whole])? {
                return Ok(Sight::Repository(whole));
            }
        }
        match entry.kind() {
            EntryKind::Directory => return Ok(Sight::Directory),
            EntryKind::Fifo => return Ok(Sight::Pipe),
            EntryKind::File | EntryKind::Symlink => {}
        }
        let Some(rules) = &mut self.rules else { return Ok(Sight::Visible) };
        if !tracked(&below.join(&b'/')) && rules.ignores(path, false)? {
            return Ok(Sight::Ignored);
        }
        Ok(Sight::Visible)
    }

    /// The names of a path below the folder, if it is in it.
    pub(in crate::git) fn below<'p>(&self, path: &'p VaultPath) -> Option<&'p [Vec<u8>]> {
        path.is_within(&self.at).then(|| &path.names()[self.at.names().len()..])
    }
}

/// Which directories of one tree have a repository of their own.
pub(in crate::git) struct Nested<'a> {
    tree: &'a Tree<'a>,
    known: HashMap<Vec<Vec<u8>>, bool>,
}

impl<'a> Nested<'a> {
    pub(in crate::git) fn of(tree: &'a Tree<'a>) -> Self {
        Self { tree, known: HashMap::new() }
    }

    fn is_repository(&mut self, names: &[Vec<u8>]) -> Result<bool> {
        if let Some(known) = self.known.get(names) {
            return Ok(*known);
        }
        let found = self.tree.get(&crate::git::repository::path_of(names).join(b".git"))?.is_some();
        self.known.insert(names.to_vec(), found);
        Ok(found)
    }
}
