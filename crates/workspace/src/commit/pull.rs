//! `pull`: what is in the bound folders comes into the main line, and the main line into a workspace.

use offshoot_tree::diff;
use offshoot_tree::diff::{Change, ChangeKind, DiffOptions};
use offshoot_tree::merge::{MergeInputs, MergeOptions};
use offshoot_tree::{RootId, VaultPath};
use offshoot_vault::{Actor, ImportReport, NewSnapshot, Snapshot, Vault, WorkspaceRecord};

use super::folders::Folders;
use super::options::CommitOptions;
use super::outcome::{GitFollowed, Pulled};
use super::proposal::side;
use super::record::content_of;
use super::select::ignored::seen_by_workspace;
use super::select::{SelectionStates, Tracked};
use crate::audited::audited;
use crate::binding::{GitDirectory, take_git_directory};
use crate::change::{ChangeSummaryService, Summary};
use crate::error::{Result, ServiceError};
use crate::git::{
    FOLLOW, GitReport, HeldBackCheckouts, MergedRepositories, RepositoryMerge, UnclearRefs,
    is_vcs_path, merge_repositories,
};
use crate::mtimes::{is_time_alone, stamp};
use crate::side_label::HEAD_LABEL;
use crate::workspace_lock::lock_workspace;

/// The kind of the operation.
const PULL: &str = "pull";
/// How often it is tried again because somebody changed the workspace meanwhile.
const ATTEMPTS: usize = 8;

/// Takes what is in the folders into the main line and into workspaces.
pub struct PullService<'a> {
    vault: &'a Vault,
    actor: Actor,
    options: CommitOptions<'a>,
    diff: DiffOptions,
    tracked: Tracked<'a>,
}

impl<'a> PullService<'a> {
    /// Works on a vault on behalf of somebody.
    pub fn new(
        vault: &'a Vault,
        actor: &Actor,
        options: CommitOptions<'a>,
        diff: DiffOptions,
    ) -> Self {
        Self { vault, actor: actor.clone(), options, diff, tracked: &|_| Ok(false) }
    }

    /// The same where git tracks some paths: ignored ones that it tracks are merged as all others are.
    pub fn tracking(self, tracked: Tracked<'a>) -> Self {
        Self { tracked, ..self }
    }

    /// Makes the main line what is in the folders, and nothing else.
    pub fn pull_head(&self) -> Result<Pulled> {
        let mut folders = Folders::lock(self.vault, &self.actor, &self.options)?;
        let _held = self.vault.hold()?;
        self.take_in(&mut folders)
    }

    /// Makes the main line what is in the folders, with the git directory where that lies outside.
    fn take_in(&self, folders: &mut Folders<'_>) -> Result<Pulled> {
        let before = self.vault.head()?;
        let git = take_git_directory(self.vault, &self.actor, folders, &self.options)?;
        let mut pulled = self.capture(folders, &before)?;
        pulled.git_directory = git;
        Ok(pulled)
    }

    fn capture(&self, folders: &Folders<'_>, before: &Snapshot) -> Result<Pulled> {
        let (head, moved, report) = self.follow(folders, before)?;
        let captured = self.changes(&before.root, &head.root)?.changes;
        let head_moved = moved || head.id != before.id;
        Ok(Pulled {
            workspace: None,
            head: head.id,
            head_moved,
            captured,
            changes: Vec::new(),
            metadata: Vec::new(),
            git: GitReport::default(),
            conflicts: Vec::new(),
            snapshot: None,
            operation: None,
            report,
            git_directory: GitDirectory::Inside,
        })
    }

    /// Makes the main line what is in the folders and merges it into a workspace. Conflicts stay in the workspace.
    pub fn pull(&self, workspace: &WorkspaceRecord) -> Result<Pulled> {
        let _lock = lock_workspace(self.vault, workspace, self.options.lock_wait(), "pull")?;
        let mut folders = Folders::lock(self.vault, &self.actor, &self.options)?;
        let _held = self.vault.hold()?;
        let mut pulled = self.take_in(&mut folders)?;
        pulled.workspace = Some(workspace.name.clone());
        for _ in 0..ATTEMPTS {
            if self.merge_into(PULL, workspace, &mut pulled)? {
                return Ok(pulled);
            }
        }
        Err(ServiceError::Contended(workspace.name.clone()))
    }

    /// Brings the git commit into a workspace that was made of what it brought into the folder; `sides` are the folders before and after that. Nothing
    /// where more was changed in the folders since: a pull brings that.
    pub fn follow_git(
        &self,
        workspace: &WorkspaceRecord,
        sides: [&RootId; 2],
    ) -> Result<Option<GitFollowed>> {
        let [before, after] = sides;
        let _lock = lock_workspace(self.vault, workspace, self.options.lock_wait(), "commit")?;
        let folders = Folders::lock(self.vault, &self.actor, &self.options)?;
        let _held = self.vault.hold()?;
        let mut pulled = self.capture(&folders, &self.vault.head()?)?;
        let root = self.vault.snapshot(&pulled.head)?.root;
        let since = diff::compare(self.vault.objects()?, after, &root)?;
        let is_file = |change: &&Change| change.kind() != ChangeKind::Metadata;
        if !since.iter().filter(is_file).all(|change| is_vcs_path(&change.path)) {
            return Ok(None);
        }
        for _ in 0..ATTEMPTS {
            if self.merge_into(FOLLOW, workspace, &mut pulled)? {
                let brought = self.changes(before, &root)?.changes;
                return Ok(Some(GitFollowed { brought, root, git: pulled.git }));
            }
        }
        Ok(None)
    }

    /// Makes the main line what is in the folders.
    fn follow(
        &self,
        folders: &Folders<'_>,
        before: &Snapshot,
    ) -> Result<(Snapshot, bool, ImportReport)> {
        // A vault that was made without a folder has a main line all the same.
        if self.vault.bindings()?.is_empty() {
            return Ok((before.clone(), false, ImportReport::default()));
        }
        folders.require_same()?;
        let captured = folders.capture()?;
        let (head, moved) = folders.follow(&captured)?;
        Ok((head, moved, captured.report))
    }

    /// One try; `false` where the workspace moved meanwhile.
    fn merge_into(
        &self,
        kind: &'static str,
        workspace: &WorkspaceRecord,
        pulled: &mut Pulled,
    ) -> Result<bool> {
        let id = workspace.id;
        let current = self.vault.workspace(&id)?.ok_or(ServiceError::Vanished(id))?;
        let head = self.vault.snapshot(&pulled.head)?;
        let tip = self.vault.snapshot(&current.state.head)?;
        pulled.snapshot = Some(tip.id);
        let common = self.vault.common_ancestors(&[head.id, tip.id])?;
        if common == [head.id] {
            return Ok(true);
        }
        let both = merge_head(
            self.vault,
            &current.name,
            [&head, &tip],
            self.tracked,
            &self.options.merge,
        )?;
        let root = stamp(self.vault, &tip.root, &both.merged.root)?;
        let summary = self.changes(&tip.root, &root)?;
        let telling = summary.telling_metadata().into_iter();
        pulled.metadata = telling.filter(|change| !is_time_alone(change)).cloned().collect();
        pulled.changes = summary.changes;
        pulled.conflicts = both.merged.conflicts;
        let is_decided = self.vault.tree(&root)?.conflicts(&VaultPath::top())?.is_empty();
        let report = if is_decided { both.report } else { both.report.with_open_conflicts() };
        pulled.git = report.inside(&current.name);
        self.record(kind, [&head, &tip], &current, root, pulled)
    }

    fn record(
        &self,
        kind: &'static str,
        [head, tip]: [&Snapshot; 2],
        current: &WorkspaceRecord,
        root: RootId,
        pulled: &mut Pulled,
    ) -> Result<bool> {
        let content = content_of(self.vault, &root)?;
        let committed = self.vault.transact(kind, &self.actor, |tx| {
            let now = tx.workspace(&current.id)?.filter(|now| now.state == current.state);
            let Some(mut now) = now else { return Ok(None) };
            // A workspace that changed nothing is simply where the main line is.
            let (parents, reason) = (vec![tip.id, head.id], PULL.to_owned());
            let snapshot = match root == head.root {
                true => head.id,
                false => {
                    let new = NewSnapshot { root, content, parents, reason, message: None };
                    tx.add_snapshot(new)?.id
                }
            };
            now.state.head = snapshot;
            now.state.base = head.id;
            tx.set_workspace(&now)?;
            tx.scope(now.id);
            tx.summary(match kind {
                PULL => format!("pull the folder's changes into {}", now.name),
                _ => format!("bring the git commit into {}", now.name),
            });
            tx.files(audited(&pulled.changes));
            Ok(Some(snapshot))
        })?;
        pulled.operation = committed.operation;
        pulled.snapshot = committed.value.or(pulled.snapshot);
        Ok(committed.value.is_some())
    }

    fn changes(&self, before: &RootId, after: &RootId) -> Result<Summary> {
        let service = ChangeSummaryService::new(self.vault, self.diff);
        service.between(before, after, false)
    }
}

impl std::fmt::Debug for PullService<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { vault, actor, options, diff, tracked: _ } = self;
        f.debug_struct("PullService")
            .field("vault", vault)
            .field("actor", actor)
            .field("options", options)
            .field("diff", diff)
            .finish_non_exhaustive()
    }
}

/// What a pull of the main line makes of a workspace. Of ignored files that both changed, the workspace keeps its own.
pub(super) fn merge_head(
    vault: &Vault,
    workspace: &str,
    [head, tip]: [&Snapshot; 2],
    tracked: Tracked<'_>,
    options: &MergeOptions,
) -> Result<MergedRepositories> {
    let ids = [head.id, tip.id];
    let states = SelectionStates::between(vault, ids, tip.root, head.root, options)?;
    let seen = seen_by_workspace(vault, &states, tracked)?;
    let base = vault.merge_base(&ids)?;
    let sides = [side(workspace, tip.root), side(HEAD_LABEL, seen)];
    let inputs = MergeInputs { base: &base, sides: &sides };
    let unclear = UnclearRefs::Apart;
    let (held, left_out) = (&HeldBackCheckouts::default(), &[]);
    let merge =
        RepositoryMerge { inputs, options, target: 0, unclear, meetings: &[], held, left_out };
    merge_repositories(vault, &merge)
}
