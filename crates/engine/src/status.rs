//! How a workspace stands: what it would commit, what it lacks, what is to be decided in it.

use std::collections::HashSet;

use offshoot_protocol::{Goal, StatusDoc, Text};
use offshoot_tree::VaultPath;
use offshoot_tree::diff::{Change, ChangeKind};
use offshoot_vault::{Binding, Scope, Snapshot, Vault, WorkspaceRecord};
use offshoot_workspace::git::{GitNote, GitReport, kept_apart};
use offshoot_workspace::{CommitPreview, GitDirectory, Held, OpenConflict, wire};

use crate::error::Result;
use crate::offshoot::Offshoot;
use crate::workspace::Workspace;

/// What the main line is called among sides.
const FOLDER: &str = "head";

/// Further back than this the snapshots of the main line are not counted.
const MOST_COUNTED: u64 = 10_000;

/// How a workspace stands.
///
/// ```
/// # fn example(workspace: &offshoot_engine::Workspace) -> offshoot_engine::Result<()> {
/// let status = workspace.status()?;
/// println!("{} changes, {} conflicts", status.changes().len(), status.conflicts.len());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct WorkspaceStatus {
    /// The folders of the vault.
    pub folders: Vec<Binding>,
    /// Where the git directory of the folder is.
    pub git: GitDirectory,
    /// The workspace.
    pub workspace: WorkspaceRecord,
    /// What it was forked from, or last had of the main line.
    pub base: Snapshot,
    /// How many snapshots the main line has that the workspace has not; none where a pull would bring nothing.
    pub behind: u64,
    /// What a commit would do.
    pub preview: CommitPreview,
    /// Branches of others that were merged into it as files, and whose commits its own branch still lacks.
    pub kept_apart: GitReport,
    /// What is to be decided in it.
    pub conflicts: Vec<OpenConflict>,
    /// How many checkpoints it has.
    pub checkpoints: u64,
    /// What was done to it last.
    pub last_operation: Option<String>,
}

impl WorkspaceStatus {
    /// The same as a document, for a vault of this name.
    ///
    /// ```
    /// # fn example(workspace: &offshoot_engine::Workspace) -> offshoot_engine::Result<()> {
    /// let document = workspace.status()?.document(workspace.project().name());
    /// println!("{:?} has {} changes", document.workspace, document.changes.len());
    /// # Ok(())
    /// # }
    /// ```
    pub fn document(&self, vault: &str) -> StatusDoc {
        let preview = &self.preview;
        StatusDoc {
            vault: vault.to_owned(),
            folders: self.folders.iter().map(|folder| Text::new(&folder.path)).collect(),
            git_directory: wire::git_directory(&self.git),
            workspace: Some(self.workspace.name.clone()),
            base: self.base.id.to_string(),
            head: preview.tip.id.to_string(),
            behind: self.behind,
            changes: self.changes().into_iter().map(wire::change).collect(),
            metadata_only: preview.summary.metadata_only(),
            conflicts: self.conflicts.iter().map(wire::conflict).collect(),
            stays: self.held().iter().map(wire::held).collect(),
            clashes: wire::clashes(&preview.proposal.conflicts),
            refused: preview.refused.as_ref().map(ToString::to_string),
            repositories: [&preview.proposal.git, &self.kept_apart]
                .into_iter()
                .flat_map(wire::repositories)
                .collect(),
            outdated: preview.outdated.iter().map(wire::path).collect(),
            missing_folders: wire::missing_folders(&self.folders),
            checkpoints: self.checkpoints,
            last_operation: self.last_operation.clone(),
        }
    }

    /// What a commit would change in the folder.
    ///
    /// ```
    /// # fn example(workspace: &offshoot_engine::Workspace) -> offshoot_engine::Result<()> {
    /// for change in workspace.status()?.brought() {
    ///     println!("{} would be committed", change.path);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn brought(&self) -> &[Change] {
        &self.preview.summary.changes
    }

    /// What a commit would leave in the workspace.
    ///
    /// ```
    /// # fn example(workspace: &offshoot_engine::Workspace) -> offshoot_engine::Result<()> {
    /// for held in workspace.status()?.held() {
    ///     println!("{} stays in the workspace", held.change.path);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn held(&self) -> &[Held] {
        &self.preview.proposal.selected.held
    }

    /// What a commit would change in the folder or leave in the workspace, by path.
    ///
    /// ```
    /// # fn example(workspace: &offshoot_engine::Workspace) -> offshoot_engine::Result<()> {
    /// for change in workspace.status()?.changes() {
    ///     println!("{}", change.path);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn changes(&self) -> Vec<&Change> {
        let brought: HashSet<&VaultPath> = self.brought().iter().map(|it| &it.path).collect();
        let held = self.held().iter().map(|held| &held.change);
        let is_shown = |change: &&Change| {
            !brought.contains(&change.path) && change.kind() != ChangeKind::Metadata
        };
        let mut all: Vec<&Change> = self.brought().iter().chain(held.filter(is_shown)).collect();
        all.sort_by(|one, other| one.path.cmp(&other.path));
        all
    }
}

impl Workspace {
    /// How it stands.
    ///
    /// ```
    /// # fn example(workspace: &offshoot_engine::Workspace) -> offshoot_engine::Result<()> {
    /// let behind = workspace.status()?.behind > 0;
    /// # Ok(())
    /// # }
    /// ```
    pub fn status(&self) -> Result<WorkspaceStatus> {
        self.project().engine().status(self.project().vault(), self.record()?, false)
    }
}

impl Offshoot {
    /// How a vault stands in which there is no workspace to speak of.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// let document = project.engine().status_without_workspace(project.vault(), project.name())?;
    /// assert_eq!(document.workspace, None);
    /// # Ok(())
    /// # }
    /// ```
    pub fn status_without_workspace(&self, vault: &Vault, name: &str) -> Result<StatusDoc> {
        let (head, folders) = (vault.head()?.id.to_string(), vault.bindings()?);
        Ok(StatusDoc {
            vault: name.to_owned(),
            folders: folders.iter().map(|folder| Text::new(&folder.path)).collect(),
            git_directory: wire::git_directory(&self.git_directory(vault)?),
            workspace: None,
            base: head.clone(),
            head,
            behind: 0,
            changes: Vec::new(),
            metadata_only: 0,
            conflicts: Vec::new(),
            stays: Vec::new(),
            clashes: Vec::new(),
            refused: None,
            repositories: Vec::new(),
            outdated: Vec::new(),
            missing_folders: wire::missing_folders(&folders),
            checkpoints: 0,
            last_operation: None,
        })
    }

    /// How a workspace stands, with changes of times, owners and attributes where `metadata` says so.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// for workspace in project.vault().workspaces()? {
    ///     let status = project.engine().status(project.vault(), workspace, true)?;
    ///     println!("{}: {} changes", status.workspace.name, status.brought().len());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn status(
        &self,
        vault: &Vault,
        workspace: WorkspaceRecord,
        metadata: bool,
    ) -> Result<WorkspaceStatus> {
        let base = vault.snapshot(&workspace.state.base)?;
        let preview = self.preview(vault, &workspace, metadata)?;
        let checkpoints = self.checkpoints(vault).list(&workspace)?.len() as u64;
        let last = vault.last_operation(Scope::Workspace(workspace.id))?;
        let (tip, head) = (&preview.tip.root, &preview.head.root);
        let mut kept_apart = kept_apart(vault, tip, head, Some(&workspace.name))?;
        let told = &preview.proposal.git.notes;
        kept_apart.notes.retain(|kept| !told.iter().any(|note| settles(note, kept)));
        Ok(WorkspaceStatus {
            kept_apart,
            folders: vault.bindings()?,
            git: self.git_directory(vault)?,
            behind: match self.pull_brings(vault, &workspace, &preview)? {
                true => behind(vault, &preview)?,
                false => 0,
            },
            conflicts: self.conflicts(vault).list(&preview.tip.root, &[])?,
            workspace,
            base,
            preview,
            checkpoints,
            last_operation: last.map(|operation| operation.summary),
        })
    }
}

/// Whether what is said to do about a branch that a commit keeps apart also merges what a pull kept apart of it before: a `commit --git` has
/// the folder's commits in it, and the workspace gets that.
fn settles(note: &GitNote, kept: &GitNote) -> bool {
    let is_git_commit = |command: &String| command.starts_with("offshoot commit ");
    kept.side == FOLDER
        && (&note.repository, &note.name) == (&kept.repository, &kept.name)
        && note.way.as_ref().is_some_and(|way| {
            way.goal == Goal::Merge && way.commands.last().is_some_and(is_git_commit)
        })
}

/// How far the main line moved on since the workspace last had it.
fn behind(vault: &Vault, preview: &CommitPreview) -> Result<u64> {
    let common = &preview.proposal.common;
    let mut at = preview.head.clone();
    let mut count = 0;
    while !common.contains(&at.id) && count < MOST_COUNTED {
        count += 1;
        match at.parents.first() {
            Some(parent) => at = vault.snapshot(parent)?,
            None => break,
        }
    }
    Ok(count)
}
