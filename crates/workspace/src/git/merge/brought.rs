//! Files that a commit, or an index, brings to whoever checks it out.

mod history;
mod indexes;
mod modules;
mod trees;

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::rc::Rc;

use offshoot_tree::{Body, VaultPath};
use offshoot_vault::{MOST_DEEP, Symlinks};

use super::ancestry::headers;
use super::store::{Kind, Store};
use crate::error::Result;
use crate::git::index::Index;
use crate::git::repository::{Refs, State, is_repository, resolve};
use history::{HostHistory, shallow};
use modules::ModuleStores;
use trees::{Item, by_name, items, looks_like_repository, tree_of};

/// More entries of trees, and more commits, are not looked at.
const MOST: usize = 100_000;
const TREE: u32 = 0o40_000;
const LINK: u32 = 0o120_000;
const PROGRAM: u32 = 0o100_755;
const MODULE: u32 = 0o160_000;

/// Tells what something on the host runs or obeys by itself.
pub trait Judge {
    /// Whether a file at a path counts; the flag is set for a symbolic link.
    fn counts(&self, path: &VaultPath, is_link: bool) -> bool;

    /// Whether a file that counts gets nothing that is run or obeyed by what it has now in place of what it had.
    fn is_harmless(&self, path: &VaultPath, before: Option<&[u8]>, after: Option<&[u8]>) -> bool;

    /// Whether links lead out of the folders or to what counts, or make others do so.
    fn leads_astray(&self, links: &Symlinks) -> bool;

    /// Whether somebody takes what is at a path.
    fn takes(&self, path: &VaultPath) -> bool;
}

/// Files of indexes that something on the host runs or obeys, and that it has not.
#[derive(Clone, Debug, Default)]
pub struct Staged {
    /// Those that nobody took.
    pub left: BTreeSet<VaultPath>,
    /// Those that somebody took.
    pub taken: Vec<VaultPath>,
}

/// The states that a repository is looked at in.
#[derive(Clone, Copy)]
pub(crate) struct Surroundings<'a> {
    /// Where the host's repository is: the folders, or what they were if it is gone there.
    pub(crate) host: State<'a>,
    /// What the folders were when the workspace had the same.
    pub(crate) base: State<'a>,
    /// The folders.
    pub(crate) folder: State<'a>,
    pub(crate) workspace: State<'a>,
    pub(crate) judge: &'a dyn Judge,
    /// How many repositories are around it that were looked at on the way.
    pub(crate) depth: usize,
}

/// A repository on the host and in a workspace.
pub(crate) struct Brought<'a> {
    around: Surroundings<'a>,
    at: VaultPath,
    host: Store<'a>,
    workspace: Store<'a>,
    /// The host's refs.
    refs: Refs,
    /// The working tree, where it is known.
    top: Option<VaultPath>,
    /// The commits that the host has refs for, with all that they came from.
    history: RefCell<HostHistory>,
    /// Commits whose parents are left out: of the host, and of the workspace.
    shallow: BTreeSet<Vec<u8>>,
    shallow_there: BTreeSet<Vec<u8>>,
    /// Whether commits that others came from bring what counts.
    tainted: RefCell<BTreeMap<Vec<u8>, bool>>,
    /// How many entries of trees were looked at.
    looked: Cell<usize>,
    /// What the host's indexes list, and the directories of these.
    indexes: OnceCell<Vec<Index>>,
    index_trees: OnceCell<BTreeSet<(Vec<u8>, Vec<u8>)>>,
    /// The repositories of submodules, and those that have a commit which is named, by where their files would be.
    module_stores: OnceCell<Vec<ModuleStores<'a>>>,
    modules: RefCell<BTreeMap<(VaultPath, VaultPath), Rc<Brought<'a>>>>,
    /// What was looked at.
    answers: RefCell<BTreeMap<Question, bool>>,
    /// Trees that have nothing which counts, by their paths.
    clean: RefCell<BTreeSet<(VaultPath, Vec<u8>)>>,
}

/// A commit, and the one that a ref was at before.
type Question = (Vec<u8>, Option<Vec<u8>>);

/// What became of looking through trees.
enum Look {
    Nothing,
    /// A file that counts is another one, or not all could be looked at.
    Found,
}

impl<'a> Brought<'a> {
    pub(crate) fn new(
        around: Surroundings<'a>,
        repository: &VaultPath,
        top: Option<VaultPath>,
    ) -> Result<Self> {
        let Surroundings { host, workspace, .. } = around;
        let (refs, at) = (host.refs(repository)?, repository.clone());
        let (shallow, shallow_there) = (shallow(host, &at)?, shallow(workspace, &at)?);
        let history = RefCell::new(HostHistory::new(&refs));
        let (host, workspace) = (Store::new(host, repository), Store::new(workspace, repository));
        let (indexes, index_trees) = (OnceCell::new(), OnceCell::new());
        let (answers, clean, tainted) = Default::default();
        Ok(Self {
            around,
            at,
            host,
            workspace,
            refs,
            top,
            history,
            shallow,
            shallow_there,
            tainted,
            looked: Cell::new(0),
            module_stores: OnceCell::new(),
            modules: RefCell::default(),
            indexes,
            index_trees,
            answers,
            clean,
        })
    }

    /// Whether a ref that is moved to a commit brings a file that counts: a new, changed or deleted one that no commit has which the host
    /// has a ref for, in it or in one that it came from. Where that cannot be told, it does.
    pub(crate) fn is_in(&self, commit: &[u8], before: Option<&[u8]>) -> Result<bool> {
        let question = (commit.to_vec(), before.map(<[u8]>::to_vec));
        if let Some(known) = self.answers.borrow().get(&question) {
            return Ok(*known);
        }
        let found = self.look(commit, before)? || self.came_from_some(commit)?;
        self.answers.borrow_mut().insert(question, found);
        Ok(found)
    }

    /// The same of the commit alone, whatever it came from.
    fn look(&self, commit: &[u8], before: Option<&[u8]>) -> Result<bool> {
        if self.refs.values().any(|known| known == commit) {
            return Ok(false);
        }
        let Some(tree) = self.tree_of(commit)? else {
            // A blob is nothing that git could check out, and a ref to what is not there does not come anyway.
            return match self.read(commit)? {
                Some((kind, _)) => Ok(kind != Kind::Blob),
                None => self.is_there(commit),
            };
        };
        let head = resolve(&self.refs, b"HEAD");
        let near = [before.map(<[u8]>::to_vec), head];
        let mut bases = Vec::new();
        for commit in near.iter().flatten() {
            bases.extend(tree_of(&|id| self.host.read(id), commit)?);
        }
        let followed = self.is_loose(Some(commit))?;
        if matches!(self.compare(&tree, &bases, followed)?, Look::Nothing) {
            return Ok(false);
        }
        let mut bases = Vec::new();
        for commit in self.came_from(commit)?.iter().map(Vec::as_slice).chain(before) {
            bases.extend(tree_of(&|id| self.host.read(id), commit)?);
        }
        Ok(matches!(self.compare(&tree, &bases, followed)?, Look::Found))
    }

    /// The same of a stash: it has files in its commit, in that of the index, and those that were not tracked. It is merged with what is checked
    /// out, by what it was made of: that has to be a commit of the host, or come with some others.
    pub(crate) fn is_in_stash(
        &self,
        commit: &[u8],
        before: Option<&[u8]>,
        others: &[Vec<u8>],
    ) -> Result<bool> {
        if self.is_in(commit, before)? {
            return Ok(true);
        }
        let parents = match self.read(commit)? {
            Some((Kind::Commit, bytes)) => headers(&bytes, b"parent "),
            _ => Vec::new(),
        };
        let Some((base, [index, ..])) = parents.split_first() else { return Ok(false) };
        Ok(!self.comes_with(base, others)? || self.is_in(index, None)?)
    }

    /// An object that the folder will have: its own, or that of the workspace.
    fn read(&self, id: &[u8]) -> Result<Option<(Kind, Vec<u8>)>> {
        match self.host.read(id)? {
            Some(found) => Ok(Some(found)),
            None => self.workspace.read(id),
        }
    }

    fn tree_of(&self, id: &[u8]) -> Result<Option<Vec<u8>>> {
        tree_of(&|id| self.read(id), id)
    }

    /// The newest commits that the host has refs for and that another one came from.
    fn came_from(&self, commit: &[u8]) -> Result<Vec<Vec<u8>>> {
        let (mut found, mut seen) = (Vec::new(), BTreeSet::new());
        let mut pending = vec![commit.to_vec()];
        while let Some(id) = pending.pop() {
            if self.is_of_host(&id)? {
                found.push(id);
                continue;
            }
            if seen.len() >= MOST || !seen.insert(id.clone()) {
                continue;
            }
            pending.extend(match self.read(&id)? {
                Some((Kind::Commit, bytes)) => headers(&bytes, b"parent "),
                Some((Kind::Tag, bytes)) => headers(&bytes, b"object "),
                _ => Vec::new(),
            });
        }
        Ok(found)
    }

    /// Compares a tree with others. What it leads to may be `followed` before it comes.
    fn compare(&self, tree: &[u8], bases: &[Vec<u8>], followed: bool) -> Result<Look> {
        self.compare_at(VaultPath::top(), tree, bases, followed)
    }

    /// The same of a directory at a path.
    fn compare_at(
        &self,
        path: VaultPath,
        tree: &[u8],
        bases: &[Vec<u8>],
        followed: bool,
    ) -> Result<Look> {
        let mut pending = vec![(path, Some(tree.to_vec()), bases.to_vec(), followed)];
        let (mut looked, mut links, mut clean) = (0, Symlinks::new(), Vec::new());
        while let Some((path, tree, bases, is_followed)) = pending.pop() {
            // Many commits have the same directories.
            if let Some(tree) = tree.as_ref().filter(|_| bases.is_empty()) {
                let key = (path.clone(), tree.clone());
                if self.clean.borrow().contains(&key) {
                    continue;
                }
                clean.push(key);
            }
            let Some(new) = self.items(tree.as_deref())? else {
                let tree = tree.as_deref().unwrap_or_default();
                // A commit without it does not come, where git's own files tell that.
                let does_not_come = is_followed && !self.is_there(tree)?;
                if does_not_come || self.is_checked_out(&path, tree)? {
                    continue;
                }
                return Ok(Look::Found);
            };
            let is_followed = is_followed && self.is_loose(tree.as_deref())?;
            let mut known = Vec::new();
            for base in &bases {
                // One that cannot be read is as good as none.
                known.extend(self.items(Some(base))?);
            }
            // Git takes a directory for a repository that looks like one, and obeys its settings.
            if looks_like_repository(&new)
                && !known.contains(&new)
                && !is_repository(self.around.folder.tree, &self.full(&path))?
            {
                return Ok(Look::Found);
            }
            let entries = new.len() + known.iter().map(Vec::len).sum::<usize>();
            looked += entries;
            self.looked.set(self.looked.get() + entries);
            if looked > MOST || path.names().len() > MOST_DEEP {
                return Ok(Look::Found);
            }
            let names: Vec<_> = known.iter().map(|base| by_name(base)).collect();
            let known_at = |name: &[u8]| -> Vec<&Item> {
                names.iter().filter_map(|base| base.get(name).copied()).collect()
            };
            let trees_at = |name: &[u8]| -> Vec<Vec<u8>> {
                let trees = known_at(name).into_iter().filter(|item| item.mode == TREE);
                trees.map(|item| item.id.clone()).collect()
            };
            for item in &new {
                if known_at(&item.name).contains(&item) {
                    continue;
                }
                let path = path.join(&item.name);
                if item.mode == TREE {
                    let below = trees_at(&item.name);
                    pending.push((path, Some(item.id.clone()), below, is_followed));
                } else if self.brings(&path, Some(item), &known_at(&item.name), &mut links)? {
                    return Ok(Look::Found);
                }
            }
            // What every commit has that it came from, and it has not, is deleted.
            let Some(first) = known.first() else { continue };
            let own: HashSet<&[u8]> = new.iter().map(|item| item.name.as_slice()).collect();
            for item in first {
                let is_everywhere = known_at(&item.name).len() == known.len();
                if !is_everywhere || own.contains(item.name.as_slice()) {
                    continue;
                }
                let path = path.join(&item.name);
                if item.mode == TREE {
                    let below = trees_at(&item.name);
                    pending.push((path, None, below, is_followed));
                } else if self.brings(&path, None, &known_at(&item.name), &mut links)? {
                    return Ok(Look::Found);
                }
            }
        }
        if self.around.judge.leads_astray(&links) {
            return Ok(Look::Found);
        }
        self.clean.borrow_mut().extend(clean);
        Ok(Look::Nothing)
    }

    /// Whether a file that is another than before, or gone, is one that something on the host would newly run or obey. What links say is
    /// added: where one leads depends on the others.
    fn brings(
        &self,
        path: &VaultPath,
        new: Option<&Item>,
        old: &[&Item],
        links: &mut Symlinks,
    ) -> Result<bool> {
        let full = self.full(path);
        let is_link = new.iter().chain(old).any(|item| item.mode == LINK);
        let counts = self.around.judge.counts(&full, is_link);
        let is_new_link = new.is_some_and(|item| item.mode == LINK);
        let is_module = new.is_some_and(|item| item.mode == MODULE);
        if !counts && !is_new_link && !is_module {
            return Ok(false);
        }
        if let Some(new) = new
            && self.is_listed(path, new)?
        {
            return Ok(false);
        }
        if let Some(new) = new.filter(|_| is_module) {
            return Ok(counts || self.is_in_module((path, &full), &new.id)?);
        }
        let content = match new {
            None => None,
            Some(item) => match self.blob(&item.id)? {
                Some(content) => Some(content),
                // What cannot be read may say anything.
                None => return Ok(true),
            },
        };
        if self.is_known((path, &full), new.zip(content.as_deref()))? {
            return Ok(false);
        }
        if let Some(target) = content.as_ref().filter(|_| is_new_link) {
            links.insert(full.clone(), target.clone());
        }
        if !counts {
            return Ok(false);
        }
        if is_link {
            return Ok(true);
        }
        let mut befores = Vec::new();
        for item in old {
            befores.push(self.blob(&item.id)?);
        }
        if befores.is_empty() {
            befores.push(None);
        }
        let is_harmless = |before: &Option<Vec<u8>>| {
            self.around.judge.is_harmless(&full, before.as_deref(), content.as_deref())
        };
        Ok(!befores.iter().any(is_harmless))
    }

    /// Whether the folder has the very same file, or will have it because somebody takes it. A clone of the folder's own project may have it
    /// elsewhere, where it counts as well.
    fn is_known(
        &self,
        (path, full): (&VaultPath, &VaultPath),
        new: Option<(&Item, &[u8])>,
    ) -> Result<bool> {
        if self.top.is_none() {
            return Ok(false);
        }
        let Surroundings { folder, workspace, judge, .. } = self.around;
        let is_same = |state: State<'_>, at: &VaultPath| -> Result<bool> {
            let entry = state.tree.get(at)?;
            Ok(match (entry.as_ref(), new) {
                (None, None) => true,
                (Some(entry), Some((item, content))) => match &entry.body {
                    Body::Symlink { target } => item.mode == LINK && target == content,
                    Body::File { .. } => {
                        let may_run = item.mode != PROGRAM || entry.meta.mode & 0o100 != 0;
                        item.mode != LINK && may_run && state.file(at)?.as_deref() == Some(content)
                    }
                    _ => false,
                },
                _ => false,
            })
        };
        let counts = new.is_some_and(|(item, _)| judge.counts(path, item.mode == LINK));
        if is_same(folder, full)? || (counts && is_same(folder, path)?) {
            return Ok(true);
        }
        if !judge.takes(full) {
            return Ok(false);
        }
        // What only git has was named by somebody who saw that.
        Ok(workspace.tree.get(full)?.is_none() || is_same(workspace, full)?)
    }

    /// Whether an object is there for the folder. Where that cannot be told, it is.
    fn is_there(&self, id: &[u8]) -> Result<bool> {
        Ok(self.host.has(id)?
            || self.workspace.is_packed(id)?
            || (self.workspace.has(id)? && !self.workspace.is_damaged(id)?))
    }

    /// Whether a commit or a tree has a file of its own that only the workspace has: what it leads to is looked for before it comes.
    fn is_loose(&self, id: Option<&[u8]>) -> Result<bool> {
        let Some(id) = id else { return Ok(true) };
        let is_one = matches!(self.workspace.read_file(id)?, Some((Kind::Commit | Kind::Tree, _)));
        Ok(is_one && !self.host.has(id)?)
    }

    /// A path of the working tree in the vault.
    fn full(&self, path: &VaultPath) -> VaultPath {
        self.top.as_ref().map_or_else(|| path.clone(), |top| top.concat(path))
    }

    fn blob(&self, id: &[u8]) -> Result<Option<Vec<u8>>> {
        Ok(match self.read(id)? {
            Some((Kind::Blob, bytes)) => Some(bytes),
            _ => None,
        })
    }

    fn items(&self, id: Option<&[u8]>) -> Result<Option<Vec<Item>>> {
        items(&|id| self.read(id), id)
    }
}
