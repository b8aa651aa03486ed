//! `offshoot status`: what a workspace would commit.

mod text;

use clap::Args;
use offshoot_engine::status::WorkspaceStatus;
use offshoot_engine::vault::Vault;
use offshoot_engine::wire;
use offshoot_protocol::{Hint, StatusDoc, Text};

use crate::context::noise::ExpandArgs;
use crate::context::{Context, OpenVault};
use crate::error::Result;
use crate::global::Named;
use crate::invocation::next;
use crate::render::way_on;
use crate::render::{NAME, paint};

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

pub(crate) fn run(args: &StatusArgs, context: &Context) -> Result<()> {
    let OpenVault { vault, name } = context.vault()?;
    context.engine.offer_left(&vault, context.workspace_name());
    let Some(workspace) = context.workspace_to_read(&vault)? else {
        return nothing_yet(context, &vault, name);
    };
    context.note_running(&vault, &workspace);
    let status = context.engine.status(&vault, workspace, args.metadata)?;
    let hints = context.config().ui.hints && crate::terminal::is_shown();
    let proposal = &status.preview.proposal;
    let roots = [proposal.base, proposal.main, status.preview.tip.root];
    let mut noise = context.noise(&vault, &roots, args.expand)?;
    let text = match args.short {
        true => text::short(&status),
        false => text::long(&name, &status, noise.as_mut(), hints)?,
    };
    context.output.data(document(name, &status), |_| text)
}

fn nothing_yet(context: &Context, vault: &Vault, name: String) -> Result<()> {
    let head = vault.head()?.id.to_string();
    let folders = vault.bindings()?;
    let document = StatusDoc {
        vault: name,
        folders: folders.iter().map(|folder| Text::new(&folder.path)).collect(),
        git_directory: wire::git_directory(&context.engine.git_directory(vault)?),
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
        let next = next(Hint::command("offshoot workspace create NAME"));
        format!("{gone}vault {name} has no workspace yet; `{next}` forks one\n")
    })
}

fn document(vault: String, status: &WorkspaceStatus) -> StatusDoc {
    let preview = &status.preview;
    StatusDoc {
        vault,
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
        repositories: [&preview.proposal.git, &status.kept_apart]
            .into_iter()
            .flat_map(way_on::repositories)
            .collect(),
        outdated: preview.outdated.iter().map(wire::path).collect(),
        missing_folders: wire::missing_folders(&status.folders),
        checkpoints: status.checkpoints,
        last_operation: status.last_operation.clone(),
    }
}
