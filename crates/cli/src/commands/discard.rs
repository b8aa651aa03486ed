//! `offshoot discard`: throw away what a workspace changed.

use clap::Args;
use offshoot_engine::wire;
use offshoot_protocol::DiscardDoc;

use crate::context::Context;
use crate::context::noise::ExpandArgs;
use crate::error::Result;
use crate::global::Named;
use crate::invocation::next_in;
use crate::render::listing::Listing;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  offshoot discard fix             delete workspace fix and its changes\n  offshoot discard fix --keep      keep it, and discard only its changes\n  offshoot undo fix                bring it back"
)]
pub(crate) struct DiscardArgs {
    #[command(flatten)]
    pub(crate) named: Named,
    /// Keep the workspace and discard only its changes
    #[arg(long)]
    keep: bool,
}

pub(crate) fn run(args: &DiscardArgs, context: &Context) -> Result<()> {
    let vault = &context.vault()?.vault;
    let workspace = context.workspace_to_change(vault)?;
    let base = vault.snapshot(&workspace.state.base)?;
    let head = vault.snapshot(&workspace.state.head)?;
    let changes = context.engine.changes(vault);
    let lost = changes.between(&base.root, &head.root, false)?.changes;
    let service = context.engine.workspaces(vault);
    let operation =
        if args.keep { service.reset(&workspace)? } else { service.delete(&workspace)? };
    let document = DiscardDoc {
        workspace: workspace.name.clone(),
        kept: args.keep,
        changes: lost.iter().map(wire::change).collect(),
        operation: operation.map(|id| id.to_string()),
    };
    let mut noise = context.noise(vault, &[base.root, head.root], ExpandArgs::default())?;
    let listing = Listing::new(&lost, noise.as_mut())?;
    context.output.done(document, |document| {
        let name = &document.workspace;
        let what = match (lost.len(), args.keep) {
            (0, _) => "it had no changes".to_owned(),
            (_, true) => format!("{} discarded", listing.summary()),
            (_, false) => listing.summary(),
        };
        let fate = if args.keep { "is back at its base" } else { "discarded" };
        let undo = match document.operation {
            Some(_) => format!("; `{}` brings it back", next_in(name, "offshoot undo")),
            None => String::new(),
        };
        format!("workspace {name} {fate} ({what}){undo}\n")
    })
}
