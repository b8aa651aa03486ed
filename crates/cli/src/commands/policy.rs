//! `offshoot policy`: what would be decided about a command, and why.

pub(crate) mod check;
mod init;
pub(crate) mod question;
mod replay;
mod test;
mod text;

use clap::Subcommand;

use crate::context::Context;
use crate::error::Result;

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum PolicyCommand {
    /// Show the decision about a command in one line
    #[command(after_help = CHECK_EXAMPLES)]
    Check(check::CheckArgs),
    /// Explain what a command would do and which rule decides
    #[command(after_help = EXPLAIN_EXAMPLES)]
    Explain(check::CheckArgs),
    /// Check rule files and their examples
    #[command(after_help = TEST_EXAMPLES)]
    Test(test::TestArgs),
    /// Write a rule file to start from
    #[command(after_help = INIT_EXAMPLES)]
    Init(init::InitArgs),
    /// List recorded commands that other rules would decide differently
    #[command(after_help = REPLAY_EXAMPLES)]
    Replay(replay::ReplayArgs),
}

const CHECK_EXAMPLES: &str = "\
Examples:
  offshoot policy check -- git push --force
  offshoot policy check --shell 'ls | head'
  offshoot policy check --net host -- kubectl delete pod web   the network makes a difference
  offshoot policy check --policy strict.toml -- npm test       under further rules

Nothing is run. Exits with 0 if the command may run, 122 if it is denied, 123 if it needs an
approval.";

const EXPLAIN_EXAMPLES: &str = "\
Examples:
  offshoot policy explain --shell 'ls $(rm -rf x)'
  offshoot policy explain --json -- curl -o f https://example.com

Nothing is run. Every simple command, redirection and assignment is named with its categories.";

const TEST_EXAMPLES: &str = "\
Examples:
  offshoot policy test                            the rules in force
  offshoot policy test new.toml                   a file that is not in force yet
  offshoot policy test rules.rego --layer project

Exits with 1 if a file is wrong.";

const INIT_EXAMPLES: &str = "\
Examples:
  offshoot policy init                            your own rules, for all projects
  offshoot policy init --project                  rules of this project, which can only restrict";

const REPLAY_EXAMPLES: &str = "\
Examples:
  offshoot policy replay new.toml                 as if it were your own file of rules
  offshoot policy replay new.toml --layer project
  offshoot policy replay new.toml -w fix --json

Nothing is run. Commands of the vault, or of one workspace, are decided again.";

pub(crate) fn run(command: &PolicyCommand, context: &Context) -> Result<()> {
    match command {
        PolicyCommand::Check(args) => check::check(args, context),
        PolicyCommand::Explain(args) => check::explain(args, context),
        PolicyCommand::Test(args) => test::run(args, context),
        PolicyCommand::Init(args) => init::run(args, context),
        PolicyCommand::Replay(args) => replay::run(args, context),
    }
}
