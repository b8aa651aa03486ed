//! Where a setting comes from.

use std::fmt;
use std::path::PathBuf;

use figment::Metadata;

/// The place that decided a setting.
///
/// ```
/// use offshoot_engine::settings::{SettingOrigin, Sources, load};
///
/// let sources = Sources { flags: vec!["diff.context=7".to_owned()], ..Sources::default() };
/// let all = load(&sources)?.settings()?;
/// let context = all.iter().find(|setting| setting.key == "diff.context").expect("it is a key");
/// assert_eq!(context.origin, SettingOrigin::Flag);
/// # Ok::<(), offshoot_engine::settings::ConfigError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingOrigin {
    /// Nobody set it.
    Default,
    /// The user's file.
    UserFile(PathBuf),
    /// The file of the project that the current directory lies in.
    ProjectFile(PathBuf),
    /// An environment variable, by name.
    Environment(String),
    /// A `--config` flag.
    Flag,
    /// The user, who answered `always` for this project; the file that says so.
    Remembered(PathBuf),
}

const USER_FILE: &str = "user file";
const PROJECT_FILE: &str = "project file";
const ENVIRONMENT: &str = "environment variable";
const FLAG: &str = "flag --config";
const REMEMBERED: &str = "answered `always` for this project:";

impl SettingOrigin {
    /// As figment carries it along with every value.
    pub(super) fn to_metadata(&self) -> Metadata {
        match self {
            Self::Default => Metadata::named("default"),
            Self::UserFile(path) => Metadata::from(USER_FILE, path.as_path()),
            Self::ProjectFile(path) => Metadata::from(PROJECT_FILE, path.as_path()),
            Self::Environment(variable) => Metadata::from(ENVIRONMENT, variable.as_str()),
            Self::Flag => Metadata::named(FLAG),
            Self::Remembered(path) => Metadata::from(REMEMBERED, path.as_path()),
        }
    }

    /// The reverse of [`SettingOrigin::to_metadata`]; what it does not know is a default.
    pub(super) fn from_metadata(metadata: &Metadata) -> Self {
        let source = metadata.source.as_ref();
        let path = source.and_then(|source| source.file_path());
        let variable = source.and_then(|source| source.custom());
        match (&*metadata.name, path, variable) {
            (USER_FILE, Some(path), _) => Self::UserFile(path.to_owned()),
            (PROJECT_FILE, Some(path), _) => Self::ProjectFile(path.to_owned()),
            (REMEMBERED, Some(path), _) => Self::Remembered(path.to_owned()),
            (ENVIRONMENT, _, Some(variable)) => Self::Environment(variable.to_owned()),
            (FLAG, ..) => Self::Flag,
            _ => Self::Default,
        }
    }
}

impl fmt::Display for SettingOrigin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => formatter.write_str("default"),
            Self::UserFile(path) => write!(formatter, "{USER_FILE} {}", path.display()),
            Self::ProjectFile(path) => write!(formatter, "{PROJECT_FILE} {}", path.display()),
            Self::Environment(variable) => write!(formatter, "{ENVIRONMENT} {variable}"),
            Self::Flag => formatter.write_str(FLAG),
            Self::Remembered(path) => write!(formatter, "{REMEMBERED} {}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn survives_the_way_through_figment() {
        for origin in [
            SettingOrigin::Default,
            SettingOrigin::UserFile("a/b.toml".into()),
            SettingOrigin::ProjectFile("offshoot.toml".into()),
            SettingOrigin::Environment("OFFSHOOT_UI__COLOR".to_owned()),
            SettingOrigin::Flag,
            SettingOrigin::Remembered("projects.toml".into()),
        ] {
            assert_eq!(SettingOrigin::from_metadata(&origin.to_metadata()), origin);
        }
    }
}
