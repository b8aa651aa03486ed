//! `offshoot init`: a project becomes a vault, or its vault is brought up to date.

use std::path::{Path, PathBuf};

use clap::Args;
use offshoot_engine::binding::{GitDirectory, Refreshed};
use offshoot_engine::vault::{Adoption, Belongs, Created, ListedVault, Vault, instead};
use offshoot_engine::wire;
use offshoot_protocol::{ExitCode, Hint, InitDoc};

use super::vault::document::vault_doc;
use crate::context::{Context, current_dir};
use crate::error::{CliError, Result};
use crate::interrupt::{self, Watch};
use crate::invocation::completed;
use crate::render::{self, NAME, host_path, paint};

const EXAMPLES: &str = "\
Examples:
  offshoot init                 create a vault from the current folder
  offshoot init ~/src/project   from another folder
  offshoot init --name demo     with a name of your choice
  offshoot init ~ --force       from your whole home
  offshoot init                 again: bring the vault up to date, reading only changed files

The folder itself is not touched. All files are taken in, except those that .offshootignore names.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct InitArgs {
    /// Folder [default: the current one]
    directory: Option<PathBuf>,
    /// Name the new vault [default: as the folder]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Take in a folder that looks like a mistake, such as your whole home
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(args: &InitArgs, context: &Context) -> Result<()> {
    let directory = match &args.directory {
        Some(directory) => open_directory(directory)?,
        None => current_dir()?,
    };
    match context.engine.belongs(&directory)? {
        Belongs::To(listed, bound) if bound == directory => {
            refresh(args, context, &listed, &directory)
        }
        Belongs::To(listed, bound) => {
            let (inner, name) = (host_path(&directory), &listed.name);
            let message =
                format!("{inner} lies inside {}, which is vault {name}", host_path(&bound));
            Err(CliError::new(ExitCode::Conflict, message).hint(
                Hint::from("use that vault from here, or make one with ")
                    .then("offshoot vault create NAME --from")
                    .arg(directory.to_string_lossy()),
            ))
        }
        Belongs::Perhaps(moved) => {
            create(args, context, &directory)?;
            // A new one was asked for; that the other is there is worth knowing.
            let made = context.registry().find_bound(&directory)?.map(|(listed, _)| listed.name);
            let instead = instead(&moved, &directory, &made.unwrap_or_default());
            context.output.hint(completed(instead).to_string());
            Ok(())
        }
        Belongs::Nowhere => create(args, context, &directory),
    }
}

pub(crate) fn open_directory(directory: &Path) -> Result<PathBuf> {
    directory.canonicalize().map_err(|error| {
        CliError::new(ExitCode::NotFound, format!("{}: {error}", host_path(directory)))
    })
}

fn create(args: &InitArgs, context: &Context, directory: &Path) -> Result<()> {
    context.engine.check_project(directory, args.force).map_err(|error| named(error, args))?;
    let _watch = Watch::start(context, interrupt::NOTHING)?;
    match context.engine.make_vault(args.name.as_deref(), directory)? {
        Adoption::Created(created) => report_created(context, &created, directory),
        Adoption::Found(listed) => refresh(args, context, &listed, directory),
    }
}

/// An error whose command gives the vault the name that it was to have.
fn named(mut error: CliError, args: &InitArgs) -> CliError {
    if let Some(name) = &args.name {
        let name = ["--name".to_owned(), name.clone()];
        error.hint = error.hint.map(|hint| hint.with_each(|it| it.insert(2, name.clone())));
    }
    error
}

fn report_created(context: &Context, created: &Created, directory: &Path) -> Result<()> {
    context.engine.tell_skipped(&created.report);
    let git = context.engine.take_git_directory(&created.vault)?;
    let head = created.vault.head()?;
    let refreshed = Refreshed { head, changed: true, report: created.report.clone(), git };
    let document = document(&created.name, &created.vault, true, &refreshed)?;
    context.output.done(document, |_| {
        let what = render::import(&created.report);
        let (name, directory) = (paint(NAME, &created.name), host_path(directory));
        format!("vault {name} holds {directory}: {what}\n{}", git_line(&refreshed.git))
    })
}

/// A second `init` makes the main line what is on disk now.
fn refresh(
    args: &InitArgs,
    context: &Context,
    listed: &ListedVault,
    directory: &Path,
) -> Result<()> {
    if let Some(name) = args.name.as_ref().filter(|name| **name != listed.name) {
        let message = format!("{} is vault {} already", host_path(directory), listed.name);
        return Err(CliError::new(ExitCode::Conflict, message).hint(
            Hint::command("offshoot vault rename")
                .arg(&listed.name)
                .arg(name)
                .text(" gives it that name"),
        ));
    }
    let opened = context.open_listed(listed)?;
    let _watch = Watch::start(context, interrupt::NOTHING)?;
    let refreshed = context.engine.adopt_again(&opened.vault)?;
    let document = document(&opened.name, &opened.vault, false, &refreshed)?;
    context.output.done(document, |_| {
        let state = if refreshed.changed { "brought up to date" } else { "up to date" };
        let what = render::import(&refreshed.report);
        let name = paint(NAME, &opened.name);
        format!("vault {name} is {state}: {what}\n{}", git_line(&refreshed.git))
    })
}

fn git_line(git: &GitDirectory) -> String {
    render::git_directory(git).map(|line| format!("{line}\n")).unwrap_or_default()
}

fn document(name: &str, vault: &Vault, created: bool, refreshed: &Refreshed) -> Result<InitDoc> {
    Ok(InitDoc {
        vault: vault_doc(name, vault)?,
        created,
        head: wire::snapshot(&refreshed.head),
        changed: refreshed.changed,
        import: wire::import(&refreshed.report),
        git_directory: wire::git_directory(&refreshed.git),
    })
}
