//! `offshoot sandbox`: what commands may read, reach and use.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use offshoot_engine::machine;
use offshoot_engine::sandbox::{
    CredentialRule, Explanation, OmittedLines, Profile, ProfileRules, Sight, Source, Viewer,
};
use offshoot_protocol::{
    CredentialDoc, DoctorCheckDoc, DoctorState, Network, PathExplanationDoc, ProfileDoc,
    ProfileNameDoc, SandboxShowDoc, SeenPlaceDoc, Text, Visibility, WallDoc,
};

use super::{config, policy};
use crate::context::Context;
use crate::error::{CliError, Result, hint};
use crate::render::{self, DIM, NAME, line, paint, table};

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum SandboxCommand {
    /// Show a profile: what commands read, reach and use by it
    #[command(
        after_help = "Examples:\n  offshoot sandbox show               the profile that commands get here\n  offshoot sandbox show strict\n  offshoot sandbox show --json\n  offshoot doctor --explain ~/.ssh    whether commands see a path, and why"
    )]
    Show(ShowArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Which profile [default: the one that commands get]
    #[arg(value_name = "PROFILE")]
    profile: Option<String>,
}

pub(crate) fn run(command: &SandboxCommand, context: &Context) -> Result<()> {
    let SandboxCommand::Show(args) = command;
    let rules = rules(context)?;
    let profile = rules.profile(args.profile.as_deref())?;
    rules.warnings().for_each(|warning| context.output.note(warning));
    let sight = Sight::new(&profile, &context.engine.viewer(), &[]);
    let summary = |profile: &Profile| ProfileNameDoc {
        name: profile.name.clone(),
        about: profile.about.clone(),
    };
    let document = SandboxShowDoc {
        network_from: network_from(&rules, args.profile.as_deref(), context)?,
        seen: seen(&sight),
        credentials: rules.profiles.credentials().iter().map(credential).collect(),
        inspected: rules.profiles.tls().inspect.clone(),
        profiles: rules.profiles.iter().map(summary).collect(),
        file: context.engine.user_profile_file().map(|path| path_text(&path)),
        profile: profile_document(&profile),
    };
    context.output.data(document, text)
}

/// The profiles in force where the caller stands.
fn rules(context: &Context) -> Result<ProfileRules> {
    let here = std::env::current_dir().ok();
    let bound = match &here {
        Some(here) => context.engine.bound_to(here)?.map(|(_, folder)| folder),
        None => None,
    };
    context.engine.profiles(bound.as_deref())
}

/// What decides what commands reach by a profile.
fn network_from(rules: &ProfileRules, asked: Option<&str>, context: &Context) -> Result<String> {
    let own = match asked {
        Some(name) => rules.profiles.get(name).map_err(CliError::usage)?,
        None => rules.profiles.usual(),
    };
    let widened = if own.widen { own.network.max(rules.network) } else { own.network };
    let narrowed = rules.narrowed.iter().find(|project| !project.lets_reach(widened, &[]));
    if let Some(project) = narrowed {
        return Ok(project.file().to_owned());
    }
    if widened == own.network {
        return Ok("profile".to_owned());
    }
    let settings = config::settings(context)?;
    let net = settings.iter().find(|setting| setting.key == "exec.net");
    Ok(net.map_or_else(String::new, |net| format!("exec.net, {}", net.origin)))
}

fn credential(rule: &CredentialRule) -> CredentialDoc {
    CredentialDoc {
        host: rule.host.clone(),
        header: rule.header.clone(),
        from: rule.value_from.to_string(),
        plain_http: rule.plain_http,
    }
}

/// What keeps commands from running because a file of profiles cannot be used, and what such a file says to no effect.
pub(crate) fn problems(context: &Context) -> Vec<DoctorCheckDoc> {
    const NAME: &str = "sandbox profiles";
    let rules = rules(context).and_then(|rules| {
        rules.profile(None)?;
        Ok(rules)
    });
    match rules {
        Ok(rules) => rules
            .warnings()
            .map(|warning| machine::check(NAME, DoctorState::Warning, &warning, None))
            .collect(),
        Err(error) => {
            let hint = hint(&error).map(|hint| hint.to_string());
            vec![machine::check(NAME, DoctorState::Problem, &error.message, hint.as_deref())]
        }
    }
}

fn profile_document(profile: &Profile) -> ProfileDoc {
    ProfileDoc {
        name: profile.name.clone(),
        about: profile.about.clone(),
        files: profile.files,
        reads: profile.reads.iter().cloned().collect(),
        show: profile.show.clone(),
        hide: profile.hide.clone(),
        network: profile.network,
        allow: profile.allow.iter().map(ToString::to_string).collect(),
        caches: profile.caches,
        limits: profile.limits,
        widen: profile.widen,
        nested_namespaces: profile.nested_namespaces,
        io_uring: profile.io_uring,
        walls: profile
            .walls
            .iter()
            .map(|(wall, demand)| WallDoc { name: wall.as_str().to_owned(), demand })
            .collect(),
    }
}

fn seen(sight: &Sight) -> Vec<SeenPlaceDoc> {
    let mut places: Vec<SeenPlaceDoc> = sight
        .seen
        .iter()
        .map(|seen| {
            let left_out = seen.copy.as_ref().and_then(|copy| copy.left_out.clone());
            let left_out = left_out.unwrap_or_default();
            SeenPlaceDoc {
                path: path_text(&seen.path),
                visibility: seen.visibility(),
                why: why(&seen.source),
                left_out: left_out.count(),
                left_out_lines: left_out.lines,
                left_out_logins: left_out.logins,
            }
        })
        .collect();
    let missing = sight.missing.iter().map(|path| SeenPlaceDoc {
        path: path_text(path),
        visibility: Visibility::Absent,
        why: format!("{}; this machine does not have it", why(&Source::Profile)),
        left_out: 0,
        left_out_lines: Vec::new(),
        left_out_logins: Vec::new(),
    });
    places.extend(missing);
    places.sort_by(|one, other| one.path.as_str().cmp(other.path.as_str()));
    places
}

fn why(source: &Source) -> String {
    match source {
        Source::Group(group, Some(tool)) => format!("{group}: {tool}"),
        Source::Group(group, None) => (*group).to_owned(),
        Source::Profile => "named by the profile".to_owned(),
        Source::Request => "asked for with the command".to_owned(),
        Source::Preset => "settings of the agent".to_owned(),
    }
}

fn text(document: &SandboxShowDoc) -> String {
    let profile = &document.profile;
    let walls: Vec<String> =
        profile.walls.iter().map(|wall| format!("{} {}", wall.name, wall.demand)).collect();
    let list = |items: &[String]| match items {
        [] => "nothing".to_owned(),
        items => items.join(", "),
    };
    let network = match profile.network {
        Network::None => "none, but its own loopback interface".to_owned(),
        Network::Proxy => format!("by the network proxy: {}", list(&profile.allow)),
        Network::Host => "the host's".to_owned(),
    };
    let inspected = match &document.inspected[..] {
        [] => "never inspected".to_owned(),
        hosts => format!("inspected by the network proxy: {}", hosts.join(", ")),
    };
    let mut text = format!("{}  {}\n", paint(NAME, &profile.name), profile.about);
    for (what, value) in [
        ("workspace", profile.files.to_string()),
        ("reads", list(&profile.reads)),
        ("shows", list(&profile.show)),
        ("hides", list(&profile.hide)),
        ("network", format!("{network} ({})", document.network_from)),
        ("TLS", inspected),
        ("walls", walls.join(", ")),
    ] {
        let what = paint(DIM, &format!("{what:<10}"));
        text.push_str(&format!("  {what}{}\n", line(&value)));
    }
    text.push('\n');
    let rows = document.seen.iter().map(|place| {
        let how = match place.visibility {
            Visibility::Copied if place.left_out > 0 => {
                let counted = [(&place.left_out_lines, "line"), (&place.left_out_logins, "login")];
                let counted = counted.into_iter().filter(|(lines, _)| !lines.is_empty());
                let counted = counted.map(|(lines, what)| render::count(lines.len() as u64, what));
                format!("copied without {}", counted.collect::<Vec<_>>().join(" and "))
            }
            other => other.to_string(),
        };
        vec![render::text(&place.path), how, paint(DIM, &place.why)]
    });
    text.push_str(&table(&["SEEN", "HOW", "WHY"], rows.collect()));
    if document.seen.iter().any(|place| place.visibility == Visibility::Withheld) {
        let legend = "withheld: a line seems to hold a credential and cannot be left out, so commands do not see the file; `offshoot doctor --explain PATH` names the line";
        text.push_str(&format!("{}\n", paint(DIM, legend)));
    }
    text.push('\n');
    if !document.credentials.is_empty() {
        let rows = document.credentials.iter().map(|credential| {
            let plain = if credential.plain_http { ", also without TLS" } else { "" };
            let from = format!("{}{plain}", credential.from);
            vec![line(&credential.host), line(&credential.header), paint(DIM, &line(&from))]
        });
        text.push_str(&table(&["CREDENTIAL FOR", "HEADER", "VALUE FROM"], rows.collect()));
        text.push('\n');
    }
    let rows = document
        .profiles
        .iter()
        .map(|profile| vec![paint(NAME, &profile.name), profile.about.clone()]);
    text.push_str(&table(&["PROFILE", "WHAT FOR"], rows.collect()));
    text
}

/// Whether commands see a path, and why.
pub(crate) fn explain(path: &Path, context: &Context) -> Result<()> {
    let rules = rules(context)?;
    let profile = rules.profile(None)?;
    let viewer = context.engine.viewer();
    let sight = Sight::new(&profile, &viewer, &[]);
    let asked = std::path::absolute(path)
        .map_err(|error| CliError::usage(format!("{}: {error}", path.display())))?;
    let path = asked.canonicalize().unwrap_or(asked);
    let folders = folders(context)?;
    let home = viewer.home.as_deref().and_then(|home| home.canonicalize().ok());
    let mut explanation = sight.explain(&path, home.as_deref(), &folders);
    let vaults = context.registry().dir().canonicalize();
    if vaults.is_ok_and(|vaults| path.starts_with(vaults)) {
        explanation.visibility = Visibility::Hidden;
    }
    let mut why = sentence(&path, &explanation, &viewer);
    let is_absent = matches!(explanation.visibility, Visibility::Absent | Visibility::Withheld);
    if is_absent && !policy::check::lets_read(&path, context)? {
        let path = path.display();
        why.push_str(&format!(
            ". Policy wants an approval for that as well: `offshoot policy explain -- cat {path}` shows the rule that gives it"
        ));
    }
    let document = PathExplanationDoc {
        exists: path.symlink_metadata().is_ok(),
        visibility: explanation.visibility,
        why,
        by: explanation.by.as_ref().map(|(by, _)| path_text(by)),
        left_out: explanation.left_out.count(),
        left_out_lines: explanation.left_out.lines,
        left_out_logins: explanation.left_out.logins,
        path: path_text(&path),
        profile: profile.name,
    };
    context.output.data(document, |document| {
        let path = render::text(&document.path);
        let absent = if document.exists { "" } else { " (this machine has nothing there)" };
        let state = paint(NAME, document.visibility.as_str());
        format!(
            "{path}: {state}{absent}\n  {}\n  {} {}\n",
            document.why,
            paint(DIM, "profile:"),
            document.profile
        )
    })
}

/// The folders of the vault where the caller stands.
fn folders(context: &Context) -> Result<Vec<PathBuf>> {
    let Ok(here) = std::env::current_dir() else { return Ok(Vec::new()) };
    let bound = context.engine.bound_to(&here)?;
    Ok(bound.map(|(_, folder)| folder).into_iter().collect())
}

fn sentence(path: &Path, explanation: &Explanation, viewer: &Viewer) -> String {
    let by = explanation.by.as_ref();
    let place = by.map(|(place, source)| {
        let place = place.display();
        format!("it is or lies in {place} ({})", why(source))
    });
    let place = place.unwrap_or_default();
    let show = format!("--show {} shows it to one command", path.display());
    match explanation.visibility {
        Visibility::Workspace => {
            "it belongs to the workspace, which commands see in its place".to_owned()
        }
        Visibility::Shown if place.is_empty() => "the profile shows all of the host".to_owned(),
        Visibility::Shown => format!("commands read it and cannot change it: {place}"),
        Visibility::Copied if explanation.left_out.count() > 0 => {
            format!("commands see a copy without {}: {place}", left_out(&explanation.left_out))
        }
        Visibility::Copied => format!("commands see a copy: {place}"),
        Visibility::Withheld => {
            let line =
                explanation.withheld_for.map_or("a line".to_owned(), |at| format!("line {at}"));
            format!(
                "commands do not see it: {line} seems to hold a credential and cannot be left out. Move that line to another file; or {show}, with the credential"
            )
        }
        Visibility::Private => {
            "commands have a directory of their own there, of which nothing stays".to_owned()
        }
        Visibility::Hidden => "commands see nothing in its place".to_owned(),
        Visibility::Absent if viewer.home.as_deref().is_some_and(|home| path.starts_with(home)) => {
            format!(
                "commands see toolchains and settings of the home, and this is none of them; {show}"
            )
        }
        Visibility::Absent => format!("it is not on the list of what commands see; {show}"),
    }
}

/// What a copy is without: `line 3, which seems to hold a credential, and the login in line 5`.
fn left_out(left_out: &OmittedLines) -> String {
    let numbers = |lines: &[usize]| {
        let list: Vec<String> = lines.iter().map(usize::to_string).collect();
        format!("{} {}", if lines.len() == 1 { "line" } else { "lines" }, list.join(", "))
    };
    let OmittedLines { lines, logins } = left_out;
    let seem = if lines.len() == 1 { "seems" } else { "seem" };
    let lines = (!lines.is_empty())
        .then(|| format!("{}, which {seem} to hold a credential", numbers(lines)));
    let logins = (!logins.is_empty()).then(|| format!("the login in {}", numbers(logins)));
    lines.into_iter().chain(logins).collect::<Vec<_>>().join(", and ")
}

fn path_text(path: &Path) -> Text {
    Text::new(path.as_os_str().as_encoded_bytes())
}
