//! `offshoot config`: the configuration in force, and changing it.

use std::os::unix::ffi::OsStrExt;

use clap::{Args, Subcommand};
use offshoot_protocol::{ConfigDoc, ConfigSetDoc, SettingDoc, Text};

use crate::complete;
use crate::context::Context;
use crate::error::Result;
use crate::render::host_path;
use offshoot_engine::settings::{
    ConfigError, Setting, SettingEdit, SettingPlace, Whose, edit, render_human, shown_value,
};

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum ConfigCommand {
    /// Show every setting, and where it comes from
    #[command(
        alias = "list",
        after_help = "Examples:\n  offshoot config show\n  offshoot config show --origin\n  offshoot -c diff.context=10 config show --json"
    )]
    Show(ShowArgs),
    /// Print the value of one setting
    #[command(after_help = "Examples:\n  offshoot config get exec.timeout")]
    Get(KeyArgs),
    /// Set a key in your configuration file, or in the project's
    #[command(
        after_help = "Examples:\n  offshoot config set exec.timeout 30m\n  offshoot config set --project diff.context 5    in offshoot.toml\n\nThe file is checked before it is written; comments in it stay."
    )]
    Set(SetArgs),
    /// Remove a key from your configuration file, or from the project's
    #[command(
        after_help = "Examples:\n  offshoot config unset exec.timeout\n  offshoot config unset --project diff.context"
    )]
    Unset(UnsetArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Show where each value comes from
    #[arg(long)]
    origin: bool,
}

#[derive(Debug, Args)]
pub(crate) struct KeyArgs {
    /// Key, such as exec.timeout
    #[arg(add = complete::keys())]
    key: String,
}

#[derive(Debug, Args)]
pub(crate) struct SetArgs {
    /// Key, such as exec.timeout
    #[arg(add = complete::keys())]
    key: String,
    /// New value
    #[arg(allow_hyphen_values = true)]
    value: String,
    /// Set it in the project's file instead of yours
    #[arg(long)]
    project: bool,
}

#[derive(Debug, Args)]
pub(crate) struct UnsetArgs {
    /// Key, such as exec.timeout
    #[arg(add = complete::keys())]
    key: String,
    /// Remove it from the project's file instead of yours
    #[arg(long)]
    project: bool,
}

pub(crate) fn run(command: &ConfigCommand, context: &Context) -> Result<()> {
    match command {
        ConfigCommand::Show(args) => show(args, context),
        ConfigCommand::Get(args) => get(args, context),
        ConfigCommand::Set(args) => change(context, args.project, &args.key, Some(&args.value)),
        ConfigCommand::Unset(args) => change(context, args.project, &args.key, None),
    }
}

fn show(args: &ShowArgs, context: &Context) -> Result<()> {
    let settings = context.engine.settings().settings()?;
    let document = ConfigDoc { settings: settings.iter().map(setting).collect() };
    context.output.data(document, |_| render_human(&settings, args.origin))
}

fn get(args: &KeyArgs, context: &Context) -> Result<()> {
    let settings = context.engine.settings().settings()?;
    let Some(found) = settings.iter().find(|setting| setting.key == args.key) else {
        return Err(ConfigError::UnknownKey {
            place: SettingPlace::Command,
            key: args.key.clone(),
        }
        .into());
    };
    let document = ConfigDoc { settings: vec![setting(found)] };
    context.output.data(document, |_| format!("{}\n", shown_value(found)))
}

fn setting(setting: &Setting) -> SettingDoc {
    SettingDoc {
        key: setting.key.to_owned(),
        value: setting.value.clone(),
        origin: setting.origin.to_string(),
        project: setting.project,
    }
}

fn change(context: &Context, project: bool, key: &str, value: Option<&str>) -> Result<()> {
    let whose = if project { Whose::Project } else { Whose::User };
    let edited = edit(&context.engine.options().sources(), whose, key, value)?;
    let document = ConfigSetDoc {
        key: edited.key.to_owned(),
        value: edited.value.clone(),
        file: Text::new(edited.path.as_os_str().as_bytes()),
        changed: edited.changed,
    };
    context.output.done(document, |_| told(&edited, value))
}

fn told(edited: &SettingEdit, value: Option<&str>) -> String {
    let SettingEdit { key, path, changed, .. } = edited;
    let path = host_path(path);
    match (value, changed) {
        (Some(value), true) => format!("{key} is {value} in {path}\n"),
        (Some(value), false) => format!("{key} is {value} in {path} already\n"),
        (None, true) => format!("{key} is not set in {path} any more\n"),
        (None, false) => format!("{key} is not set in {path}\n"),
    }
}
