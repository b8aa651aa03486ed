//! What a commit would do, from what the vault has recorded: the folders are not read.

use std::sync::Arc;

use offshoot_tree::diff::DiffOptions;
use offshoot_tree::merge::MergeOptions;
use offshoot_tree::{Entry, RootId, Tree, VaultPath};
use offshoot_vault::{Binding, Snapshot, Vault, WorkspaceRecord};

use super::obstacles::first_obstacle;
use super::outdated::outdated;
use super::proposal::{Proposal, ProposalInputs};
use super::pull::merge_head;
use super::select::{Selection, Tracked};
use super::{inaccessible, markers};
use crate::binding::require_same;
use crate::change::{ChangeSummaryService, Summary};
use crate::error::{Result, ServiceError};
use crate::git::check_folder;

/// What a commit would do.
#[derive(Debug)]
pub struct CommitPreview {
    /// The main line as it was captured last.
    pub head: Snapshot,
    /// The workspace's newest snapshot.
    pub tip: Snapshot,
    /// What would be committed, and how.
    pub proposal: Proposal,
    /// What would change in the folders.
    pub summary: Summary,
    /// Why a commit would be refused, beside conflicts with the main line.
    pub refused: Option<ServiceError>,
    /// Paths that would be committed and were changed in a folder since that was captured.
    pub outdated: Vec<VaultPath>,
}

/// Says what a commit would do, without locks and without reading the folders. Costs as much as there are changes.
#[derive(Clone, Copy, Debug)]
pub struct PreviewService<'a> {
    vault: &'a Vault,
    merge: MergeOptions,
    diff: DiffOptions,
}

impl<'a> PreviewService<'a> {
    /// Works on a vault; the options are those that commits have.
    pub fn new(vault: &'a Vault, merge: MergeOptions, diff: DiffOptions) -> Self {
        Self { vault, merge, diff }
    }

    /// What a commit of a workspace would do. Changes of metadata are listed only where `metadata` is set.
    pub fn preview(
        &self,
        workspace: &WorkspaceRecord,
        selection: &Selection<'_>,
        metadata: bool,
    ) -> Result<CommitPreview> {
        let vault = self.vault;
        let _held = vault.hold()?;
        let _kept = vault.objects()?.keep_nodes();
        let (head, tip) = (vault.head()?, vault.snapshot(&workspace.state.head)?);
        let bindings = vault.bindings()?;
        let selection = selection.clone().in_folders(&bindings);
        let inputs = ProposalInputs { workspace, tip: &tip, head: &head, main: head.root };
        let mut proposal = Proposal::new(vault, &inputs, &selection, &self.merge)?;
        let (before, after) = proposal.sides();
        let summary =
            ChangeSummaryService::new(vault, self.diff).between(&before, &after, metadata)?;
        let refused = match require_same(&bindings).err().or_else(|| proposal.refused.take()) {
            None => self.refused(workspace, &proposal, &tip.root, &summary, &selection)?,
            refused => refused,
        };
        let refused = refused.or_else(|| busy_git(&bindings, &proposal));
        let refused = match refused {
            None if proposal.conflicts.is_empty() => {
                let after = Tree::open(vault.objects()?, &after)?;
                first_obstacle(&bindings, &summary.changes, &after)?
            }
            refused => refused,
        };
        let main = Tree::open(vault.objects()?, &head.root)?;
        let outdated = match proposal.main == head.root && proposal.conflicts.is_empty() {
            true => outdated(&bindings, &summary.changes, &main, |_, before| Ok(before.cloned()))?,
            // What is listed was not compared with the main line.
            false => {
                let found =
                    |path: &VaultPath, _: Option<&Arc<Entry>>| Ok(main.get(path)?.map(Arc::new));
                outdated(&bindings, &summary.changes, &main, found)?
            }
        };
        Ok(CommitPreview { head, tip, proposal, summary, refused, outdated })
    }

    /// Whether a pull would bring something into the workspace of a preview: the main line may have moved without anything that it lacks.
    /// `tracked` says which paths git tracks, as for the pull itself.
    pub fn pull_brings(
        &self,
        workspace: &WorkspaceRecord,
        preview: &CommitPreview,
        tracked: Tracked<'_>,
    ) -> Result<bool> {
        let CommitPreview { head, tip, proposal, .. } = preview;
        // Whatever happened there, it was taken back.
        if proposal.base == proposal.main {
            return Ok(false);
        }
        let _held = self.vault.hold()?;
        match merge_head(self.vault, &workspace.name, [head, tip], tracked, &self.merge) {
            Ok(both) => {
                let service = ChangeSummaryService::new(self.vault, self.diff);
                let changes = service.between(&tip.root, &both.merged.root, false)?.changes;
                let quiet = both.merged.conflicts.is_empty() && both.report.notes.is_empty();
                Ok(!quiet || !changes.is_empty())
            }
            // The pull itself says what is in its way.
            Err(ServiceError::Git(_)) => Ok(true),
            Err(error) => Err(error),
        }
    }

    fn refused(
        &self,
        workspace: &WorkspaceRecord,
        proposal: &Proposal,
        tip: &RootId,
        summary: &Summary,
        selection: &Selection<'_>,
    ) -> Result<Option<ServiceError>> {
        let decided = markers::require_decided(self.vault, workspace, tip);
        let fits = proposal.conflicts.is_empty();
        let open = decided.and_then(|()| match fits {
            true => inaccessible::require_open(&summary.changes),
            false => Ok(()),
        });
        let checked = open.and_then(|()| match fits && !selection.allow.markers {
            true => markers::require_none(self.vault, &proposal.base, &summary.changes),
            false => Ok(()),
        });
        match checked {
            Ok(()) => Ok(None),
            Err(
                error @ (ServiceError::Undecided { .. }
                | ServiceError::Markers(_)
                | ServiceError::ClosedToOwner(_)),
            ) => Ok(Some(error)),
            Err(error) => Err(error),
        }
    }
}

/// A git that is at work in a folder, or that left its lock there; nobody has to wait for it where nothing is committed.
fn busy_git(bindings: &[Binding], proposal: &Proposal) -> Option<ServiceError> {
    if proposal.is_empty() {
        return None;
    }
    let checked = |binding: &Binding| check_folder(&binding.host_path()).err();
    bindings.iter().filter(|binding| !binding.git).find_map(checked).map(ServiceError::Git)
}
