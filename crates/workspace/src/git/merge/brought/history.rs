//! The commits that a new one came from. They become a part of the host's history with it, and whoever goes back to one has its files.

use std::collections::{BTreeSet, BinaryHeap};

use super::super::ancestry::headers;
use super::super::store::{Kind, Store, is_id};
use super::{Brought, Look, MOST, trees::tree_of};
use crate::error::Result;
use crate::git::repository::{Refs, State, common, resolve};

/// More entries of trees are not looked at for all of these commits together.
const MOST_ENTRIES: usize = 20_000_000;
/// A file that lists commits whose parents are left out.
const SHALLOW: &[u8] = b"shallow";

/// The host's history, newest commits first, as far as somebody asked for it.
#[derive(Default)]
pub(super) struct HostHistory {
    seen: BTreeSet<Vec<u8>>,
    /// Those whose parents were not looked for yet, by their time.
    pending: BinaryHeap<(u64, Vec<u8>)>,
}

impl HostHistory {
    /// From what the host has refs for.
    pub(super) fn new(refs: &Refs) -> Self {
        let tips = refs.keys().filter_map(|name| resolve(refs, name));
        let mut history = Self::default();
        tips.for_each(|tip| history.add(u64::MAX, tip));
        history
    }

    fn add(&mut self, time: u64, id: Vec<u8>) {
        if self.seen.insert(id.clone()) {
            self.pending.push((time, id));
        }
    }

    /// Whether a commit is in it. Where that would take too long, it is not.
    fn has(&mut self, store: &Store<'_>, shallow: &BTreeSet<Vec<u8>>, id: &[u8]) -> Result<bool> {
        if self.seen.contains(id) {
            return Ok(true);
        }
        if !store.has(id)? {
            return Ok(false);
        }
        while self.seen.len() < MOST
            && let Some((_, next)) = self.pending.pop()
        {
            match store.read(&next)? {
                // What is left out of the history may be anything that comes later.
                Some((Kind::Commit, _)) if shallow.contains(&next) => {}
                Some((Kind::Commit, bytes)) => {
                    let time = committed_at(&bytes);
                    headers(&bytes, b"parent ").into_iter().for_each(|id| self.add(time, id));
                }
                Some((Kind::Tag, bytes)) => {
                    headers(&bytes, b"object ").into_iter().for_each(|id| self.add(u64::MAX, id));
                }
                _ => {}
            }
            if self.seen.contains(id) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Brought<'_> {
    /// Whether a commit is in the history of the host's refs.
    pub(super) fn is_of_host(&self, commit: &[u8]) -> Result<bool> {
        self.history.borrow_mut().has(&self.host, &self.shallow, commit)
    }

    /// Whether a commit, or what a tag names, came from one that is new to the host and brings a file that counts.
    pub(super) fn came_from_some(&self, commit: &[u8]) -> Result<bool> {
        if self.is_of_host(commit)? {
            return Ok(false);
        }
        for source in self.sources(commit)?.unwrap_or_default() {
            // A tag has no files of its own.
            let found = match self.read(commit)? {
                Some((Kind::Tag, _)) => self.came_from_some(&source)?,
                _ => self.is_tainted(&source)?,
            };
            if found {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a commit is in the host's history, or came with some others.
    pub(super) fn comes_with(&self, commit: &[u8], others: &[Vec<u8>]) -> Result<bool> {
        let (mut pending, mut seen) = (others.to_vec(), BTreeSet::new());
        if self.is_of_host(commit)? {
            return Ok(true);
        }
        while let Some(id) = pending.pop() {
            if id == commit {
                return Ok(true);
            }
            if seen.len() < MOST && seen.insert(id.clone()) && !self.is_of_host(&id)? {
                pending.extend(self.sources(&id)?.unwrap_or_default());
            }
        }
        Ok(false)
    }

    /// Whether a commit brings what counts, or came from one that does. The host's own do not.
    fn is_tainted(&self, commit: &[u8]) -> Result<bool> {
        let mut pending = vec![(commit.to_vec(), None)];
        while let Some((id, sources)) = pending.pop() {
            if self.tainted.borrow().contains_key(&id) {
                continue;
            }
            let answer = match sources {
                None if self.is_of_host(&id)? => false,
                None => match self.sources(&id)? {
                    Some(sources) => {
                        pending.push((id, Some(sources.clone())));
                        pending.extend(sources.into_iter().map(|source| (source, None)));
                        if pending.len() > MOST {
                            return Ok(true);
                        }
                        continue;
                    }
                    None => true,
                },
                Some(sources) => {
                    let known = self.tainted.borrow();
                    let is_clean = sources.iter().all(|id| known.get(id) == Some(&false));
                    drop(known);
                    !is_clean || self.brings_since(&id, &sources)?
                }
            };
            self.tainted.borrow_mut().insert(id, answer);
            if self.tainted.borrow().len() > MOST || self.looked.get() > MOST_ENTRIES {
                return Ok(true);
            }
        }
        Ok(self.tainted.borrow().get(commit).is_none_or(|tainted| *tainted))
    }

    /// Whether a commit brings what counts and what none of those has that it came from.
    fn brings_since(&self, commit: &[u8], sources: &[Vec<u8>]) -> Result<bool> {
        let Some(tree) = self.tree_of(commit)? else { return Ok(true) };
        let followed = self.is_loose(Some(commit))?;
        let mut bases = Vec::new();
        for source in sources {
            bases.extend(self.tree_of(source)?);
        }
        if matches!(self.compare(&tree, &bases, followed)?, Look::Nothing) {
            return Ok(false);
        }
        let Some(head) = resolve(&self.refs, b"HEAD") else { return Ok(true) };
        bases.extend(tree_of(&|id| self.host.read(id), &head)?);
        Ok(matches!(self.compare(&tree, &bases, followed)?, Look::Found))
    }

    /// What a commit came from, or what a tag names, as far as it comes along; nothing where that cannot be read.
    fn sources(&self, id: &[u8]) -> Result<Option<Vec<Vec<u8>>>> {
        let mut sources = match self.read(id)? {
            Some((Kind::Commit, bytes)) => headers(&bytes, b"parent "),
            Some((Kind::Tag, bytes)) => headers(&bytes, b"object "),
            _ => return Ok(None),
        };
        // A commit without them does not come, unless git is told that they are left out.
        if self.is_loose(Some(id))? || self.shallow_there.contains(id) {
            let mut there = Vec::new();
            for source in sources {
                if self.is_there(&source)? {
                    there.push(source);
                }
            }
            sources = there;
        }
        Ok(Some(sources))
    }
}

/// The commits of a repository whose parents are left out; none where the list is damaged.
pub(super) fn shallow(
    state: State<'_>,
    repository: &super::VaultPath,
) -> Result<BTreeSet<Vec<u8>>> {
    let text = state.file(&common(repository).join(SHALLOW))?.unwrap_or_default();
    let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let lines: BTreeSet<Vec<u8>> = lines.map(<[u8]>::to_vec).collect();
    Ok(if lines.iter().all(|line| is_id(line)) { lines } else { BTreeSet::new() })
}

/// When a commit was made, in seconds.
fn committed_at(commit: &[u8]) -> u64 {
    let mut lines = commit.split(|byte| *byte == b'\n');
    let line = lines.find(|line| line.starts_with(b"committer ")).unwrap_or_default();
    let time = line.rsplit(|byte| *byte == b' ').nth(1).and_then(|it| std::str::from_utf8(it).ok());
    time.and_then(|time| time.parse().ok()).unwrap_or_default()
}
