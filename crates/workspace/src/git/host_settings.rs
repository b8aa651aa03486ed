//! What git obeys in a folder on the host beside the settings that the vault has: those of the person, of the system, and what they include.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use offshoot_host::read_regular;

use super::error::GitResult;
use super::options::GitOptions;
use super::outside::is_git_directory_on_host;
use super::run::Git;

/// Longer files of settings are left to git.
const LONGEST: u64 = 1 << 20;

/// A setting: its key in lower case, without what its section is called, and its value.
pub(super) type Pair = (String, String);

/// Asks git. Where there is none, or it refuses, nothing obeys such settings either.
pub(super) fn read<'p>(folders: impl Iterator<Item = &'p Path>, options: &GitOptions) -> Vec<Pair> {
    let mut pairs: Vec<_> =
        folders.flat_map(|folder| listed(folder, options).unwrap_or_default()).collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

/// What `~` stands for.
pub(super) fn home(options: &GitOptions) -> Option<PathBuf> {
    directory(options, "HOME")
}

/// The person's directory of settings, where a variable names one.
pub(super) fn config(options: &GitOptions) -> Option<PathBuf> {
    directory(options, "XDG_CONFIG_HOME")
}

/// Whether git may find a repository from a folder on: in it, or above it.
pub(super) fn has_repository(folder: &Path) -> bool {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    // What cannot be looked at may be one.
    let is_there = |path: PathBuf| match fs::symlink_metadata(path) {
        Ok(_) => true,
        Err(error) => error.kind() != ErrorKind::NotFound,
    };
    folder.ancestors().any(|at| is_there(at.join(".git")) || is_git_directory_on_host(at))
}

/// The texts of all settings that git has outside of repositories, where they usually are; nothing where one cannot be read.
pub(super) fn own_texts(options: &GitOptions) -> Option<Vec<Vec<u8>>> {
    let home = home(options);
    let of_home = home.iter().map(|home| home.join(".gitconfig"));
    let config = config(options).or_else(|| home.as_ref().map(|home| home.join(".config")));
    let of_config = config.iter().map(|config| config.join("git/config"));
    let prefix = options.program.parent().and_then(Path::parent);
    let of_system = [Some(Path::new("/")), prefix].into_iter().flatten();
    let of_system = of_system.map(|prefix| prefix.join("etc/gitconfig"));
    let mut texts = Vec::new();
    for file in of_home.chain(of_config).chain(of_system) {
        match read_regular(&file, LONGEST) {
            Ok(text) => texts.push(text),
            Err(error) if error.is_absent() => {}
            Err(_) => return None,
        }
    }
    Some(texts)
}

/// The directory that a variable of git's environment names.
fn directory(options: &GitOptions, name: &str) -> Option<PathBuf> {
    let found = options.environment.iter().find(|(known, _)| known == name);
    found.map(|(_, value)| PathBuf::from(value)).filter(|path| path.is_absolute())
}

fn listed(directory: &Path, options: &GitOptions) -> GitResult<Vec<Pair>> {
    Ok(parse(&Git::new(options, directory).settings()?))
}

/// What `git config --list -z --show-scope` prints, without what Offshoot itself sets.
fn parse(listed: &[u8]) -> Vec<Pair> {
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
