//! `offshoot status`: what a workspace would commit.

mod all;
mod text;

use clap::Args;
use offshoot_engine::status::WorkspaceStatus;
use offshoot_engine::vault::Vault;
use offshoot_protocol::{Hint, StatusDoc};

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
  offshoot status --all                all workspaces, also while commands run in them

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
    /// Show what every workspace has changed so far, and where two changed the same lines
    #[arg(long, conflicts_with_all = ["named", "workspace", "metadata", "short", "expand"])]
    all: bool,
    #[command(flatten)]
    expand: ExpandArgs,
}

pub(crate) fn run(args: &StatusArgs, context: &Context) -> Result<()> {
    let OpenVault { vault, name } = context.vault()?;
    if args.all {
        return all::run(context, &vault, &name);
    }
    context.engine.offer_left(&vault, context.workspace_name());
    let Some(workspace) = context.workspace_to_read(&vault)? else {
        return nothing_yet(context, &vault, &name);
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
    context.output.data(document(&name, &status), |_| text)
}

fn nothing_yet(context: &Context, vault: &Vault, name: &str) -> Result<()> {
    let folders = vault.bindings()?;
    let document = context.engine.status_without_workspace(vault, name)?;
    context.output.data(document, |document| {
        let name = paint(NAME, &document.vault);
        let gone = text::gone(&document.vault, &folders);
        let next = next(Hint::command("offshoot workspace create NAME"));
        format!("{gone}vault {name} has no workspace yet; `{next}` forks one\n")
    })
}

fn document(vault: &str, status: &WorkspaceStatus) -> StatusDoc {
    StatusDoc {
        repositories: [&status.preview.proposal.git, &status.kept_apart]
            .into_iter()
            .flat_map(way_on::repositories)
            .collect(),
        ..status.document(vault)
    }
}
