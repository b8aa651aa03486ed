//! Which changes are to trusted files: those of the table, what links there lead to, and what settings of repositories name.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};

use offshoot_host::disk::bytes_path;
use offshoot_tree::diff::Change;
use offshoot_tree::{Body, Entry, EntryKind, Objects, VaultPath};
use offshoot_vault::Binding;
use serde_json::Value;

use super::settings;
use super::table::{Fit, TrustedFile, TrustedTable};
use crate::error::Result;
use crate::git::{State, matters, within_repository};

/// How many links are followed on the way to a file.
const MOST_LINKS: usize = 8;
/// What some editors put in front of a text, and package managers skip.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// Longer files of settings are not read.
const LONGEST: u64 = 1 << 20;

/// Finds trusted files among changes.
#[derive(Debug)]
pub(crate) struct TrustedFiles<'t> {
    table: &'t TrustedTable,
    /// Files that links and settings lead to.
    named: BTreeMap<VaultPath, &'static TrustedFile>,
    /// Directories of which everything counts.
    directories: BTreeMap<VaultPath, &'static TrustedFile>,
    /// Files of the table in which nothing new is run or obeyed.
    harmless: BTreeSet<VaultPath>,
}

impl<'t> TrustedFiles<'t> {
    /// Looks at the states that links and settings may be in: the workspace's and the main line's. `shared` is the git directory of the
    /// first folder.
    pub(crate) fn new(
        table: &'t TrustedTable,
        changes: &[Change],
        states: [State<'_>; 2],
        shared: &VaultPath,
        bindings: &[Binding],
    ) -> Result<Self> {
        let (named, directories) = (BTreeMap::new(), BTreeMap::new());
        let harmless = BTreeSet::new();
        let mut files = Self { table, named, directories, harmless };
        if changes.is_empty() {
            return Ok(files);
        }
        let mut folders = BTreeSet::new();
        for change in changes {
            let mut above = change.path.parent();
            while let Some(folder) = above.filter(|folder| folders.insert(folder.clone())) {
                above = folder.parent();
            }
        }
        for change in changes {
            let Some(Fit::File(file)) = table.fit(&change.path) else { continue };
            let objects = states[0].objects;
            if (!file.harmless.is_empty() && brings_only(objects, change, &file.harmless)?)
                || (!file.json.is_empty() && brings_none(objects, change, &file.json)?)
            {
                files.harmless.insert(change.path.clone());
            }
        }
        for state in states {
            files.follow_links(state)?;
            files.read_settings(state, shared, &VaultPath::top(), bindings)?;
            for folder in folders.iter().filter(|folder| !folder.is_top()) {
                if within_repository(folder).is_none()
                    && state.tree.get(&folder.join(b".git"))?.is_some()
                {
                    let repository = state.repository_at(folder)?;
                    files.read_settings(state, &repository, folder, bindings)?;
                }
            }
        }
        Ok(files)
    }

    /// The row that says what would run or obey what a change is about; nothing for other files.
    pub(crate) fn of(&self, change: &Change) -> Option<&'static TrustedFile> {
        let (path, before, after) =
            (&change.path, change.before.as_deref(), change.after.as_deref());
        let only_directories =
            [before, after].into_iter().flatten().all(|entry| entry.directory().is_some());
        if only_directories || within_repository(path).is_some() || !matters(before, after) {
            return None;
        }
        let is_link = |entry: Option<&Entry>| entry.is_some_and(|e| e.kind() == EntryKind::Symlink);
        match self.table.fit(path) {
            Some(Fit::File(_)) if self.harmless.contains(path) => {}
            Some(Fit::File(file)) => return Some(file),
            Some(Fit::Above(file)) if is_link(before) || is_link(after) => return Some(file),
            _ => {}
        }
        let mut directories = self.directories.iter();
        let within = || Some(*directories.find(|(directory, _)| path.is_within(directory))?.1);
        self.named.get(path).copied().or_else(within)
    }

    /// What a trusted name at the top leads to is trusted as well.
    fn follow_links(&mut self, state: State<'_>) -> Result<()> {
        for (way, file) in self.table.ways() {
            let mut at = way;
            for _ in 0..MOST_LINKS {
                let Some(Entry { body: Body::Symlink { target }, .. }) = state.tree.get(&at)?
                else {
                    break;
                };
                let from = at.parent().unwrap_or_else(VaultPath::top);
                let Some(next) = resolved(&from, bytes_path(&target)) else { break };
                if next.is_top() {
                    break;
                }
                self.directories.insert(next.clone(), file);
                at = next;
            }
        }
        Ok(())
    }

    /// Adds what the settings of a repository name, as seen from its working tree.
    fn read_settings(
        &mut self,
        state: State<'_>,
        repository: &VaultPath,
        folder: &VaultPath,
        bindings: &[Binding],
    ) -> Result<()> {
        for name in [&b"config"[..], b"config.worktree"] {
            let text = state.file(&repository.join(name))?.unwrap_or_default();
            for (key, value) in settings::read(&text) {
                let Some(setting) = self.table.setting(&key) else { continue };
                // Includes are found from the file that has them, and all else from the working tree.
                let from = if key.starts_with("include") { repository } else { folder };
                let words = match setting.directory {
                    true => vec![value.as_str()],
                    false => words(&value),
                };
                for path in words.into_iter().filter_map(|word| place(from, word, bindings)) {
                    match setting.directory {
                        true => self.directories.insert(path, setting.file),
                        false => self.named.insert(path, setting.file),
                    };
                }
            }
        }
        Ok(())
    }
}

/// Whether a file of settings gets nothing new but those of these keys. One that is no file, or too large, may get anything.
fn brings_only(objects: &Objects, change: &Change, harmless: &[String]) -> Result<bool> {
    let read = |entry: Option<&Entry>| -> Result<Option<Vec<settings::Pair>>> {
        Ok(match entry.map(|entry| &entry.body) {
            None => Some(Vec::new()),
            Some(Body::File { blob, size: ..=LONGEST }) => {
                Some(settings::read(&objects.blob(blob)?))
            }
            Some(_) => None,
        })
    };
    let (before, after) = (read(change.before.as_deref())?, read(change.after.as_deref())?);
    let (Some(before), Some(after)) = (before, after) else { return Ok(false) };
    let mut new = after.iter().filter(|pair| !before.contains(pair));
    Ok(new.all(|(key, _)| harmless.contains(key)))
}

/// Whether a file in JSON gets none of these values, or has them already. One that cannot be read may get anything.
fn brings_none(objects: &Objects, change: &Change, keys: &[Vec<String>]) -> Result<bool> {
    let read = |entry: Option<&Entry>| -> Result<Option<Value>> {
        Ok(match entry.map(|entry| &entry.body) {
            None => Some(Value::Null),
            Some(Body::File { blob, size: ..=LONGEST }) => {
                let bytes = objects.blob(blob)?;
                let text = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&bytes);
                serde_json::from_slice(text).ok()
            }
            Some(_) => None,
        })
    };
    let before = read(change.before.as_deref())?.unwrap_or_default();
    let Some(after) = read(change.after.as_deref())? else { return Ok(false) };
    let value = |document: &Value, keys: &[String]| {
        keys.iter().try_fold(document.clone(), |value, key| value.get(key).cloned())
    };
    Ok(keys.iter().all(|keys| {
        let new = value(&after, keys);
        new.is_none() || new == value(&before, keys)
    }))
}

/// The words of a command that may be paths. A variable in front of one is taken for the working tree.
fn words<'w>(command: &'w str) -> Vec<&'w str> {
    let ends = |c: char| c.is_whitespace() || "!\"'`;|&()<>=".contains(c);
    let words = command.split(ends).filter(|word| word.contains(['/', '.']));
    let path = |word: &'w str| match word.strip_prefix('$') {
        Some(variable) => variable.split_once('/').map(|(_, path)| path),
        None => Some(word),
    };
    words.filter_map(path).collect()
}

/// Where in the vault a path lies that is written in a file: from a directory, or from the top of the host.
fn place(from: &VaultPath, word: &str, bindings: &[Binding]) -> Option<VaultPath> {
    let path = Path::new(word);
    let in_folder = bindings
        .iter()
        .find_map(|binding| resolved(&binding.at(), path.strip_prefix(binding.host_path()).ok()?));
    // Behind a substitution an absolute path is one from the working tree.
    let found = in_folder.or_else(|| resolved(from, path.strip_prefix("/").unwrap_or(path)));
    found.filter(|path| !path.is_top())
}

/// A path as seen from a directory; nothing where it leads out of the vault.
fn resolved(from: &VaultPath, path: &Path) -> Option<VaultPath> {
    use std::os::unix::ffi::OsStrExt;
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
