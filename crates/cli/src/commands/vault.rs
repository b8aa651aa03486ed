//! `offshoot vault`: vaults as a whole.

mod background;
mod compact;
pub(crate) mod document;
mod info;
pub(crate) mod maintain;

use std::io::{IsTerminal, Write};
use std::path::PathBuf;

use clap::{Args, Subcommand};
use offshoot_engine::vault::CheckDepth;
use offshoot_protocol::{
    CheckDoc, DamagedVaultDoc, ExitCode, Hint, Text, VaultDeletedDoc, VaultDoc, VaultListDoc,
    VaultRenamedDoc,
};

use self::document::vault_doc;
use super::init::open_directory;
use crate::complete;
use crate::context::{Context, OpenVault};
use crate::error::{CliError, Result};
use crate::invocation::completed;
use crate::render::{self, BAD, DIM, GOOD, NAME, WARN, paint, table};

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum VaultCommand {
    /// Create a vault, empty or from a folder
    #[command(
        after_help = "Examples:\n  offshoot vault create scratch\n  offshoot vault create demo --from ~/src/demo"
    )]
    Create(CreateArgs),
    /// List vaults
    #[command(
        alias = "ls",
        after_help = "Examples:\n  offshoot vault list\n  offshoot vault list --json"
    )]
    List,
    /// Show a vault and its disk usage
    #[command(after_help = info::AFTER_HELP)]
    Info(info::InfoArgs),
    /// Delete a vault and everything in it; its folder stays
    #[command(
        after_help = "Examples:\n  offshoot vault delete demo --yes\n\nThis cannot be undone. Refused while a command runs in one of its workspaces."
    )]
    Delete(DeleteArgs),
    /// Rename a vault
    #[command(after_help = "Examples:\n  offshoot vault rename demo example")]
    Rename(RenameArgs),
    /// Check a vault for damage
    #[command(
        after_help = "Examples:\n  offshoot vault check\n  offshoot vault check demo --quick\n  offshoot vault check --repair\n\nExits with 5 if something is damaged, or still is after --repair. A repair restores content from\nlayers, packs and folders that still have it. It never changes workspaces or checkpoints."
    )]
    Check(CheckArgs),
    /// Merge layers of commands, so that workspaces stay fast
    #[command(after_help = compact::AFTER_HELP)]
    Compact(compact::CompactArgs),
    /// Merge layers and collect garbage, as far as it is due
    #[command(hide = true)]
    Maintain(maintain::MaintainArgs),
    /// Delete unreferenced data
    Gc(super::gc::GcArgs),
    /// Move content from layers to compressed packs
    #[command(
        after_help = "Examples:\n  offshoot vault pack\n  offshoot vault pack demo --json\n\nLayers are only a cache afterwards: missing ones are rebuilt from packs."
    )]
    Pack(NameArgs),
    /// Export a vault with its history to one file
    #[command(
        after_help = "Examples:\n  offshoot vault export ../demo.vault\n  offshoot vault export demo.vault --vault demo\n\n`offshoot vault import` reads the file on any machine."
    )]
    Export(super::carry::ExportArgs),
    /// Import a vault from a file of `vault export`
    #[command(
        after_help = "Examples:\n  offshoot vault import demo.vault\n  offshoot vault import demo.vault --name other\n\nEverything in it is verified first. Ids, history, undo and the audit chain come along."
    )]
    Import(super::carry::ImportArgs),
}

#[derive(Debug, Args)]
pub(crate) struct CreateArgs {
    /// Name of the vault
    name: String,
    /// Take in this folder and bind the vault to it
    #[arg(long, value_name = "DIR")]
    from: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct NameArgs {
    /// Vault [default: the one of the current folder]
    #[arg(add = complete::vaults())]
    name: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct DeleteArgs {
    /// Vault
    name: String,
    /// Do not ask for confirmation
    #[arg(short, long)]
    yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RenameArgs {
    /// Current name
    from: String,
    /// New name
    to: String,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Vault [default: the one of the current folder]
    #[arg(add = complete::vaults())]
    name: Option<String>,
    /// Do not read file content
    #[arg(long)]
    quick: bool,
    /// Repair what can be repaired
    #[arg(long)]
    repair: bool,
}

pub(crate) fn run(command: &VaultCommand, context: &Context) -> Result<()> {
    match command {
        VaultCommand::List => list(context),
        VaultCommand::Check(args) => check(args, context),
        VaultCommand::Create(args) => create(args, context),
        VaultCommand::Info(args) => info::run(args, context),
        VaultCommand::Delete(args) => delete(args, context),
        VaultCommand::Rename(args) => rename(args, context),
        VaultCommand::Compact(args) => compact::run(args, context),
        VaultCommand::Maintain(args) => maintain::run(args, context),
        VaultCommand::Gc(args) => super::gc::run(args, context),
        VaultCommand::Export(args) => super::carry::export(args, context),
        VaultCommand::Import(args) => super::carry::import(args, context),
        VaultCommand::Pack(args) => super::gc::pack(args.name.as_deref(), context),
    }
}

fn create(args: &CreateArgs, context: &Context) -> Result<()> {
    if let Some(from) = &args.from {
        context.engine.check_project(&open_directory(from)?, false)?;
    }
    let created = context.engine.create_vault(&args.name, args.from.as_deref())?;
    let document = vault_doc(&created.name, &created.vault)?;
    context.output.done(document, |_| {
        let what = render::import(&created.report);
        format!("vault {} created: {what}\n", paint(NAME, &created.name))
    })
}

fn list(context: &Context) -> Result<()> {
    let (mut vaults, mut damaged) = (Vec::new(), Vec::new());
    for listed in context.registry().list()? {
        // One broken vault must not hide the others.
        let opened = context.open_listed(&listed);
        let looked_at = opened.and_then(|opened| {
            vaults.push(vault_doc(&opened.name, &opened.vault)?);
            Ok(opened.vault.check_at_a_glance()?)
        });
        match looked_at {
            Ok(()) => {}
            Err(error) if error.code == ExitCode::Damaged => damaged.push(DamagedVaultDoc {
                name: listed.name,
                id: listed.id.to_string(),
                directory: Text::new(listed.dir.as_os_str().as_encoded_bytes()),
                problem: error.message,
            }),
            Err(error) => context.output.note(format!("{}: {}", listed.name, error.message)),
        }
    }
    let home = Text::new(context.registry().dir().as_os_str().as_encoded_bytes());
    context.output.data(VaultListDoc { home, vaults, damaged }, |document| {
        let is_whole =
            |vault: &&VaultDoc| document.damaged.iter().all(|damaged| damaged.id != vault.id);
        let rows = document.vaults.iter().filter(is_whole).map(|vault| {
            let bindings =
                vault.bindings.iter().map(|folder| match vault.missing.contains(folder) {
                    true => format!("{} {}", render::text(folder), paint(WARN, "(gone)")),
                    false => render::text(folder),
                });
            vec![paint(NAME, &vault.name), bindings.collect::<Vec<_>>().join(", ")]
        });
        let damaged = document.damaged.iter().map(|vault| {
            let problem = format!("{} {}", paint(BAD, "damaged:"), render::line(&vault.problem));
            vec![paint(NAME, &vault.name), problem]
        });
        let mut rows: Vec<_> = rows.chain(damaged).collect();
        rows.sort();
        table(&["VAULT", "FOLDERS"], rows)
    })
}

fn delete(args: &DeleteArgs, context: &Context) -> Result<()> {
    // Not opened, unless a commit was interrupted: a vault that is damaged or too new must still go.
    if !context.engine.has_vault(&args.name)? {
        return Err(context.vault_named(&args.name).err().unwrap_or_else(|| {
            CliError::new(ExitCode::NotFound, format!("there is no vault named {}", args.name))
        }));
    }
    if !args.yes && !confirmed(&args.name, context)? {
        return Err(CliError::usage(format!("vault {} was not deleted", args.name))
            .hint("add --yes to delete it without being asked; it cannot be undone"));
    }
    context.engine.delete_vault(&args.name)?;
    let document = VaultDeletedDoc { name: args.name.clone() };
    context.output.done(document, |document| format!("vault {} deleted\n", document.name))
}

fn confirmed(name: &str, context: &Context) -> Result<bool> {
    let interactive = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    if context.output.is_json() || !interactive {
        return Ok(false);
    }
    crate::output::eprint(&format!("delete vault {name} with all its history? [y/N] "));
    let mut answer = String::new();
    drop(std::io::stderr().flush());
    let read = std::io::stdin().read_line(&mut answer);
    read.map_err(|error| CliError::usage(format!("cannot read the answer: {error}")))?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

fn rename(args: &RenameArgs, context: &Context) -> Result<()> {
    context.vault_named(&args.from)?;
    context.engine.rename_vault(&args.from, &args.to)?;
    let document = VaultRenamedDoc { from: args.from.clone(), to: args.to.clone() };
    context.output.done(document, |document| {
        format!("vault {} is now called {}\n", document.from, paint(NAME, &document.to))
    })
}

pub(crate) fn check(args: &CheckArgs, context: &Context) -> Result<()> {
    let OpenVault { vault, name } = context.vault_to_inspect(args.name.as_deref())?;
    let depth = if args.quick { CheckDepth::Structure } else { CheckDepth::Content };
    let (report, repaired, mut advice) = match args.repair {
        true => {
            let done = vault.repair(depth, context.actor())?;
            (done.check, done.repaired, done.advice)
        }
        false => (vault.check(depth)?, Vec::new(), Vec::new()),
    };
    let interrupted = context.engine.interrupted_in_folders(&vault)?;
    if !interrupted.is_empty() {
        let hint = Hint::command("offshoot commit --settle forward")
            .text(" finishes what was interrupted, ")
            .then("offshoot commit --settle back")
            .text(" takes it back");
        advice.push(completed(hint).to_string());
    }
    let document = CheckDoc {
        vault: name,
        ok: report.problems.is_empty(),
        thorough: !args.quick,
        snapshots: report.snapshots,
        nodes: report.nodes,
        contents: report.blobs,
        bytes: report.bytes,
        operations: report.operations,
        audit_events: report.audit_events,
        problems: report.problems,
        stray_layers: report.stray_layers,
        repaired,
        interrupted,
        advice,
    };
    context.output.data(document, |document| {
        let mut out = String::new();
        for repaired in &document.repaired {
            out.push_str(&format!("{} {repaired}\n", paint(GOOD, "repaired:")));
        }
        for problem in &document.problems {
            out.push_str(&format!("{} {problem}\n", paint(BAD, "problem:")));
        }
        for interrupted in &document.interrupted {
            let line = format!("{interrupted}; the folder may be half changed");
            out.push_str(&format!("{} {}\n", paint(WARN, "interrupted:"), render::line(&line)));
        }
        let state = if document.ok { paint(GOOD, "is in order") } else { paint(BAD, "is damaged") };
        out.push_str(&format!(
            "vault {} {state}: {}, {}, {} ({}), {}\n",
            document.vault,
            render::count(document.snapshots, "snapshot"),
            render::count(document.nodes, "node"),
            render::count(document.contents, "content"),
            render::bytes(document.bytes),
            render::count(document.operations, "operation"),
        ));
        for advice in &document.advice {
            out.push_str(&format!("{} {advice}\n", paint(DIM, "hint:")));
        }
        out
    })
}
