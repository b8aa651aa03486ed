//! What git obeys in a folder on the host beside the settings that the vault has: those of the person, of the system, and what they include.

use std::path::{Path, PathBuf};

use super::error::GitResult;
use super::options::GitOptions;
use super::run::Git;

/// The settings that git has in the folders of a vault.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostSettings {
    /// Keys in lower case, without what their section is called, and values.
    pub(crate) pairs: Vec<(String, String)>,
    /// What `~` stands for.
    pub(crate) home: Option<PathBuf>,
}

impl HostSettings {
    /// Asks git. Where there is none, or it refuses, nothing obeys such settings either.
    pub(super) fn read<'p>(
        folders: impl Iterator<Item = &'p Path>,
        options: &GitOptions,
    ) -> HostSettings {
        let home = options.environment.iter().find(|(name, _)| name == "HOME");
        let home = home.map(|(_, value)| PathBuf::from(value)).filter(|home| home.is_absolute());
        let mut pairs: Vec<_> =
            folders.flat_map(|folder| listed(folder, options).unwrap_or_default()).collect();
        pairs.sort_unstable();
        pairs.dedup();
        Self { pairs, home }
    }
}

fn listed(directory: &Path, options: &GitOptions) -> GitResult<Vec<(String, String)>> {
    Ok(parse(&Git::new(options, directory).settings()?))
}

/// What `git config --list -z --show-scope` prints, without what Offshoot itself sets.
fn parse(listed: &[u8]) -> Vec<(String, String)> {
    let text = String::from_utf8_lossy(listed);
    let mut parts = text.split('\0');
    let mut found = Vec::new();
    while let (Some(scope), Some(pair)) = (parts.next(), parts.next()) {
        let (key, value) = pair.split_once('\n').unwrap_or((pair, ""));
        if let (Some((section, rest)), true) = (key.split_once('.'), scope != "command") {
            let last = rest.rsplit('.').next().unwrap_or_default();
            found.push((format!("{section}.{last}").to_ascii_lowercase(), value.to_owned()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_lose_their_names_and_own_settings_do_not_count() {
        let listed = b"global\0core.hookspath\nmine\0command\0core.hookspath\n/dev/null\0local\0filter.A.b.clean\nx y\0";
        let pairs = [("core.hookspath", "mine"), ("filter.clean", "x y")];
        assert_eq!(parse(listed), pairs.map(|(key, value)| (key.to_owned(), value.to_owned())));
    }
}
