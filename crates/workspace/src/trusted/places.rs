//! Where in the vault a path lies that a link or a setting names.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use offshoot_tree::VaultPath;
use offshoot_vault::Binding;

/// A place on a way.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Position {
    /// In a folder.
    Inside(VaultPath),
    /// Elsewhere on the host.
    Outside(PathBuf),
}

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

    /// Whether there is any folder that something may lie outside of.
    pub(super) fn has_folders(&self) -> bool {
        !self.folders.is_empty()
    }

    /// Where an absolute path of the host lies, as it is written.
    pub(super) fn position(&self, host: &Path) -> Position {
        let found = self.within(host);
        found.map_or_else(|| Position::Outside(host.to_owned()), Position::Inside)
    }

    /// The folders that lie in a place of the host, as it is written or as the host resolves it.
    pub(super) fn folders_in(&self, host: &Path) -> Vec<VaultPath> {
        let resolved = host.canonicalize().ok();
        let is_in = |folder: &Path| {
            folder.starts_with(host) || resolved.as_ref().is_some_and(|it| folder.starts_with(it))
        };
        let folders = self.folders.iter().filter(|(_, folder)| is_in(folder));
        folders.map(|(at, _)| at.clone()).collect()
    }

    /// What lies above a directory of the vault: for a folder that is on the host. Nothing where nobody knows.
    pub(super) fn above(&self, path: &VaultPath) -> Option<Position> {
        match self.folders.iter().find(|(at, _)| at == path) {
            Some((_, folder)) => Some(self.position(folder.parent().unwrap_or(folder))),
            None => path.parent().map(Position::Inside),
        }
    }

    /// A word of a setting as a path.
    pub(super) fn word_path(&self, word: &str) -> PathBuf {
        let homes = ["~/", "$HOME/", "${HOME}/"];
        let in_home = homes.iter().find_map(|home| word.strip_prefix(home));
        match (in_home, &self.home) {
            (Some(below), Some(home)) => home.join(below),
            _ => PathBuf::from(word),
        }
    }

    /// What a word of a setting names, as seen from a directory. Behind a substitution an absolute path is one from that directory.
    pub(super) fn of_word(&self, from: &VaultPath, word: &str) -> Option<VaultPath> {
        let path = self.word_path(word);
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
        self.within(&normal(path)).or_else(|| self.within(&path.canonicalize().ok()?))
    }

    /// The place in the vault of an absolute path without `..`: in the folder that is the innermost on the host.
    fn within(&self, path: &Path) -> Option<VaultPath> {
        let inside =
            |(at, folder): &(VaultPath, PathBuf)| resolved(at, path.strip_prefix(folder).ok()?);
        let length = |folder: &Path| folder.components().count();
        let mut folders: Vec<_> = self.folders.iter().collect();
        folders.sort_by_key(|(_, folder)| std::cmp::Reverse(length(folder)));
        folders.into_iter().find_map(inside)
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
