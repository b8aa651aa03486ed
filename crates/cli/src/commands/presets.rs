//! `offshoot presets`: what coding agents need, and what becomes of it.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use offshoot_engine::preset::{HomeKeep, HomeRow, Preset, PresetFit, PresetKey, PresetOrigin};
use offshoot_protocol::{
    ExitCode, OwnSandbox, PresetArgumentsDoc, PresetCheckDoc, PresetCheckedDoc, PresetHomeDoc,
    PresetHostsDoc, PresetKeyDoc, PresetListDoc, PresetShowDoc, PresetSummaryDoc, Text,
};

use crate::complete;
use crate::context::Context;
use crate::error::{CliError, Result};
use crate::render::{self, BAD, DIM, NAME, line, paint, table};

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum PresetsCommand {
    /// List the presets of coding agents
    #[command(
        after_help = "Examples:\n  offshoot presets list\n  offshoot presets list --json\n\n`offshoot run claude` finds the preset by the program. `--preset NAME` names another,\n`--preset none` switches it off. Your own belong in the directory presets beside your settings."
    )]
    List,
    /// Show a preset: its variables, hosts and files
    #[command(
        after_help = "Examples:\n  offshoot presets show claude\n  offshoot presets show codex --json"
    )]
    Show(ShowArgs),
    /// Check whether presets can be used here: the file, the program, the login
    #[command(after_help = "Examples:\n  offshoot presets check\n  offshoot presets check claude")]
    Check(CheckArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Which preset
    #[arg(value_name = "PRESET", add = complete::presets())]
    preset: String,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Which preset [default: all]
    #[arg(value_name = "PRESET", add = complete::presets())]
    preset: Option<String>,
}

pub(crate) fn run(command: &PresetsCommand, context: &Context) -> Result<()> {
    match command {
        PresetsCommand::List => list(context),
        PresetsCommand::Show(args) => show(&args.preset, context),
        PresetsCommand::Check(args) => check(args.preset.as_deref(), context),
    }
}

fn list(context: &Context) -> Result<()> {
    let summary = |(name, preset): (String, std::result::Result<Preset, _>)| match preset {
        Ok(preset) => PresetSummaryDoc {
            name,
            origin: preset.origin,
            summary: Some(preset.summary),
            programs: preset.programs,
            problem: None,
        },
        Err(error) => PresetSummaryDoc {
            name,
            origin: PresetOrigin::User,
            summary: None,
            programs: Vec::new(),
            problem: Some(ToString::to_string(&error)),
        },
    };
    let document = PresetListDoc {
        presets: context.engine.presets().all().into_iter().map(summary).collect(),
        directory: context.engine.preset_directory().map(|path| path_text(&path)),
    };
    context.output.data(document, |document| {
        let rows = document.presets.iter().map(|preset| {
            let about = match (&preset.summary, &preset.problem) {
                (_, Some(problem)) => paint(BAD, &line(problem)),
                (summary, None) => line(summary.as_deref().unwrap_or_default()),
            };
            let by = line(&preset.programs.join(", "));
            vec![paint(NAME, &preset.name), about, by, paint(DIM, origin(preset.origin))]
        });
        table(&["PRESET", "AGENT", "KNOWN BY", "FROM"], rows.collect())
    })
}

fn own_sandbox(own: OwnSandbox) -> &'static str {
    match own {
        OwnSandbox::Off => "off: the walls of Offshoot are in force",
        OwnSandbox::Kept => "kept as you have it, within the walls of Offshoot",
    }
}

fn origin(origin: PresetOrigin) -> &'static str {
    match origin {
        PresetOrigin::BuiltIn => "built in",
        PresetOrigin::User => "you",
    }
}

fn show(name: &str, context: &Context) -> Result<()> {
    let presets = context.engine.presets();
    let preset = presets.get(name).map_err(|message| match presets.find(name) {
        Some(_) => CliError::usage(message),
        None => CliError::new(ExitCode::NotFound, message),
    })?;
    let viewer = context.engine.viewer();
    let moves = preset.moves.keys().cloned().collect();
    let preset = viewer.moved(preset).0;
    let fit = fit(&preset);
    let hosts = &preset.hosts;
    let refused = hosts.features.iter().chain(&hosts.telemetry).chain(&hosts.update);
    let args = &preset.args;
    let document = PresetShowDoc {
        hosts: PresetHostsDoc {
            allowed: fit.hosts(&viewer, &[]),
            refused: refused.cloned().collect(),
            from: hosts.from.clone(),
        },
        arguments: PresetArgumentsDoc {
            always: args.always.clone(),
            interactive: args.interactive.clone(),
            headless: args.headless.clone(),
            trusted: args.trusted.clone(),
            lost: args.lost.iter().map(|lost| lost.argument.clone()).collect(),
        },
        inject: preset.inject.iter().map(key).collect(),
        moves,
        home: preset.home.iter().map(row).collect(),
        logged_in: fit.is_logged_in(&viewer, &[]),
        login: preset.login.as_ref().map(|login| login.command.clone()),
        name: preset.name.clone(),
        origin: preset.origin,
        file: Text::new(preset.file.as_bytes()),
        summary: preset.summary.clone(),
        site: preset.site.clone(),
        programs: preset.programs.clone(),
        acp: preset.acp.as_ref().map(|acp| acp.command.clone()).unwrap_or_default(),
        own_sandbox: preset.own_sandbox,
        env_pass: preset.env.pass.clone(),
        env_set: preset.env.set.iter().map(|(name, value)| format!("{name}={value}")).collect(),
    };
    context.output.data(document, text)
}

fn key(key: &PresetKey) -> PresetKeyDoc {
    PresetKeyDoc {
        variable: key.variable.clone(),
        host: key.host.clone(),
        header: key.header.clone(),
    }
}

fn row(row: &HomeRow) -> PresetHomeDoc {
    PresetHomeDoc {
        paths: row.paths.iter().map(ToString::to_string).collect(),
        keep: row.keep,
        format: (row.keep == HomeKeep::Credential).then_some(row.format),
        take: row.take.clone(),
        give: row.give.clone(),
    }
}

fn text(document: &PresetShowDoc) -> String {
    let list = |items: &[String]| match items {
        [] => "nothing".to_owned(),
        items => items.join(", "),
    };
    let login = match (document.logged_in, &document.login) {
        (Some(true), _) => "there is one".to_owned(),
        (Some(false), Some(how)) => format!("none yet: {how}"),
        _ => "nobody says how to know".to_owned(),
    };
    let from = match document.origin {
        PresetOrigin::BuiltIn => "built in".to_owned(),
        PresetOrigin::User => render::text(&document.file),
    };
    let key = |key: &PresetKeyDoc| format!("{} for {}", key.variable, key.host);
    let keys: Vec<String> = document.inject.iter().map(key).collect();
    let mut text = format!("{}  {}\n", paint(NAME, &document.name), line(&document.summary));
    for (what, value) in [
        ("from", from),
        ("known by", list(&document.programs)),
        ("for editors", editors(document)),
        ("login", login),
        ("passes", list(&document.env_pass)),
        ("moved by", list(&document.moves)),
        ("can stay out", list(&keys)),
        ("sets", list(&document.env_set)),
        ("adds", list(&document.arguments.always)),
        ("at a terminal", list(&document.arguments.interactive)),
        ("without one", list(&document.arguments.headless)),
        ("own sandbox", own_sandbox(document.own_sandbox).to_owned()),
        ("trusted", list(&document.arguments.trusted)),
        ("reaches", list(&document.hosts.allowed)),
        ("and what is in", list(&document.hosts.from)),
        ("refused", list(&document.hosts.refused)),
    ] {
        if value != "nothing" {
            text.push_str(&format!("  {}{}\n", paint(DIM, &format!("{what:<16}")), line(&value)));
        }
    }
    text.push('\n');
    let rows = document.home.iter().flat_map(|row| {
        let keep = row.keep.to_string();
        row.paths.iter().map(move |path| vec![format!("~/{}", line(path)), keep.clone()])
    });
    text.push_str(&table(&["IN THE HOME", "KEPT AS"], rows.collect()));
    text
}

/// How an editor starts it.
fn editors(document: &PresetShowDoc) -> String {
    match document.acp.as_slice() {
        [] => "nothing".to_owned(),
        words => format!("offshoot acp {}, which runs {}", document.name, words.join(" ")),
    }
}

fn check(asked: Option<&str>, context: &Context) -> Result<()> {
    let presets = context.engine.presets();
    let all = match asked {
        Some(name) => match presets.find(name) {
            Some(preset) => vec![(name.to_owned(), preset)],
            None => return Err(CliError::usage(presets.get(name).err().unwrap_or_default())),
        },
        None => presets.all(),
    };
    let viewer = context.engine.viewer();
    let path = viewer.variables.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value);
    let directories: Vec<PathBuf> =
        path.map(|path| std::env::split_paths(path).collect()).unwrap_or_default();
    let checked = all.into_iter().map(|(name, preset)| match preset {
        Ok(preset) => {
            let preset = viewer.moved(preset).0;
            PresetCheckedDoc {
                program: installed(&preset, &directories).map(|path| path_text(&path)),
                logged_in: fit(&preset).is_logged_in(&viewer, &[]),
                problem: None,
                name,
            }
        }
        Err(error) => PresetCheckedDoc {
            name,
            program: None,
            logged_in: None,
            problem: Some(error.to_string()),
        },
    });
    let document = PresetCheckDoc { presets: checked.collect() };
    context.output.data(document, |document| {
        let rows = document.presets.iter().map(|preset| {
            let program = preset.program.as_ref().map(render::text);
            let login = match preset.logged_in {
                Some(true) => "yes",
                Some(false) => "no",
                None => "",
            };
            let state = match (&preset.problem, program) {
                (Some(problem), _) => paint(BAD, &line(problem)),
                (None, Some(program)) => program,
                (None, None) => paint(DIM, "not installed"),
            };
            vec![paint(NAME, &preset.name), state, login.to_owned()]
        });
        table(&["PRESET", "PROGRAM", "LOGIN"], rows.collect())
    })
}

/// Where the program of a preset is.
fn installed(preset: &Preset, directories: &[PathBuf]) -> Option<PathBuf> {
    let names = preset.programs.iter().filter(|name| !name.contains('/'));
    let mut places = names.flat_map(|name| directories.iter().map(move |at| at.join(name)));
    places.find(|place| place.is_file())
}

fn fit(preset: &Preset) -> PresetFit<'_> {
    PresetFit { preset, terminal: false, trusted: false }
}

fn path_text(path: &Path) -> Text {
    Text::new(path.as_os_str().as_encoded_bytes())
}
