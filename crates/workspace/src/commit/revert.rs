//! Undo and redo of a commit: the folders go back, or forth, before the refs do.

mod git_part;

use std::collections::BTreeSet;
use std::fs;

use offshoot_store::Id;
use offshoot_tree::diff;
use offshoot_tree::diff::Change;
use offshoot_tree::merge::{Base, MergeInputs, MergeOptions};
use offshoot_tree::{Entry, RootId, Tree, VaultPath};
use offshoot_vault::{
    Actor, Imported, NewSnapshot, Operation, REDO, Reverted, Snapshot, Vault, VaultError,
    WorkspaceRecord,
};

use super::commit_refs::{CommitRefs, RefValues};
use super::folders::Folders;
use super::note::{Hex, Note, Record, RevertRecord};
use super::options::CommitOptions;
use super::proposal::side;
use crate::error::{Result, ServiceError};
use crate::git::{
    GitEvent, GitFolder, GitMove, GitNote, GitOptions, GitReport, HeldBackCheckouts,
    RepositoryMerge, UnclearRefs, checked_out, first_index, forget_git_due, git_due_of,
    git_move_of, is_vcs_path, merge_repositories, settle_git_due, shared_dir,
};
use crate::ignore_rules::text_at;
use crate::moved_files::MovedFiles;
use crate::side_label::HEAD_LABEL;
use crate::workspace_lock::lock_workspace;
use git_part::{GitPart, Steps};

/// How often it is tried again because somebody changed the folder meanwhile.
const ATTEMPTS: usize = 3;

/// Takes commits back and brings them back.
#[derive(Debug)]
pub(crate) struct Reverter<'a> {
    pub(crate) vault: &'a Vault,
    pub(crate) actor: &'a Actor,
    pub(crate) options: &'a CommitOptions<'a>,
    /// How git is run where a commit comes with a git commit; without it, that one stays.
    pub(crate) git: Option<&'a GitOptions>,
}

/// What is to be done to the folders.
struct Plan {
    /// What they are.
    captured: Imported,
    /// What they become.
    root: RootId,
    told: GitReport,
}

/// Which way a commit is taken.
struct Way<'s> {
    redo: bool,
    from: &'s RefValues,
    from_root: RootId,
    to_root: RootId,
    /// The main line before the commit.
    before: Id,
}

impl Reverter<'_> {
    /// Takes a commit back, or brings it back: folders and refs.
    pub(crate) fn revert(&self, target: &Operation, redo: bool) -> Result<(Reverted, GitReport)> {
        let sides = CommitRefs::of(target)?;
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
        self.settle_git(target, &sides.before.workspace.id, &folders)?;
        let made = match git_move_of(self.vault, target)? {
            Some(moved) => {
                let index = first_index(self.vault, &self.root(&sides.after.head)?)?;
                self.git_part(moved.with_index(index), &folders)?
            }
            None => None,
        };
        let mut steps = Steps::default();
        let first = made.clone().filter(|_| !redo);
        let reverted = match self.files(&folders, target, &way, first, &mut steps) {
            Ok(reverted) => reverted,
            Err(error) => {
                steps.parts.iter().rev().try_for_each(|part| part.revert(!redo).map(drop))?;
                if steps.is_announced() {
                    forget_git_due(self.vault, self.actor, &sides.before.workspace.id)?;
                }
                return Err(error);
            }
        };
        let mut report = steps.report;
        // The git commit came last, so it comes back last.
        if let Some(made) = made.filter(|_| redo) {
            report = report.then(made.revert(redo)?);
            self.follow_redone(&folders, target)?;
        }
        forget_git_due(self.vault, self.actor, &sides.before.workspace.id)?;
        Ok((reverted, report))
    }

    /// Brings the git commit of a commit back whose files somebody brought back, and died.
    pub(crate) fn make_up(&self, target: &Operation) -> Result<GitReport> {
        let workspace = CommitRefs::of(target)?.before.workspace;
        let folders = Folders::lock(self.vault, self.actor, self.options)?;
        let _held = self.vault.hold()?;
        folders.require_same()?;
        let index = first_index(self.vault, &self.root(&CommitRefs::of(target)?.after.head)?)?;
        let moved = git_move_of(self.vault, target)?.map(|moved| moved.with_index(index));
        let part = moved.map(|moved| self.git_part(moved, &folders)).transpose()?.flatten();
        let Some(part) = part else { return Ok(GitReport::default()) };
        let report = part.revert(true)?;
        self.follow_redone(&folders, target)?;
        forget_git_due(self.vault, self.actor, &workspace.id)?;
        Ok(report)
    }

    /// Remembers the git commit of a commit, where it was made and somebody died before that was remembered.
    fn settle_git(&self, target: &Operation, workspace: &Id, folders: &Folders<'_>) -> Result<()> {
        let due = git_due_of(self.vault, workspace)?.filter(|due| due.commit == target.id);
        let Some(due) = due else { return Ok(()) };
        match self.git_folder(folders)? {
            Some(folder) => settle_git_due(self.vault, self.actor, &folder, &due).map(drop),
            None => Ok(()),
        }
    }

    /// The repository of the first folder, if git is known and finds one.
    fn git_folder(&self, folders: &Folders<'_>) -> Result<Option<GitFolder>> {
        let Some(options) = self.git else { return Ok(None) };
        Ok(folders.repository(options)?.map(|(folder, _)| folder))
    }

    /// Something that git is to do in the first folder, if git is known and finds a repository.
    fn git_part(&self, moved: GitMove, folders: &Folders<'_>) -> Result<Option<GitPart>> {
        let Some(options) = self.git else { return Ok(None) };
        let found = folders.repository(options)?;
        Ok(found.map(|(folder, at)| GitPart { moved, folder, at }))
    }

    /// Takes the files back, or forth. Before they go back, the git commit does, so that the repository is as the files' commit left it.
    fn files(
        &self,
        folders: &Folders<'_>,
        target: &Operation,
        way: &Way<'_>,
        mut first: Option<GitPart>,
        steps: &mut Steps,
    ) -> Result<Reverted> {
        for _ in 0..ATTEMPTS {
            let mut plan = self.plan(folders, target, way)?;
            let workspace = self.workspace_now(target, way)?;
            folders.require_readable(&plan.captured, &plan.root)?;
            folders.require_git_at_rest()?;
            let (head, _) = folders.follow(&plan.captured)?;
            if let Some(part) = first.take() {
                steps.announce(self.vault, self.actor, target, &part)?;
                let told = steps.go(&part, way.redo)?;
                self.bring_logs_back(&part, &way.from_root, &told)?;
                plan = self.plan(folders, target, way)?;
            }
            if let Some(part) = self.staged_since(folders, way, &plan)? {
                if !way.redo {
                    steps.announce(self.vault, self.actor, target, &part)?;
                }
                steps.go(&part, way.redo)?;
                plan = self.plan(folders, target, way)?;
                // What is checked out did not stay: only what is staged did.
                plan.told.notes.retain(|note| !stays_checked_out(note) || note.from != note.to);
            }
            let note = self.note(target, way, &head, &workspace, plan.root);
            if let Some(recorded) = folders.apply(&plan.captured.root, &plan.root, &note)? {
                steps.report = std::mem::take(&mut steps.report).then(plan.told);
                return Ok(Reverted { target: target.clone(), operation: recorded.operation });
            }
        }
        Err(ServiceError::Interfered(folders.names()))
    }

    fn plan(&self, folders: &Folders<'_>, target: &Operation, way: &Way<'_>) -> Result<Plan> {
        let captured = folders.capture()?;
        let (root, told) = self.target_root(target, way, &captured)?;
        Ok(Plan { captured, root, told })
    }

    /// The move of what is checked out in the first folder, where it would stay only because something was staged there since: git moves the
    /// branch, and the index of all other files.
    fn staged_since(
        &self,
        folders: &Folders<'_>,
        way: &Way<'_>,
        plan: &Plan,
    ) -> Result<Option<GitPart>> {
        if !plan.told.notes.iter().any(stays_checked_out) {
            return Ok(None);
        }
        let head = |root: &RootId| checked_out(self.vault, root);
        let (from, now, to) =
            (head(&way.from_root)?, head(&plan.captured.root)?, head(&way.to_root)?);
        if now != from || to.reference != from.reference || to.commit == from.commit {
            return Ok(None);
        }
        let (earlier, later) = if way.redo { (from, to) } else { (to, from) };
        match earlier.moved_to(later) {
            Some(moved) => self.git_part(moved, folders),
            None => Ok(None),
        }
    }

    /// Gives refs that were made again the logs that went with them.
    fn bring_logs_back(&self, git: &GitPart, left: &RootId, report: &GitReport) -> Result<()> {
        let objects = self.vault.objects()?;
        let tree = Tree::open(objects, left)?;
        let is_made = |note: &&GitNote| note.event == GitEvent::Moved && note.from.is_none();
        for note in report.notes.iter().filter(is_made) {
            let below = VaultPath::parse(format!("logs/{}", note.name).as_bytes());
            let below = below.map_err(VaultError::from)?;
            if let Some(log) = text_at(objects, &tree, &git.at.concat(&below))? {
                // Git has written one already, which tells less.
                drop(fs::write(shared_dir(&git.folder.git_dir).join("logs").join(&note.name), log));
            }
        }
        Ok(())
    }

    /// Gives the main line the git commit that was brought back, as a part of the redo.
    fn follow_redone(&self, folders: &Folders<'_>, target: &Operation) -> Result<()> {
        let captured = folders.capture()?;
        let before = self.vault.head()?.root;
        if captured.root == before {
            return Ok(());
        }
        let files = MovedFiles::new(self.vault).expecting_roots(before, captured.root);
        self.vault.revert_with(REDO, target, self.actor, |tx| {
            tx.summary(format!("{REDO} {}: the git commit", target.id.short()));
            captured.record(tx)?;
            let (root, content) = (captured.root, captured.content);
            let (parents, reason) = (tx.head()?.into_iter().collect(), "import".to_owned());
            let new = NewSnapshot { root, content, parents, reason, message: None };
            let head = tx.add_snapshot(new)?.id;
            tx.set_head(head)?;
            files.note(tx)
        })?;
        Ok(())
    }

    fn root(&self, id: &Id) -> Result<RootId> {
        let snapshot = self.vault.snapshot(id)?;
        self.vault.require_files(&snapshot)?;
        Ok(snapshot.root)
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
        let (options, unclear) = (&options, UnclearRefs::Stay);
        let (held, left_out) = (&HeldBackCheckouts::default(), &[]);
        let merge =
            RepositoryMerge { inputs, options, target: 0, unclear, meetings: &[], held, left_out };
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
        for change in changes.iter().filter(|change| !is_vcs_path(&change.path)) {
            let now = now.get(&change.path)?;
            if !is_as_left(change, now.as_ref()) {
                changed.push(change.path.to_string());
            }
        }
        Ok(changed)
    }

    /// The workspace, which must be as the commit, or its undo, left it.
    fn workspace_now(&self, target: &Operation, way: &Way<'_>) -> Result<WorkspaceRecord> {
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
        workspace: &WorkspaceRecord,
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

/// Whether what is checked out in the first folder stays, where the repository is in it.
fn stays_checked_out(note: &GitNote) -> bool {
    note.repository.names().len() == 1
        && note.name == "HEAD"
        && matches!(note.event, GitEvent::CheckoutStayed(_))
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
