//! `offshoot init`: a project becomes a vault, or its vault is brought up to date.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use clap::Args;
use offshoot_protocol::{ExitCode, InitDoc};
use offshoot_vault::{Created, HomeError, ImportReport, Listed, Vault, name_from};
use offshoot_workspace::{
    BindingError, BindingService, GitDirectory, Refreshed, ServiceError, check_folder, wire,
};

use super::vault::vault_doc;
use crate::context::{Belongs, Context, current_dir, moved, user_home};
use crate::error::{CliError, Result};
use crate::interrupt::{self, Watch};
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
    match context.belongs(&directory)? {
        Belongs::To(listed, bound) if bound == directory => {
            refresh(args, context, &listed, &directory)
        }
        Belongs::To(listed, bound) => {
            let (inner, name) = (host_path(&directory), &listed.name);
            let message =
                format!("{inner} lies inside {}, which is vault {name}", host_path(&bound));
            Err(CliError::new(ExitCode::Conflict, message)
                .hint("use that vault from here, or make one with `offshoot vault create --from`"))
        }
        Belongs::Perhaps(moved) => {
            create(args, context, &directory)?;
            // A new one was asked for; that the other is there is worth knowing.
            let made = context.home.find_bound(&directory)?.map(|(listed, _)| listed.name);
            let instead = moved::instead(&moved, &directory, &made.unwrap_or_default());
            context.output.hint(instead);
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

/// Fails where a folder is no project, unless it is wanted all the same.
pub(crate) fn check_project(context: &Context, directory: &Path, force: bool) -> Result<()> {
    let user_home = user_home();
    let checked = check_folder(&context.home, directory, user_home.as_deref(), force);
    checked.map_err(|error| {
        let can_force = matches!(error, BindingError::Refused { can_force: true, .. });
        let error = CliError::from(ServiceError::from(error));
        match can_force {
            true => error.hint("`offshoot init --force` takes it in all the same"),
            false => error,
        }
    })
}

/// How often a name is looked for that nobody else takes meanwhile.
const ATTEMPTS: usize = 32;

fn create(args: &InitArgs, context: &Context, directory: &Path) -> Result<()> {
    check_project(context, directory, args.force)?;
    let _watch = Watch::start(context, interrupt::NOTHING)?;
    match make(args.name.as_deref(), context, directory)? {
        Made::Created(created) => report_created(context, &created, directory),
        Made::Found(listed) => refresh(args, context, &listed, directory),
    }
}

/// Makes a vault of a folder at its first use, and says so. `watch` tells if that is interrupted.
pub(crate) fn adopt(context: &Context, directory: &Path, watch: Watch) -> Result<Listed> {
    let made = make(None, context, directory)?;
    drop(watch);
    let created = match made {
        Made::Found(listed) => return Ok(listed),
        Made::Created(created) => created,
    };
    report_skipped(context, &created.report);
    let what = render::import(&created.report);
    let folder = host_path(directory);
    context.output.note(format!("created vault {} for {folder}: {what}", created.name));
    let git = context.take_git_directory(&created.vault)?;
    render::git_directory(&git).into_iter().for_each(|line| context.output.note(line));
    if matches!(git, GitDirectory::Left(_)) && !context.output.is_json() {
        // This has to be said before the command runs, not after.
        context.output.print_notes();
    }
    let bound = context.home.find_bound(directory).map_err(|error| context.home_error(error))?;
    let gone = || CliError::new(ExitCode::Conflict, format!("the vault of {folder} is gone again"));
    bound.map(|(listed, _)| listed).ok_or_else(gone)
}

enum Made {
    Created(Box<Created>),
    Found(Listed),
}

fn make(wanted: Option<&str>, context: &Context, directory: &Path) -> Result<Made> {
    let mut attempts = 0;
    loop {
        attempts += 1;
        let name = match wanted {
            Some(name) => name.to_owned(),
            None => free_name(context, directory)?,
        };
        let options = context.import_options();
        let created = context.home.create(&name, Some(directory), &options, &context.actor);
        drop(options);
        let error = match created {
            Ok(created) => return Ok(Made::Created(Box::new(created))),
            Err(error) => error,
        };
        let overtaken = matches!(error, HomeError::NameTaken(_) | HomeError::AlreadyBound { .. });
        if wanted.is_some() || !overtaken || attempts == ATTEMPTS {
            return Err(context.home_error(error));
        }
        // Another process was faster: with this folder, and its vault is as good, or with the name alone.
        if let Some((listed, bound)) = context.home.find_bound(directory)?
            && bound == directory
        {
            return Ok(Made::Found(listed));
        }
    }
}

fn report_created(context: &Context, created: &Created, directory: &Path) -> Result<()> {
    report_skipped(context, &created.report);
    let git = context.take_git_directory(&created.vault)?;
    let head = created.vault.head()?;
    let refreshed = Refreshed { head, changed: true, report: created.report.clone(), git };
    let document = document(&created.name, &created.vault, true, &refreshed)?;
    context.output.done(document, |_| {
        let what = render::import(&created.report);
        let (name, directory) = (paint(NAME, &created.name), host_path(directory));
        format!("vault {name} holds {directory}: {what}\n{}", git_line(&refreshed.git))
    })
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
        let message = format!("{} is vault {} already", host_path(directory), listed.name);
        return Err(CliError::new(ExitCode::Conflict, message)
            .hint("`offshoot vault rename` gives it another name"));
    }
    let opened = context.open_listed(listed)?;
    let _watch = Watch::start(context, interrupt::NOTHING)?;
    let told = |event: &_| context.tell(event);
    let options = context.home_options(&told);
    let service = BindingService::new(&opened.vault, &context.actor);
    let refreshed = service.adopt(&options)?;
    drop(options);
    report_skipped(context, &refreshed.report);
    context.note_left_git(&refreshed.git);
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

/// Says what could not be read. What else is not kept was said when the folder was taken in.
pub(crate) fn report_unreadable(context: &Context, report: &ImportReport) {
    for line in render::unreadable(report) {
        context.output.note(line);
    }
}

/// Says what could not be taken in: never silently.
pub(crate) fn report_skipped(context: &Context, report: &ImportReport) {
    for line in render::skipped(report) {
        context.output.note(line);
    }
}
