//! Undo and redo of a commit: the folders go back, or forth, before the refs do.

use std::collections::BTreeSet;

use offshoot_vault::diff::{self, Change};
use offshoot_vault::merge::{Base, MergeInputs, MergeOptions};
use offshoot_vault::{
    Actor, Entry, Id, Imported, Operation, RefRow, Reverted, RootId, Snapshot, Tree, Vault,
    VaultError, Workspace, WorkspaceState,
};
use serde::Deserialize;
use serde_json::Value;

use super::HomeOptions;
use super::folders::Folders;
use super::note::{Hex, Note, Record, RevertRecord};
use super::proposal::{HEAD_LABEL, side};
use crate::error::{Result, ServiceError};
use crate::git::{
    GitFolder, GitMove, GitReport, RepositoryMerge, Unclear, is_own, merge_repositories,
};
use crate::hold::lock_workspace;

/// How often it is tried again because somebody changed the folder meanwhile.
const ATTEMPTS: usize = 3;

/// One side of a commit.
#[derive(Clone, Debug)]
pub(super) struct Moment {
    /// The main line.
    pub(super) head: Id,
    /// The workspace.
    pub(super) workspace: Workspace,
}

/// What a commit moved, from where to where.
#[derive(Clone, Debug)]
pub(super) struct Sides {
    pub(super) before: Moment,
    pub(super) after: Moment,
}

impl Sides {
    /// Reads them from the operation that recorded the commit.
    pub(super) fn of(operation: &Operation) -> Result<Self> {
        let side = |pick: fn(&offshoot_vault::RefChange) -> Option<&RefRow>| -> Option<Moment> {
            let rows = operation.changes.iter().filter_map(|c| Some((&c.key, pick(c)?)));
            let find = |kind: &str| rows.clone().find(|(key, _)| key.kind == kind);
            let head = parsed::<Value>(find("head")?.1)?;
            let head = Id::deserialize(head.get("snapshot")?).ok()?;
            let (key, row) = find("workspace")?;
            let state = parsed::<WorkspaceState>(row)?;
            let name = row.name.clone().unwrap_or_default();
            Some(Moment { head, workspace: Workspace { id: key.id.parse().ok()?, name, state } })
        };
        let before = side(|change| change.before.as_ref());
        let after = side(|change| change.after.as_ref());
        match (before, after) {
            (Some(before), Some(after)) => Ok(Self { before, after }),
            _ => Err(ServiceError::Internal(format!("commit {} has no sides", operation.id))),
        }
    }
}

fn parsed<T: serde::de::DeserializeOwned>(row: &RefRow) -> Option<T> {
    serde_json::from_str(&row.value).ok()
}

/// Takes commits back and brings them back.
#[derive(Debug)]
pub(crate) struct Reverter<'a> {
    pub(crate) vault: &'a Vault,
    pub(crate) actor: &'a Actor,
    pub(crate) options: &'a HomeOptions<'a>,
}

/// Which way a commit is taken.
struct Way<'s> {
    redo: bool,
    from: &'s Moment,
    from_root: RootId,
    to_root: RootId,
    /// The main line before the commit.
    before: Id,
}

/// What is to be done to the folders.
struct Planned {
    /// What they are.
    captured: Imported,
    workspace: Workspace,
    /// What they become.
    root: RootId,
    git: GitReport,
}

impl Reverter<'_> {
    /// Takes a commit back, or brings it back: folders and refs, and the git commit that was made of it.
    pub(crate) fn revert(
        &self,
        target: &Operation,
        redo: bool,
        made: Option<&(GitMove, GitFolder)>,
    ) -> Result<(Reverted, GitReport)> {
        let sides = Sides::of(target)?;
        let verb = if redo { "redo" } else { "undo" };
        let _lock =
            lock_workspace(self.vault, &sides.before.workspace, self.options.lock_wait(), verb)?;
        let folders = Folders::lock(self.vault, self.actor, self.options)?;
        let _held = self.vault.hold()?;
        folders.require_same()?;
        let (from, to) = match redo {
            true => (&sides.before, &sides.after),
            false => (&sides.after, &sides.before),
        };
        let (from_root, to_root) = (self.root(&from.head)?, self.root(&to.head)?);
        let way = Way { redo, from, from_root, to_root, before: sides.before.head };
        match made {
            Some(made) if redo => {
                let (reverted, mut git) = self.revert_files(&folders, target, &way)?;
                made.0.revert(&made.1, redo, &mut git)?;
                Ok((reverted, git))
            }
            Some(made) => self.undo_with_git(&folders, target, &way, made),
            None => self.revert_files(&folders, target, &way),
        }
    }

    /// Takes a commit back whose git commit came on top of it: that goes first, so that the repository is what the commit of files left.
    fn undo_with_git(
        &self,
        folders: &Folders<'_>,
        target: &Operation,
        way: &Way<'_>,
        (moved, folder): &(GitMove, GitFolder),
    ) -> Result<(Reverted, GitReport)> {
        self.planned(folders, target, way)?;
        let mut git = GitReport::default();
        moved.revert(folder, false, &mut git)?;
        match self.revert_files(folders, target, way) {
            Ok((reverted, files)) => {
                files.notes.into_iter().for_each(|note| git.follow(note));
                Ok((reverted, git))
            }
            Err(error) => {
                moved.revert(folder, true, &mut git)?;
                Err(error)
            }
        }
    }

    fn revert_files(
        &self,
        folders: &Folders<'_>,
        target: &Operation,
        way: &Way<'_>,
    ) -> Result<(Reverted, GitReport)> {
        for _ in 0..ATTEMPTS {
            if let Some(reverted) = self.attempt(folders, target, way)? {
                return Ok(reverted);
            }
        }
        Err(ServiceError::Interfered(folders.names()))
    }

    fn root(&self, id: &Id) -> Result<RootId> {
        let snapshot = self.vault.snapshot(id)?;
        self.vault.require_files(&snapshot)?;
        Ok(snapshot.root)
    }

    fn attempt(
        &self,
        folders: &Folders<'_>,
        target: &Operation,
        way: &Way<'_>,
    ) -> Result<Option<(Reverted, GitReport)>> {
        let Planned { captured, workspace, root, git } = self.planned(folders, target, way)?;
        let (head, _) = folders.follow(&captured)?;
        let note = self.note(target, way, &head, &workspace, root);
        let recorded = folders.apply(&captured.root, &root, &note)?;
        Ok(recorded.map(|recorded| {
            let reverted = Reverted { target: target.clone(), operation: recorded.operation };
            (reverted, git)
        }))
    }

    /// What is to be done. Fails where something stands in the way.
    fn planned(
        &self,
        folders: &Folders<'_>,
        target: &Operation,
        way: &Way<'_>,
    ) -> Result<Planned> {
        let captured = folders.capture()?;
        let (root, git) = self.target_root(target, way, &captured)?;
        let workspace = self.workspace_now(target, way)?;
        folders.require_readable(&captured, &root)?;
        folders.require_git_at_rest()?;
        Ok(Planned { captured, workspace, root, git })
    }

    /// What the folders become: what they are now, with the commit's paths as they are on the other side.
    fn target_root(
        &self,
        target: &Operation,
        way: &Way<'_>,
        captured: &Imported,
    ) -> Result<(RootId, GitReport)> {
        let changes = diff::compare(self.vault.objects()?, &way.from_root, &way.to_root)?;
        let since = self.changed_since(&changes, &captured.root)?;
        let base = Base::Root(way.from_root);
        let sides = [side(HEAD_LABEL, captured.root), side("commit", way.to_root)];
        let inputs = MergeInputs { base: &base, sides: &sides };
        // Only paths that the commit changed are touched, so nothing follows what it moved.
        let options =
            MergeOptions { renames: false, directory_renames: false, ..self.options.merge };
        let (options, unclear) = (&options, Unclear::Stay);
        let merge = RepositoryMerge { inputs, options, target: 0, unclear, meetings: &[] };
        let both = merge_repositories(self.vault, &merge)?;
        let merged = both.merged;
        let unclear = merged.conflicts.iter().map(|conflict| conflict.path.to_string());
        let paths: BTreeSet<String> = since.into_iter().chain(unclear).collect();
        if paths.is_empty() {
            return Ok((merged.root, both.report));
        }
        let verb = if way.redo { "redone" } else { "undone" };
        let (operation, paths) = (target.id, paths.into_iter().collect());
        let (workspace, before) = (way.from.workspace.name.clone(), way.before);
        Err(ServiceError::ChangedSince { operation, verb, paths, workspace, before })
    }

    /// The commit's paths that are not as the commit, or its undo, left them.
    fn changed_since(&self, changes: &[Change], now: &RootId) -> Result<Vec<String>> {
        let now = Tree::open(self.vault.objects()?, now)?;
        let mut changed = Vec::new();
        // What a version control keeps for itself has rules of its own, and never stands in the way.
        for change in changes.iter().filter(|change| !is_own(&change.path)) {
            let now = now.get(&change.path)?;
            if !is_as_left(change, now.as_ref()) {
                changed.push(change.path.to_string());
            }
        }
        Ok(changed)
    }

    /// The workspace, which must be as the commit, or its undo, left it.
    fn workspace_now(&self, target: &Operation, way: &Way<'_>) -> Result<Workspace> {
        let left = &way.from.workspace;
        let now = self.vault.workspace(&left.id)?.ok_or(ServiceError::Vanished(left.id))?;
        if now.state == left.state {
            return Ok(now);
        }
        let verb = if way.redo { "redone" } else { "undone" };
        let because = format!("workspace {} was changed since", now.name);
        Err(VaultError::Overtaken { operation: target.id, verb, because }.into())
    }

    fn note(
        &self,
        target: &Operation,
        way: &Way<'_>,
        head: &Snapshot,
        workspace: &Workspace,
        root: RootId,
    ) -> Note {
        let revert = RevertRecord {
            redo: way.redo,
            target: target.id,
            head: head.id,
            workspace: workspace.state.clone(),
            root: Hex(root),
        };
        Note::new(self.actor, Record::Revert(revert))
    }
}

/// Whether a path is as it was left. Of directories only that they are there counts, and of files their times do not.
fn is_as_left(change: &Change, now: Option<&Entry>) -> bool {
    let directory = |entry: Option<&Entry>| entry.is_some_and(|e| e.directory().is_some());
    let (left, wanted) = (change.before.as_deref(), change.after.as_deref());
    match (left, now) {
        (None, None) => true,
        // Somebody made, or took away, a directory that goes or comes anyway.
        (None, Some(_)) => directory(now) && directory(wanted),
        (Some(_), None) => directory(left) && wanted.is_none(),
        (Some(left), Some(now)) if directory(Some(left)) => directory(Some(now)),
        (Some(left), Some(now)) => {
            left.same_content(now)
                && left.meta.mode == now.meta.mode
                && left.meta.xattrs == now.meta.xattrs
        }
    }
}
