//! `offshoot config`: the configuration in force, and changing it.

use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use offshoot_protocol::{ConfigDoc, ConfigSetDoc, Hint, SettingDoc, Text};

use crate::complete;
use crate::context::Context;
use crate::error::{CliError, Result};
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
        after_help = "Examples:\n  offshoot config unset exec.timeout\n  offshoot config unset --project diff.context\n  offshoot config unset --remembered exec.net     what you answered `always` to in this project"
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
    /// Forget the answer `always` about the network of this project (exec.net)
    #[arg(long, conflicts_with = "project")]
    remembered: bool,
}

/// The setting that an answer is remembered for.
const NET: &str = "exec.net";
/// The command that takes back the answer `always`.
pub(crate) const FORGET: &str = "offshoot config unset --remembered exec.net";

pub(crate) fn run(command: &ConfigCommand, context: &Context) -> Result<()> {
    match command {
        ConfigCommand::Show(args) => show(args, context),
        ConfigCommand::Get(args) => get(args, context),
        ConfigCommand::Set(args) => change(context, args.project, &args.key, Some(&args.value)),
        ConfigCommand::Unset(args) if args.remembered => forget(context, &args.key),
        ConfigCommand::Unset(args) => change(context, args.project, &args.key, None),
    }
}

fn show(args: &ShowArgs, context: &Context) -> Result<()> {
    let settings = settings(context)?;
    let document = ConfigDoc { settings: settings.iter().map(setting).collect() };
    context.output.data(document, |_| render_human(&settings, args.origin))
}

fn get(args: &KeyArgs, context: &Context) -> Result<()> {
    let settings = settings(context)?;
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

/// The settings in force where the caller stands.
pub(crate) fn settings(context: &Context) -> Result<Vec<Setting>> {
    context.engine.settings_in(project(context)?.as_deref())
}

/// The folder that answers are remembered for.
fn project(context: &Context) -> Result<Option<PathBuf>> {
    let Ok(here) = std::env::current_dir() else { return Ok(None) };
    let bound = context.engine.bound_to(&here)?;
    Ok(bound.map(|(_, folder)| folder).or(Some(here)))
}

fn forget(context: &Context, key: &str) -> Result<()> {
    if key != NET {
        let text = format!("--remembered is about {NET} alone; nothing else is remembered");
        return Err(CliError::usage(text).hint(Hint::command(FORGET)));
    }
    let project = project(context)?;
    let file = match &project {
        Some(project) => context.engine.forget_net(project)?,
        None => None,
    };
    let document = ConfigSetDoc {
        key: NET.to_owned(),
        value: None,
        file: Text::new(file.as_deref().map_or(&[][..], |file| file.as_os_str().as_bytes())),
        changed: file.is_some(),
    };
    context.output.done(document, |_| match &file {
        Some(file) => format!("the answer for this project is gone from {}\n", host_path(file)),
        None => "no answer is remembered for this project\n".to_owned(),
    })
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
    context.engine.may_set(whose, key, value)?;
    let edited = edit(&context.engine.options().sources(), whose, key, value)?;
    // The file is written, whether or not the vault of this folder can be.
    if let Err(error) = context.engine.record_setting(&edited) {
        context.output.note(format!("this is not in the audit log: {}", error.message));
    }
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
