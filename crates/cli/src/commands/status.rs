//! `offshoot status`: what a workspace would bring home.

mod text;

use std::collections::HashSet;

use clap::Args;
use offshoot_engine::binding::{Binding, BindingService, GitDirectory};
use offshoot_engine::change::{Change, ChangeKind};
use offshoot_engine::checkpoint::CheckpointService;
use offshoot_engine::commit::{Held, Preview};
use offshoot_engine::conflict::{ConflictService, OpenConflict};
use offshoot_engine::file::VaultPath;
use offshoot_engine::operation::Scope;
use offshoot_engine::snapshot::Snapshot;
use offshoot_engine::vault::Vault;
use offshoot_engine::wire;
use offshoot_engine::workspace::WorkspaceRecord;
use offshoot_protocol::{StatusDoc, Text};

use crate::args::Named;
use crate::context::noise::ExpandArgs;
use crate::context::{Context, OpenVault};
use crate::error::Result;
use crate::render::{NAME, paint};

/// Further back than this the snapshots of the main line are not counted.
const MOST_COUNTED: u64 = 10_000;

const EXAMPLES: &str = "\
Examples:
  offshoot status                      the most recent workspace
  offshoot status -w fix --expand      with every file of build output and git
  offshoot status -w fix --short       for scripts: a line for each path
  offshoot status -w fix --json

Short lines have a letter and a path: A added, M modified, D deleted, R renamed, P permissions,
T times and the like, U conflict, ! held back from commits. The first one starts with ##.";

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
    #[command(flatten)]
    expand: ExpandArgs,
}

/// Everything that a status is about.
struct Status {
    vault: String,
    folders: Vec<Binding>,
    git: GitDirectory,
    workspace: WorkspaceRecord,
    base: Snapshot,
    /// How many snapshots the main line has that the workspace has not; none where a pull would bring nothing.
    behind: u64,
    /// What a commit would do.
    preview: Preview,
    conflicts: Vec<OpenConflict>,
    checkpoints: u64,
    last_operation: Option<String>,
}

impl Status {
    /// What a commit would change in the folder.
    fn brought(&self) -> &[Change] {
        &self.preview.summary.changes
    }

    /// What a commit would leave in the workspace.
    fn held(&self) -> &[Held] {
        &self.preview.proposal.selected.held
    }

    /// What a commit would change in the folder or leave in the workspace, by path.
    fn changes(&self) -> Vec<&Change> {
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

pub(crate) fn run(args: &StatusArgs, context: &Context) -> Result<()> {
    let OpenVault { vault, name } = context.vault()?;
    context.engine.offer_left(&vault, context.workspace_name());
    let Some(workspace) = context.workspace_to_read(&vault)? else {
        return nothing_yet(context, &vault, name);
    };
    let status = look(args, context, &vault, name, workspace)?;
    let hints = context.config().ui.hints && crate::terminal::is_shown();
    let proposal = &status.preview.proposal;
    let roots = [proposal.base, proposal.main, status.preview.tip.root];
    let mut noise = context.noise(&vault, &roots, args.expand)?;
    let text = match args.short {
        true => text::short(&status),
        false => text::long(&status, noise.as_mut(), hints)?,
    };
    context.output.data(document(&status), |_| text)
}

fn nothing_yet(context: &Context, vault: &Vault, name: String) -> Result<()> {
    let head = vault.head()?.id.to_string();
    let folders = vault.bindings()?;
    let document = StatusDoc {
        vault: name,
        folders: folders.iter().map(|folder| Text::new(&folder.path)).collect(),
        git_directory: wire::git_directory(&git(context, vault)?),
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
    };
    context.output.data(document, |document| {
        let name = paint(NAME, &document.vault);
        let gone = text::gone(&document.vault, &folders);
        let next = "`offshoot workspace create NAME` forks one";
        format!("{gone}vault {name} has no workspace yet; {next}\n")
    })
}

fn look(
    args: &StatusArgs,
    context: &Context,
    vault: &Vault,
    name: String,
    workspace: WorkspaceRecord,
) -> Result<Status> {
    let base = vault.snapshot(&workspace.state.base)?;
    let preview = context.preview(vault, &workspace, args.metadata)?;
    let checkpoints = CheckpointService::new(vault, context.actor()).list(&workspace)?.len() as u64;
    let last = vault.last_operation(Scope::Workspace(workspace.id))?;
    Ok(Status {
        vault: name,
        folders: vault.bindings()?,
        git: git(context, vault)?,
        behind: match context.pull_brings(vault, &workspace, &preview)? {
            true => behind(vault, &preview)?,
            false => 0,
        },
        conflicts: ConflictService::new(vault, context.actor()).list(&preview.tip.root, &[])?,
        workspace,
        base,
        preview,
        checkpoints,
        last_operation: last.map(|operation| operation.summary),
    })
}

fn document(status: &Status) -> StatusDoc {
    let preview = &status.preview;
    StatusDoc {
        vault: status.vault.clone(),
        folders: status.folders.iter().map(|folder| Text::new(&folder.path)).collect(),
        git_directory: wire::git_directory(&status.git),
        workspace: Some(status.workspace.name.clone()),
        base: status.base.id.to_string(),
        head: preview.tip.id.to_string(),
        behind: status.behind,
        changes: status.changes().into_iter().map(wire::change).collect(),
        metadata_only: preview.summary.metadata_only(),
        conflicts: status.conflicts.iter().map(wire::conflict).collect(),
        stays: status.held().iter().map(wire::held).collect(),
        clashes: wire::clashes(&preview.proposal.conflicts),
        refused: preview.refused.as_ref().map(ToString::to_string),
        repositories: wire::repositories(&preview.proposal.git),
        outdated: preview.outdated.iter().map(wire::path).collect(),
        missing_folders: wire::missing_folders(&status.folders),
        checkpoints: status.checkpoints,
        last_operation: status.last_operation.clone(),
    }
}

/// Where the git directory of the folder is, where that is outside; says so where commits are lost.
fn git(context: &Context, vault: &Vault) -> Result<GitDirectory> {
    let service = BindingService::new(vault, context.actor());
    let git = service.git_directory(context.engine.options().user_home().as_deref())?;
    context.engine.tell_left_git(&git);
    Ok(git)
}

/// How far the main line moved on since the workspace last had it.
fn behind(vault: &Vault, preview: &Preview) -> Result<u64> {
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
