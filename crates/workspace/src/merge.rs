//! Merging states of files into a workspace, with their history.

use std::time::Duration;

use offshoot_store::Id;
use offshoot_tree::diff;
use offshoot_tree::diff::Change;
use offshoot_tree::merge::{MergeInputs, MergeOptions, Merged, Side};
use offshoot_vault::{
    Actor, NewSnapshot, Snapshot, Transaction, Vault, WorkspaceRecord, WorkspaceState,
};

use crate::audited::audited;
use crate::commit::meetings;
use crate::conflict::OpenConflict;
use crate::edit::current;
use crate::error::{Result, ServiceError};
use crate::exec::summary::is_directory_time;
use crate::git::{
    GitReport, HeldBackCheckouts, Meeting, MergedRepositories, RepositoryMerge, UnclearRefs,
    merge_repositories,
};
use crate::mtimes::stamp;
use crate::resolve::Point;
use crate::undecided;
use crate::workspace::{checked, taken};
use crate::workspace_lock::lock_workspace;

/// A merge that somebody else overtook is made again, at most this often.
const TRIES: usize = 5;

/// Where a merge goes.
#[derive(Clone, Copy, Debug)]
pub enum MergeTarget<'a> {
    /// A workspace, which is the first side.
    Workspace(&'a WorkspaceRecord),
    /// A new workspace of this name.
    New(&'a str),
}

/// What to merge.
#[derive(Clone, Copy, Debug)]
pub struct MergeRequest<'a> {
    /// The states, the most important one first.
    pub sides: &'a [Point],
    /// Where the result goes.
    pub into: MergeTarget<'a>,
    /// What to say about it in the history.
    pub message: Option<&'a str>,
    /// How to merge.
    pub options: MergeOptions,
}

/// One state of a merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergeSide {
    /// What it is called.
    pub label: String,
    /// Its snapshot.
    pub snapshot: Id,
    /// Another side came from it, or is the same: there was nothing to merge.
    pub included: bool,
}

/// What a merge came to.
#[derive(Clone, Debug)]
pub struct MergeOutcome {
    /// The workspace that it went to; of a dry run, the name alone is sure.
    pub workspace: String,
    /// The workspace is new.
    pub created: bool,
    /// The states, in their order.
    pub sides: Vec<MergeSide>,
    /// The merged state.
    pub merged: Merged,
    /// What became of repositories that several sides changed.
    pub git: GitReport,
    /// What is to be decided in it, older conflicts included.
    pub conflicts: Vec<OpenConflict>,
    /// What it changes in the workspace, or where that is new, in what it counts as forked from.
    pub changes: Vec<Change>,
    /// The newest snapshot of the workspace; nothing for a dry run.
    pub snapshot: Option<Snapshot>,
    /// The operation, unless nothing changed.
    pub operation: Option<Id>,
}

/// A merge that is about to be recorded.
pub(crate) struct MergeRecord<'a> {
    /// The workspace as it was.
    pub(crate) workspace: &'a WorkspaceRecord,
    /// What it goes to.
    pub(crate) snapshot: Id,
    /// What changes in it.
    pub(crate) changes: &'a [Change],
}

/// What else belongs to the transaction of a merge; false where the merge is not wanted any more.
type Besides<'w> =
    &'w mut dyn FnMut(&mut Transaction<'_, '_>, &MergeRecord<'_>) -> offshoot_vault::Result<bool>;

/// Merges states into workspaces.
#[derive(Debug)]
pub struct MergeService<'a> {
    vault: &'a Vault,
    actor: Actor,
}

/// What is merged, looked up.
struct Plan {
    points: Vec<Point>,
    sides: Vec<MergeSide>,
}

impl<'a> MergeService<'a> {
    /// Works on a vault on behalf of somebody.
    pub fn new(vault: &'a Vault, actor: &Actor) -> Self {
        Self { vault, actor: actor.clone() }
    }

    /// Merges, and records the result in one operation. Conflicts are part of the result.
    pub fn merge(&self, request: &MergeRequest<'_>) -> Result<MergeOutcome> {
        let _held = self.vault.hold()?;
        let _alone = match request.into {
            MergeTarget::Workspace(workspace) => {
                Some(lock_workspace(self.vault, workspace, Duration::ZERO, "merge")?)
            }
            MergeTarget::New(name) => {
                checked(name)?;
                None
            }
        };
        let mut past: Vec<Id> = Vec::new();
        for side in request.sides {
            past.extend(undecided::admit(self.vault, &self.actor, side)?);
        }
        for _ in 0..TRIES {
            let current = self.current(request)?;
            let plan = self.plan(request, current.as_ref())?;
            let outcome = self.compute(request, &plan)?;
            let recorded = self.record(
                request,
                &plan,
                current.as_ref(),
                outcome,
                ("merge", &mut |tx, _| {
                    undecided::note(tx, &past);
                    Ok(true)
                }),
            );
            if let Some(done) = recorded? {
                return Ok(done);
            }
        }
        let MergeTarget::Workspace(workspace) = request.into else {
            return Err(ServiceError::Internal("nobody overtakes a new workspace".to_owned()));
        };
        Err(ServiceError::Contended(workspace.name.clone()))
    }

    /// Merges into a workspace that the caller holds, with what `besides` adds to the transaction. Where there are conflicts nothing is recorded, and
    /// the outcome says which; none where `besides` does not want it.
    pub(crate) fn merge_without_conflicts(
        &self,
        request: &MergeRequest<'_>,
        kind: &str,
        besides: Besides<'_>,
    ) -> Result<Option<MergeOutcome>> {
        let current = self.current(request)?;
        let plan = self.plan(request, current.as_ref())?;
        let outcome = self.compute(request, &plan)?;
        match outcome.conflicts.is_empty() {
            true => self.record(request, &plan, current.as_ref(), outcome, (kind, besides)),
            false => Ok(Some(outcome)),
        }
    }

    /// What a merge would come to. No ref is changed.
    pub fn preview(&self, request: &MergeRequest<'_>) -> Result<MergeOutcome> {
        let _held = self.vault.hold()?;
        if let MergeTarget::New(name) = request.into {
            checked(name)?;
        }
        let current = self.current(request)?;
        self.compute(request, &self.plan(request, current.as_ref())?)
    }

    /// The workspace as it is now.
    fn current(&self, request: &MergeRequest<'_>) -> Result<Option<WorkspaceRecord>> {
        match request.into {
            MergeTarget::New(_) => Ok(None),
            MergeTarget::Workspace(workspace) => current(self.vault, workspace).map(Some),
        }
    }

    /// Which states there are to merge. One that another came from adds nothing.
    fn plan(&self, request: &MergeRequest<'_>, current: Option<&WorkspaceRecord>) -> Result<Plan> {
        let mut all: Vec<Point> = Vec::new();
        if let Some(workspace) = current {
            all.push(crate::resolve::Resolver::new(self.vault).workspace_point(workspace)?);
        }
        all.extend(request.sides.iter().cloned());
        let mut sides = Vec::new();
        let mut points: Vec<Point> = Vec::new();
        for (at, point) in all.iter().enumerate() {
            let mut included = false;
            for (other, newer) in all.iter().enumerate().filter(|(other, _)| *other != at) {
                let same = newer.snapshot.id == point.snapshot.id;
                included |= match same {
                    true => other < at,
                    false => self.vault.came_from(&newer.snapshot.id, &point.snapshot.id)?,
                };
            }
            let (label, snapshot) = (point.label.clone(), point.snapshot.id);
            sides.push(MergeSide { label, snapshot, included });
            if !included {
                points.push(point.clone());
            }
        }
        Ok(Plan { points, sides })
    }

    /// When each side took in what it has in common with the first.
    fn meetings(&self, plan: &Plan) -> Result<Vec<Vec<Meeting>>> {
        let Some((target, others)) = plan.points.split_first() else { return Ok(Vec::new()) };
        let mut all = vec![Vec::new()];
        for other in others {
            let ids = [target.snapshot.id, other.snapshot.id];
            let common = self.vault.common_ancestors(&ids)?;
            all.push(meetings(self.vault, &other.snapshot, &common)?);
        }
        Ok(all)
    }

    fn compute(&self, request: &MergeRequest<'_>, plan: &Plan) -> Result<MergeOutcome> {
        let ids: Vec<Id> = plan.points.iter().map(|point| point.snapshot.id).collect();
        let side = |point: &Point| Side { label: point.label.clone(), root: point.snapshot.root };
        let sides: Vec<Side> = plan.points.iter().map(side).collect();
        let base = self.vault.merge_base(&ids)?;
        let inputs = MergeInputs { base: &base, sides: &sides };
        let (options, unclear) = (&request.options, UnclearRefs::Apart);
        let meetings = self.meetings(plan)?;
        let (meetings, held, left_out) = (&meetings, &HeldBackCheckouts::default(), &[]);
        let merge =
            RepositoryMerge { inputs, options, target: 0, unclear, meetings, held, left_out };
        let MergedRepositories { merged, report: git, .. } =
            merge_repositories(self.vault, &merge)?;
        let before = match (request.into, plan.sides.first()) {
            (MergeTarget::New(_), _) => plan.base(),
            (MergeTarget::Workspace(_), Some(own)) => Some(own.snapshot),
            (MergeTarget::Workspace(_), None) => None,
        };
        let nothing = || ServiceError::Request("there is nothing to merge".to_owned());
        let before = before.ok_or_else(nothing)?;
        let before = self.vault.snapshot(&before)?.root;
        let merged = match request.into {
            MergeTarget::Workspace(_) => {
                let root = stamp(self.vault, &before, &merged.root)?;
                Merged { root, ..merged }
            }
            // Nothing was built in a new one.
            MergeTarget::New(_) => merged,
        };
        let (workspace, created) = match request.into {
            MergeTarget::Workspace(workspace) => (workspace.name.clone(), false),
            MergeTarget::New(name) => (name.to_owned(), true),
        };
        let conflicts = OpenConflict::all(&self.vault.tree(&merged.root)?)?;
        let mut changes = diff::compare(self.vault.objects()?, &before, &merged.root)?;
        changes.retain(|change| !is_directory_time(change));
        let git = if conflicts.is_empty() { git } else { git.with_open_conflicts() };
        Ok(MergeOutcome {
            created,
            sides: plan.sides.clone(),
            conflicts,
            changes,
            merged,
            git: git.inside(&workspace),
            workspace,
            snapshot: None,
            operation: None,
        })
    }

    /// Makes the result the workspace's; nothing where that moved meanwhile.
    fn record(
        &self,
        request: &MergeRequest<'_>,
        plan: &Plan,
        current: Option<&WorkspaceRecord>,
        outcome: MergeOutcome,
        (kind, besides): (&str, Besides<'_>),
    ) -> Result<Option<MergeOutcome>> {
        let committed = self.vault.transact(kind, &self.actor, |tx| {
            let target = match current {
                Some(current) => {
                    match tx.workspace(&current.id)?.filter(|now| now.state == current.state) {
                        Some(now) => now,
                        None => return Ok(None),
                    }
                }
                None => plan.new_workspace(tx, &outcome.workspace),
            };
            let snapshot = self.add_snapshot(tx, request, plan, &outcome)?;
            let labels: Vec<&str> = plan.sides.iter().map(|side| side.label.as_str()).collect();
            let from = if current.is_some() { &labels[1..] } else { &labels[..] };
            tx.scope(target.id);
            tx.summary(format!("merge {} into {}", from.join(", "), target.name));
            tx.detail("conflicts", outcome.conflicts.len());
            tx.files(audited(&outcome.changes));
            let made = MergeRecord {
                workspace: &target,
                snapshot: snapshot.id,
                changes: &outcome.changes,
            };
            if !besides(tx, &made)? {
                return Ok(None);
            }
            let state = WorkspaceState { head: snapshot.id, ..target.state };
            tx.set_workspace(&WorkspaceRecord { state, ..target })?;
            Ok(Some(snapshot))
        });
        let committed = committed.map_err(|error| taken(error, &outcome.workspace))?;
        let operation = committed.operation;
        Ok(committed.value.map(|it| MergeOutcome { snapshot: Some(it), operation, ..outcome }))
    }

    /// The merged snapshot; where one side has all that the others have, it is that side's own.
    fn add_snapshot(
        &self,
        tx: &mut Transaction<'_, '_>,
        request: &MergeRequest<'_>,
        plan: &Plan,
        outcome: &MergeOutcome,
    ) -> offshoot_vault::Result<Snapshot> {
        if let [only] = plan.points.as_slice() {
            return Ok(only.snapshot.clone());
        }
        let root = outcome.merged.root;
        let top = self.vault.objects()?.root(&root)?;
        let content = top.directory().map(|dir| dir.content);
        tx.add_snapshot(NewSnapshot {
            root,
            content: content.unwrap_or(plan.points[0].snapshot.content),
            parents: plan.points.iter().map(|point| point.snapshot.id).collect(),
            reason: "merge".to_owned(),
            message: request.message.map(str::to_owned),
        })
    }
}

impl Plan {
    /// What a new workspace counts as forked from: the newest of what the sides were.
    fn base(&self) -> Option<Id> {
        let base = |point: &Point| match &point.workspace {
            Some(workspace) => workspace.state.base,
            None => point.snapshot.id,
        };
        self.points.iter().map(base).max()
    }

    fn new_workspace(&self, tx: &mut Transaction<'_, '_>, name: &str) -> WorkspaceRecord {
        let base = self.base().unwrap_or(self.sides[0].snapshot);
        let first = self.points.first().and_then(|point| point.workspace.as_ref());
        let state = WorkspaceState {
            head: base,
            base,
            parent: first.map(|workspace| workspace.id),
            created_ms: tx.time_ms(),
            expires_ms: None,
        };
        WorkspaceRecord { id: tx.new_id(), name: name.to_owned(), state }
    }
}
