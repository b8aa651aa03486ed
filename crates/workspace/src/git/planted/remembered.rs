//! What repositories remember beside their refs: logs, indexes, and files that name commits.

use std::collections::{BTreeMap, BTreeSet};

use offshoot_tree::VaultPath;

use super::held_refs::{Names, held};
use crate::error::Result;
use crate::git::merge::{Brought, Judge, Surroundings};
use crate::git::repository::{Refs, State, common, is_repository};

/// The repositories that were looked at.
pub(super) struct Looks<'a> {
    states: [State<'a>; 3],
    judge: &'a dyn Judge,
    all: BTreeMap<VaultPath, Look<'a>>,
}

/// One repository, or what belongs to a further working tree of one.
pub(super) struct Look<'a> {
    pub(super) brought: Brought<'a>,
    /// The host has none.
    pub(super) is_new: bool,
    /// Its refs that stay.
    pub(super) held: Names,
    /// What its refs name that do not stay.
    coming: Vec<Vec<u8>>,
}

impl<'a> Looks<'a> {
    /// The states are those before and after the changes, and the folders.
    pub(super) fn new(states: [State<'a>; 3], judge: &'a dyn Judge) -> Self {
        Self { states, judge, all: BTreeMap::new() }
    }

    pub(super) fn known(&self, at: &VaultPath) -> Option<&Look<'a>> {
        self.all.get(at)
    }

    pub(super) fn add(&mut self, at: &VaultPath) -> Result<()> {
        if self.all.contains_key(at) {
            return Ok(());
        }
        let [before, after, main] = self.states;
        let host = match is_repository(main.tree, at)? {
            true => Some(main),
            false => is_repository(before.tree, at)?.then_some(before),
        };
        let is_new = host.is_none();
        let top = host.unwrap_or(after).working_tree(at)?;
        let host = host.unwrap_or(main);
        let (judge, depth) = (self.judge, 0);
        let (base, folder, workspace) = (before, main, after);
        let around = Surroundings { host, base, folder, workspace, judge, depth };
        let brought = Brought::new(around, at, top)?;
        let (old, new) = (own_refs(before, at)?, own_refs(after, at)?);
        let (held, coming) = held(at, (&old, &new), [before, after], (&brought, is_new))?;
        self.all.insert(at.clone(), Look { brought, is_new, held, coming });
        Ok(())
    }
}

impl Look<'_> {
    /// Whether a file names a commit that brings what something on the host runs or obeys. Lines start with what they name; those of logs
    /// with what a ref was and what it became.
    pub(super) fn leads_to_some(&self, path: &VaultPath, after: State<'_>) -> Result<bool> {
        let text = after.file(path)?.unwrap_or_default();
        let is_stash = path.names().ends_with(&[b"refs".to_vec(), b"stash".to_vec()])
            || path.name() == Some(b"MERGE_AUTOSTASH");
        for line in text.split(|byte| *byte == b'\n') {
            if self.is_in_line(line, is_stash)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// A log without the new lines that name such commits; nothing where there are none.
    pub(super) fn without_lines(
        &self,
        known: [State<'_>; 2],
        path: &VaultPath,
        after: State<'_>,
    ) -> Result<Option<Vec<u8>>> {
        let Some(text) = after.file(path)? else { return Ok(None) };
        let [old, own] = known.map(|state| state.file(path));
        let (old, own) = (old?.unwrap_or_default(), own?.unwrap_or_default());
        let lines = |text| <[u8]>::split_inclusive(text, |byte: &u8| *byte == b'\n');
        let known: BTreeSet<&[u8]> = lines(&old).chain(lines(&own)).collect();
        let mut kept = Vec::with_capacity(text.len());
        for line in lines(&text) {
            if known.contains(line) || !self.is_in_line(line, false)? {
                kept.extend_from_slice(line);
            }
        }
        Ok((kept != text).then_some(kept))
    }

    fn is_in_line(&self, line: &[u8], is_stash: bool) -> Result<bool> {
        for word in line.split(u8::is_ascii_whitespace).take(2) {
            let is_id = matches!(word.len(), 40 | 64) && word.iter().all(u8::is_ascii_hexdigit);
            let is_in = match is_stash {
                _ if !is_id => false,
                true => self.brought.is_in_stash(word, None, &self.coming)?,
                false => self.brought.is_in(word, None)?,
            };
            if is_in {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The refs of a repository; of a further working tree those that it has for itself.
fn own_refs(state: State<'_>, at: &VaultPath) -> Result<Refs> {
    match common(at) == *at {
        true => state.refs(at),
        false => state.loose_refs(at, &at.join(b"refs")),
    }
}
