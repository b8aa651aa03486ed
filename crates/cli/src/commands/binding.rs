//! `offshoot binding`: the folders that a vault is bound to.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use offshoot_engine::wire;

use crate::complete;
use crate::context::{Context, OpenVault};
use crate::error::Result;
use crate::render::{self, DIM, NAME, host_path, paint, table};

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum BindingCommand {
    /// Add a folder to the vault, such as one with configuration
    #[command(after_help = ADD_EXAMPLES)]
    Add(AddArgs),
    /// List the folders of the vault
    #[command(
        after_help = "Examples:\n  offshoot binding list\n  offshoot binding list --vault demo --json"
    )]
    List,
    /// Remove a folder from the vault; `undo --vault-wide` brings it back
    #[command(after_help = REMOVE_EXAMPLES)]
    Remove(RemoveArgs),
    /// Record that a folder was moved
    #[command(after_help = MOVE_EXAMPLES)]
    Move(MoveArgs),
}

const ADD_EXAMPLES: &str = "\
Examples:
  offshoot binding add ~/.config/app              under the name app
  offshoot binding add /etc/nginx --name web
  cd ~/.config/app && offshoot exec -w fix -- ls  the vault is found from there too

Commands see the folder at its own path and can write to it; the folder itself is not touched.
In the vault it lies at /.offshoot/bound/NAME. Only folders can be bound, not files, and they
cannot lie in each other. Names that end in .git are for git directories.";

const REMOVE_EXAMPLES: &str = "\
Examples:
  offshoot binding remove app
  offshoot undo --vault-wide                      bind it again

It is taken out of the main line. The folder itself is not touched.";

const MOVE_EXAMPLES: &str = "\
Examples:
  offshoot binding move app ~/.config/app-2
  offshoot binding move / . --vault demo          after `mv demo elsewhere && cd elsewhere`
  offshoot binding move / .                       after the folder was restored from a backup

The name / is that of the folder that the vault was made from. Nothing is moved or read;
the vault only records the new path.";

#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    /// Folder to add
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Use this name in the vault [default: the folder's name]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct RemoveArgs {
    /// Name of the folder in the vault
    #[arg(add = complete::bindings())]
    name: String,
}

#[derive(Debug, Args)]
pub(crate) struct MoveArgs {
    /// Name of the folder in the vault, or / for its first one
    #[arg(add = complete::bindings())]
    name: String,
    /// New path of the folder
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

pub(crate) fn run(command: &BindingCommand, context: &Context) -> Result<()> {
    let opened = context.vault()?;
    match command {
        BindingCommand::Add(args) => add(args, context, &opened),
        BindingCommand::List => list(context, &opened),
        BindingCommand::Remove(args) => remove(args, context, &opened),
        BindingCommand::Move(args) => relocate(args, context, &opened),
    }
}

fn add(args: &AddArgs, context: &Context, opened: &OpenVault) -> Result<()> {
    let bound = context.engine.bind(&opened.vault, &args.directory, args.name.as_deref())?;
    context.output.done(wire::bound(&bound), |_| {
        let binding = &bound.binding;
        let (name, folder) = (paint(NAME, &binding.name), host_path(&binding.host_path()));
        let what = render::import(&bound.report);
        format!("{name} is {folder}, in the vault {}; all folders: {what}\n", binding.at())
    })
}

fn list(context: &Context, opened: &OpenVault) -> Result<()> {
    let bindings = opened.vault.bindings()?;
    context.output.data(wire::bindings(&opened.name, &bindings), |document| {
        let rows = document.bindings.iter().map(|binding| {
            let gone = match (binding.present, binding.git) {
                (false, _) => "gone",
                (true, true) => "git directory",
                (true, false) => "",
            };
            vec![
                paint(NAME, &binding.name),
                render::text(&binding.directory),
                paint(DIM, &render::text(&binding.at)),
                gone.to_owned(),
            ]
        });
        table(&["NAME", "FOLDER", "IN THE VAULT", "STATE"], rows.collect())
    })
}

fn remove(args: &RemoveArgs, context: &Context, opened: &OpenVault) -> Result<()> {
    let removed = context.engine.unbind(&opened.vault, &args.name)?;
    context.output.done(wire::unbound(&removed), |_| {
        let (name, folder) = (&removed.before.name, host_path(&removed.before.host_path()));
        format!("{name} is not part of the vault any more; {folder} is as it was\n")
    })
}

fn relocate(args: &MoveArgs, context: &Context, opened: &OpenVault) -> Result<()> {
    let moved = context.engine.rebind(&opened.vault, &args.name, &args.directory)?;
    context.output.done(wire::moved(&moved), |document| {
        let (name, folder) =
            (paint(NAME, &document.binding.name), render::text(&document.binding.directory));
        format!("{name} is {folder} now\n")
    })
}
