//! Which changes are to trusted files: those of the table, what links there lead to, and what settings of repositories name.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use offshoot_tree::diff::Change;
use offshoot_tree::{Body, Entry, EntryKind, Objects, RootId, VaultPath};
use offshoot_vault::{Binding, Symlinks, Vault};
use serde_json::Value;

use super::links::{Links, Way};
use super::places::Places;
use super::settings;
use super::table::{Fit, TrustedFile, TrustedTable};
use crate::error::Result;
use crate::git::{State, TrackedPaths, matters, within_repository};

/// What some editors put in front of a text, and package managers skip.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// So many files of settings are read of a repository: one may include others.
const MOST_FILES: usize = 32;
/// Longer files of settings are not read.
const LONGEST: u64 = 1 << 20;

/// Finds trusted files among changes.
#[derive(Debug)]
pub(crate) struct TrustedFiles<'t> {
    table: &'t TrustedTable,
    /// What settings name, as seen from a directory and as it is written there, and whether all of a directory counts.
    words: BTreeMap<(VaultPath, PathBuf), (&'static TrustedFile, bool)>,
    /// Where a link decides what one of these, or a trusted name, leads to.
    crossings: BTreeMap<VaultPath, &'static TrustedFile>,
    /// Files that settings name.
    named: BTreeMap<VaultPath, &'static TrustedFile>,
    /// Directories of which everything counts.
    directories: BTreeMap<VaultPath, &'static TrustedFile>,
    /// Files of the table in which nothing new is run or obeyed.
    harmless: BTreeSet<VaultPath>,
    places: Places,
    /// The links of the main line, and those that are new in the workspace.
    links: Symlinks,
    new_links: Symlinks,
}

/// What links and settings are read from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Surroundings<'s> {
    pub(crate) vault: &'s Vault,
    /// The root of the main line.
    pub(crate) main: &'s RootId,
    /// The workspace and the main line.
    pub(crate) states: [State<'s>; 2],
    /// The git directory of the first folder.
    pub(crate) shared: &'s VaultPath,
    pub(crate) bindings: &'s [Binding],
    /// The git of the folders, if there is one to be asked.
    pub(crate) git: Option<&'s TrackedPaths>,
}

impl<'t> TrustedFiles<'t> {
    /// Looks for links and settings, which may make any file a trusted one.
    pub(crate) fn new(
        table: &'t TrustedTable,
        changes: &[Change],
        surroundings: &Surroundings<'_>,
    ) -> Result<Self> {
        let Surroundings { vault, main, states, shared, bindings, git } = *surroundings;
        let (named, directories) = (BTreeMap::new(), BTreeMap::new());
        let harmless = BTreeSet::new();
        let (words, crossings) = (BTreeMap::new(), BTreeMap::new());
        let places = Places::new(bindings, git.and_then(TrackedPaths::home));
        let (links, new_links) = (Symlinks::new(), new_links(changes));
        let mut files = Self {
            table,
            words,
            crossings,
            named,
            directories,
            harmless,
            places: places.clone(),
            links,
            new_links,
        };
        if changes.is_empty() {
            return Ok(files);
        }
        let mut repositories = BTreeSet::from([VaultPath::top()]);
        let mut folders = BTreeSet::new();
        for change in changes {
            let mut above = change.path.parent();
            while let Some(folder) = above.filter(|folder| folders.insert(folder.clone())) {
                above = folder.parent();
            }
        }
        for change in changes {
            let Some(Fit::File(file)) = table.fit(&change.path) else { continue };
            if file.harmless.is_empty() && file.json.is_empty() {
                continue;
            }
            let objects = states[0].objects;
            let (before, after) =
                (content(objects, &change.before)?, content(objects, &change.after)?);
            if is_harmless(file, before.text(), after.text()) {
                files.harmless.insert(change.path.clone());
            }
        }
        let mut has_repository = git.is_some_and(TrackedPaths::has_repository);
        for state in states {
            files.read_settings(state, shared, &VaultPath::top(), &places)?;
            for folder in &folders {
                let is_inside = within_repository(folder).is_some();
                if !is_inside && state.tree.get(&folder.join(b".git"))?.is_none() {
                    continue;
                }
                has_repository = true;
                if !is_inside && !folder.is_top() {
                    let repository = state.repository_at(folder)?;
                    files.read_settings(state, &repository, folder, &places)?;
                    repositories.insert(folder.clone());
                }
            }
        }
        if let Some(git) = git {
            files.name_home(git);
        }
        // Starting git takes longer than all else here. Outside of repositories it has nothing to say that is not in the person's files.
        let git = git.filter(|git| has_repository || names_something(table, git));
        for (key, value) in git.map(TrackedPaths::settings).unwrap_or_default() {
            // Git has already read what is included there.
            for folder in repositories.iter().filter(|_| !key.starts_with("include")) {
                files.name(key, value, folder, &places);
            }
        }
        let main = vault.symlinks(main)?;
        let new = std::mem::take(&mut files.new_links);
        let links = Links::of(&main, &places).with(&new);
        files.follow_links(&links);
        if places.has_folders() {
            files.find_leaving(&links, &main, &new);
        }
        drop(links);
        (files.links, files.new_links) = (main, new);
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
        let crossing = || match is_link(before) || is_link(after) {
            true => self.crossings.get(path).copied(),
            false => None,
        };
        self.named.get(path).copied().or_else(within).or_else(crossing)
    }

    /// Whether a file of a repository's tree gets nothing that is run or obeyed by what it has now in place of what it had.
    pub(crate) fn is_harmless(
        &self,
        path: &VaultPath,
        before: Option<&[u8]>,
        after: Option<&[u8]>,
    ) -> bool {
        let is_reached = self.named.contains_key(path)
            || self.directories.keys().any(|directory| path.is_within(directory));
        let is_small = |text: &[u8]| text.len() as u64 <= LONGEST;
        let texts = (Text::new(before.filter(|text| is_small(text))), Text::new(after));
        match self.table.fit(path) {
            _ if is_reached || after.is_some_and(|text| !is_small(text)) => false,
            Some(Fit::File(file)) => is_harmless(file, texts.0, texts.1),
            _ => false,
        }
    }

    /// Whether some links of a repository's tree lead out of the folders or to what counts, or make others do so.
    pub(crate) fn leads_astray(&self, new: &Symlinks) -> bool {
        if new.is_empty() || !self.places.has_folders() {
            return false;
        }
        let links = Links::of(&self.links, &self.places).with(&self.new_links).with(new);
        let is_wrong = |(path, target): (&VaultPath, &Vec<u8>)| {
            let way = links.way_of(path, target);
            let is_trusted =
                |end: &VaultPath| self.counts(end, false) || within_repository(end).is_some();
            way.leaves || way.ends.iter().any(is_trusted)
        };
        let is_led_out = |(path, target): (&VaultPath, &Vec<u8>)| {
            let way = links.way_of(path, target);
            way.leaves && way.over.iter().any(|over| new.contains_key(over))
        };
        new.iter().any(is_wrong) || self.links.iter().any(is_led_out)
    }

    /// Whether a file at a path of a repository's tree would count; the flag is set for a symbolic link.
    pub(crate) fn counts(&self, path: &VaultPath, is_link: bool) -> bool {
        let within = || self.directories.keys().any(|directory| path.is_within(directory));
        self.table.counts(path, is_link)
            || self.named.contains_key(path)
            || within()
            || is_link && self.crossings.contains_key(path)
    }

    /// What is reached through links by a trusted name, or by what a setting names, is trusted as well. So is what links of git directories
    /// lead to, such as hooks that are kept among the sources.
    fn follow_links(&mut self, links: &Links<'_>) {
        let mut start: Vec<(VaultPath, &'static TrustedFile)> = Vec::new();
        for path in links.paths() {
            let of_table = self.table.fit(path).map(|fit| match fit {
                Fit::File(file) | Fit::Above(file) => file,
            });
            let of_git = || is_obeyed_by_git(path).then(|| self.table.git_link());
            start.extend(of_table.or_else(of_git).map(|file| (path.clone(), file)));
        }
        for (path, file) in start {
            let mut way = links.ways_below(&VaultPath::top(), &relative(&path));
            way.ends.remove(&path);
            self.lead(way, file, true);
        }
        for ((from, word), (file, directory)) in std::mem::take(&mut self.words) {
            let way = match directory {
                true => links.ways_below(&from, &word),
                false => links.way(&from, &word),
            };
            self.lead(way, file, directory);
        }
    }

    /// Adds what the host obeys of the person's home.
    fn name_home(&mut self, git: &TrackedPaths) {
        const CONFIG: &str = ".config";
        let (home, config) = (git.home(), git.config());
        for (below, file) in self.table.of_home() {
            let of_home = home.as_ref().map(|home| home.join(below));
            let of_config = Path::new(below).strip_prefix(CONFIG).ok();
            let of_config = of_config.and_then(|below| Some(config.as_ref()?.join(below)));
            for path in of_home.into_iter().chain(of_config) {
                // A folder that is such a place, or lies in one, is obeyed as a whole.
                for folder in self.places.folders_in(&path) {
                    self.directories.entry(folder).or_insert(file);
                }
                self.words.entry((VaultPath::top(), path)).or_insert((file, true));
            }
        }
    }

    fn lead(&mut self, way: Way, file: &'static TrustedFile, directory: bool) {
        let counts = if directory { &mut self.directories } else { &mut self.named };
        // Nobody means all that there is.
        for end in way.ends.into_iter().filter(|end| !end.is_top()) {
            counts.entry(end).or_insert(file);
        }
        if way.is_endless {
            self.directories.entry(VaultPath::top()).or_insert(file);
        }
        for crossing in way.over {
            self.crossings.entry(crossing).or_insert(file);
        }
    }

    /// Notes the links that lead out of all folders, or make others do so.
    fn find_leaving(&mut self, links: &Links<'_>, main: &Symlinks, new: &Symlinks) {
        let leaving = self.table.leaving_link();
        for (path, _) in new.iter().filter(|(path, target)| links.way_of(path, target).leaves) {
            self.crossings.entry(path.clone()).or_insert(leaving);
        }
        if new.is_empty() {
            return;
        }
        for (path, target) in main.iter().filter(|(path, _)| !new.contains_key(*path)) {
            let way = links.way_of(path, target);
            for crossing in way.over.iter().filter(|over| way.leaves && new.contains_key(*over)) {
                self.crossings.entry(crossing.clone()).or_insert(leaving);
            }
        }
    }

    /// Adds what the settings of a repository name, as seen from its working tree, with those that they include.
    fn read_settings(
        &mut self,
        state: State<'_>,
        repository: &VaultPath,
        folder: &VaultPath,
        places: &Places,
    ) -> Result<()> {
        let names = [&b"config"[..], b"config.worktree"];
        let mut files: Vec<VaultPath> = names.iter().map(|name| repository.join(name)).collect();
        let mut seen = BTreeSet::new();
        while let Some(file) = files.pop().filter(|_| seen.len() < MOST_FILES) {
            if !seen.insert(file.clone()) {
                continue;
            }
            let text = state.file(&file)?.unwrap_or_default();
            let at = file.parent().unwrap_or_else(VaultPath::top);
            for (key, value) in settings::read(&text) {
                // Includes are found from the file that has them, and all else from the working tree.
                let is_include = key.starts_with("include");
                let found = self.name(&key, &value, if is_include { &at } else { folder }, places);
                files.extend(found.into_iter().filter(|_| is_include));
            }
        }
        Ok(())
    }

    /// Adds the files that a setting names. Gives them.
    fn name(
        &mut self,
        key: &str,
        value: &str,
        from: &VaultPath,
        places: &Places,
    ) -> Vec<VaultPath> {
        let Some(setting) = self.table.setting(key) else { return Vec::new() };
        let words = if setting.directory { vec![value] } else { words(value) };
        for word in &words {
            let word = (from.clone(), places.word_path(word));
            self.words.entry(word).or_insert((setting.file, setting.directory));
        }
        let paths: Vec<VaultPath> =
            words.into_iter().filter_map(|word| places.of_word(from, word)).collect();
        for path in &paths {
            match setting.directory {
                true => self.directories.insert(path.clone(), setting.file),
                false => self.named.insert(path.clone(), setting.file),
            };
        }
        paths
    }
}

/// Whether settings outside of repositories name anything that counts, or cannot be told without git.
fn names_something(table: &TrustedTable, git: &TrackedPaths) -> bool {
    let names =
        |text: &Vec<u8>| settings::read(text).iter().any(|(key, _)| table.setting(key).is_some());
    git.own_texts().is_none_or(|texts| texts.iter().any(names))
}

/// A path of the vault as seen from its top.
fn relative(path: &VaultPath) -> PathBuf {
    path.names().iter().map(|name| OsStr::from_bytes(name)).collect()
}

/// Whether a link of a git directory leads to something that git runs or obeys. Objects and refs are neither.
fn is_obeyed_by_git(path: &VaultPath) -> bool {
    let stores = [&b"objects"[..], b"refs", b"logs"];
    within_repository(path)
        .and_then(<[_]>::first)
        .is_some_and(|first| !stores.contains(&first.as_slice()))
}

/// The links that changes bring.
fn new_links(changes: &[Change]) -> Symlinks {
    let of_change = |change: &Change| match change.after.as_ref().map(|entry| &entry.body) {
        Some(Body::Symlink { target }) => Some((change.path.clone(), target.clone())),
        _ => None,
    };
    changes.iter().filter_map(of_change).collect()
}

/// What a file says.
#[derive(Clone, Copy, Debug)]
enum Text<'t> {
    /// There is none.
    Missing,
    Bytes(&'t [u8]),
    /// It is no file, or too large.
    Unknown,
}

impl<'t> Text<'t> {
    fn new(bytes: Option<&'t [u8]>) -> Self {
        bytes.map_or(Self::Missing, Self::Bytes)
    }
}

/// The same with its bytes.
enum Content {
    Missing,
    Bytes(Vec<u8>),
    Unknown,
}

impl Content {
    fn text(&self) -> Text<'_> {
        match self {
            Self::Missing => Text::Missing,
            Self::Bytes(bytes) => Text::Bytes(bytes),
            Self::Unknown => Text::Unknown,
        }
    }
}

fn content(objects: &Objects, entry: &Option<Arc<Entry>>) -> Result<Content> {
    Ok(match entry.as_ref().map(|entry| &entry.body) {
        None => Content::Missing,
        Some(Body::File { blob, size: ..=LONGEST }) => Content::Bytes(objects.blob(blob)?),
        Some(_) => Content::Unknown,
    })
}

/// Whether a file of the table gets nothing new that is run or obeyed.
fn is_harmless(file: &TrustedFile, before: Text<'_>, after: Text<'_>) -> bool {
    (!file.harmless.is_empty() && brings_only(before, after, &file.harmless))
        || (!file.json.is_empty() && brings_none(before, after, &file.json))
}

/// Whether a file of settings gets nothing new but those of these keys. One that is no file, or too large, may get anything.
fn brings_only(before: Text<'_>, after: Text<'_>, harmless: &[String]) -> bool {
    let read = |text: Text<'_>| match text {
        Text::Missing => Some(Vec::new()),
        Text::Bytes(bytes) => Some(settings::read(bytes)),
        Text::Unknown => None,
    };
    let (Some(before), Some(after)) = (read(before), read(after)) else { return false };
    let mut new = after.iter().filter(|pair| !before.contains(pair));
    new.all(|(key, _)| harmless.contains(key))
}

/// Whether a file in JSON gets none of these values, or has them already. One that cannot be read may get anything.
fn brings_none(before: Text<'_>, after: Text<'_>, keys: &[Vec<String>]) -> bool {
    let read = |text: Text<'_>| match text {
        Text::Missing => Some(Value::Null),
        Text::Bytes(bytes) => {
            let text = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
            serde_json::from_slice(text).ok()
        }
        Text::Unknown => None,
    };
    let before = read(before).unwrap_or_default();
    let Some(after) = read(after) else { return false };
    let value = |document: &Value, keys: &[String]| {
        keys.iter().try_fold(document.clone(), |value, key| value.get(key).cloned())
    };
    keys.iter().all(|keys| {
        let new = value(&after, keys);
        new.is_none() || new == value(&before, keys)
    })
}

/// The words of a command that may be paths. A variable in front of one is taken for the working tree.
fn words<'w>(command: &'w str) -> Vec<&'w str> {
    let ends = |c: char| c.is_whitespace() || "!\"'`;|&()<>=".contains(c);
    let words = command.split(ends).filter(|word| word.contains(['/', '.']));
    let path = |word: &'w str| match word.strip_prefix('$') {
        Some(home) if home.starts_with("HOME/") || home.starts_with("{HOME}/") => Some(word),
        Some(variable) => variable.split_once('/').map(|(_, path)| path),
        None => Some(word),
    };
    words.filter_map(path).collect()
}
