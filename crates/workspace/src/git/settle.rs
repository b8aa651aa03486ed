//! Repositories that both a workspace and its folder changed: what git keeps for itself is decided, commits of both are not.

mod rules;

use std::collections::BTreeSet;

use offshoot_vault::diff::{self, Change};
use offshoot_vault::merge::conflict::Conflict;
use offshoot_vault::{Batch, Mtime, RootId, TreeEditor, Vault, VaultPath};

use super::error::GitError;
use super::index;
use super::names::within_repository;
use super::repository::{Refs, State, common, resolve};
use crate::error::Result;
pub use rules::Rule;

/// The states of a merge.
#[derive(Clone, Copy, Debug)]
pub struct SettleStates {
    /// What the two have in common.
    pub base: RootId,
    /// The folder as it is.
    pub folder: RootId,
    /// What the workspace offers.
    pub workspace: RootId,
    /// What the merge made of them.
    pub merged: RootId,
}

/// A merged state in which repositories are in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settled {
    /// The state.
    pub root: RootId,
    /// What is left to be decided.
    pub conflicts: Vec<Conflict>,
}

/// Whose version of a path is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whose {
    Folder,
    Workspace,
}

/// Decides about repositories that both sides changed, by the table in `docs/design/commit.md`; fails where both made commits.
///
/// What is stored is not durable before a transaction follows.
pub fn settle_repository(
    vault: &Vault,
    states: &SettleStates,
    conflicts: Vec<Conflict>,
) -> Result<Settled> {
    let objects = vault.objects()?;
    let ours = in_repositories(diff::compare(objects, &states.base, &states.folder)?);
    if ours.is_empty() {
        return Ok(Settled { root: states.merged, conflicts });
    }
    let theirs = in_repositories(diff::compare(objects, &states.base, &states.workspace)?);
    if theirs.is_empty() {
        return Ok(Settled { root: states.merged, conflicts });
    }
    let trees = [states.base, states.folder, states.workspace, states.merged];
    let [base, folder, workspace, merged] = trees.map(|root| vault.tree(&root));
    let (base, folder, workspace, merged) = (base?, folder?, workspace?, merged?);
    let state = |tree| State { objects, tree };
    let all = Four {
        base: state(&base),
        folder: state(&folder),
        workspace: state(&workspace),
        merged: state(&merged),
    };
    let mut settling = Settling { all, taken: Vec::new(), gone: Vec::new() };
    for repository in settling.changed_by_both(&ours, &theirs)? {
        settling.refs(&repository, &conflicts)?;
        settling.index(&repository)?;
    }
    settling.objects(&ours, &theirs)?;
    let conflicts = settling.conflicts(conflicts);
    let root = settling.build(vault, &states.merged)?;
    Ok(Settled { root, conflicts })
}

fn in_repositories(changes: Vec<Change>) -> Vec<Change> {
    changes.into_iter().filter(|change| within_repository(&change.path).is_some()).collect()
}

#[derive(Clone, Copy)]
struct Four<'a> {
    base: State<'a>,
    folder: State<'a>,
    workspace: State<'a>,
    merged: State<'a>,
}

struct Settling<'a> {
    all: Four<'a>,
    /// Paths that get what one side has, or go where it has nothing; later ones win.
    taken: Vec<(VaultPath, Whose)>,
    /// What was put beside and is not needed.
    gone: Vec<VaultPath>,
}

impl Settling<'_> {
    fn changed_by_both(&self, ours: &[Change], theirs: &[Change]) -> Result<Vec<VaultPath>> {
        let of = |changes: &[Change], state: &State<'_>| -> Result<BTreeSet<VaultPath>> {
            let mut found = BTreeSet::new();
            for change in changes {
                found.extend(state.repository_of(&change.path)?);
            }
            Ok(found)
        };
        let (ours, theirs) = (of(ours, &self.all.folder)?, of(theirs, &self.all.workspace)?);
        Ok(ours.intersection(&theirs).cloned().collect())
    }

    /// Refs are compared as what they mean, packed or not.
    fn refs(&mut self, repository: &VaultPath, conflicts: &[Conflict]) -> Result<()> {
        let Four { base, folder, workspace, merged } = self.all;
        let (base, folder) = (base.refs(repository)?, folder.refs(repository)?);
        let (workspace, merged) = (workspace.refs(repository)?, merged.refs(repository)?);
        let clash = conflicts
            .iter()
            .any(|c| rules::rule(&c.path) == Some(Rule::Refs) && c.path.is_within(repository));
        if workspace == base || folder == base {
            let whose = if workspace == base { Whose::Folder } else { Whose::Workspace };
            let wanted = if workspace == base { &folder } else { &workspace };
            if clash || merged != *wanted {
                self.take_refs(repository, whose);
            }
            return Ok(());
        }
        let both = |why: &str| {
            let (repository, why) = (repository.clone(), why.to_owned());
            Err(GitError::BothChanged { repository, why }.into())
        };
        let commit = |refs: &Refs| resolve(refs, b"HEAD");
        let (was, here, there) = (commit(&base), commit(&folder), commit(&workspace));
        if was != here && was != there && here != there {
            return both("both made commits");
        }
        match three_way(&base, &folder, &workspace) {
            Err(name) => both(&format!("both moved {}", String::from_utf8_lossy(&name))),
            Ok(expected) if clash || expected != merged => both("both changed its refs"),
            Ok(_) => Ok(()),
        }
    }

    fn take_refs(&mut self, repository: &VaultPath, whose: Whose) {
        let common = common(repository);
        for path in [common.join(b"refs"), common.join(b"packed-refs"), repository.join(b"HEAD")] {
            self.taken.push((path, whose));
        }
    }

    /// The index belongs to what is checked out: the folder's, unless the workspace's commit comes home.
    fn index(&mut self, repository: &VaultPath) -> Result<()> {
        let path = repository.join(b"index");
        let Four { base, folder, workspace, .. } = self.all;
        let (was, here, there) = (base.file(&path)?, folder.file(&path)?, workspace.file(&path)?);
        if here == was || there == was || here == there {
            return Ok(());
        }
        let commit = |refs: &Refs| resolve(refs, b"HEAD");
        let merged = self.merged_refs(repository)?;
        let ours = folder.refs(repository)?;
        if commit(&merged) == commit(&ours) {
            self.taken.push((path, Whose::Folder));
            return Ok(());
        }
        let read = |bytes: Option<Vec<u8>>| bytes.and_then(|bytes| index::parse(&bytes));
        match (read(was), read(here)) {
            (Some(was), Some(here)) if index::same_files(&was, &here) => {
                self.taken.push((path, Whose::Workspace));
                Ok(())
            }
            _ => {
                let why = "the workspace made commits, and changes are staged in the folder";
                let (repository, why) = (repository.clone(), why.to_owned());
                Err(GitError::BothChanged { repository, why }.into())
            }
        }
    }

    /// The refs as they will be.
    fn merged_refs(&self, repository: &VaultPath) -> Result<Refs> {
        let head = repository.join(b"HEAD");
        let whose = self.taken.iter().find(|(path, _)| *path == head).map(|(_, whose)| *whose);
        match whose {
            Some(Whose::Folder) => self.all.folder.refs(repository),
            Some(Whose::Workspace) => self.all.workspace.refs(repository),
            None => self.all.merged.refs(repository),
        }
    }

    /// Objects are only ever added: what one side no longer needs the other may have come to need.
    fn objects(&mut self, ours: &[Change], theirs: &[Change]) -> Result<()> {
        for (changes, other, whose) in
            [(ours, self.all.workspace, Whose::Workspace), (theirs, self.all.folder, Whose::Folder)]
        {
            let deleted = changes.iter().filter(|change| {
                let is_file = change.before.as_ref().is_some_and(|e| e.directory().is_none());
                is_file
                    && change.after.is_none()
                    && rules::rule(&change.path) == Some(Rule::Objects)
            });
            for change in deleted {
                if other.tree.get(&change.path)?.is_some()
                    && self.all.merged.tree.get(&change.path)?.is_none()
                {
                    self.taken.push((change.path.clone(), whose));
                }
            }
        }
        Ok(())
    }

    /// Takes conflicts out that are decided, and gives the others.
    fn conflicts(&mut self, conflicts: Vec<Conflict>) -> Vec<Conflict> {
        let mut left = Vec::new();
        for conflict in conflicts {
            let rule = rules::rule(&conflict.path);
            let known = self.taken.iter().any(|(path, _)| conflict.path.is_within(path));
            match rule {
                _ if known => self.gone.extend(conflict.beside),
                Some(Rule::Volatile | Rule::Objects) => {
                    let path = conflict.path.clone();
                    // An object that the folder gave up is kept for the workspace, which changed its times.
                    let keeps = rule == Some(Rule::Volatile) || self.folder_has(&path);
                    self.taken.push((path, if keeps { Whose::Folder } else { Whose::Workspace }));
                    self.gone.extend(conflict.beside);
                }
                _ => left.push(conflict),
            }
        }
        left
    }

    fn folder_has(&self, path: &VaultPath) -> bool {
        self.all.folder.tree.get(path).is_ok_and(|entry| entry.is_some())
    }

    fn build(self, vault: &Vault, merged: &RootId) -> Result<RootId> {
        if self.taken.is_empty() && self.gone.is_empty() {
            return Ok(*merged);
        }
        let mut editor = TreeEditor::open(vault.objects()?, merged, Mtime::now())?;
        for (path, whose) in &self.taken {
            let side = match whose {
                Whose::Folder => self.all.folder,
                Whose::Workspace => self.all.workspace,
            };
            match side.tree.get(path)? {
                Some(entry) => {
                    self.make_parents(&mut editor, side, path)?;
                    editor.put(path, entry)?;
                }
                None if editor.get(path)?.is_some() => drop(editor.remove(path)?),
                None => {}
            }
        }
        for path in &self.gone {
            if editor.get(path)?.is_some() {
                editor.remove(path)?;
            }
        }
        let mut batch = Batch::default();
        let (root, _) = editor.finish(&mut batch)?;
        vault.store(&batch)?;
        Ok(root)
    }

    /// The directories of what is brought back, as the side has them.
    fn make_parents(
        &self,
        editor: &mut TreeEditor<'_>,
        side: State<'_>,
        path: &VaultPath,
    ) -> Result<()> {
        let Some(parent) = path.parent() else { return Ok(()) };
        if let Some(entry) = side.tree.get(&parent)? {
            editor.make_directories(&parent, &entry.meta)?;
        }
        Ok(())
    }
}

/// Whether a path is where branches are, or what is under way.
pub(crate) fn is_refs(path: &VaultPath) -> bool {
    rules::rule(path) == Some(Rule::Refs)
}

/// What refs become when two sides moved them; the name of one that both moved differently otherwise.
fn three_way(base: &Refs, ours: &Refs, theirs: &Refs) -> std::result::Result<Refs, Vec<u8>> {
    let names: BTreeSet<&Vec<u8>> = base.keys().chain(ours.keys()).chain(theirs.keys()).collect();
    let mut merged = Refs::new();
    for name in names {
        let (was, here, there) = (base.get(name), ours.get(name), theirs.get(name));
        let now = match () {
            () if here == there || there == was => here,
            () if here == was => there,
            () => return Err(name.clone()),
        };
        merged.extend(now.map(|value| (name.clone(), value.clone())));
    }
    Ok(merged)
}
