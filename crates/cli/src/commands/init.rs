//! `offshoot init`: a project becomes a vault, or its vault is brought up to date.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use clap::Args;
use offshoot_protocol::{ExitCode, InitDoc};
use offshoot_vault::{HomeError, ImportReport, Listed, NewSnapshot, Snapshot, Vault, name_from};
use offshoot_workspace::wire;

use super::vault::vault_doc;
use crate::context::{Context, current_dir};
use crate::error::{CliError, Result};
use crate::render::{self, NAME, paint};

const EXAMPLES: &str = "\
Examples:
  offshoot init                 take in this folder
  offshoot init ~/src/project   take in another
  offshoot init --name demo     choose the vault's name
  offshoot init                 again: bring the main line up to date; only changed files are read

The folder itself is not touched. Patterns in .offshootignore stay out; nothing else does.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct InitArgs {
    /// The folder [default: this one]
    directory: Option<PathBuf>,
    /// The name of the new vault [default: the folder's name]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
}

pub(crate) fn run(args: &InitArgs, context: &Context) -> Result<()> {
    let directory = match &args.directory {
        Some(directory) => open_directory(directory)?,
        None => current_dir()?,
    };
    match context.home.find_bound(&directory)? {
        Some((listed, bound)) if bound == directory => refresh(args, context, &listed, &directory),
        Some((listed, bound)) => {
            let (inner, name) = (directory.display(), &listed.name);
            let message = format!("{inner} lies inside {}, which is vault {name}", bound.display());
            Err(CliError::new(ExitCode::Conflict, message)
                .hint("use that vault from here, or make one with `offshoot vault create --from`"))
        }
        None => create(args, context, &directory),
    }
}

fn open_directory(directory: &Path) -> Result<PathBuf> {
    directory.canonicalize().map_err(|error| {
        CliError::new(ExitCode::NotFound, format!("{}: {error}", directory.display()))
    })
}

fn create(args: &InitArgs, context: &Context, directory: &Path) -> Result<()> {
    let name = match &args.name {
        Some(name) => name.clone(),
        None => free_name(context, directory)?,
    };
    let options = context.import_options();
    let created = context.home.create(&name, Some(directory), &options, &context.actor);
    drop(options);
    match created {
        Ok(created) => {
            report_skipped(context, &created.report);
            let head = created.vault.head()?;
            let document =
                document(&created.name, &created.vault, true, true, &head, &created.report)?;
            context.output.done(document, |_| {
                let what = render::import(&created.report);
                let (name, directory) = (paint(NAME, &created.name), directory.display());
                format!("vault {name} holds {directory}: {what}\n")
            })
        }
        // Another process was faster with the same folder; its vault is as good.
        Err(HomeError::AlreadyBound { vault, .. }) if args.name.is_none() => {
            let listed = context.home.list()?.into_iter().find(|listed| listed.name == vault);
            let listed = listed.ok_or(HomeError::NoVault(vault))?;
            refresh(args, context, &listed, directory)
        }
        Err(error) => Err(error.into()),
    }
}

fn free_name(context: &Context, directory: &Path) -> Result<String> {
    let wanted = name_from(directory.file_name().unwrap_or_default().as_bytes());
    let taken: Vec<String> = context.home.list()?.into_iter().map(|listed| listed.name).collect();
    let numbered = (2..).map(|number| format!("{wanted}-{number}"));
    let mut names = std::iter::once(wanted.clone()).chain(numbered);
    Ok(names.find(|name| !taken.contains(name)).unwrap_or(wanted))
}

/// A second `init` makes the main line what is on disk now.
fn refresh(args: &InitArgs, context: &Context, listed: &Listed, directory: &Path) -> Result<()> {
    if args.name.as_ref().is_some_and(|name| *name != listed.name) {
        let message = format!("{} is vault {} already", directory.display(), listed.name);
        return Err(CliError::new(ExitCode::Conflict, message)
            .hint("`offshoot vault rename` gives it another name"));
    }
    let opened = context.open_listed(listed)?;
    let options = context.import_options();
    let imported = opened.vault.import(directory, &options)?;
    drop(options);
    let before = opened.vault.head()?;
    let head = if imported.root == before.root {
        before.clone()
    } else {
        opened
            .vault
            .transact("import", &context.actor, |tx| {
                imported.record(tx)?;
                let parents = tx.head()?.into_iter().collect();
                let snapshot = tx.add_snapshot(NewSnapshot {
                    root: imported.root,
                    content: imported.content,
                    parents,
                    reason: "import".to_owned(),
                    message: None,
                })?;
                tx.set_head(snapshot.id)?;
                tx.summary(format!("import {}", directory.display()));
                Ok(snapshot)
            })?
            .value
    };
    report_skipped(context, &imported.report);
    let changed = head.id != before.id;
    let document = document(&opened.name, &opened.vault, false, changed, &head, &imported.report)?;
    context.output.done(document, |_| {
        let state = if changed { "brought up to date" } else { "up to date" };
        let what = render::import(&imported.report);
        format!("vault {} is {state}: {what}\n", paint(NAME, &opened.name))
    })
}

fn document(
    name: &str,
    vault: &Vault,
    created: bool,
    changed: bool,
    head: &Snapshot,
    report: &ImportReport,
) -> Result<InitDoc> {
    Ok(InitDoc {
        vault: vault_doc(name, vault)?,
        created,
        head: wire::snapshot(head),
        changed,
        import: wire::import(report),
    })
}

/// Says what could not be taken in: never silently.
pub(crate) fn report_skipped(context: &Context, report: &ImportReport) {
    for line in render::skipped(report) {
        context.output.note(line);
    }
}
