//! Files that a commit brings to whoever checks it out.

use std::collections::BTreeSet;

use offshoot_tree::VaultPath;

use super::ancestry::{headers, history};
use super::store::{Kind, Store, hex};
use crate::error::Result;
use crate::git::repository::{Refs, State, resolve};

/// More entries of trees, and more commits, are not looked at.
const MOST: usize = 100_000;
/// Longer chains of tags are none.
const MOST_TAGS: usize = 8;
/// No deeper directory is kept of a workspace. Each has a path that is longer than the one before.
const DEEPEST: usize = 512;
const TREE: u32 = 0o40_000;
const LINK: u32 = 0o120_000;

/// Tells of a path whether its file counts; the flag is set for a symbolic link.
pub(crate) type Counts<'a> = &'a dyn Fn(&VaultPath, bool) -> bool;

/// A repository on the host and in a workspace.
pub(crate) struct Brought<'a> {
    host: Store<'a>,
    workspace: Store<'a>,
    /// The host's refs.
    refs: Refs,
    counts: Counts<'a>,
}

/// What became of looking through trees.
enum Look {
    Nothing,
    /// A file that counts is another one, or not all could be looked at.
    Found,
}

/// The entry of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Item {
    mode: u32,
    name: Vec<u8>,
    id: Vec<u8>,
}

impl<'a> Brought<'a> {
    pub(crate) fn new(
        [host, workspace]: [State<'a>; 2],
        repository: &VaultPath,
        counts: Counts<'a>,
    ) -> Result<Self> {
        let refs = host.refs(repository)?;
        let (host, workspace) = (Store::new(host, repository), Store::new(workspace, repository));
        Ok(Self { host, workspace, refs, counts })
    }

    /// Whether a ref that is moved to a commit brings a file that counts: a new, changed or deleted one that no commit has which the host
    /// has a ref for. Where that cannot be told, it does.
    pub(crate) fn is_in(&self, commit: &[u8], before: Option<&[u8]>) -> Result<bool> {
        if self.refs.values().any(|known| known == commit) {
            return Ok(false);
        }
        let Some(tree) = tree_of(&self.workspace, commit)? else {
            // A blob is nothing that git could check out, and a ref to what is not there does not come anyway.
            return match self.workspace.read(commit)? {
                Some((kind, _)) => Ok(kind != Kind::Blob),
                None => self.workspace.has(commit),
            };
        };
        let head = resolve(&self.refs, b"HEAD");
        let near = [before.map(<[u8]>::to_vec), head];
        let mut bases = Vec::new();
        for commit in near.iter().flatten() {
            bases.extend(tree_of(&self.host, commit)?);
        }
        if matches!(self.compare(&tree, &bases)?, Look::Nothing) {
            return Ok(false);
        }
        let mut bases = Vec::new();
        for commit in self.came_from(commit)?.iter().map(Vec::as_slice).chain(before) {
            bases.extend(tree_of(&self.host, commit)?);
        }
        Ok(matches!(self.compare(&tree, &bases)?, Look::Found))
    }

    /// The same of a stash: it has files in its commit, in that of the index, and those that were not tracked.
    pub(crate) fn is_in_stash(&self, commit: &[u8], before: Option<&[u8]>) -> Result<bool> {
        if self.is_in(commit, before)? {
            return Ok(true);
        }
        let parents = match self.workspace.read(commit)? {
            Some((Kind::Commit, bytes)) => headers(&bytes, b"parent "),
            _ => Vec::new(),
        };
        let Some((_, [index, untracked @ ..])) = parents.split_first() else { return Ok(false) };
        if self.is_in(index, None)? {
            return Ok(true);
        }
        for commit in untracked {
            // What is tracked is not in there, and nothing is deleted by that.
            let Some(tree) = tree_of(&self.workspace, commit)? else { return Ok(true) };
            if matches!(self.compare(&tree, &[])?, Look::Found) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The newest commits that the host has refs for and that another one came from.
    fn came_from(&self, commit: &[u8]) -> Result<Vec<Vec<u8>>> {
        let tips = self.refs.keys().filter_map(|name| resolve(&self.refs, name)).collect();
        let known = history(&self.host, tips)?;
        let (mut found, mut seen) = (Vec::new(), BTreeSet::new());
        let mut pending = vec![commit.to_vec()];
        while let Some(id) = pending.pop() {
            if known.contains(&id) {
                found.push(id);
                continue;
            }
            if seen.len() >= MOST || !seen.insert(id.clone()) {
                continue;
            }
            pending.extend(match self.workspace.read(&id)? {
                Some((Kind::Commit, bytes)) => headers(&bytes, b"parent "),
                Some((Kind::Tag, bytes)) => headers(&bytes, b"object "),
                _ => Vec::new(),
            });
        }
        Ok(found)
    }

    fn compare(&self, tree: &[u8], bases: &[Vec<u8>]) -> Result<Look> {
        let mut pending = vec![(VaultPath::top(), Some(tree.to_vec()), bases.to_vec())];
        let mut looked = 0;
        while let Some((path, tree, bases)) = pending.pop() {
            let Some(new) = items(&self.workspace, tree.as_deref())? else {
                return Ok(Look::Found);
            };
            let mut known = Vec::new();
            for base in &bases {
                // One that cannot be read is as good as none.
                known.extend(items(&self.host, Some(base))?);
            }
            // Git takes a directory for a repository that looks like one, and obeys its settings.
            let differs = || !known.contains(&new);
            if looks_like_repository(&new) && differs() {
                return Ok(Look::Found);
            }
            looked += new.len() + known.iter().map(Vec::len).sum::<usize>();
            if looked > MOST || path.names().len() > DEEPEST {
                return Ok(Look::Found);
            }
            let trees_at = |name: &[u8]| -> Vec<Vec<u8>> {
                let all = known.iter().flatten();
                let all = all.filter(|item| item.mode == TREE && item.name == name);
                all.map(|item| item.id.clone()).collect()
            };
            for item in &new {
                if known.iter().any(|base| base.contains(item)) {
                    continue;
                }
                let path = path.join(&item.name);
                if item.mode == TREE {
                    let below = trees_at(&item.name);
                    pending.push((path, Some(item.id.clone()), below));
                } else if (self.counts)(&path, item.mode == LINK) {
                    return Ok(Look::Found);
                }
            }
            // What every commit has that it came from, and it has not, is deleted.
            let is_in = |items: &[Item], name: &[u8]| items.iter().any(|item| item.name == name);
            let Some((first, others)) = known.split_first() else { continue };
            for item in first {
                let everywhere = others.iter().all(|base| is_in(base, &item.name));
                if !everywhere || is_in(&new, &item.name) {
                    continue;
                }
                let path = path.join(&item.name);
                if item.mode == TREE {
                    let below = trees_at(&item.name);
                    pending.push((path, None, below));
                } else if (self.counts)(&path, item.mode == LINK) {
                    return Ok(Look::Found);
                }
            }
        }
        Ok(Look::Nothing)
    }
}

fn looks_like_repository(items: &[Item]) -> bool {
    let has = |name: &[u8]| items.iter().any(|item| item.name.eq_ignore_ascii_case(name));
    has(b"HEAD") && has(b"config") && (has(b"objects") || has(b"refs"))
}

/// The tree of a commit, or of what a tag names.
fn tree_of(store: &Store<'_>, id: &[u8]) -> Result<Option<Vec<u8>>> {
    let mut id = id.to_vec();
    for _ in 0..MOST_TAGS {
        let next = match store.read(&id)? {
            Some((Kind::Tree, _)) => return Ok(Some(id)),
            Some((Kind::Commit, bytes)) => {
                return Ok(headers(&bytes, b"tree ").into_iter().next());
            }
            Some((Kind::Tag, bytes)) => headers(&bytes, b"object ").into_iter().next(),
            _ => None,
        };
        let Some(next) = next else { return Ok(None) };
        id = next;
    }
    Ok(None)
}

/// What is in a tree; nothing where it cannot be read. No tree at all is an empty one.
fn items(store: &Store<'_>, id: Option<&[u8]>) -> Result<Option<Vec<Item>>> {
    let Some(id) = id else { return Ok(Some(Vec::new())) };
    Ok(match store.read(id)? {
        Some((Kind::Tree, bytes)) => parsed(&bytes, id.len() / 2),
        _ => None,
    })
}

fn parsed(mut bytes: &[u8], width: usize) -> Option<Vec<Item>> {
    let mut items = Vec::new();
    while !bytes.is_empty() {
        let end = bytes.iter().position(|byte| *byte == 0)?;
        let space = bytes[..end].iter().position(|byte| *byte == b' ')?;
        let mode = u32::from_str_radix(std::str::from_utf8(&bytes[..space]).ok()?, 8).ok()?;
        let (name, id) = (bytes[space + 1..end].to_vec(), bytes.get(end + 1..end + 1 + width)?);
        items.push(Item { mode, name, id: hex(id) });
        bytes = &bytes[end + 1 + width..];
    }
    Some(items)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_are_read_whole_or_not_at_all() {
        let id = [7; 20];
        let tree = [b"100644 a\0".as_slice(), &id, b"40000 d\0", &id].concat();
        let items = parsed(&tree, 20).unwrap();
        let seen: Vec<_> = items.iter().map(|item| (item.mode, item.name.as_slice())).collect();
        assert_eq!(seen, [(0o100_644, b"a".as_slice()), (TREE, b"d")]);
        assert_eq!(parsed(&tree[..tree.len() - 1], 20), None);
        assert_eq!(parsed(b"rubbish", 20), None);
    }
}
