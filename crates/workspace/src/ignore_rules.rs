//! What `.gitignore` and `.offshootignore` files, read from trees, say about paths.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use offshoot_host::disk::bytes_path;
use offshoot_tree::{Body, DirRef, Entry, Objects, RootId, Tree, VaultPath};
use offshoot_vault::{IGNORE_FILE, bound_path, check_ignore_file};

use crate::error::Result;
use crate::git::git_directory;

/// No ignore file that somebody wrote is longer.
const LONGEST: u64 = 1 << 20;

/// The rules of several states together: what any of them ignores is ignored.
///
/// Of a workspace these are the rules of its base, its own and those of the main line, so that neither new rules nor removed
/// ones have build output committed unasked.
pub(crate) struct IgnoreRules<'t> {
    states: Vec<State<'t>>,
}

struct State<'t> {
    /// How files of rules are called.
    file: &'static [u8],
    objects: &'t Objects,
    /// The rules of `.git/info/exclude`, which every other rule overrides.
    outermost: Option<Arc<Level>>,
    top: Option<DirRef>,
    /// The directories on the way to what was asked about.
    directories: HashMap<VaultPath, Directory>,
}

/// What is known of a directory.
#[derive(Clone)]
struct Directory {
    /// The directory; nothing where the tree has none.
    node: Option<DirRef>,
    /// Whether it is ignored, by itself or by one that it is in.
    ignored: bool,
    /// The rules for what is in it, innermost first. Directories without rules are no part of it.
    rules: Option<Arc<Level>>,
}

/// The rules of one file, and those that they override.
struct Level {
    rules: Gitignore,
    outer: Option<Arc<Level>>,
}

impl<'t> IgnoreRules<'t> {
    /// Reads the rules of these states when they are needed. `excludes` is the file of rules that belongs to the repository.
    pub(crate) fn new(objects: &'t Objects, roots: &[RootId], excludes: &[u8]) -> Result<Self> {
        Self::of(b".gitignore", objects, roots, excludes)
    }

    /// The same of what must never enter a vault.
    pub(crate) fn never(objects: &'t Objects, roots: &[RootId]) -> Result<Self> {
        Self::of(IGNORE_FILE, objects, roots, &[])
    }

    fn of(
        file: &'static [u8],
        objects: &'t Objects,
        roots: &[RootId],
        excludes: &[u8],
    ) -> Result<Self> {
        let outermost = matcher(&VaultPath::top(), excludes, None);
        let state = |root: &RootId| -> Result<State<'t>> {
            let top = Tree::open(objects, root)?.top().directory().copied();
            let (outermost, directories) = (outermost.clone(), HashMap::new());
            Ok(State { file, objects, outermost, top, directories })
        };
        let roots: BTreeSet<&RootId> = roots.iter().collect();
        Ok(Self { states: roots.into_iter().map(state).collect::<Result<_>>()? })
    }

    /// Whether a path is ignored, by itself or by a directory that it is in.
    pub(crate) fn ignores(&mut self, path: &VaultPath, is_directory: bool) -> Result<bool> {
        for state in &mut self.states {
            // What is in a repository's own directory is never looked at by its rules: it goes with the folder that it belongs to.
            let ignored = match git_directory(path).filter(|_| state.file != IGNORE_FILE) {
                Some(own) => state.ignores_repository(&own),
                None => state.ignores(path, is_directory),
            };
            if ignored? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl State<'_> {
    fn ignores(&mut self, path: &VaultPath, is_directory: bool) -> Result<bool> {
        let Some(parent) = path.parent() else { return Ok(false) };
        let within = self.directory(&parent)?;
        // An ignored directory is not entered, so nothing below it can be taken out again.
        Ok(within.ignored || matches(within.rules.as_deref(), path, is_directory))
    }

    /// Whether the folder that a git directory belongs to is ignored.
    fn ignores_repository(&mut self, own: &VaultPath) -> Result<bool> {
        match own.parent() {
            Some(folder) if !is_folder(own) => Ok(self.directory(&folder)?.ignored),
            _ => Ok(false),
        }
    }

    /// What is known of a directory. Each is looked at once, those above it first.
    fn directory(&mut self, path: &VaultPath) -> Result<Directory> {
        let mut missing = Vec::new();
        let mut at = Some(path.clone());
        let mut known = None;
        while let Some(directory) = at {
            known = self.directories.get(&directory).cloned();
            if known.is_some() {
                break;
            }
            at = directory.parent();
            missing.push(directory);
        }
        while let Some(directory) = missing.pop() {
            let looked = self.look(&directory, known)?;
            self.directories.insert(directory, looked.clone());
            known = Some(looked);
        }
        Ok(known.expect("the top was looked at, or something below it"))
    }

    fn look(&self, path: &VaultPath, parent: Option<Directory>) -> Result<Directory> {
        let (node, ignored, outer) = match (parent, path.name()) {
            (Some(parent), Some(name)) => {
                let entry = parent.node.map(|dir| self.objects.entry(&dir, name)).transpose()?;
                let node = entry.flatten().as_ref().and_then(Entry::directory).copied();
                match is_folder(path) {
                    true => (node, false, None),
                    false => {
                        let by_rule = matches(parent.rules.as_deref(), path, true);
                        (node, parent.ignored || by_rule, parent.rules)
                    }
                }
            }
            _ => (self.top, false, self.outermost.clone()),
        };
        let file = node.map(|dir| self.objects.entry(&dir, self.file)).transpose()?.flatten();
        let text = file.map(|file| text_of(self.objects, &file)).transpose()?.flatten();
        let own = text.and_then(|text| matcher(path, &text, outer.clone()));
        Ok(Directory { node, ignored, rules: own.or(outer) })
    }
}

/// What the rules say of this path alone; the innermost that says anything counts.
fn matches(innermost: Option<&Level>, path: &VaultPath, is_directory: bool) -> bool {
    let (mut level, bytes) = (innermost, path.relative());
    while let Some(Level { rules, outer }) = level {
        match rules.matched(bytes_path(&bytes), is_directory) {
            Match::Ignore(_) => return true,
            Match::Whitelist(_) => return false,
            Match::None => level = outer.as_deref(),
        }
    }
    false
}

/// Whether a further folder lies here: the rules of one folder say nothing about another.
fn is_folder(path: &VaultPath) -> bool {
    let bound = bound_path();
    path.names().len() == bound.names().len() + 1 && path.is_within(&bound)
}

/// The bytes of a file in a tree, if there is one and it is not too long to be what it should be.
pub(crate) fn text_at(
    objects: &Objects,
    tree: &Tree<'_>,
    path: &VaultPath,
) -> Result<Option<Vec<u8>>> {
    match tree.get(path)? {
        Some(entry) => text_of(objects, &entry),
        None => Ok(None),
    }
}

/// Whether this is an `.offshootignore` that an import takes.
pub(crate) fn is_ignore_file(objects: &Objects, entry: &Entry) -> Result<bool> {
    Ok(text_of(objects, entry)?.is_some_and(|text| check_ignore_file(&text).is_ok()))
}

fn text_of(objects: &Objects, entry: &Entry) -> Result<Option<Vec<u8>>> {
    match &entry.body {
        Body::File { size, blob } if *size <= LONGEST => Ok(Some(objects.blob(blob)?)),
        _ => Ok(None),
    }
}

/// The rules of one file. Lines that are no patterns are passed over, as git does.
fn matcher(directory: &VaultPath, text: &[u8], outer: Option<Arc<Level>>) -> Option<Arc<Level>> {
    let mut builder = GitignoreBuilder::new(bytes_path(&directory.relative()));
    // Some editors start files with a byte order mark, which git does not count either.
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    for line in text.split(|&byte| byte == b'\n') {
        let Ok(line) = std::str::from_utf8(line) else { continue };
        let _invalid_pattern = builder.add_line(None, line.trim_end_matches('\r')).is_err();
    }
    let rules = builder.build().ok().filter(|rules| !rules.is_empty())?;
    Some(Arc::new(Level { rules, outer }))
}
