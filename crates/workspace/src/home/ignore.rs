//! What `.gitignore` files, read from trees, say about paths.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use offshoot_vault::{Body, DirRef, Entry, Objects, RootId, Tree, VaultPath, bound_path};

use super::bytes_path;
use crate::error::Result;
use crate::git::within_repository;

/// No ignore file that somebody wrote is longer.
const LONGEST: u64 = 1 << 20;

/// The rules of several states together: what any of them ignores is ignored.
///
/// Of a workspace these are the rules of its base, its own and those of the main line, so that neither new rules nor removed
/// ones make build output come home unasked.
pub(crate) struct IgnoreRules<'t> {
    states: Vec<State<'t>>,
}

struct State<'t> {
    objects: &'t Objects,
    /// The directories on the way to what was asked about; nothing where the tree has none.
    folders: HashMap<VaultPath, Option<DirRef>>,
    /// The rules of `.git/info/exclude`, which every other rule overrides.
    outermost: Option<Arc<Gitignore>>,
    /// The rules of each directory that was looked at.
    levels: HashMap<VaultPath, Option<Arc<Gitignore>>>,
    /// Which directories are ignored.
    directories: HashMap<VaultPath, bool>,
}

impl<'t> IgnoreRules<'t> {
    /// Reads the rules of these states when they are needed. `excludes` is the file of rules that belongs to the repository.
    pub(crate) fn new(objects: &'t Objects, roots: &[RootId], excludes: &[u8]) -> Result<Self> {
        let outermost = matcher(&VaultPath::top(), excludes);
        let state = |root: &RootId| -> Result<State<'t>> {
            let top = Tree::open(objects, root)?.top().directory().copied();
            let (folders, outermost) =
                (HashMap::from([(VaultPath::top(), top)]), outermost.clone());
            let (levels, directories) = (HashMap::new(), HashMap::new());
            Ok(State { objects, folders, outermost, levels, directories })
        };
        let roots: BTreeSet<&RootId> = roots.iter().collect();
        Ok(Self { states: roots.into_iter().map(state).collect::<Result<_>>()? })
    }

    /// Whether a path is ignored, by itself or by a directory that it is in.
    pub(crate) fn ignores(&mut self, path: &VaultPath, is_directory: bool) -> Result<bool> {
        // What is in a repository's own directory is never looked at by its rules.
        if within_repository(path).is_some() {
            return Ok(false);
        }
        for state in &mut self.states {
            if state.ignores(path, is_directory)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl State<'_> {
    fn ignores(&mut self, path: &VaultPath, is_directory: bool) -> Result<bool> {
        let Some((_, parents)) = path.names().split_last() else { return Ok(false) };
        let mut at = folder_of(path);
        // An ignored directory is not entered, so nothing below it can be taken out again.
        for name in parents.iter().skip(at.names().len()) {
            at = at.join(name);
            let known = self.directories.get(&at).copied();
            let ignored = match known {
                Some(known) => known,
                None => self.matches(&at, true)?,
            };
            self.directories.insert(at.clone(), ignored);
            if ignored {
                return Ok(true);
            }
        }
        self.matches(path, is_directory)
    }

    /// What the rules say of this path alone; those of the innermost directory first.
    fn matches(&mut self, path: &VaultPath, is_directory: bool) -> Result<bool> {
        let (bytes, folder) = (path.relative(), folder_of(path));
        let mut level = path.parent();
        while let Some(directory) = level.filter(|level| level.is_within(&folder)) {
            let rules = self.rules_in(&directory)?;
            match rules.map_or(Match::None, |r| verdict(&r, &bytes, is_directory)) {
                Match::Ignore(()) => return Ok(true),
                Match::Whitelist(()) => return Ok(false),
                Match::None => level = directory.parent(),
            }
        }
        let outermost = self.outermost.as_ref().filter(|_| folder.is_top());
        let verdict = outermost.map_or(Match::None, |r| verdict(r, &bytes, is_directory));
        Ok(matches!(verdict, Match::Ignore(())))
    }

    fn rules_in(&mut self, directory: &VaultPath) -> Result<Option<Arc<Gitignore>>> {
        if let Some(known) = self.levels.get(directory) {
            return Ok(known.clone());
        }
        let file = match self.folder(directory)? {
            Some(dir) => self.objects.entry(&dir, b".gitignore")?,
            None => None,
        };
        let text = file.map(|file| text_of(self.objects, &file)).transpose()?.flatten();
        let rules = text.and_then(|text| matcher(directory, &text));
        self.levels.insert(directory.clone(), rules.clone());
        Ok(rules)
    }

    /// A directory of the tree. Those above it are looked up once, however many are in them.
    fn folder(&mut self, path: &VaultPath) -> Result<Option<DirRef>> {
        if let Some(known) = self.folders.get(path) {
            return Ok(*known);
        }
        let parent = match path.parent() {
            Some(parent) => self.folder(&parent)?,
            None => None,
        };
        let entry = match (parent, path.name()) {
            (Some(parent), Some(name)) => self.objects.entry(&parent, name)?,
            _ => None,
        };
        let found = entry.as_ref().and_then(Entry::directory).copied();
        self.folders.insert(path.clone(), found);
        Ok(found)
    }
}

/// Where the folder that a path belongs to lies in the tree: the rules of one folder say nothing about another.
fn folder_of(path: &VaultPath) -> VaultPath {
    let bound = bound_path();
    match path.names().get(bound.names().len()) {
        Some(name) if path.is_within(&bound) => bound.join(name),
        _ => VaultPath::top(),
    }
}

fn verdict(rules: &Gitignore, path: &[u8], is_directory: bool) -> Match<()> {
    rules.matched(bytes_path(path), is_directory).map(drop)
}

/// The bytes of a file in a tree, if there is one and it is not too long to be what it should be.
pub(super) fn text_at(
    objects: &Objects,
    tree: &Tree<'_>,
    path: &VaultPath,
) -> Result<Option<Vec<u8>>> {
    match tree.get(path)? {
        Some(entry) => text_of(objects, &entry),
        None => Ok(None),
    }
}

fn text_of(objects: &Objects, entry: &Entry) -> Result<Option<Vec<u8>>> {
    match &entry.body {
        Body::File { size, blob } if *size <= LONGEST => Ok(Some(objects.blob(blob)?)),
        _ => Ok(None),
    }
}

/// The rules of one file. Lines that are no patterns are passed over, as git does.
fn matcher(directory: &VaultPath, text: &[u8]) -> Option<Arc<Gitignore>> {
    let mut builder = GitignoreBuilder::new(bytes_path(&directory.relative()));
    for line in text.split(|&byte| byte == b'\n') {
        let Ok(line) = std::str::from_utf8(line) else { continue };
        let _invalid_pattern = builder.add_line(None, line.trim_end_matches('\r')).is_err();
    }
    builder.build().ok().filter(|rules| !rules.is_empty()).map(Arc::new)
}
