//! Where in the vault a path lies that a link or a setting names.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use offshoot_tree::VaultPath;
use offshoot_vault::Binding;

/// The folders of a vault, and the home of who has them.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    folders: Vec<(VaultPath, PathBuf)>,
    home: Option<PathBuf>,
}

impl Places {
    pub(super) fn new(bindings: &[Binding], home: Option<PathBuf>) -> Self {
        let folders = bindings.iter().map(|binding| (binding.at(), binding.host_path()));
        Self { folders: folders.collect(), home }
    }

    /// What a symbolic link in a directory leads to; nothing where that is in no folder.
    pub(super) fn of_link(&self, from: &VaultPath, target: &[u8]) -> Option<VaultPath> {
        let target = Path::new(OsStr::from_bytes(target));
        let found = match self.on_host(from) {
            Some(directory) => self.in_folders(&directory.join(target)),
            None => None,
        };
        found.or_else(|| resolved(from, target)).filter(|path| !path.is_top())
    }

    /// Whether a symbolic link in a directory leads out of all folders. Without any there is nothing to leave.
    pub(super) fn leaves(&self, from: &VaultPath, target: &[u8]) -> bool {
        let target = Path::new(OsStr::from_bytes(target));
        let on_host = self.on_host(from).map(|directory| directory.join(target));
        on_host.is_some_and(|path| self.in_folders(&path).is_none())
    }

    /// What a word of a setting names, as seen from a directory. Behind a substitution an absolute path is one from that directory.
    pub(super) fn of_word(&self, from: &VaultPath, word: &str) -> Option<VaultPath> {
        let homes = ["~/", "$HOME/", "${HOME}/"];
        let in_home = homes.iter().find_map(|home| word.strip_prefix(home));
        let path = match (in_home, &self.home) {
            (Some(below), Some(home)) => home.join(below),
            _ => PathBuf::from(word),
        };
        let found = match path.is_absolute() {
            true => self.in_folders(&path),
            false => self.on_host(from).and_then(|at| self.in_folders(&at.join(&path))),
        };
        let plain = || resolved(from, Path::new(word.trim_start_matches('/')));
        found.or_else(plain).filter(|path| !path.is_top())
    }

    /// Where a directory of the vault lies on the host.
    fn on_host(&self, path: &VaultPath) -> Option<PathBuf> {
        let around = self.folders.iter().filter(|(at, _)| path.is_within(at));
        let (at, folder) = around.max_by_key(|(at, _)| at.names().len())?;
        let below = path.names()[at.names().len()..].iter();
        Some(below.fold(folder.clone(), |place, name| place.join(OsStr::from_bytes(name))))
    }

    /// The place in the vault of an absolute path, as it is written or as the host resolves it.
    fn in_folders(&self, path: &Path) -> Option<VaultPath> {
        let written = normal(path);
        let find = |path: &Path| {
            let inside =
                |(at, folder): &(VaultPath, PathBuf)| resolved(at, path.strip_prefix(folder).ok()?);
            // The folder that is the innermost on the host.
            let length = |folder: &Path| folder.components().count();
            let mut folders: Vec<_> = self.folders.iter().collect();
            folders.sort_by_key(|(_, folder)| std::cmp::Reverse(length(folder)));
            folders.into_iter().find_map(inside)
        };
        find(&written).or_else(|| find(&path.canonicalize().ok()?))
    }
}

/// An absolute path without `.` and `..`.
fn normal(path: &Path) -> PathBuf {
    let mut plain = PathBuf::from("/");
    for part in path.components() {
        match part {
            Component::Normal(name) => plain.push(name),
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    plain
}

/// A path as seen from a directory; nothing where it leads out of the vault.
fn resolved(from: &VaultPath, path: &Path) -> Option<VaultPath> {
    let mut at = from.clone();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => at = at.parent()?,
            Component::Normal(name) => at = at.join(name.as_bytes()),
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(at)
}
