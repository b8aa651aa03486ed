//! Presets: what a coding agent needs beside the project, as data.
//!
//! Those that everybody has are in `data/presets`, one file for each. The user's files replace them or add others; a project has none. The design
//! is in `docs/design/presets.md`.

mod home;
mod keys;
mod moved;
mod recognise;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use offshoot_vocabulary::{CredentialFormat, HomeKeep, OwnSandbox, PresetOrigin, Word};
use serde::{Deserialize, Serialize};
use toml::Spanned;

use crate::error::ProfileError;
use crate::files::{line_at, parse};

pub use home::{HomePath, HomeRow};
pub use keys::PresetKey;

/// Those that everybody has, by name, with their text and the names of their programs.
const BUILT_IN: &[(&str, &str, &[&str])] = include!(concat!(env!("OUT_DIR"), "/presets.rs"));

/// What a coding agent needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preset {
    /// What it is called.
    pub name: String,
    /// Where it comes from.
    pub origin: PresetOrigin,
    /// The file, as it is called.
    pub file: String,
    /// The agent, in a few words.
    pub summary: String,
    /// Where the agent comes from.
    pub site: Option<String>,
    /// Names of programs by which it is known.
    pub programs: Vec<String>,
    /// Arguments that print the version.
    pub version: Vec<String>,
    /// Its variables.
    pub env: PresetVariables,
    /// Its arguments.
    pub args: PresetArguments,
    /// What becomes of its own sandbox.
    pub own_sandbox: OwnSandbox,
    /// Its hosts.
    pub hosts: PresetHosts,
    /// How somebody is logged in.
    pub login: Option<PresetLogin>,
    /// How it speaks to editors, where it does.
    pub acp: Option<PresetAcp>,
    /// Keys that can stay outside.
    pub inject: Vec<PresetKey>,
    /// Variables that move its directories, with what they move.
    pub moves: BTreeMap<String, BTreeMap<String, String>>,
    /// What becomes of paths of the home: the first row that fits.
    pub home: Vec<HomeRow>,
}

/// Variables of an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct PresetVariables {
    /// Names that are passed on where the caller has them.
    pub pass: Vec<String>,
    /// What is set, unless the caller says otherwise.
    pub set: BTreeMap<String, String>,
}

/// Arguments of an agent, which stand before the user's.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct PresetArguments {
    /// Always.
    pub always: Vec<String>,
    /// At a terminal.
    pub interactive: Vec<String>,
    /// Without one.
    pub headless: Vec<String>,
    /// Where the user wants the agent to ask nothing.
    pub trusted: Vec<String>,
    /// By which work is lost inside.
    pub lost: Vec<LostArgument>,
}

/// An argument by which work is lost inside.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct LostArgument {
    /// The argument.
    pub argument: String,
    /// Why.
    pub why: String,
}

/// Hosts of an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct PresetHosts {
    /// Without these nothing works.
    pub need: Vec<String>,
    /// Needed to log in, and to stay so.
    pub login: Vec<String>,
    /// The agent goes on without these.
    pub features: Vec<String>,
    /// Metrics and errors.
    pub telemetry: Vec<String>,
    /// Updates of itself.
    pub update: Vec<String>,
    /// Variables that hold the address of a server.
    pub from: Vec<String>,
}

/// How somebody is logged in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct PresetLogin {
    /// Files of the home, one of which says so.
    pub files: Vec<String>,
    /// Variables, one of which says so.
    pub variables: Vec<String>,
    /// What to do.
    pub command: String,
}

/// How an agent speaks to editors, by the Agent Client Protocol.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct PresetAcp {
    /// The command that does: the agent itself, or an adapter.
    pub command: Vec<String>,
    /// The npm package that has the command, where that is not the agent's own.
    pub package: Option<String>,
    /// What is set for it, unless the caller says otherwise.
    pub set: BTreeMap<String, String>,
}

/// A file of a preset.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PresetFile {
    summary: String,
    site: Option<String>,
    programs: Option<Spanned<Vec<String>>>,
    #[serde(default)]
    version: Vec<String>,
    #[serde(default)]
    own_sandbox: OwnSandbox,
    #[serde(default)]
    env: PresetVariables,
    #[serde(default)]
    args: PresetArguments,
    #[serde(default)]
    hosts: PresetHosts,
    login: Option<PresetLogin>,
    acp: Option<PresetAcp>,
    #[serde(default)]
    inject: Vec<PresetKey>,
    #[serde(default)]
    moves: moved::Moves,
    #[serde(default)]
    home: Vec<Spanned<RowText>>,
}

/// A row of the home, as it is written.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct RowText {
    paths: Vec<String>,
    keep: HomeKeep,
    format: Option<CredentialFormat>,
    #[serde(default)]
    logout: bool,
    lock: Option<String>,
    #[serde(default)]
    take: Vec<String>,
    #[serde(default)]
    give: Vec<String>,
}

impl Preset {
    /// Reads one from the text of its file.
    pub fn parse(
        name: &str,
        origin: PresetOrigin,
        file: &str,
        text: &str,
    ) -> Result<Self, ProfileError> {
        if !is_name(name) {
            let message =
                "the name of a preset has lower-case letters, digits and hyphens, at most 32";
            return Err(ProfileError::new(file, message));
        }
        let read: PresetFile = parse(file, text)?;
        let at = |start: usize, message: String| {
            ProfileError::new(file, format!("line {}: {message}", line_at(text, start)))
        };
        if let Some(programs) = &read.programs
            && programs.as_ref().iter().any(String::is_empty)
        {
            let message = "`programs` has an empty name".to_owned();
            return Err(at(programs.span().start, message));
        }
        let mut home = Vec::new();
        for row in read.home {
            let start = row.span().start;
            home.push(HomeRow::new(row.into_inner()).map_err(|message| at(start, message))?);
        }
        let login_files = read.login.iter().flat_map(|login| &login.files);
        for path in login_files {
            HomePath::parse(path)
                .map_err(|message| ProfileError::new(file, format!("[login]: {message}")))?;
        }
        if read.acp.as_ref().is_some_and(|acp| acp.command.first().is_none_or(String::is_empty)) {
            return Err(ProfileError::new(file, "[acp]: `command` names no program"));
        }
        if let Some(problem) = read.inject.iter().find_map(PresetKey::problem) {
            return Err(ProfileError::new(file, problem));
        }
        moved::check(&read.moves)
            .map_err(|message| ProfileError::new(file, format!("[moves]: {message}")))?;
        let for_acp = read.acp.iter().flat_map(|acp| acp.set.keys());
        let keys = read.inject.iter().flat_map(|key| key.from.iter().chain([&key.variable]));
        let set = read.env.set.keys().chain(for_acp).chain(&read.env.pass);
        for name in set.chain(&read.hosts.from).chain(keys).chain(read.moves.keys()) {
            if name.is_empty() || name.contains(['=', '\0']) {
                let message = format!("\"{}\" is no name of a variable", name.escape_debug());
                return Err(ProfileError::new(file, message));
            }
        }
        Ok(Self {
            name: name.to_owned(),
            origin,
            file: file.to_owned(),
            summary: read.summary,
            site: read.site,
            programs: read.programs.map(Spanned::into_inner).unwrap_or_default(),
            version: read.version,
            env: read.env,
            args: read.args,
            own_sandbox: read.own_sandbox,
            hosts: read.hosts,
            login: read.login,
            acp: read.acp,
            inject: read.inject,
            moves: read.moves,
            home,
        })
    }

    /// The hosts that it may reach, without those of variables.
    pub fn allowed(&self) -> impl Iterator<Item = &str> {
        self.hosts.need.iter().chain(&self.hosts.login).map(String::as_str)
    }

    /// Whether nobody needs to hear that a host was refused: the agent goes on without it.
    pub fn is_quiet(&self, host: &str) -> bool {
        let PresetHosts { features, telemetry, update, .. } = &self.hosts;
        let host = host.rsplit_once(':').map_or(host, |(name, _)| name);
        features.iter().chain(telemetry).chain(update).any(|quiet| quiet == host)
    }

    /// The row that says what becomes of a path of the home.
    pub fn row(&self, path: &[&[u8]]) -> Option<&HomeRow> {
        self.home.iter().find(|row| row.paths.iter().any(|pattern| pattern.holds(path)))
    }

    /// Whether a directory of the home only leads to what a row names.
    pub fn leads(&self, path: &[&[u8]]) -> bool {
        self.home.iter().any(|row| row.paths.iter().any(|pattern| pattern.lies_below(path)))
    }
}

/// Whether a preset can be called so.
fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    (1..=32).contains(&name.len()) && name.chars().all(plain) && !name.starts_with('-')
}

/// The presets that there are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Presets {
    /// The user's, or why one cannot be used.
    user: BTreeMap<String, Result<Preset, Unusable>>,
}

/// A preset of the user that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Unusable {
    error: ProfileError,
    /// The programs that it is for, as far as that can be read.
    programs: Vec<String>,
}

impl Unusable {
    fn new(error: ProfileError, text: &str) -> Self {
        #[derive(Default, Deserialize)]
        struct Programs {
            #[serde(default)]
            programs: Vec<String>,
        }
        let line = || text.lines().find(|line| line.trim_start().starts_with("programs"));
        let read = toml::from_str(text).or_else(|_| toml::from_str(line().unwrap_or_default()));
        let Programs { programs } = read.unwrap_or_default();
        Self { error, programs }
    }
}

impl Presets {
    /// Those that everybody has, and the user's: the name of each, its file, and what that holds. `check` says what is wrong with one that can
    /// be read. One that cannot be used keeps others from nothing.
    pub fn load(
        user: Vec<(String, String, Result<String, String>)>,
        check: impl Fn(&Preset) -> Result<(), String>,
    ) -> Self {
        let read = |(name, file, text): (String, String, Result<String, String>)| {
            let fail = |message: String| ProfileError::new(&file, message);
            let read = text.as_deref().map_err(|message| fail(message.clone()));
            let preset = read.and_then(|text| {
                let preset = Preset::parse(&name, PresetOrigin::User, &file, text)?;
                check(&preset).map_err(fail)?;
                Ok(preset)
            });
            let text = text.as_deref().unwrap_or_default();
            (name, preset.map_err(|error| Unusable::new(error, text)))
        };
        Self { user: user.into_iter().map(read).collect() }
    }

    /// The preset of that name; none where there is none.
    pub fn find(&self, name: &str) -> Option<Result<Preset, ProfileError>> {
        if let Some(user) = self.user.get(name) {
            return Some(user.clone().map_err(|unusable| unusable.error));
        }
        let (name, text, _) = BUILT_IN.iter().find(|(known, ..)| *known == name)?;
        Some(Preset::parse(name, PresetOrigin::BuiltIn, &format!("{name}.toml"), text))
    }

    /// The preset of that name; otherwise what to say.
    pub fn get(&self, name: &str) -> Result<Preset, String> {
        match self.find(name) {
            Some(preset) => preset.map_err(|error| error.to_string()),
            None => Err(format!(
                "there is no preset \"{}\"; there are {}, and none to use none",
                name.escape_debug(),
                self.names().join(", ")
            )),
        }
    }

    /// The names of all, in order.
    pub fn names(&self) -> Vec<String> {
        let built_in = BUILT_IN.iter().map(|(name, ..)| (*name).to_owned());
        let mut names: Vec<String> = built_in.chain(self.user.keys().cloned()).collect();
        names.sort();
        names.dedup();
        names
    }

    /// All of them, by name.
    pub fn all(&self) -> Vec<(String, Result<Preset, ProfileError>)> {
        let found = |name: String| self.find(&name).map(|preset| (name, preset));
        self.names().into_iter().filter_map(found).collect()
    }

    /// The name of the preset for a command, by its arguments.
    pub fn recognise(&self, arguments: &[&[u8]]) -> Option<String> {
        let program = recognise::program(arguments)?;
        let is_it = |known: &str| known.as_bytes() == program;
        let user = self.user.iter().find(|(name, preset)| match preset {
            Ok(preset) => preset.programs.iter().any(|known| is_it(known)),
            // What else it would say is not known.
            Err(unusable) => {
                name.as_bytes() == program || unusable.programs.iter().any(|known| is_it(known))
            }
        });
        let built_in = || {
            let mut known = BUILT_IN.iter().filter(|(name, ..)| !self.user.contains_key(*name));
            let found = known.find(|(_, _, programs)| programs.iter().any(|known| is_it(known)));
            found.map(|(name, ..)| (*name).to_owned())
        };
        user.map(|(name, _)| name.clone()).or_else(built_in)
    }
}

impl Presets {
    /// The name of the preset whose agent speaks to editors by this command: by itself, or by its adapter.
    pub fn recognise_acp(&self, arguments: &[&[u8]]) -> Option<String> {
        let known = self.recognise(arguments);
        let program = recognise::program(arguments)?;
        let is_it = |(_, preset): &(String, Result<Preset, ProfileError>)| {
            let acp = preset.as_ref().ok().and_then(|preset| preset.acp.as_ref());
            acp.is_some_and(|acp| {
                let names = acp.command.first().into_iter().chain(&acp.package);
                names.into_iter().any(|name| name.as_bytes() == program)
            })
        };
        known.or_else(|| self.all().into_iter().find(is_it).map(|(name, _)| name))
    }
}

/// All words that a row may keep by, for messages.
fn keeps() -> String {
    HomeKeep::names().join(", ")
}
