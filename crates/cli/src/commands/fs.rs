//! `offshoot fs`: files of a workspace without a mount.

mod change;
mod read;
mod transfer;

use clap::Subcommand;

use crate::context::Context;
use crate::error::Result;

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum FsCommand {
    /// List a directory
    #[command(
        after_help = "Examples:\n  offshoot fs ls\n  offshoot fs ls /src -l -w fix\n  offshoot fs ls / --at fix@before"
    )]
    Ls(read::LsArgs),
    /// Print a file
    #[command(
        after_help = "Examples:\n  offshoot fs cat /README.md\n  offshoot fs cat /README.md --at head"
    )]
    Cat(read::CatArgs),
    /// Write a file from standard input or from another file
    #[command(
        after_help = "Examples:\n  echo hi | offshoot fs write /hello.txt -w fix\n  offshoot fs write /a/b.txt -p --from notes.txt -w fix"
    )]
    Write(change::WriteArgs),
    /// Create a directory
    #[command(
        after_help = "Examples:\n  offshoot fs mkdir /docs -w fix\n  offshoot fs mkdir -p /a/b/c -w fix"
    )]
    Mkdir(change::MkdirArgs),
    /// Copy a file or, with -r, a directory
    #[command(
        after_help = "Examples:\n  offshoot fs cp /a.txt /b.txt -w fix\n  offshoot fs cp -r /src /old -w fix\n\nTimes and modes are kept, and no byte is copied."
    )]
    Cp(change::CpArgs),
    /// Move or rename a file or directory
    #[command(
        after_help = "Examples:\n  offshoot fs mv /a.txt /docs/ -w fix\n  offshoot fs mv /src /lib -w fix"
    )]
    Mv(change::MvArgs),
    /// Remove files or, with -r, directories
    #[command(
        after_help = "Examples:\n  offshoot fs rm /a.txt -w fix\n  offshoot fs rm -r /build -w fix"
    )]
    Rm(change::RmArgs),
    /// Show everything below a directory
    #[command(
        after_help = "Examples:\n  offshoot fs tree\n  offshoot fs tree /src --depth 2 --at head"
    )]
    Tree(read::TreeArgs),
    /// Show everything recorded about a file
    #[command(
        after_help = "Examples:\n  offshoot fs stat /Cargo.toml\n  offshoot fs stat /Cargo.toml --json"
    )]
    Stat(read::CatArgs),
    /// Copy a file or folder of the host into the workspace
    #[command(
        after_help = "Examples:\n  offshoot fs import ~/notes.txt /notes.txt -w fix\n  offshoot fs import ../data /data -w fix"
    )]
    Import(transfer::ImportArgs),
    /// Copy a file or directory out to the host
    #[command(
        after_help = "Examples:\n  offshoot fs export / ../result -w fix\n  offshoot fs export /report.html report.html --at fix@done"
    )]
    Export(transfer::ExportArgs),
    /// Restore files to an earlier state
    #[command(
        after_help = "Examples:\n  offshoot fs revert /src/main.rs -w fix               as in the base\n  offshoot fs revert /src --at fix@before -w fix      as in a checkpoint"
    )]
    Revert(change::RevertArgs),
}

pub(crate) fn run(command: &FsCommand, context: &Context) -> Result<()> {
    let vault = &context.vault()?.vault;
    match command {
        FsCommand::Ls(args) => read::ls(args, context, vault),
        FsCommand::Cat(args) => read::cat(args, context, vault),
        FsCommand::Tree(args) => read::tree(args, context, vault),
        FsCommand::Stat(args) => read::stat(args, context, vault),
        FsCommand::Write(args) => change::write(args, context, vault),
        FsCommand::Mkdir(args) => change::mkdir(args, context, vault),
        FsCommand::Cp(args) => change::cp(args, context, vault),
        FsCommand::Mv(args) => change::mv(args, context, vault),
        FsCommand::Rm(args) => change::rm(args, context, vault),
        FsCommand::Revert(args) => change::revert(args, context, vault),
        FsCommand::Import(args) => transfer::import(args, context, vault),
        FsCommand::Export(args) => transfer::export(args, context, vault),
    }
}
