//! Which files git tracks, whatever its ignore rules say.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

use offshoot_tree::VaultPath;

use super::error::GitResult;
use super::folder::GitFolder;
use super::host_settings;
use super::options::GitOptions;

/// The files of folders that git tracks. Git is asked once for each folder, and only when the first question comes.
#[derive(Debug)]
pub struct TrackedPaths {
    options: GitOptions,
    folders: Vec<Tracked>,
    settings: OnceCell<Vec<host_settings::Pair>>,
}

#[derive(Debug)]
struct Tracked {
    at: VaultPath,
    directory: PathBuf,
    paths: OnceCell<HashSet<Vec<u8>>>,
}

impl TrackedPaths {
    /// Of folders, given by their places in the vault's tree and on the host.
    pub fn new(folders: Vec<(VaultPath, PathBuf)>, options: GitOptions) -> Self {
        let of = |(at, directory)| Tracked { at, directory, paths: OnceCell::new() };
        let folders = folders.into_iter().map(of).collect();
        Self { options, folders, settings: OnceCell::new() }
    }

    /// What git is run with.
    pub(crate) fn options(&self) -> &GitOptions {
        &self.options
    }

    /// The settings that git has in the folders beside those that the vault knows. It is asked when the first question comes.
    pub(crate) fn settings(&self) -> &[(String, String)] {
        self.settings.get_or_init(|| host_settings::read(self.directories(), &self.options))
    }

    /// The texts of all settings that git has outside of repositories; nothing where it has to be asked for them.
    pub(crate) fn own_texts(&self) -> Option<Vec<Vec<u8>>> {
        host_settings::own_texts(&self.options)
    }

    /// What `~` stands for in settings.
    pub(crate) fn home(&self) -> Option<PathBuf> {
        host_settings::home(&self.options)
    }

    /// The directory of settings that the person chose instead of the usual one.
    pub(crate) fn config(&self) -> Option<PathBuf> {
        host_settings::config(&self.options)
    }

    /// Whether one of the folders is in a repository on the host.
    pub(crate) fn has_repository(&self) -> bool {
        self.directories().any(host_settings::has_repository)
    }

    fn directories(&self) -> impl Iterator<Item = &Path> {
        self.folders.iter().map(|folder| folder.directory.as_path())
    }

    /// Whether git tracks the file at a path of the vault. Where there is no git, or it refuses to look, nothing is tracked: what is
    /// ignored stays then.
    pub fn has(&self, path: &VaultPath) -> bool {
        let around = self.folders.iter().filter(|folder| path.is_within(&folder.at));
        let Some(folder) = around.max_by_key(|folder| folder.at.names().len()) else {
            return false;
        };
        let read = || tracked(&folder.directory, &self.options).unwrap_or_default();
        let below = path.names()[folder.at.names().len()..].join(&b'/');
        folder.paths.get_or_init(read).contains(&below)
    }
}

fn tracked(directory: &Path, options: &GitOptions) -> GitResult<HashSet<Vec<u8>>> {
    let Some(folder) = GitFolder::find(directory, options)? else { return Ok(HashSet::new()) };
    let git = folder.git.in_directory(&folder.folder);
    let listed = git.output(&["ls-files", "-z", "--cached"])?;
    let paths = listed.split(|byte| *byte == 0).filter(|path| !path.is_empty());
    Ok(paths.map(<[u8]>::to_vec).collect())
}
