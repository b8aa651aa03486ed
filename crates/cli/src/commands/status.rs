//! `offshoot status`: what is changed in a workspace.

mod text;

use std::collections::HashSet;

use clap::Args;
use offshoot_protocol::{StatusDoc, Text};
use offshoot_vault::diff::Change;
use offshoot_vault::{Id, Scope, Snapshot, Vault, VaultPath, Workspace};
use offshoot_workspace::{
    ChangeSummaryService, CheckpointService, ConflictService, Held, HeldReason, OpenConflict,
    ReviewService, Selection, Summary, wire,
};

use crate::args::Named;
use crate::commands::commit::git;
use crate::context::{Context, OpenVault};
use crate::error::Result;
use crate::render::{NAME, paint};

/// Further back than this the snapshots of the main line are not counted.
const MOST_COUNTED: u64 = 10_000;

const EXAMPLES: &str = "\
Examples:
  offshoot status                      the most recent workspace
  offshoot status -w fix --short       for scripts: a line for each path
  offshoot status -w fix --json

Short lines have a letter and a path: A added, M modified, D deleted, R renamed, P permissions,
T times and the like, U to be decided, ! held back from commits. The first one starts with ##.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    pub(crate) named: Named,
    /// Show changes of times, owners and attributes too
    #[arg(long)]
    metadata: bool,
    /// Show one line for each path
    #[arg(short, long)]
    short: bool,
}

/// Everything that a status is about.
struct Status {
    vault: String,
    folders: Vec<Vec<u8>>,
    workspace: Workspace,
    base: Snapshot,
    head: Snapshot,
    /// How many snapshots the main line has that the workspace has not.
    behind: u64,
    summary: Summary,
    conflicts: Vec<OpenConflict>,
    /// What a commit would leave in the workspace.
    stays: Vec<Held>,
    checkpoints: u64,
    last_operation: Option<String>,
}

impl Status {
    /// The paths that a commit would leave in the workspace.
    fn held_paths(&self) -> HashSet<&VaultPath> {
        self.stays.iter().map(|held| &held.change.path).collect()
    }

    /// What changed, without what stays in the workspace as a whole.
    fn to_bring_home(&self) -> Vec<Change> {
        let partly = |held: &&Held| held.reason == HeldReason::Setuid;
        let stays = self.stays.iter().filter(|held| !partly(held));
        let stays: HashSet<&VaultPath> = stays.map(|held| &held.change.path).collect();
        let changes = self.summary.changes.iter();
        changes.filter(|change| !stays.contains(&change.path)).cloned().collect()
    }
}

pub(crate) fn run(args: &StatusArgs, context: &Context) -> Result<()> {
    let OpenVault { vault, name } = context.vault()?;
    context.note_interrupted(&vault);
    context.offer_left(&vault, context.workspace_name());
    let Some(workspace) = context.workspace_to_read(&vault)? else {
        return nothing_yet(context, &vault, name);
    };
    let status = look(args, context, &vault, name, workspace)?;
    let hints = context.settings.config.ui.hints && crate::terminal::is_shown();
    context.output.data(document(&status), |_| match args.short {
        true => text::short(&status),
        false => text::long(&status, hints),
    })
}

fn nothing_yet(context: &Context, vault: &Vault, name: String) -> Result<()> {
    let head = vault.head()?.id.to_string();
    let document = StatusDoc {
        vault: name,
        folders: folders(vault)?.iter().map(|folder| Text::new(folder)).collect(),
        workspace: None,
        base: head.clone(),
        head,
        behind: 0,
        changes: Vec::new(),
        metadata_only: 0,
        conflicts: Vec::new(),
        stays: Vec::new(),
        checkpoints: 0,
        last_operation: None,
    };
    context.output.data(document, |document| {
        let name = paint(NAME, &document.vault);
        format!("vault {name} has no workspace yet; `offshoot workspace create NAME` forks one\n")
    })
}

fn look(
    args: &StatusArgs,
    context: &Context,
    vault: &Vault,
    name: String,
    workspace: Workspace,
) -> Result<Status> {
    let (base, head) =
        (vault.snapshot(&workspace.state.base)?, vault.snapshot(&workspace.state.head)?);
    let service = ChangeSummaryService::new(vault, context.diff_options());
    let summary = service.between(&base.root, &head.root, args.metadata)?;
    let checkpoints = CheckpointService::new(vault, &context.actor).list(&workspace)?.len() as u64;
    let last = vault.last_operation(Scope::Workspace(workspace.id))?;
    Ok(Status {
        vault: name,
        folders: folders(vault)?,
        behind: behind(vault, &workspace)?,
        stays: stays(context, vault, &workspace)?,
        conflicts: ConflictService::new(vault, &context.actor).list(&head.root, &[])?,
        workspace,
        base,
        head,
        summary,
        checkpoints,
        last_operation: last.map(|operation| operation.summary),
    })
}

fn document(status: &Status) -> StatusDoc {
    StatusDoc {
        vault: status.vault.clone(),
        folders: status.folders.iter().map(|folder| Text::new(folder)).collect(),
        workspace: Some(status.workspace.name.clone()),
        base: status.base.id.to_string(),
        head: status.head.id.to_string(),
        behind: status.behind,
        changes: status.summary.changes.iter().map(wire::change).collect(),
        metadata_only: status.summary.metadata_only,
        conflicts: status.conflicts.iter().map(wire::conflict).collect(),
        stays: status.stays.iter().map(wire::held).collect(),
        checkpoints: status.checkpoints,
        last_operation: status.last_operation.clone(),
    }
}

fn folders(vault: &Vault) -> Result<Vec<Vec<u8>>> {
    Ok(vault.bindings()?.into_iter().map(|binding| binding.path).collect())
}

/// How far the main line moved on since the workspace last had it.
fn behind(vault: &Vault, workspace: &Workspace) -> Result<u64> {
    let mut at = vault.head()?;
    let common: Vec<Id> = vault.common_ancestors(&[at.id, workspace.state.head])?;
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

/// What a commit would not bring home. Where there is no folder there is nothing to bring anything to.
fn stays(context: &Context, vault: &Vault, workspace: &Workspace) -> Result<Vec<Held>> {
    if vault.bindings()?.is_empty() {
        return Ok(Vec::new());
    }
    let tracked = git::tracked(vault)?;
    let is_tracked = |path: &_| Ok(tracked.has(path));
    let selection = Selection { tracked: &is_tracked, ..Selection::default() };
    let service = ReviewService::new(vault, &context.actor, context.diff_options());
    Ok(service.held_back(workspace, &selection)?)
}
