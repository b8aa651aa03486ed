//! `offshoot status`: what is changed in a workspace.

use clap::Args;
use offshoot_protocol::StatusDoc;
use offshoot_vault::Scope;
use offshoot_workspace::{ChangeSummaryService, CheckpointService, ConflictService, wire};

use crate::context::{Context, OpenVault};
use crate::error::Result;
use crate::render::{self, DIM, NAME, paint};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  offshoot status\n  offshoot status -w fix --json")]
pub(crate) struct StatusArgs {
    /// Show changes of times, owners and attributes too
    #[arg(long)]
    metadata: bool,
}

pub(crate) fn run(args: &StatusArgs, context: &Context) -> Result<()> {
    let OpenVault { vault, name } = context.vault()?;
    context.note_interrupted(&vault);
    let Some(workspace) = context.workspace_to_read(&vault)? else {
        let head = vault.head()?.id.to_string();
        let document = StatusDoc {
            vault: name,
            workspace: None,
            base: head.clone(),
            head,
            changes: Vec::new(),
            metadata_only: 0,
            conflicts: Vec::new(),
            checkpoints: 0,
            last_operation: None,
        };
        return context.output.data(document, |document| {
            let name = paint(NAME, &document.vault);
            format!(
                "vault {name} has no workspace yet; `offshoot workspace create NAME` forks one\n"
            )
        });
    };
    let (base, head) =
        (vault.snapshot(&workspace.state.base)?, vault.snapshot(&workspace.state.head)?);
    let service = ChangeSummaryService::new(&vault, context.diff_options());
    let summary = service.between(&base.root, &head.root, args.metadata)?;
    let checkpoints = CheckpointService::new(&vault, &context.actor).list(&workspace)?.len() as u64;
    let last = vault.last_operation(Scope::Workspace(workspace.id))?;
    let open = ConflictService::new(&vault, &context.actor).list(&head.root, &[])?;
    let document = StatusDoc {
        vault: name,
        workspace: Some(workspace.name.clone()),
        base: base.id.to_string(),
        head: head.id.to_string(),
        changes: summary.changes.iter().map(wire::change).collect(),
        metadata_only: summary.metadata_only,
        conflicts: open.iter().map(wire::conflict).collect(),
        checkpoints,
        last_operation: last.as_ref().map(|operation| operation.summary.clone()),
    };
    context.output.data(document, |document| {
        let (workspace, vault) = (paint(NAME, &workspace.name), &document.vault);
        let mut out = format!(
            "workspace {workspace} of vault {vault}, forked from {}, {}\n",
            render::short(&base.id),
            render::count(checkpoints, "checkpoint")
        );
        if !open.is_empty() {
            out.push_str(&super::conflicts::lines(&open));
        }
        out.push_str(&format!("{}\n", render::change_counts(&summary.changes)));
        out.push_str(&render::changes(&summary.changes, "  "));
        if let Some(operation) = &document.last_operation {
            out.push_str(&paint(DIM, &format!("last: {}", render::line(operation))));
            out.push('\n');
        }
        out
    })
}
