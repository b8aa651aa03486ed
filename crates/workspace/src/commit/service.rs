//! `commit`: what a workspace changed comes into the bound folders.

use offshoot_protocol::CommitTimes;
use offshoot_tree::RootId;
use offshoot_tree::diff::{Change, DiffOptions};
use offshoot_tree::merge::Conflict;
use offshoot_vault::{Actor, Imported, Snapshot, Vault, WorkspaceRecord};

use super::folders::Folders;
use super::note::{CommitRecord, Hex, Note, Record};
use super::options::CommitOptions;
use super::outcome::CommitOutcome;
use super::proposal::{How, Proposal, ProposalInputs, merge, side};
use super::select::Selection;
use super::{describe, execs, inaccessible, markers};
use crate::change::{ChangeSummaryService, Summary};
use crate::error::{Result, ServiceError};
use crate::git::{
    GitCommitRequest, GitReport, HeldBackCheckouts, Meeting, UnclearRefs, is_index_refresh,
};
use crate::mtimes::stamp;
use crate::side_label::HEAD_LABEL;
use crate::standing::PathContext;
use crate::workspace_lock::lock_workspace;

/// How often a commit is tried again because somebody changed the folder meanwhile.
const ATTEMPTS: usize = 3;

/// What to commit.
#[derive(Clone, Debug)]
pub struct CommitRequest<'a> {
    /// The workspace.
    pub workspace: &'a WorkspaceRecord,
    /// What to say about it.
    pub message: Option<&'a str>,
    /// Which of its changes.
    pub selection: Selection<'a>,
    /// Only say what would be committed.
    pub dry_run: bool,
    /// Which times files get.
    pub times: CommitTimes,
    /// The git commit that is made of it afterwards: it is remembered as long as it is not.
    pub git: Option<GitCommitRequest>,
}

/// Brings what workspaces changed into the bound folders.
#[derive(Debug)]
pub struct CommitService<'a> {
    pub(super) vault: &'a Vault,
    pub(super) actor: Actor,
    pub(super) options: CommitOptions<'a>,
    diff: DiffOptions,
}

/// How many files changed in the folders since the workspace was forked.
#[derive(Clone, Copy)]
struct Meanwhile {
    all: u64,
    /// Those that git does not keep for itself.
    own: u64,
}

/// A commit, all thought out.
struct Plan {
    proposal: Proposal,
    meanwhile: Meanwhile,
    /// What the folders become.
    after: RootId,
    brought: Vec<Change>,
    metadata: Vec<Change>,
    /// What the workspace becomes.
    kept: RootId,
    kept_conflicts: Vec<Conflict>,
    kept_git: GitReport,
}

impl<'a> CommitService<'a> {
    /// Works on a vault on behalf of somebody.
    pub fn new(
        vault: &'a Vault,
        actor: &Actor,
        options: CommitOptions<'a>,
        diff: DiffOptions,
    ) -> Self {
        Self { vault, actor: actor.clone(), options, diff }
    }

    /// Brings a workspace's changes home; every step is specified in `docs/design/commit.md`. Conflicts are part of the outcome:
    /// nothing was changed then.
    pub fn commit(&self, request: &CommitRequest<'_>) -> Result<CommitOutcome> {
        let _lock =
            lock_workspace(self.vault, request.workspace, self.options.lock_wait(), "commit")?;
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
        let inputs =
            ProposalInputs { workspace: &workspace, tip: &tip, head: &head, main: captured.root };
        let plan = self.plan(&inputs, request)?;
        let reader = PathContext::outside(self.vault)?;
        let mut outcome = outcome((&workspace, &tip), request, &captured, &plan, &reader);
        if plan.proposal.is_empty() || !plan.proposal.conflicts.is_empty() {
            return Ok(Some(outcome));
        }
        folders.require_readable(&captured, &plan.after)?;
        folders.require_git_at_rest()?;
        outcome.execs = execs::since(self.vault, &tip, &plan.proposal.common)?;
        if request.dry_run {
            folders.check(&captured.root, &plan.after)?;
            return Ok(Some(outcome));
        }
        let note = self.note(&workspace, &head, &plan, request, &outcome);
        let recorded = folders.apply(&captured.root, &plan.after, &note)?;
        Ok(recorded.map(|recorded| {
            let (operation, snapshot) = (Some(recorded.operation), Some(recorded.head));
            CommitOutcome { operation, snapshot, ..outcome }
        }))
    }

    fn plan(&self, inputs: &ProposalInputs<'_>, request: &CommitRequest<'_>) -> Result<Plan> {
        let (vault, options) = (self.vault, &self.options.merge);
        let ProposalInputs { workspace, tip, main, .. } = *inputs;
        markers::require_decided(vault, workspace, &tip.root)?;
        let mut proposal = Proposal::new(vault, inputs, &request.selection, options)?;
        if let Some(refused) = proposal.refused.take() {
            return Err(refused);
        }
        // Who takes a file by its name does not want all the rest without it.
        let unmatched = &proposal.selected.unmatched;
        if let Some(unmatched) = unmatched.iter().find(|option| option.starts_with("--take ")) {
            return Err(ServiceError::Request(format!(
                "nothing that changed fits {unmatched}, so nothing was committed"
            )));
        }
        let fits = proposal.conflicts.is_empty();
        let (before, after) = proposal.sides();
        let after = match fits && request.times == CommitTimes::Now {
            true => stamp(vault, &main, &after)?,
            false => after,
        };
        let summary = self.changes(&before, &after)?;
        let metadata = summary.telling_metadata().into_iter().cloned().collect();
        let brought = summary.changes;
        let (kept, kept_conflicts, kept_git) = match fits {
            true => {
                // As for a pull, the workspace is the first side.
                let seen = proposal.selected.without_ignored(vault, &after)?;
                let own = proposal.selected.with_newer(vault, &tip.root)?;
                let sides = [side(&workspace.name, own), side(HEAD_LABEL, seen)];
                // The same moments, seen from the workspace.
                let turned = proposal.meetings.iter();
                let turned = turned.map(|met| Meeting { target: met.other, other: met.target });
                let meetings = [Vec::new(), turned.collect()];
                let how = How {
                    target: 0,
                    unclear: UnclearRefs::Follow,
                    meetings: &meetings,
                    held: &HeldBackCheckouts::default(),
                    left_out: &[],
                };
                let both = merge(vault, proposal.selected.root, &sides, &how, options)?;
                (both.merged.root, both.merged.conflicts, both.report.left_behind())
            }
            false => (tip.root, Vec::new(), GitReport::default()),
        };
        if fits {
            inaccessible::require_open(&brought)?;
        }
        if fits && !request.selection.allow.markers {
            markers::require_none(vault, &proposal.base, &brought)?;
        }
        let mut meanwhile = self.changes(&proposal.base, &main)?.changes;
        // Whoever only looks, as with `git status`, changes nothing that anybody cares about.
        let objects = vault.objects()?;
        meanwhile.retain(|change| !is_index_refresh(objects, change));
        let all = describe::count(&meanwhile) as u64;
        meanwhile.retain(|change| !describe::is_of_git(change));
        let meanwhile = Meanwhile { all, own: describe::count(&meanwhile) as u64 };
        Ok(Plan { proposal, meanwhile, after, brought, metadata, kept, kept_conflicts, kept_git })
    }

    /// What people would call a change.
    pub(super) fn changes(&self, before: &RootId, after: &RootId) -> Result<Summary> {
        let service = ChangeSummaryService::new(self.vault, self.diff);
        service.between(before, after, false)
    }

    fn note(
        &self,
        workspace: &WorkspaceRecord,
        head: &Snapshot,
        plan: &Plan,
        request: &CommitRequest<'_>,
        outcome: &CommitOutcome,
    ) -> Note {
        let proposal = &plan.proposal;
        let commit = CommitRecord {
            workspace: workspace.id,
            name: workspace.name.clone(),
            state: workspace.state.clone(),
            head: head.id,
            common: proposal.common.clone(),
            offered: Hex(proposal.selected.root),
            merged: Hex(plan.after),
            kept: Hex(plan.kept),
            message: outcome.message.clone(),
            summary: describe::summary(
                &workspace.name,
                request.message,
                (&plan.brought, &plan.metadata),
            ),
            execs: outcome.execs.clone(),
            git: request.git.clone(),
        };
        Note::new(&self.actor, Record::Commit(Box::new(commit)))
    }
}

fn outcome(
    (workspace, tip): (&WorkspaceRecord, &Snapshot),
    request: &CommitRequest<'_>,
    captured: &Imported,
    plan: &Plan,
    reader: &PathContext,
) -> CommitOutcome {
    let Plan { proposal, meanwhile, after, brought, kept_conflicts, kept_git, .. } = plan;
    let default = || describe::message(&workspace.name, (brought, &plan.metadata), reader);
    CommitOutcome {
        workspace: workspace.name.clone(),
        dry_run: request.dry_run,
        operation: None,
        snapshot: None,
        message: request.message.map_or_else(default, str::to_owned),
        brought: brought.clone(),
        metadata: plan.metadata.clone(),
        held: proposal.selected.held.clone(),
        meanwhile: meanwhile.all,
        meanwhile_own: meanwhile.own,
        conflicts: proposal.conflicts.clone(),
        kept_conflicts: kept_conflicts.clone(),
        unmatched: proposal.selected.unmatched.clone(),
        parts_of_git: proposal.selected.parts_of_git.clone(),
        git: if proposal.is_empty() { GitReport::default() } else { proposal.git.clone() },
        workspace_git: if proposal.is_empty() { GitReport::default() } else { kept_git.clone() },
        execs: Vec::new(),
        offered: proposal.selected.root,
        tip: tip.root,
        before: captured.root,
        after: *after,
        report: captured.report.clone(),
    }
}
