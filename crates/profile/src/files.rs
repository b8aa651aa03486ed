//! Files of profiles: those that everybody has, the user's and the project's.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};

use offshoot_vocabulary::{Demand, FileAccess, Network, Notation, Wall};
use serde::Deserialize;
use toml::Spanned;

use crate::demand::Demands;
use crate::error::ProfileError;
use crate::hosts::{CredentialRule, HostRule, TlsRules};
use crate::profile::Profile;
use crate::reads::groups;

const BUILT_IN: &str = include_str!("../data/profiles.toml");
const BUILT_IN_NAME: &str = "profiles.toml";
/// The profile that others start from.
const USUAL: &str = "workspace";
/// Longer chains of profiles that start from one another go in a circle.
const MOST_STEPS: usize = 32;

/// A file of the user.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProfileFile {
    /// The profile that commands get.
    default: Option<String>,
    #[serde(default)]
    profile: BTreeMap<String, Text>,
    /// What the proxy adds to requests.
    #[serde(default)]
    credential: Vec<Spanned<CredentialRule>>,
    #[serde(default)]
    tls: TlsRules,
}

/// A file of a project.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProjectFile {
    /// A profile that the commands of the project get at most.
    profile: Option<String>,
    #[serde(default)]
    narrow: Option<Text>,
}

/// A profile as it is written: what is not said is as in the one that it starts from.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    about: Option<String>,
    from: Option<String>,
    files: Option<FileAccess>,
    reads: Option<Vec<String>>,
    #[serde(default)]
    show: Vec<String>,
    #[serde(default)]
    hide: Vec<String>,
    network: Option<Network>,
    allow: Option<Vec<HostRule>>,
    caches: Option<bool>,
    limits: Option<bool>,
    widen: Option<bool>,
    nested_namespaces: Option<bool>,
    io_uring: Option<bool>,
    #[serde(default)]
    walls: BTreeMap<Wall, Demand>,
}

/// The profiles that there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profiles {
    all: BTreeMap<String, Profile>,
    default: String,
    credentials: Vec<CredentialRule>,
    tls: TlsRules,
}

/// What a project takes away from the profiles of its user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectNarrowing {
    file: String,
    profiles: Vec<Profile>,
    warnings: Vec<String>,
}

impl Profiles {
    /// Those that everybody has, and those of the user's file, by its name and text.
    pub fn load(user: Option<(&str, &str)>) -> Result<Self, ProfileError> {
        let mut built_in: ProfileFile = parse(BUILT_IN_NAME, BUILT_IN)?;
        let mut default = USUAL.to_owned();
        let mut file = BUILT_IN_NAME;
        let (mut credentials, mut tls) = (Vec::new(), TlsRules::default());
        if let Some((name, text)) = user {
            let own: ProfileFile = parse(name, text)?;
            file = name;
            default = own.default.unwrap_or(default);
            let at = |rule: Spanned<CredentialRule>| {
                let line = line_at(text, rule.span().start);
                CredentialRule { line, ..rule.into_inner() }
            };
            credentials = own.credential.into_iter().map(at).collect();
            tls = own.tls;
            for (profile, text) in own.profile {
                let below = built_in.profile.remove(&profile);
                built_in
                    .profile
                    .insert(profile, below.map_or(text.clone(), |below| text.over(below)));
            }
        }
        let mut all = BTreeMap::new();
        for name in built_in.profile.keys() {
            all.insert(name.clone(), resolve(file, name, &built_in.profile, MOST_STEPS)?);
        }
        let known = Self { all, default, credentials, tls };
        known.get(&known.default).map_err(|message| ProfileError::new(file, message))?;
        Ok(known)
    }

    /// The profile that commands get where nobody says.
    pub fn usual(&self) -> &Profile {
        // It was looked up when the files were read.
        &self.all[&self.default]
    }

    /// The profile of that name; otherwise what to say.
    pub fn get(&self, name: &str) -> Result<&Profile, String> {
        self.all.get(name).ok_or_else(|| {
            let names: Vec<&str> = self.all.keys().map(String::as_str).collect();
            format!(
                "there is no profile \"{}\"; there are {}",
                name.escape_debug(),
                names.join(", ")
            )
        })
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Profile> {
        self.all.values()
    }

    /// What the proxy adds to requests, whatever the profile: the user alone says that.
    pub fn credentials(&self) -> &[CredentialRule] {
        &self.credentials
    }

    /// Which TLS connections the proxy looks into, whatever the profile: the user alone says that.
    pub fn tls(&self) -> &TlsRules {
        &self.tls
    }

    /// The same with more that the proxy adds to requests, and the hosts for which it has to look into TLS.
    #[must_use]
    pub fn with_credentials(&self, rules: Vec<CredentialRule>, inspect: Vec<String>) -> Self {
        let mut more = self.clone();
        more.credentials.extend(rules);
        more.tls.inspect.extend(inspect);
        more
    }

    /// What a project's file takes away.
    pub fn project(&self, name: &str, text: &str) -> Result<ProjectNarrowing, ProfileError> {
        let file: ProjectFile = parse(name, text).map_err(|error| match defines_profiles(text) {
            true => ProfileError::new(
                name,
                "a project cannot define profiles: `profile` names one that there is, `[narrow]` takes away",
            ),
            false => error,
        })?;
        let (mut profiles, mut warnings) = (Vec::new(), Vec::new());
        if let Some(profile) = &file.profile {
            let found = self.get(profile).map_err(|message| ProfileError::new(name, message))?;
            profiles.push(found.clone());
        }
        if let Some(text) = file.narrow {
            if text.from.is_some() || text.about.is_some() {
                return Err(ProfileError::new(name, "[narrow] has neither `from` nor `about`"));
            }
            warnings.extend(text.idle().into_iter().map(|key| {
                format!("{name}: `{key}` in [narrow] has no effect: a project can only take away")
            }));
            profiles.push(text.apply(name, name, &everything())?);
        }
        Ok(ProjectNarrowing { file: name.to_owned(), profiles, warnings })
    }
}

impl ProjectNarrowing {
    /// The project's file, as it was called.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// What the file says to no effect.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Whether commands may change files.
    pub fn lets_write(&self) -> bool {
        self.profiles.iter().all(|profile| profile.files == FileAccess::Write)
    }

    /// Whether a request may ask for more than a profile gives.
    pub fn lets_widen(&self) -> bool {
        self.profiles.iter().all(|profile| profile.widen)
    }

    /// Whether commands may be given that network, and there these hosts.
    pub fn lets_reach(&self, network: Network, hosts: &[String]) -> bool {
        let hosts = hosts.iter().flat_map(|list| list.split(',')).map(str::trim);
        self.profiles.iter().all(|profile| {
            let is =
                |rule: &HostRule, host: &str| matches!(rule, HostRule::Text(text) if text == host);
            let is_allowed = |host: &str| profile.allow.iter().any(|rule| is(rule, host));
            let names_all = profile.network == Network::Host || hosts.clone().all(is_allowed);
            network <= profile.network && (network != Network::Proxy || names_all)
        })
    }

    /// Whether commands may be shown more than the table has.
    pub fn lets_show(&self) -> bool {
        self.profiles.iter().all(Profile::is_open)
    }

    /// What is left of a profile.
    pub fn narrow(&self, profile: &Profile) -> Profile {
        let mut left = profile.clone();
        for narrower in &self.profiles {
            left = left.meet(narrower);
        }
        if left != *profile {
            left.name = format!("{} & {}", profile.name, self.file);
        }
        left
    }
}

/// What nothing is taken away by.
fn everything() -> Profile {
    Profile {
        name: String::new(),
        about: String::new(),
        files: FileAccess::Write,
        reads: BTreeSet::from([crate::ALL.to_owned()]),
        show: Vec::new(),
        hide: Vec::new(),
        network: Network::Host,
        allow: Vec::new(),
        caches: true,
        limits: false,
        widen: true,
        nested_namespaces: true,
        io_uring: true,
        walls: {
            let mut walls = Demands::default();
            walls.set(&Wall::ALL.iter().copied().map(|wall| (wall, Demand::Off)).collect());
            walls
        },
    }
}

/// Whether the text of a project's file has profiles as the user's has.
fn defines_profiles(text: &str) -> bool {
    let table = toml::from_str::<toml::Table>(text).unwrap_or_default();
    table.get("profile").is_some_and(toml::Value::is_table)
}

pub(crate) fn parse<'t, T: Deserialize<'t>>(name: &str, text: &'t str) -> Result<T, ProfileError> {
    toml::from_str(text).map_err(|error| {
        let line = error.span().map(|span| line_at(text, span.start));
        let place = line.map_or_else(String::new, |line| format!("line {line}: "));
        let message = Notation::Toml.explain(error.message());
        ProfileError::new(name, format!("{place}{message}"))
    })
}

/// The line that a byte of a text is in.
pub(crate) fn line_at(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

fn resolve(
    file: &str,
    name: &str,
    texts: &BTreeMap<String, Text>,
    left: usize,
) -> Result<Profile, ProfileError> {
    let Some(text) = texts.get(name) else {
        let names: Vec<&str> = texts.keys().map(String::as_str).collect();
        let names = names.join(", ");
        return Err(ProfileError::new(
            file,
            format!("there is no profile \"{}\"; there are {names}", name.escape_debug()),
        ));
    };
    if left == 0 {
        return Err(ProfileError::new(file, format!("profile {name} starts from itself")));
    }
    let base = match (&text.from, name) {
        (Some(from), _) => resolve(file, from, texts, left - 1)?,
        (None, USUAL) => Profile {
            reads: BTreeSet::new(),
            walls: Demands::default(),
            network: Network::None,
            limits: true,
            nested_namespaces: false,
            io_uring: false,
            ..everything()
        },
        (None, _) => resolve(file, USUAL, texts, left - 1)?,
    };
    text.clone().apply(file, name, &base)
}

impl Text {
    /// This one, and what another says where this one says nothing.
    fn over(self, below: Self) -> Self {
        let mut walls = below.walls;
        walls.extend(self.walls);
        Self {
            about: self.about.or(below.about),
            from: self.from.or(below.from),
            files: self.files.or(below.files),
            reads: self.reads.or(below.reads),
            show: [below.show, self.show].concat(),
            hide: [below.hide, self.hide].concat(),
            network: self.network.or(below.network),
            allow: self.allow.or(below.allow),
            caches: self.caches.or(below.caches),
            limits: self.limits.or(below.limits),
            widen: self.widen.or(below.widen),
            nested_namespaces: self.nested_namespaces.or(below.nested_namespaces),
            io_uring: self.io_uring.or(below.io_uring),
            walls,
        }
    }

    /// What takes nothing away where a project says it.
    fn idle(&self) -> Vec<&'static str> {
        let sees_all =
            self.reads.as_ref().is_none_or(|reads| reads.iter().any(|read| read == crate::ALL));
        let keys = [
            ("files", self.files == Some(FileAccess::Write)),
            ("reads", self.reads.is_some() && sees_all),
            ("show", !self.show.is_empty() && sees_all),
            ("network", self.network == Some(Network::Host)),
            ("allow", self.allow.is_some() && self.network != Some(Network::Proxy)),
            ("caches", self.caches == Some(true)),
            ("limits", self.limits == Some(false)),
            ("widen", self.widen == Some(true)),
            ("nested_namespaces", self.nested_namespaces == Some(true)),
            ("io_uring", self.io_uring == Some(true)),
        ];
        keys.into_iter().filter(|(_, idle)| *idle).map(|(key, _)| key).collect()
    }

    fn apply(self, file: &str, name: &str, base: &Profile) -> Result<Profile, ProfileError> {
        for group in self.reads.iter().flatten() {
            if !groups().iter().any(|known| known.name == group) {
                let names: Vec<&str> = groups().iter().map(|known| known.name).collect();
                let message = format!(
                    "profile {name}: `reads` has \"{}\", which is not one of {}; paths belong in `show`",
                    group.escape_debug(),
                    names.join(", ")
                );
                return Err(ProfileError::new(file, message));
            }
        }
        let is_place = |path: &&String| {
            path.starts_with('/') || path.starts_with("~/") || path.starts_with('$')
        };
        if let Some(path) = self.show.iter().chain(&self.hide).find(|path| !is_place(path)) {
            let message = format!(
                "profile {name}: \"{}\" is no place; write an absolute path, `~/NAME` or `$VARIABLE/NAME`",
                path.escape_debug()
            );
            return Err(ProfileError::new(file, message));
        }
        // What watches a command looks into them.
        let is_needed = |path: &&String| {
            let path = Path::new(path.as_str());
            path.components().any(|part| part == Component::ParentDir)
                || ["/proc", "/dev"].iter().any(|needed| path.starts_with(needed))
                || path == Path::new("/")
        };
        if let Some(path) = self.hide.iter().find(is_needed) {
            let message = format!(
                "profile {name}: \"{}\" cannot be hidden; nothing in /proc and /dev can, and no path with `..`",
                path.escape_debug()
            );
            return Err(ProfileError::new(file, message));
        }
        let mut walls = base.walls.clone();
        walls.set(&self.walls);
        let about = self.about.unwrap_or_else(|| {
            if self.from.is_some() { String::new() } else { base.about.clone() }
        });
        Ok(Profile {
            name: name.to_owned(),
            about,
            files: self.files.unwrap_or(base.files),
            reads: self
                .reads
                .map_or_else(|| base.reads.clone(), |reads| reads.into_iter().collect()),
            show: [base.show.clone(), self.show].concat(),
            hide: [base.hide.clone(), self.hide].concat(),
            network: self.network.unwrap_or(base.network),
            allow: self.allow.unwrap_or_else(|| base.allow.clone()),
            caches: self.caches.unwrap_or(base.caches),
            limits: self.limits.unwrap_or(base.limits),
            widen: self.widen.unwrap_or(base.widen),
            nested_namespaces: self.nested_namespaces.unwrap_or(base.nested_namespaces),
            io_uring: self.io_uring.unwrap_or(base.io_uring),
            walls,
        })
    }
}

#[cfg(test)]
mod tests;
