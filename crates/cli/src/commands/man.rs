//! `offshoot man`: manual pages.

use std::path::{Path, PathBuf};

use clap::{Args, Command, ValueHint};
use offshoot_protocol::{ExitCode, Hint, ManDoc, Text};

use crate::context::Context;
use crate::error::{CliError, Result};
use crate::render::{count, host_path};

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  offshoot man | man -l -                        read the page of offshoot\n  offshoot man commit | man -l -                 read that of one command\n  offshoot man --out ~/.local/share/man/man1     write a page for each command\n  man offshoot-exec                              read one of them"
)]
pub(crate) struct ManArgs {
    /// Command to print the page of, such as `commit` or `vault check`
    #[arg(value_name = "COMMAND", conflicts_with = "out")]
    command: Vec<String>,
    /// Write the pages of all commands to this directory, which is made if it is missing
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    out: Option<PathBuf>,
}

/// `grammar` is the command line as a whole.
pub(crate) fn run(args: &ManArgs, context: &Context, grammar: Command) -> Result<()> {
    let whole = whole(grammar);
    let Some(directory) = &args.out else {
        let page = page(named(whole, &args.command)?);
        let page = page.map_err(|error| CliError::new(ExitCode::Failure, error.to_string()))?;
        let page = String::from_utf8_lossy(&page).into_owned();
        let document = ManDoc { page: Some(page), directory: None, pages: 1 };
        return context.output.data(document, |document| document.page.clone().unwrap_or_default());
    };
    let failed = |error: std::io::Error| {
        let message = format!("cannot write manual pages to {}: {error}", host_path(directory));
        CliError::new(ExitCode::Storage, message)
    };
    let pages = write(whole, directory).map_err(failed)?;
    let written = Text::new(directory.as_os_str().as_encoded_bytes());
    let document = ManDoc { page: None, directory: Some(written), pages };
    context
        .output
        .done(document, |_| format!("wrote {} to {}\n", count(pages, "page"), host_path(directory)))
}

/// All commands, each with the name that its page has.
fn whole(grammar: Command) -> Command {
    let mut whole = grammar.disable_help_subcommand(true);
    whole.build();
    whole
}

/// The command that these words call.
fn named(whole: Command, words: &[String]) -> Result<Command> {
    let mut found = whole;
    for word in words {
        let below = found.find_subcommand(word).cloned();
        let path = found.get_bin_name().unwrap_or(found.get_name());
        found = below.ok_or_else(|| {
            CliError::usage(format!("`{path}` has no command `{word}`"))
                .hint(Hint::command(path).words("--help").text(" lists the commands"))
        })?;
    }
    Ok(found)
}

fn page(command: Command) -> std::io::Result<Vec<u8>> {
    let name = command.get_display_name().unwrap_or(command.get_name()).to_uppercase();
    let mut page = Vec::new();
    clap_mangen::Man::new(command).title(name).render(&mut page)?;
    Ok(page)
}

/// Writes a page for each command; how many there are.
fn write(whole: Command, directory: &Path) -> std::io::Result<u64> {
    std::fs::create_dir_all(directory)?;
    let mut pages = 0;
    let mut left = vec![whole];
    while let Some(command) = left.pop() {
        left.extend(command.get_subcommands().filter(|c| !c.is_hide_set()).cloned());
        let name = command.get_display_name().unwrap_or(command.get_name()).to_owned();
        std::fs::write(directory.join(format!("{name}.1")), page(command)?)?;
        pages += 1;
    }
    Ok(pages)
}
