//! `offshoot resolve`: deciding conflicts.

use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};

use clap::Args;
use offshoot_engine::conflict::{Resolution, ResolveOptions};
use offshoot_engine::file::{NewContent, VaultPath};
use offshoot_engine::vault::Vault;
use offshoot_engine::wire;
use offshoot_protocol::ExitCode;

use crate::complete;
use crate::context::Context;
use crate::error::{CliError, Result};
use crate::render::{self, NAME, paint};

const EXAMPLES: &str = "\
Examples:
  offshoot resolve /a.txt --ours -w fix         its conflicting lines as the first side has them
  offshoot resolve /a.txt --theirs -w fix       its conflicting lines as the last side has them
  offshoot resolve /a.txt --side other -w fix   the lines of a side, by its label or number
  offshoot resolve /a.txt --ours --whole -w fix the first side's file, without the other's changes
  offshoot resolve /a.txt --from a.txt -w fix   a file of yours; - is standard input
  offshoot resolve /a.txt --as-is -w fix        what is shown now
  offshoot resolve --all --union -w fix         the lines of all sides, for texts

Lines that were merged cleanly stay. What is not text is taken whole from the side; if that side
deleted it, it is deleted. Files that a conflict put beside it (NAME~LABEL) go with it.
`offshoot undo` takes a decision back.";

const USAGE: &str = "\
offshoot resolve [OPTIONS] PATH... (--ours|--theirs|--base|--union|--as-is)
       offshoot resolve [OPTIONS] PATH... --side SIDE
       offshoot resolve [OPTIONS] PATH --from FILE
       offshoot resolve [OPTIONS] --all ...";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, override_usage = USAGE)]
pub(crate) struct ResolveArgs {
    /// Paths of conflicts, with all below them
    #[arg(value_name = "PATH", required_unless_present = "all", add = complete::paths())]
    paths: Vec<OsString>,
    /// Resolve all conflicts of the workspace
    #[arg(long, conflicts_with = "paths")]
    all: bool,
    #[command(flatten)]
    choice: ChoiceArgs,
    /// Take the whole file of the side, not only its conflicting lines
    #[arg(long, conflicts_with_all = ["union", "from", "as_is"])]
    whole: bool,
    /// Accept files that still have conflict markers
    #[arg(long)]
    force: bool,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct ChoiceArgs {
    /// Take the conflicting lines of the first side
    #[arg(long)]
    ours: bool,
    /// Take the conflicting lines of the last side
    #[arg(long)]
    theirs: bool,
    /// Take the conflicting lines of one side: its label, its number, or `base`
    #[arg(long, value_name = "SIDE")]
    side: Option<String>,
    /// Take the conflicting lines as they were before the sides changed them
    #[arg(long)]
    base: bool,
    /// Take the lines of all sides
    #[arg(long)]
    union: bool,
    /// Take this file of the host; - is standard input
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// Take the file as it is in the workspace
    #[arg(long)]
    as_is: bool,
}

pub(crate) fn run(args: &ResolveArgs, context: &Context) -> Result<()> {
    let vault = &context.vault()?.vault;
    let workspace = context.workspace_to_change(vault)?;
    let paths = context.typed_all(vault, &args.paths)?;
    // Until the decision is recorded nothing else needs what is read here.
    let _held = vault.hold()?;
    let service = context.engine.conflicts(vault);
    let choice = choice(args, vault, &paths)?;
    let options = ResolveOptions { force: args.force, whole: args.whole };
    let resolved = service.resolve(&workspace, &paths, &choice, options)?;
    let document = wire::resolved(&workspace.name, &resolved);
    context.output.done(document, |_| {
        let decided = render::count(resolved.paths.len() as u64, "conflict");
        let name = paint(NAME, &workspace.name);
        let left = match resolved.left {
            0 => "none is left".to_owned(),
            left => format!("{left} left"),
        };
        let whole = resolved.whole.iter();
        let whole = whole.map(|path| format!("  took one side whole: {}\n", render::path(path)));
        format!("resolved {decided} of {name}, {left}\n{}", whole.collect::<String>())
    })
}

fn choice(args: &ResolveArgs, vault: &Vault, paths: &[VaultPath]) -> Result<Resolution> {
    let ChoiceArgs { ours, theirs, side, base, union, from, as_is: _ } = &args.choice;
    Ok(match (side, from) {
        (Some(side), _) => Resolution::Side(side.clone()),
        (_, Some(from)) => {
            if paths.len() != 1 {
                return Err(CliError::usage("--from decides one conflict: name its path alone"));
            }
            Resolution::Content(content(vault, from)?)
        }
        _ if *ours => Resolution::First,
        _ if *theirs => Resolution::Last,
        _ if *base => Resolution::Base,
        _ if *union => Resolution::Union,
        _ => Resolution::AsIs,
    })
}

fn content(vault: &Vault, from: &Path) -> Result<NewContent> {
    let mut source: Box<dyn Read> = match from.as_os_str() == "-" {
        true => Box::new(std::io::stdin().lock()),
        false => Box::new(std::fs::File::open(from).map_err(|error| {
            CliError::new(ExitCode::NotFound, format!("{}: {error}", render::host_path(from)))
        })?),
    };
    Ok(vault.add_content(&mut source, from)?)
}
