//! The inputs of loading, given explicitly, and how the process provides them.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The variable that names another user file.
pub(super) const CONFIG_VARIABLE: &str = "OFFSHOOT_CONFIG";
/// What the variables that are settings start with.
pub(super) const PREFIX: &str = "OFFSHOOT_";

/// Everything that loading looks at.
///
/// ```
/// use offshoot_engine::settings::{Sources, load};
///
/// let sources = Sources { flags: vec!["exec.timeout=30m".to_owned()], ..Sources::default() };
/// assert_eq!(load(&sources)?.config.exec.timeout.as_secs(), 30 * 60);
/// # Ok::<(), offshoot_engine::settings::ConfigError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// The user's file at its usual place; it need not exist. `OFFSHOOT_CONFIG` in `env` goes before it.
    pub user_file: Option<PathBuf>,
    /// The directory from which the project's file is looked for upward, and where relative paths start.
    pub project_start_dir: Option<PathBuf>,
    /// The environment.
    pub env: Vec<(OsString, OsString)>,
    /// The values of `--config`, in order.
    pub flags: Vec<String>,
}

impl Sources {
    /// For a caller with this environment who stands in this directory.
    ///
    /// ```
    /// use offshoot_engine::settings::Sources;
    ///
    /// let sources = Sources::new(vec![("HOME".into(), "/srv/me".into())], None, Vec::new());
    /// assert_eq!(sources.user_file, Some("/srv/me/.config/offshoot/config.toml".into()));
    /// ```
    pub fn new(
        env: Vec<(OsString, OsString)>,
        directory: Option<PathBuf>,
        flags: Vec<String>,
    ) -> Self {
        let user_file = user_directory(&env).map(|directory| directory.join("config.toml"));
        Self { user_file, project_start_dir: directory, env, flags }
    }

    /// The file that `OFFSHOOT_CONFIG` names, if it names one.
    pub(super) fn named_user_file(&self) -> Option<PathBuf> {
        let path = Path::new(variable(&self.env, CONFIG_VARIABLE)?);
        Some(match &self.project_start_dir {
            Some(start) => start.join(path),
            None => path.to_owned(),
        })
    }
}

/// The directory of the user's files by the XDG rules: in `$XDG_CONFIG_HOME`, if absolute, else in `~/.config`.
///
/// ```
/// use offshoot_engine::settings::user_directory;
///
/// let directory = user_directory(&[("HOME".into(), "/srv/me".into())]);
/// assert_eq!(directory, Some("/srv/me/.config/offshoot".into()));
/// ```
pub fn user_directory(env: &[(OsString, OsString)]) -> Option<PathBuf> {
    let absolute = |name| {
        let path = Path::new(variable(env, name)?);
        path.is_absolute().then(|| path.to_owned())
    };
    let directory =
        absolute("XDG_CONFIG_HOME").or_else(|| absolute("HOME").map(|home| home.join(".config")));
    directory.map(|directory| directory.join("offshoot"))
}

/// Whether a variable claims to be a setting: section and key are held apart by two underscores. Others of the prefix, such
/// as those of a newer version, mean something else.
pub(super) fn is_setting(variable: &str) -> bool {
    variable.strip_prefix(PREFIX).is_some_and(|rest| rest.contains("__"))
}

/// The variable that sets a key.
pub(super) fn variable_of(key: &str) -> String {
    format!("{PREFIX}{}", key.replace('.', "__").to_ascii_uppercase())
}

/// The key that a variable sets, whether it exists or not.
pub(super) fn key_of(variable: &str) -> String {
    let rest = variable.strip_prefix(PREFIX).unwrap_or(variable);
    rest.replace("__", ".").to_ascii_lowercase()
}

/// The value of a variable; an empty one counts as unset.
fn variable<'env>(env: &'env [(OsString, OsString)], name: &str) -> Option<&'env OsStr> {
    env.iter()
        .find(|(candidate, value)| candidate == name && !value.is_empty())
        .map(|(_, value)| value.as_os_str())
}

#[cfg(test)]
mod tests {
    use super::super::keys::KEYS;
    use super::*;

    fn env(pairs: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
        pairs.iter().map(|(a, b)| (a.into(), b.into())).collect()
    }

    #[test]
    fn the_user_file_follows_xdg() {
        let file = |pairs| Sources::new(env(pairs), None, Vec::new()).user_file;
        let in_home = Some(PathBuf::from("/h/.config/offshoot/config.toml"));
        assert_eq!(
            file(&[("XDG_CONFIG_HOME", "/x"), ("HOME", "/h")]),
            Some("/x/offshoot/config.toml".into())
        );
        assert_eq!(file(&[("HOME", "/h")]), in_home);
        assert_eq!(file(&[("XDG_CONFIG_HOME", ""), ("HOME", "/h")]), in_home);
        assert_eq!(file(&[("XDG_CONFIG_HOME", "rel"), ("HOME", "/h")]), in_home);
        assert_eq!(file(&[]), None);
    }

    #[test]
    fn variables_and_keys_translate_both_ways() {
        for key in KEYS {
            assert_eq!(key_of(&variable_of(key.name)), key.name);
            assert!(is_setting(&variable_of(key.name)), "{}", key.name);
        }
        assert_eq!(variable_of("diff.max_text_bytes"), "OFFSHOOT_DIFF__MAX_TEXT_BYTES");
    }
}
