//! `offshoot workspace`: forks of the vault's files.

use std::ffi::OsString;
use std::time::Duration;

use clap::{Args, Subcommand};
use offshoot_engine::binding::Binding;
use offshoot_engine::id::Id;
use offshoot_engine::reference::Resolver;
use offshoot_engine::settings::parse_duration;
use offshoot_engine::vault::Vault;
use offshoot_engine::wire;
use offshoot_engine::workspace::{NewWorkspace, WorkspaceRecord};
use offshoot_protocol::{
    Hint, TreeNodeDoc, WorkspaceCreatedDoc, WorkspaceDeletedDoc, WorkspaceListDoc,
    WorkspaceRenamedDoc, WorkspaceShowDoc, WorkspaceTreeDoc,
};

use crate::complete;
use crate::context::noise::ExpandArgs;
use crate::context::{Context, OpenVault};
use crate::error::{CliError, Result};
use crate::invocation::next_in;
use crate::render::listing::{Listing, status_metadata};
use crate::render::{self, DIM, NAME, fields, paint, table};

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum WorkspaceCommand {
    /// Fork a workspace
    #[command(alias = "new", after_help = CREATE_EXAMPLES)]
    Create(CreateArgs),
    /// List workspaces with their changes, age and last command
    #[command(
        alias = "ls",
        after_help = "Examples:\n  offshoot workspace list\n  offshoot workspace list --json"
    )]
    List,
    /// Show a workspace in detail
    #[command(after_help = "Examples:\n  offshoot workspace show\n  offshoot workspace show fix")]
    Show(NameArgs),
    /// Show which workspace was forked from which
    #[command(after_help = "Examples:\n  offshoot workspace tree")]
    Tree,
    /// Delete a workspace with its changes and checkpoints; `undo -w NAME` brings it back
    #[command(
        alias = "rm",
        after_help = "Examples:\n  offshoot workspace delete fix\n  offshoot undo -w fix"
    )]
    Delete(RequiredNameArgs),
    /// Rename a workspace
    #[command(after_help = "Examples:\n  offshoot workspace rename fix login-fix")]
    Rename(RenameArgs),
}

pub(crate) const CREATE_EXAMPLES: &str = "\
Examples:
  offshoot workspace create fix                    from what is in the folder now
  offshoot workspace create try-2 --from fix       from another workspace
  offshoot workspace create old --from fix@before  from a checkpoint
  offshoot workspace create --ephemeral            with a name of its own, cleaned up by itself
  offshoot workspace create t --ephemeral=10m";

#[derive(Debug, Args)]
pub(crate) struct CreateArgs {
    /// Name of the workspace [default: a friendly one]
    name: Option<String>,
    /// Fork from this REF [default: the main line, brought up to date with the folder]
    #[arg(long, value_name = "REF", add = complete::references())]
    from: Option<String>,
    /// Delete it once it is unused for this long
    #[arg(long, value_name = "TIME", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    ephemeral: Option<String>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  offshoot ls            list workspaces\n  offshoot fs ls /src    list files of one"
)]
pub(crate) struct LsArgs {
    /// Not for workspaces: `offshoot fs ls` lists files
    #[arg(value_name = "PATH", hide = true)]
    path: Option<OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct NameArgs {
    /// Workspace [default: -w, else the most recently used one]
    #[arg(add = complete::workspaces())]
    name: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct RequiredNameArgs {
    /// Workspace
    #[arg(add = complete::workspaces())]
    name: String,
}

#[derive(Debug, Args)]
pub(crate) struct RenameArgs {
    /// Current name
    #[arg(add = complete::workspaces())]
    from: String,
    /// New name
    to: String,
}

/// `offshoot ls`: the workspaces.
pub(crate) fn ls(args: &LsArgs, context: &Context) -> Result<()> {
    if let Some(path) = &args.path {
        let path = render::line(&path.to_string_lossy());
        return Err(CliError::usage("`offshoot ls` lists workspaces")
            .hint(Hint::command("offshoot fs ls").arg(path).text(" lists files of a workspace")));
    }
    run(&WorkspaceCommand::List, context)
}

pub(crate) fn run(command: &WorkspaceCommand, context: &Context) -> Result<()> {
    let opened = match command {
        WorkspaceCommand::Create(_) => context.vault_or_adopt()?,
        _ => context.vault()?,
    };
    match command {
        WorkspaceCommand::Create(args) => create(args, context, &opened),
        WorkspaceCommand::List => list(context, &opened),
        WorkspaceCommand::Show(args) => show(args, context, &opened.vault),
        WorkspaceCommand::Tree => tree(context, &opened),
        WorkspaceCommand::Delete(args) => delete(args, context, &opened.vault),
        WorkspaceCommand::Rename(args) => rename(args, context, &opened.vault),
    }
}

fn create(args: &CreateArgs, context: &Context, opened: &OpenVault) -> Result<()> {
    let vault = &opened.vault;
    let service = context.engine.workspaces(vault);
    // Whatever is wrong with the request, nothing is read from the folder for it.
    if let Some(name) = &args.name {
        service.require_free(name)?;
    }
    let lifetime = args.ephemeral.as_deref().map(|text| lifetime(text, context)).transpose()?;
    if args.from.is_none() && context.config().exec.refresh {
        refresh(context, opened)?;
    }
    let from = args.from.as_deref().unwrap_or("head");
    let from = Resolver::new(vault).point(from, None)?;
    let new = NewWorkspace { name: args.name.as_deref(), from: &from, lifetime };
    let workspace = service.create(&new)?;
    let document = WorkspaceCreatedDoc {
        workspace: wire::workspace(&workspace, from.workspace.as_slice()),
        from: from.label.clone(),
    };
    context.output.done(document, |_| {
        let mut text =
            format!("workspace {} forked from {}\n", paint(NAME, &workspace.name), from.label);
        if let Some(expires) = workspace.state.expires_ms {
            text.push_str(&format!(
                "cleaned up after {} unless it is used\n",
                render::time(expires)
            ));
        }
        text
    })
}

/// Makes the main line what is in the folder now; a vault may have been brought here without its folder.
fn refresh(context: &Context, opened: &OpenVault) -> Result<()> {
    let bindings = opened.vault.bindings()?;
    let folder = bindings.iter().find(|binding| binding.is_first()).map(Binding::host_path);
    match folder.filter(|folder| folder.is_dir()) {
        Some(folder) => Ok(context.engine.refresh(&opened.vault, &opened.name, &folder)?),
        None => Ok(()),
    }
}

fn lifetime(text: &str, context: &Context) -> Result<Duration> {
    if text.is_empty() {
        return Ok(context.config().workspace.ephemeral_ttl);
    }
    let message = || format!("--ephemeral={text} is not a time; 90s, 10m and 24h are");
    parse_duration(text).ok_or_else(|| CliError::usage(message()))
}

fn list(context: &Context, opened: &OpenVault) -> Result<()> {
    let found = context.engine.overview(&opened.vault)?;
    let all: Vec<WorkspaceRecord> = found.iter().map(|one| one.workspace.clone()).collect();
    let documents = found.iter().map(|one| wire::listed_workspace(one, &all)).collect();
    let document = WorkspaceListDoc { vault: opened.name.clone(), workspaces: documents };
    context.output.data(document, |document| {
        let rows = document.workspaces.iter().zip(&found).map(|(document, one)| {
            let state = &one.workspace.state;
            let gone = |parent: &Id| !all.iter().any(|other| other.id == *parent);
            let parent = match state.parent.filter(gone) {
                Some(parent) => render::short(&parent),
                None => document.workspace.parent.clone().unwrap_or_else(|| "head".to_owned()),
            };
            let marks = [(one.running, "running"), (document.workspace.ephemeral, "ephemeral")];
            let marks: Vec<&str> =
                marks.into_iter().filter(|(is_so, _)| *is_so).map(|(_, mark)| mark).collect();
            vec![
                paint(NAME, &one.workspace.name),
                render::listed_changes(one.listed),
                paint(DIM, &render::age(one.used_ms)),
                parent,
                marks.join(", "),
                one.last_command.as_deref().map(last_command).unwrap_or_default(),
            ]
        });
        table(
            &["WORKSPACE", "CHANGES", "AGE", "FORKED FROM", "STATE", "LAST COMMAND"],
            rows.collect(),
        )
    })
}

/// A command, no longer than what fits beside the rest.
fn last_command(command: &str) -> String {
    const LONGEST: usize = 40;
    let line = render::line(command);
    let shown = match line.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    };
    paint(DIM, &shown)
}

fn find(args: Option<&String>, context: &Context, vault: &Vault) -> Result<WorkspaceRecord> {
    if let Some(name) = args {
        return Ok(Resolver::new(vault).workspace(name)?);
    }
    let recent = context.workspace_to_read(vault)?;
    recent.ok_or_else(|| {
        CliError::new(offshoot_protocol::ExitCode::NotFound, "this vault has no workspace yet")
            .hint(Hint::command("offshoot workspace create NAME").text(" makes one"))
    })
}

fn show(args: &NameArgs, context: &Context, vault: &Vault) -> Result<()> {
    let workspace = find(args.name.as_ref(), context, vault)?;
    let service = context.engine.workspaces(vault);
    let all = service.list()?;
    let usage = service.usage(&workspace)?;
    let head = vault.snapshot(&workspace.state.head)?;
    let base = vault.snapshot(&workspace.state.base)?;
    let changed = context.engine.changes(vault);
    let changed = changed.between(&base.root, &head.root, false)?.changes.len() as u64;
    // What a status says of it: what was committed is no change of the workspace any more.
    let preview = context.preview(vault, &workspace, false)?;
    let listed = context.engine.listed_changes(vault, &workspace)?;
    let checkpoints = context.engine.checkpoints(vault).list(&workspace)?;
    let document = WorkspaceShowDoc {
        workspace: wire::workspace(&workspace, &all),
        head: wire::snapshot(&head),
        usage: wire::usage(&usage),
        changed_paths: changed,
        listed_changes: listed.committed,
        held_changes: listed.held,
        checkpoints: checkpoints.iter().map(|c| wire::checkpoint(c, &all)).collect(),
    };
    let roots = [preview.proposal.base, preview.proposal.main, head.root];
    let mut noise = context.noise(vault, &roots, ExpandArgs::default())?;
    let listing = Listing::new(&preview.summary.changes, noise.as_mut())?;
    let hint = status_metadata(&document.workspace.name);
    let listing = listing.and_metadata(preview.summary.telling_metadata(), hint);
    let held = match listed.held {
        0 => String::new(),
        held => format!(", {held} held back"),
    };
    context.output.data(document, |document| {
        let row = |name: &str, value: String| vec![paint(DIM, name), value];
        let parent = document.workspace.parent.as_deref().unwrap_or("head");
        let names: Vec<&str> = checkpoints.iter().map(|c| c.name.as_str()).collect();
        fields(&[
            row("workspace", paint(NAME, &workspace.name)),
            row("id", workspace.id.to_string()),
            row("forked from", format!("{parent}, {}", render::short(&base.id))),
            row("head", format!("{} ({})", render::short(&head.id), head.reason)),
            row("created", render::time(workspace.state.created_ms)),
            row("changes", listing.summary() + &held),
            row(
                "holds",
                format!(
                    "{} in {}: {} its own, {} shared",
                    render::bytes(usage.total_bytes),
                    render::count(usage.entries, "entry"),
                    render::bytes(usage.own_bytes),
                    render::bytes(usage.shared_bytes)
                ),
            ),
            row("checkpoints", if names.is_empty() { "-".to_owned() } else { names.join(", ") }),
        ])
    })
}

fn tree(context: &Context, opened: &OpenVault) -> Result<()> {
    let workspaces = context.engine.workspaces(&opened.vault).list()?;
    let is_there = |id: &Id| workspaces.iter().any(|w| w.id == *id);
    let is_root = |w: &&WorkspaceRecord| w.state.parent.is_none_or(|parent| !is_there(&parent));
    let roots = workspaces.iter().filter(is_root).map(|w| node(w, &workspaces)).collect();
    let document = WorkspaceTreeDoc { vault: opened.name.clone(), roots };
    context.output.data(document, |document| {
        let mut out = String::from("head\n");
        draw(&document.roots, "", &mut out);
        out
    })
}

fn node(workspace: &WorkspaceRecord, all: &[WorkspaceRecord]) -> TreeNodeDoc {
    let forks = all.iter().filter(|other| other.state.parent == Some(workspace.id));
    TreeNodeDoc {
        name: workspace.name.clone(),
        id: workspace.id.to_string(),
        forks: forks.map(|fork| node(fork, all)).collect(),
    }
}

fn draw(nodes: &[TreeNodeDoc], indent: &str, out: &mut String) {
    for (at, node) in nodes.iter().enumerate() {
        let last = at + 1 == nodes.len();
        let (branch, below) = if last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        out.push_str(&format!("{indent}{branch}{}\n", paint(NAME, &node.name)));
        draw(&node.forks, &format!("{indent}{below}"), out);
    }
}

fn delete(args: &RequiredNameArgs, context: &Context, vault: &Vault) -> Result<()> {
    let workspace = Resolver::new(vault).workspace(&args.name)?;
    let operation = context.engine.workspaces(vault).delete(&workspace)?;
    let document = WorkspaceDeletedDoc {
        name: workspace.name,
        id: workspace.id.to_string(),
        operation: operation.map(|id| id.to_string()),
    };
    context.output.done(document, |document| {
        let name = &document.name;
        let undo = next_in(name, "offshoot undo");
        format!("workspace {name} deleted; `{undo}` brings it back\n")
    })
}

fn rename(args: &RenameArgs, context: &Context, vault: &Vault) -> Result<()> {
    let workspace = Resolver::new(vault).workspace(&args.from)?;
    let service = context.engine.workspaces(vault);
    let renamed = service.rename(&workspace, &args.to)?;
    let document = WorkspaceRenamedDoc {
        from: workspace.name,
        workspace: wire::workspace(&renamed, &service.list()?),
    };
    context.output.done(document, |document| {
        let to = paint(NAME, &document.workspace.name);
        format!("workspace {} is now called {to}\n", document.from)
    })
}
