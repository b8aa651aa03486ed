//! Workspaces at a glance: what changed, when, by which command.

use offshoot_tree::diff::DiffOptions;
use offshoot_tree::merge::MergeOptions;
use offshoot_vault::WorkspaceRecord;

use super::WorkspaceService;
use super::listed::{ListedChanges, Lister};
use crate::change::ChangeSummaryService;
use crate::error::Result;
use crate::git::TrackedPaths;

/// A workspace at a glance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkspaceOverview {
    /// The workspace.
    pub workspace: WorkspaceRecord,
    /// How many paths differ from its base.
    pub changed: u64,
    /// How many changes a status lists.
    pub listed: ListedChanges,
    /// When something was last done with it, in milliseconds since 1970.
    pub used_ms: u64,
    /// The command that ran in it last.
    pub last_command: Option<String>,
    /// Whether a command runs in it now.
    pub running: bool,
}

impl WorkspaceService<'_> {
    /// How many changes of a workspace a status lists.
    pub fn listed_changes(
        &self,
        workspace: &WorkspaceRecord,
        diff: DiffOptions,
        merge: MergeOptions,
        tracked: TrackedPaths,
    ) -> Result<ListedChanges> {
        Lister::new(self.vault, diff, merge, tracked)?.listed(workspace)
    }

    /// All workspaces at a glance, oldest first; costs as much as their changes.
    pub fn overview(
        &self,
        diff: DiffOptions,
        merge: MergeOptions,
        tracked: TrackedPaths,
    ) -> Result<Vec<WorkspaceOverview>> {
        let changes = ChangeSummaryService::new(self.vault, diff);
        let lister = Lister::new(self.vault, diff, merge, tracked)?;
        // Workspaces have most of their files in common.
        let _kept = self.vault.objects()?.keep_nodes();
        let running = self.vault.running()?;
        let mut all = Vec::new();
        for workspace in self.list()? {
            let base = self.vault.snapshot(&workspace.state.base)?;
            let head = self.vault.snapshot(&workspace.state.head)?;
            let scope = offshoot_vault::Scope::Workspace(workspace.id);
            let used = self.vault.last_operation(scope)?;
            let last = self.vault.execs(Some(workspace.id), None, 1)?.pop();
            all.push(WorkspaceOverview {
                changed: changes.between(&base.root, &head.root, false)?.changes.len() as u64,
                listed: lister.listed(&workspace)?,
                used_ms: used.map_or(workspace.state.created_ms, |operation| operation.time_ms),
                last_command: last.map(|exec| exec.command),
                running: running.iter().any(|running| running.note.workspace == workspace.id),
                workspace,
            });
        }
        Ok(all)
    }
}
