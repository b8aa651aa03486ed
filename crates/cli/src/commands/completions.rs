//! `offshoot completions`: for shells.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::args::Cli;
use crate::context::Context;
use crate::error::Result;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  offshoot completions bash > ~/.local/share/bash-completion/completions/offshoot\n  offshoot completions zsh > ~/.zfunc/_offshoot\n  offshoot completions fish > ~/.config/fish/completions/offshoot.fish"
)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

pub(crate) fn run(args: &CompletionsArgs, context: &Context) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "offshoot", &mut script);
    context.output.bytes(&script)
}
