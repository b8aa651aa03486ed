//! `commit`: what a workspace changed comes into the bound folders.

use std::time::Duration;

use offshoot_vault::diff::{self, Change, ChangeKind, DiffOptions};
use offshoot_vault::merge::conflict::Conflict;
use offshoot_vault::merge::{Base, MergeInputs, Side};
use offshoot_vault::{
    Actor, Id, Imported, RootId, Snapshot, Vault, VaultError, Workspace, WorkspaceLock,
};

use super::folders::Folders;
use super::note::{CommitRecord, Hex, Note, Record};
use super::outcome::CommitOutcome;
use super::select::{Selected, Selection, SelectionStates, select};
use super::times::{Times, stamp};
use super::{HomeOptions, describe, execs, markers};
use crate::edit::audited;
use crate::error::{Result, ServiceError};
use crate::git::{GitReport, RepositoryMerge, Unclear, check_folder, is_own, merge_repositories};

/// How often a commit is tried again because somebody changed the folder meanwhile.
const ATTEMPTS: usize = 3;
/// What the main line is called where sides are named.
pub(crate) const HEAD_LABEL: &str = "head";
/// A command may run for as long as it wants, so who waits for it is told soon.
const LONGEST_WAIT: Duration = Duration::from_secs(2);

/// What to bring home.
#[derive(Clone, Debug)]
pub struct CommitRequest<'a> {
    /// The workspace.
    pub workspace: &'a Workspace,
    /// What to say about it.
    pub message: Option<&'a str>,
    /// Which of its changes.
    pub selection: Selection<'a>,
    /// Only say what would come home.
    pub dry_run: bool,
    /// Which times files get.
    pub times: Times,
}

/// Brings what workspaces changed into the bound folders.
#[derive(Debug)]
pub struct CommitService<'a> {
    vault: &'a Vault,
    actor: Actor,
    options: HomeOptions<'a>,
    diff: DiffOptions,
}

/// A commit, all thought out.
struct Proposal {
    /// What the workspace and the main line came from.
    base: RootId,
    selected: Selected,
    common: Vec<Id>,
    meanwhile: u64,
    /// What the folders become.
    after: RootId,
    brought: Vec<Change>,
    conflicts: Vec<Conflict>,
    /// What the workspace becomes.
    kept: RootId,
    kept_conflicts: Vec<Conflict>,
    /// What is told about repositories.
    git: GitReport,
    /// All that the workspace has of its own is what a version control keeps for itself, and none of it matters to the folders.
    nothing: bool,
}

impl<'a> CommitService<'a> {
    /// Works on a vault on behalf of somebody.
    pub fn new(
        vault: &'a Vault,
        actor: &Actor,
        options: HomeOptions<'a>,
        diff: DiffOptions,
    ) -> Self {
        Self { vault, actor: actor.clone(), options, diff }
    }

    /// Brings a workspace's changes home; every step is specified in `docs/design/commit.md`. Conflicts are part of the outcome:
    /// nothing was changed then.
    pub fn commit(&self, request: &CommitRequest<'_>) -> Result<CommitOutcome> {
        let _lock = lock_workspace(self.vault, request.workspace, &self.options, "commit")?;
        let folders = Folders::lock(self.vault, &self.actor, &self.options)?;
        let _held = self.vault.hold()?;
        // Folder, workspace and base are compared with each other in many ways.
        let _kept = self.vault.objects()?.keep_nodes();
        folders.require_same()?;
        for _ in 0..ATTEMPTS {
            if let Some(outcome) = self.attempt(&folders, request)? {
                return Ok(outcome);
            }
        }
        Err(ServiceError::Interfered(folders.names()))
    }

    /// One try; nothing where somebody changed the folder, or the workspace, meanwhile.
    fn attempt(
        &self,
        folders: &Folders<'_>,
        request: &CommitRequest<'_>,
    ) -> Result<Option<CommitOutcome>> {
        let captured = folders.capture()?;
        let head = match request.dry_run {
            true => self.vault.head()?,
            false => folders.follow(&captured)?.0,
        };
        let id = request.workspace.id;
        let workspace = self.vault.workspace(&id)?.ok_or(ServiceError::Vanished(id))?;
        let tip = self.vault.snapshot(&workspace.state.head)?;
        let proposal = self.propose(&workspace, &tip, &head, &captured, request)?;
        let mut outcome = outcome(&workspace, request, &captured, &proposal);
        if proposal.is_empty() || !proposal.conflicts.is_empty() {
            return Ok(Some(outcome));
        }
        for target in folders.targets() {
            check_folder(&target.directory)?;
        }
        outcome.execs = execs::since(self.vault, &tip, &proposal.common)?;
        if request.dry_run {
            folders.check(&captured.root, &proposal.after)?;
            return Ok(Some(outcome));
        }
        let note = self.note(&workspace, &head, &proposal, request, &outcome);
        let recorded = folders.apply(&captured.root, &proposal.after, &note)?;
        Ok(recorded.map(|recorded| {
            let (operation, snapshot) = (Some(recorded.operation), Some(recorded.head));
            CommitOutcome { operation, snapshot, ..outcome }
        }))
    }

    fn propose(
        &self,
        workspace: &Workspace,
        tip: &Snapshot,
        head: &Snapshot,
        captured: &Imported,
        request: &CommitRequest<'_>,
    ) -> Result<Proposal> {
        let vault = self.vault;
        markers::require_decided(vault, workspace, &tip.root)?;
        let common = vault.common_ancestors(&[head.id, tip.id])?;
        let (main, workspace_root) = (captured.root, tip.root);
        let (ids, options) = ([head.id, tip.id], &self.options.merge);
        let states = SelectionStates::between(vault, ids, workspace_root, main, options)?;
        let base = states.base;
        let selected = select(vault, &states, &request.selection)?;
        let sides = [side(HEAD_LABEL, main), side(&workspace.name, selected.root)];
        let (merged, conflicts, git) = self.merge(base, &sides, 0, Unclear::Apart)?;
        let after = stamp(vault, &main, &merged, request.times)?;
        let sides = [side(HEAD_LABEL, after), side(&workspace.name, workspace_root)];
        let (kept, kept_conflicts) = match conflicts.is_empty() {
            true => {
                let (root, conflicts, _) = self.merge(selected.root, &sides, 1, Unclear::Follow)?;
                (root, conflicts)
            }
            false => (workspace_root, Vec::new()),
        };
        let brought = self.changes(&main, &after)?;
        if conflicts.is_empty() && !request.selection.allow.markers {
            markers::require_none(vault, &states, &brought)?;
        }
        let nothing =
            after == main && git.notes.is_empty() && self.is_all_own(&base, &selected.root)?;
        let meanwhile = self.changes(&base, &main)?;
        let meanwhile = describe::count(&meanwhile) as u64;
        Ok(Proposal {
            base,
            selected,
            common,
            meanwhile,
            after,
            brought,
            conflicts,
            kept,
            kept_conflicts,
            git,
            nothing,
        })
    }

    /// Whether states differ in nothing but what a version control keeps for itself.
    fn is_all_own(&self, before: &RootId, after: &RootId) -> Result<bool> {
        let changes = diff::compare(self.vault.objects()?, before, after)?;
        let is_file = |change: &&Change| change.kind() != ChangeKind::Metadata;
        Ok(changes.iter().filter(is_file).all(|change| is_own(&change.path)))
    }

    /// Merges into one of the sides.
    fn merge(
        &self,
        base: RootId,
        sides: &[Side],
        target: usize,
        unclear: Unclear,
    ) -> Result<(RootId, Vec<Conflict>, GitReport)> {
        let (base, options) = (&Base::Root(base), &self.options.merge);
        let inputs = MergeInputs { base, sides };
        let merge = RepositoryMerge { inputs, options, target, unclear };
        let both = merge_repositories(self.vault, &merge)?;
        Ok((both.merged.root, both.merged.conflicts, both.report))
    }

    /// What people would call a change.
    fn changes(&self, before: &RootId, after: &RootId) -> Result<Vec<Change>> {
        let objects = self.vault.objects()?;
        let mut changes = diff::compare(objects, before, after)?;
        changes.retain(|change| change.kind() != ChangeKind::Metadata);
        Ok(diff::detect_renames(objects, changes, &self.diff)?)
    }

    fn note(
        &self,
        workspace: &Workspace,
        head: &Snapshot,
        proposal: &Proposal,
        request: &CommitRequest<'_>,
        outcome: &CommitOutcome,
    ) -> Note {
        let commit = CommitRecord {
            workspace: workspace.id,
            name: workspace.name.clone(),
            state: workspace.state.clone(),
            head: head.id,
            common: proposal.common.clone(),
            offered: Hex(proposal.selected.root),
            merged: Hex(proposal.after),
            kept: Hex(proposal.kept),
            message: outcome.message.clone(),
            summary: describe::summary(&workspace.name, request.message, &proposal.brought),
            files: audited(&proposal.brought),
            execs: outcome.execs.clone(),
        };
        Note::new(&self.actor, Record::Commit(commit))
    }
}

impl Proposal {
    /// Whether nothing would come home.
    fn is_empty(&self) -> bool {
        self.nothing || self.selected.root == self.base
    }
}

fn outcome(
    workspace: &Workspace,
    request: &CommitRequest<'_>,
    captured: &Imported,
    proposal: &Proposal,
) -> CommitOutcome {
    let default = || describe::message(&workspace.name, &proposal.brought);
    CommitOutcome {
        workspace: workspace.name.clone(),
        dry_run: request.dry_run,
        operation: None,
        snapshot: None,
        message: request.message.map_or_else(default, str::to_owned),
        brought: proposal.brought.clone(),
        held: proposal.selected.held.clone(),
        meanwhile: proposal.meanwhile,
        conflicts: proposal.conflicts.clone(),
        kept_conflicts: proposal.kept_conflicts.clone(),
        unmatched: proposal.selected.unmatched.clone(),
        git: if proposal.is_empty() { GitReport::default() } else { proposal.git.clone() },
        execs: Vec::new(),
        before: captured.root,
        after: proposal.after,
        report: captured.report.clone(),
    }
}

pub(super) fn side(label: &str, root: RootId) -> Side {
    Side { label: label.to_owned(), root }
}

/// Keeps commands out of the workspace.
pub(super) fn lock_workspace(
    vault: &Vault,
    workspace: &Workspace,
    options: &HomeOptions<'_>,
    verb: &str,
) -> Result<WorkspaceLock> {
    let holder = format!("process {}: offshoot {verb}", std::process::id());
    let wait = options.wait.min(LONGEST_WAIT);
    let locked = vault.lock_workspace(&workspace.id, Some(wait), &holder);
    locked.map_err(|error| match error {
        VaultError::WorkspaceBusy { holder, .. } => {
            ServiceError::Busy { workspace: workspace.name.clone(), holder }
        }
        other => other.into(),
    })
}
