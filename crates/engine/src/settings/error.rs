//! What can be wrong with settings, said so that it can be put right.

use std::fmt;
use std::io;
use std::path::PathBuf;

use super::keys::{self, KEYS};
use super::sources::variable_of;
use offshoot_protocol::Hint;

/// Why settings could not be loaded.
///
/// ```
/// use offshoot_engine::settings::{ConfigError, Sources, load};
///
/// let wrong = Sources { flags: vec!["exec.tiemout=1m".to_owned()], ..Sources::default() };
/// assert!(matches!(load(&wrong), Err(ConfigError::UnknownKey { .. })));
/// ```
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A file that exists cannot be read.
    #[error("cannot read the configuration file {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// `OFFSHOOT_CONFIG` names a file that is not there.
    #[error("OFFSHOOT_CONFIG names {}, which does not exist", path.display())]
    MissingFile {
        /// The file.
        path: PathBuf,
    },
    /// A file is too long to be one of settings.
    #[error("{} is larger than {limit} bytes, which no configuration file is", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The most that is read.
        limit: u64,
    },
    /// A file is not TOML.
    #[error("{place}: {message}")]
    Syntax {
        /// Where reading stopped.
        place: SettingPlace,
        /// What was expected.
        message: String,
    },
    /// A key that does not exist.
    #[error("{place}: unknown key {}", quoted(key))]
    UnknownKey {
        /// Where it was written.
        place: SettingPlace,
        /// The key as written.
        key: String,
    },
    /// A key is set to what it cannot be.
    #[error("{place}: {key} cannot be {value}: expected {allowed}")]
    Value {
        /// Where it was written.
        place: SettingPlace,
        /// The key, or the section that was used as one.
        key: String,
        /// The value, fit for a message.
        value: String,
        /// What would be allowed.
        allowed: String,
    },
    /// Something else is where a file would be.
    #[error("{} is not a regular file", path.display())]
    NoFile {
        /// Where it is.
        path: PathBuf,
    },
    /// A project's file sets what only its user decides.
    #[error("{place}: a project's file cannot set {key}: only you decide that")]
    NotForProjects {
        /// Where it was written.
        place: SettingPlace,
        /// The key.
        key: String,
    },
    /// There is nowhere to write a file to.
    #[error("there is no place for a configuration file: neither HOME nor XDG_CONFIG_HOME is set")]
    NoPlace,
    /// A file cannot be written.
    #[error("cannot write the configuration file {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A flag is not of the form `KEY=VALUE`.
    #[error("option -c {}: not of the form KEY=VALUE", quoted(flag))]
    FlagForm {
        /// What was given.
        flag: String,
    },
    /// Checked layers do not combine into settings: a fault of the program.
    #[error("the settings do not combine")]
    Combine(#[source] Box<figment::Error>),
}

/// Where something was written.
///
/// ```
/// use offshoot_engine::settings::{ConfigError, SettingPlace, Sources, load};
///
/// let wrong = Sources { flags: vec!["exec.tiemout=1m".to_owned()], ..Sources::default() };
/// let Err(ConfigError::UnknownKey { place, .. }) = load(&wrong) else { panic!("no such key") };
/// assert!(matches!(place, SettingPlace::Flag));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingPlace {
    /// In a file; line and column start at 1, columns count characters.
    File {
        /// The file.
        path: PathBuf,
        /// The line.
        line: usize,
        /// The column.
        column: usize,
    },
    /// In an environment variable of that name.
    Environment(String),
    /// In a setting that was given for this call alone, such as a `--config` flag.
    Flag,
    /// As an argument of `offshoot config`.
    Command,
}

impl ConfigError {
    /// What to do about it, where that is known.
    ///
    /// ```
    /// use offshoot_engine::settings::{Sources, load};
    ///
    /// let wrong = Sources { flags: vec!["exec.tiemout=1m".to_owned()], ..Sources::default() };
    /// assert!(load(&wrong).is_err_and(|error| error.hint().is_some()));
    /// ```
    pub fn hint(&self) -> Option<Hint> {
        match self {
            Self::Read { .. } => {
                Some("make the file readable, or name another one with OFFSHOOT_CONFIG".into())
            }
            Self::MissingFile { .. } => {
                Some("create the file, or unset OFFSHOOT_CONFIG to use the usual one".into())
            }
            Self::TooLarge { .. } => Some("check that the file is the one that was meant".into()),
            Self::NoFile { .. } => {
                Some(Hint::from("remove it, or ").then("offshoot undo").text(" what brought it"))
            }
            Self::NotForProjects { .. } => Some("set it in your own file if it is wanted".into()),
            Self::FlagForm { .. } => Some("write it as in diff.context=5".into()),
            Self::UnknownKey { place, key } => Some(unknown_key_hint(place, key).into()),
            Self::NoPlace => Some("set HOME, or name a file with OFFSHOOT_CONFIG".into()),
            Self::Write { .. } | Self::Syntax { .. } | Self::Value { .. } | Self::Combine(_) => {
                None
            }
        }
    }
}

impl fmt::Display for SettingPlace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, line, column } => {
                let path = path.display().to_string();
                write!(formatter, "{}:{line}:{column}", printable(&path))
            }
            Self::Environment(variable) => {
                write!(formatter, "environment variable {}", printable(variable))
            }
            Self::Flag => formatter.write_str("option -c"),
            Self::Command => formatter.write_str("offshoot config"),
        }
    }
}

/// Text for a message: in quotes, control characters escaped, and no longer than a line.
pub(super) fn quoted(text: &str) -> String {
    const LONGEST: usize = 60;
    let short: String = text.chars().take(LONGEST).collect();
    let dots = if short.len() < text.len() { "..." } else { "" };
    format!("{short:?}{dots}")
}

/// Text with its control characters escaped, so that it stays on its line and draws nothing.
pub(super) fn printable(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() {
            safe.extend(character.escape_default());
        } else {
            safe.push(character);
        }
    }
    safe
}

fn unknown_key_hint(place: &SettingPlace, key: &str) -> String {
    let spelt = |name: &str| match place {
        SettingPlace::Environment(_) => variable_of(name),
        SettingPlace::File { .. } | SettingPlace::Flag | SettingPlace::Command => name.to_owned(),
    };
    match keys::nearest(key) {
        Some(name) => format!("did you mean {}?", spelt(name)),
        None => {
            let all: Vec<String> = KEYS.iter().map(|key| spelt(key.name)).collect();
            format!("the keys are {}", all.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoting_hides_control_characters_and_shortens() {
        assert_eq!(quoted("a\u{1b}[2J\n"), "\"a\\u{1b}[2J\\n\"");
        assert_eq!(printable("it's\n\u{1b}"), "it's\\n\\u{1b}");
        let long = quoted(&"\u{e4}".repeat(100));
        assert_eq!(long, format!("\"{}\"...", "\u{e4}".repeat(60)));
    }
}
