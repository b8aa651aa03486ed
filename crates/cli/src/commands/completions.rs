//! `offshoot completions`: what makes a shell ask for completions.

use clap::Args;
use clap_complete::env::{Bash, Elvish, EnvCompleter, Fish, Powershell, Zsh};
use offshoot_protocol::{CompletionsDoc, ExitCode, Shell};

use crate::complete::VARIABLE;
use crate::context::Context;
use crate::error::{CliError, Result};
use crate::words::names_of;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  offshoot completions bash > ~/.local/share/bash-completion/completions/offshoot\n  offshoot completions zsh > ~/.zfunc/_offshoot         with ~/.zfunc in $fpath\n  offshoot completions fish > ~/.config/fish/completions/offshoot.fish\n  source <(offshoot completions bash)                   for this shell only\n\nThe shell then asks `offshoot` itself: commands, options and the names of workspaces,\ncheckpoints, vaults and execs are those that there are."
)]
pub(crate) struct CompletionsArgs {
    /// Shell to complete in
    #[arg(value_parser = names_of(Shell::ALL))]
    shell: Shell,
}

pub(crate) fn run(args: &CompletionsArgs, context: &Context) -> Result<()> {
    let shell: &dyn EnvCompleter = match args.shell {
        Shell::Bash => &Bash,
        Shell::Zsh => &Zsh,
        Shell::Fish => &Fish,
        Shell::Elvish => &Elvish,
        Shell::Powershell => &Powershell,
    };
    let mut script = Vec::new();
    shell
        .write_registration(VARIABLE, "offshoot", "offshoot", "offshoot", &mut script)
        .map_err(|error| CliError::new(ExitCode::Failure, error.to_string()))?;
    let script = String::from_utf8_lossy(&script).into_owned();
    let document = CompletionsDoc { shell: args.shell, script };
    context.output.data(document, |document| document.script.clone())
}
