//! `offshoot fs`: files of a workspace without a mount.

mod change;
mod read;
mod transfer;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::complete;
use crate::context::Context;
use crate::error::Result;

#[derive(Debug, Subcommand)]
#[command(defer = true)]
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
    /// Create a directory
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
    /// Show everything recorded about a file
    #[command(
        after_help = "Examples:\n  offshoot fs stat /Cargo.toml\n  offshoot fs stat /Cargo.toml --json"
    )]
    Stat(CatArgs),
    /// Copy a file or folder of the host into the workspace
    #[command(
        after_help = "Examples:\n  offshoot fs import ~/notes.txt /notes.txt -w fix\n  offshoot fs import ../data /data -w fix"
    )]
    Import(ImportArgs),
    /// Copy a file or directory out to the host
    #[command(
        after_help = "Examples:\n  offshoot fs export / ../result -w fix\n  offshoot fs export /report.html report.html --at fix@done"
    )]
    Export(ExportArgs),
    /// Restore files to an earlier state
    #[command(
        after_help = "Examples:\n  offshoot fs revert /src/main.rs -w fix               as in the base\n  offshoot fs revert /src --at fix@before -w fix      as in a checkpoint"
    )]
    Revert(RevertArgs),
}

// Where a command that only reads looks.
#[derive(Debug, Args)]
pub(crate) struct AtArgs {
    /// Look at this REF instead of the workspace
    #[arg(long, value_name = "REF", add = complete::references())]
    at: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct LsArgs {
    /// Directory [default: where you are]
    #[arg(default_value = ".", hide_default_value = true, add = complete::paths())]
    path: OsString,
    /// Show modes, owners, sizes and times
    #[arg(short, long)]
    long: bool,
    #[command(flatten)]
    at: AtArgs,
}

#[derive(Debug, Args)]
pub(crate) struct CatArgs {
    /// Path
    #[arg(add = complete::paths())]
    path: OsString,
    #[command(flatten)]
    at: AtArgs,
}

#[derive(Debug, Args)]
pub(crate) struct WriteArgs {
    /// File
    #[arg(add = complete::paths())]
    path: OsString,
    /// Read this file of the host instead of standard input
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// Create missing parent directories
    #[arg(short, long)]
    parents: bool,
}

#[derive(Debug, Args)]
pub(crate) struct MkdirArgs {
    /// Directory
    #[arg(add = complete::paths())]
    path: OsString,
    /// Create missing parents; do nothing if it exists
    #[arg(short, long)]
    parents: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CpArgs {
    /// Path to copy
    #[arg(add = complete::paths())]
    from: OsString,
    /// Destination; a directory there receives it
    #[arg(add = complete::paths())]
    to: OsString,
    /// Copy directories with everything in them
    #[arg(short, long)]
    recursive: bool,
}

#[derive(Debug, Args)]
pub(crate) struct MvArgs {
    /// Path to move
    #[arg(add = complete::paths())]
    from: OsString,
    /// Destination; a directory there receives it
    #[arg(add = complete::paths())]
    to: OsString,
}

#[derive(Debug, Args)]
pub(crate) struct RmArgs {
    /// Paths to remove
    #[arg(required = true, add = complete::paths())]
    paths: Vec<OsString>,
    /// Remove directories with everything in them
    #[arg(short, long)]
    recursive: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TreeArgs {
    /// Directory [default: where you are]
    #[arg(default_value = ".", hide_default_value = true, add = complete::paths())]
    path: OsString,
    /// Show at most this many levels
    #[arg(long, value_name = "N")]
    depth: Option<usize>,
    #[command(flatten)]
    at: AtArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// File or folder of the host
    source: PathBuf,
    /// Destination in the workspace
    #[arg(add = complete::paths())]
    path: OsString,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// Path to copy out
    #[arg(add = complete::paths())]
    path: OsString,
    /// Destination on the host; must not exist, or be an empty folder
    destination: PathBuf,
    #[command(flatten)]
    at: AtArgs,
}

#[derive(Debug, Args)]
pub(crate) struct RevertArgs {
    /// Paths to restore
    #[arg(required = true, add = complete::paths())]
    paths: Vec<OsString>,
    /// Restore from this REF [default: the base of the workspace]
    #[arg(long, value_name = "REF", add = complete::references())]
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
