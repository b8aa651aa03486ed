//! `offshoot config`: the configuration in force.

use clap::{Args, Subcommand};
use offshoot_protocol::{ConfigDoc, SettingDoc};

use crate::config::render_human;
use crate::context::Context;
use crate::error::Result;

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Show every setting, and where it comes from
    #[command(
        after_help = "Examples:\n  offshoot config show\n  offshoot config show --origin\n  offshoot -c diff.context=10 config show --json"
    )]
    Show(ShowArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Say where each value comes from
    #[arg(long)]
    origin: bool,
}

pub(crate) fn run(command: &ConfigCommand, context: &Context) -> Result<()> {
    let ConfigCommand::Show(args) = command;
    let settings = context.settings.settings()?;
    let documented = settings.iter().map(|setting| SettingDoc {
        key: setting.key.to_owned(),
        value: setting.value.clone(),
        origin: setting.origin.to_string(),
    });
    let document = ConfigDoc { settings: documented.collect() };
    context.output.data(document, |_| render_human(&settings, args.origin))
}
