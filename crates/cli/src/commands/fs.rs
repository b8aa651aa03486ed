//! `offshoot fs`: files of a workspace without a mount.

mod change;
mod read;
mod transfer;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::context::Context;
use crate::error::Result;

#[derive(Debug, Subcommand)]
pub(crate) enum FsCommand {
    /// List a directory
    #[command(
        after_help = "Examples:\n  offshoot fs ls\n  offshoot fs ls /src -l -w fix\n  offshoot fs ls / --at fix@before"
    )]
    Ls(LsArgs),
    /// Print a file
    #[command(
        after_help = "Examples:\n  offshoot fs cat /README.md\n  offshoot fs cat /README.md --at head"
    )]
    Cat(CatArgs),
    /// Write a file from standard input or from another file
    #[command(
        after_help = "Examples:\n  echo hi | offshoot fs write /hello.txt -w fix\n  offshoot fs write /a/b.txt -p --from notes.txt -w fix"
    )]
    Write(WriteArgs),
    /// Make a directory
    #[command(
        after_help = "Examples:\n  offshoot fs mkdir /docs -w fix\n  offshoot fs mkdir -p /a/b/c -w fix"
    )]
    Mkdir(MkdirArgs),
    /// Copy a file or, with -r, a directory
    #[command(
        after_help = "Examples:\n  offshoot fs cp /a.txt /b.txt -w fix\n  offshoot fs cp -r /src /old -w fix\n\nTimes and modes are kept, and no byte is copied."
    )]
    Cp(CpArgs),
    /// Move or rename a file or directory
    #[command(
        after_help = "Examples:\n  offshoot fs mv /a.txt /docs/ -w fix\n  offshoot fs mv /src /lib -w fix"
    )]
    Mv(MvArgs),
    /// Remove files or, with -r, directories
    #[command(
        after_help = "Examples:\n  offshoot fs rm /a.txt -w fix\n  offshoot fs rm -r /build -w fix"
    )]
    Rm(RmArgs),
    /// Show everything below a directory
    #[command(
        after_help = "Examples:\n  offshoot fs tree\n  offshoot fs tree /src --depth 2 --at head"
    )]
    Tree(TreeArgs),
    /// Everything that is recorded of a file
    #[command(
        after_help = "Examples:\n  offshoot fs stat /Cargo.toml\n  offshoot fs stat /Cargo.toml --json"
    )]
    Stat(CatArgs),
    /// Bring a file or folder of the host in
    #[command(
        after_help = "Examples:\n  offshoot fs import ~/notes.txt /notes.txt -w fix\n  offshoot fs import ../data /data -w fix"
    )]
    Import(ImportArgs),
    /// Write a file or directory out to the host
    #[command(
        after_help = "Examples:\n  offshoot fs export / ../result -w fix\n  offshoot fs export /report.html report.html --at fix@done"
    )]
    Export(ExportArgs),
    /// Bring paths back to what they were
    #[command(
        after_help = "Examples:\n  offshoot fs revert /src/main.rs -w fix               as in the base\n  offshoot fs revert /src --at fix@before -w fix      as in a checkpoint"
    )]
    Revert(RevertArgs),
}

/// Where a command that only reads looks.
#[derive(Debug, Args)]
pub(crate) struct AtArgs {
    /// Look at this REF instead of the workspace
    #[arg(long, value_name = "REF")]
    at: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct LsArgs {
    /// The directory
    #[arg(default_value = "/")]
    path: OsString,
    /// Show modes, owners, sizes and times
    #[arg(short, long)]
    long: bool,
    #[command(flatten)]
    at: AtArgs,
}

#[derive(Debug, Args)]
pub(crate) struct CatArgs {
    /// The path
    path: OsString,
    #[command(flatten)]
    at: AtArgs,
}

#[derive(Debug, Args)]
pub(crate) struct WriteArgs {
    /// The file
    path: OsString,
    /// Take the content from this file of the host, not from standard input
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// Make missing parent directories
    #[arg(short, long)]
    parents: bool,
}

#[derive(Debug, Args)]
pub(crate) struct MkdirArgs {
    /// The directory
    path: OsString,
    /// Make missing parent directories; one that exists is fine
    #[arg(short, long)]
    parents: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CpArgs {
    /// What to copy
    from: OsString,
    /// Where to; into it where it is a directory
    to: OsString,
    /// Copy directories with everything in them
    #[arg(short, long)]
    recursive: bool,
}

#[derive(Debug, Args)]
pub(crate) struct MvArgs {
    /// What to move
    from: OsString,
    /// Where to; into it where it is a directory
    to: OsString,
}

#[derive(Debug, Args)]
pub(crate) struct RmArgs {
    /// What to remove
    #[arg(required = true)]
    paths: Vec<OsString>,
    /// Remove directories with everything in them
    #[arg(short, long)]
    recursive: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TreeArgs {
    /// The directory
    #[arg(default_value = "/")]
    path: OsString,
    /// How deep to go
    #[arg(long, value_name = "N")]
    depth: Option<usize>,
    #[command(flatten)]
    at: AtArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// A file or folder of the host
    source: PathBuf,
    /// Where it goes
    path: OsString,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// What to write
    path: OsString,
    /// Where to; must not exist, or be an empty folder
    destination: PathBuf,
    #[command(flatten)]
    at: AtArgs,
}

#[derive(Debug, Args)]
pub(crate) struct RevertArgs {
    /// What to bring back
    #[arg(required = true)]
    paths: Vec<OsString>,
    /// As it was at this REF [default: the base of the workspace]
    #[arg(long, value_name = "REF")]
    at: Option<String>,
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
