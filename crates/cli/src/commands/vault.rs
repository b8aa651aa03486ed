//! `offshoot vault`: vaults as a whole.

mod background;
pub(crate) mod compact;
mod info;
pub(crate) mod maintain;

use std::io::{IsTerminal, Write};
use std::path::PathBuf;

use clap::{Args, Subcommand};
use offshoot_protocol::{
    CheckDoc, ExitCode, Text, VaultDeletedDoc, VaultDoc, VaultListDoc, VaultRenamedDoc,
};
use offshoot_vault::{CheckDepth, Vault, display_bytes};

use super::init::report_skipped;
use crate::context::{Context, OpenVault};
use crate::error::{CliError, Result};
use crate::render::{self, BAD, DIM, GOOD, NAME, paint, table};

#[derive(Debug, Subcommand)]
pub(crate) enum VaultCommand {
    /// Make a vault, empty or from a folder
    #[command(
        after_help = "Examples:\n  offshoot vault create scratch\n  offshoot vault create demo --from ~/src/demo"
    )]
    Create(CreateArgs),
    /// List vaults
    #[command(after_help = "Examples:\n  offshoot vault list\n  offshoot vault list --json")]
    List,
    /// Show a vault, what it takes on disk and what for
    #[command(after_help = info::AFTER_HELP)]
    Info(info::InfoArgs),
    /// Delete a vault with everything in it; the bound folder stays
    #[command(
        after_help = "Examples:\n  offshoot vault delete demo --yes\n\nThis cannot be undone."
    )]
    Delete(DeleteArgs),
    /// Give a vault another name
    #[command(after_help = "Examples:\n  offshoot vault rename demo example")]
    Rename(RenameArgs),
    /// Check that everything in a vault is there and undamaged
    #[command(
        after_help = "Examples:\n  offshoot vault check\n  offshoot vault check demo --quick\n  offshoot vault check --repair\n\nExits with 5 where something is damaged, with --repair where something still is. A repair\nbrings content back from layers, packs and bound folders that still have it; it changes no ref."
    )]
    Check(CheckArgs),
    /// Merge the layers that commands have left, so that workspaces stay fast
    #[command(after_help = compact::AFTER_HELP)]
    Compact(compact::CompactArgs),
    /// Merge layers and collect garbage, as far as it is due
    #[command(hide = true)]
    Maintain(maintain::MaintainArgs),
    /// Take away what nothing needs any more
    Gc(super::gc::GcArgs),
    /// Move all content from layers to packs
    #[command(
        after_help = "Examples:\n  offshoot vault pack\n  offshoot vault pack demo --json\n\nAfterwards layers are only a cache: they are made again from packs where they are missing."
    )]
    Pack(NameArgs),
    /// Write a vault with its history to one file
    #[command(
        after_help = "Examples:\n  offshoot vault export ../demo.vault\n  offshoot vault export demo.vault --vault demo\n\nThe file is whole in itself; `offshoot vault import` reads it, on any machine."
    )]
    Export(super::carry::ExportArgs),
    /// Make a vault of a file that `vault export` wrote
    #[command(
        after_help = "Examples:\n  offshoot vault import demo.vault\n  offshoot vault import demo.vault --name other\n\nEverything in it is verified first. Ids, history, undo and the audit chain come along."
    )]
    Import(super::carry::ImportArgs),
}

#[derive(Debug, Args)]
pub(crate) struct CreateArgs {
    /// The name of the vault
    name: String,
    /// A folder to take in and to bind the vault to
    #[arg(long, value_name = "DIR")]
    from: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct NameArgs {
    /// The vault [default: the one that this folder belongs to]
    name: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct DeleteArgs {
    /// The vault
    name: String,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RenameArgs {
    /// The name it has
    from: String,
    /// The name it gets
    to: String,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// The vault [default: the one that this folder belongs to]
    name: Option<String>,
    /// Do not read the bytes of files
    #[arg(long)]
    quick: bool,
    /// Mend what can be mended first, and say what was
    #[arg(long)]
    repair: bool,
}

pub(crate) fn run(command: &VaultCommand, context: &Context) -> Result<()> {
    match command {
        VaultCommand::Create(args) => create(args, context),
        VaultCommand::List => list(context),
        VaultCommand::Info(args) => info::run(args, context),
        VaultCommand::Delete(args) => delete(args, context),
        VaultCommand::Rename(args) => rename(args, context),
        VaultCommand::Check(args) => check(args, context).map(drop),
        VaultCommand::Compact(args) => compact::run(args, context),
        VaultCommand::Maintain(args) => maintain::run(args, context),
        VaultCommand::Gc(args) => super::gc::run(args, context),
        VaultCommand::Export(args) => super::carry::export(args, context),
        VaultCommand::Import(args) => super::carry::import(args, context),
        VaultCommand::Pack(args) => super::gc::pack(args.name.as_ref(), context),
    }
}

pub(crate) fn open(context: &Context, name: Option<&String>) -> Result<OpenVault> {
    match name {
        Some(name) => context.vault_named(name),
        None => context.vault(),
    }
}

/// A vault as programs see it.
pub(crate) fn vault_doc(name: &str, vault: &Vault) -> Result<VaultDoc> {
    let bindings = vault.bindings()?.iter().map(|binding| Text::new(&binding.path)).collect();
    Ok(VaultDoc {
        name: name.to_owned(),
        id: vault.id().to_string(),
        directory: Text::new(vault.dir().as_os_str().as_encoded_bytes()),
        bindings,
    })
}

fn create(args: &CreateArgs, context: &Context) -> Result<()> {
    let options = context.import_options();
    let created = context
        .home
        .create(&args.name, args.from.as_deref(), &options, &context.actor)
        .map_err(|error| context.home_error(error))?;
    drop(options);
    report_skipped(context, &created.report);
    let git = context.take_git_directory(&created.vault)?;
    render::git_directory(&git).into_iter().for_each(|line| context.output.note(line));
    let document = vault_doc(&created.name, &created.vault)?;
    context.output.done(document, |_| {
        let what = render::import(&created.report);
        format!("vault {} created: {what}\n", paint(NAME, &created.name))
    })
}

fn list(context: &Context) -> Result<()> {
    let mut vaults = Vec::new();
    for listed in context.home.list()? {
        match context.open_listed(&listed) {
            Ok(opened) => vaults.push(vault_doc(&opened.name, &opened.vault)?),
            // One broken vault must not hide the others.
            Err(error) => context.output.note(format!("{}: {}", listed.name, error.message)),
        }
    }
    let home = Text::new(context.home.dir().as_os_str().as_encoded_bytes());
    context.output.data(VaultListDoc { home, vaults }, |document| {
        let rows = document.vaults.iter().map(|vault| {
            let bindings: Vec<String> = vault.bindings.iter().map(text).collect();
            vec![paint(NAME, &vault.name), bindings.join(", ")]
        });
        table(&["VAULT", "FOLDERS"], rows.collect())
    })
}

pub(crate) fn text(text: &Text) -> String {
    display_bytes(&text.to_bytes().unwrap_or_default())
}

fn delete(args: &DeleteArgs, context: &Context) -> Result<()> {
    // Not opened: a vault that is damaged or too new must still go.
    let known = context.home.has(&args.name).map_err(|error| context.home_error(error))?;
    if !known {
        return Err(context.vault_named(&args.name).err().unwrap_or_else(|| {
            CliError::new(ExitCode::NotFound, format!("there is no vault named {}", args.name))
        }));
    }
    if !args.yes && !confirmed(&args.name, context)? {
        return Err(CliError::usage(format!("vault {} was not deleted", args.name))
            .hint("add --yes to delete it without being asked; it cannot be undone"));
    }
    context.home.delete(&args.name).map_err(|error| context.home_error(error))?;
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
    let renamed = context.home.rename(&args.from, &args.to);
    renamed.map_err(|error| context.home_error(error))?;
    let document = VaultRenamedDoc { from: args.from.clone(), to: args.to.clone() };
    context.output.done(document, |document| {
        format!("vault {} is now called {}\n", document.from, paint(NAME, &document.to))
    })
}

pub(crate) fn check(args: &CheckArgs, context: &Context) -> Result<ExitCode> {
    let OpenVault { vault, name } = context.vault_to_inspect(args.name.as_deref())?;
    let depth = if args.quick { CheckDepth::Structure } else { CheckDepth::Content };
    let (report, repaired, advice) = match args.repair {
        true => {
            let done = vault.repair(depth, &context.actor)?;
            (done.check, done.repaired, done.advice)
        }
        false => (vault.check(depth)?, Vec::new(), Vec::new()),
    };
    let ok = report.problems.is_empty();
    let document = CheckDoc {
        vault: name,
        ok,
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
    })?;
    Ok(if ok { ExitCode::Success } else { ExitCode::Damaged })
}
