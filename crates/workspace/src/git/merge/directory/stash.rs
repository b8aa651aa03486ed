//! The stash: one ref whose log is the stack.

use std::collections::BTreeSet;

use offshoot_tree::VaultPath;

use super::super::flaw::flaw;
use super::super::logs;
use super::super::own_name::own_name;
use super::super::refs::STASH;
use super::super::report::GitEvent;
use super::super::taking::{Taking, UnclearRefs};
use super::ref_files::{log_path, ref_path, text};
use crate::error::Result;
use crate::git::repository::State;
use crate::side_label::HEAD_LABEL;

/// All stashes of a repository.
#[derive(Debug, PartialEq, Eq)]
struct Stack {
    /// The newest one.
    top: Option<Vec<u8>>,
    /// The log with all of them.
    log: Option<Vec<u8>>,
}

impl Stack {
    fn read(state: &State<'_>, repository: &VaultPath) -> Result<Self> {
        let top = state.refs(repository)?.get(STASH).cloned();
        Ok(Self { top, log: state.file(&log_path(repository, STASH))? })
    }

    fn entries(&self) -> BTreeSet<&[u8]> {
        let Some(top) = &self.top else { return BTreeSet::new() };
        self.listed().into_iter().chain([top.as_slice()]).collect()
    }

    /// Those that git lists: what the log has, and nothing without it.
    fn listed(&self) -> BTreeSet<&[u8]> {
        let log = self.log.as_deref().filter(|_| self.top.is_some());
        log.map(logs::values).into_iter().flatten().collect()
    }

    /// Whether it lists every stash of another one.
    fn has_all_of(&self, other: &Self) -> bool {
        self.listed().is_superset(&other.entries())
    }

    /// Whether it can take another one's place: nothing is lost, and nothing comes back that was dropped since they were the same.
    fn goes_on_from(&self, here: &Self, was: &Self) -> bool {
        let (own, now, was) = (self.entries(), here.entries(), was.entries());
        self.has_all_of(here) && own.intersection(&was).all(|entry| now.contains(entry))
    }
}

impl Taking<'_, '_> {
    /// Takes the other side's stash, or keeps it apart; whether the target has none any more.
    pub(super) fn stash(&mut self, repository: &VaultPath) -> Result<bool> {
        let sides = self.sides;
        let read = |state| Stack::read(state, repository);
        let (was, here, there) = (read(&sides.base)?, read(&sides.target)?, read(&sides.other)?);
        if there == was || there == here {
            return Ok(false);
        }
        let both = self.both(repository)?;
        if let Some(value) = &there.top
            && flaw(&both, STASH, value)?.is_some()
        {
            return Ok(false);
        }
        for entry in there.entries().difference(&here.entries()) {
            if let Some(flaw) = flaw(&both, STASH, entry)? {
                self.note_stash(repository, GitEvent::NotBrought(flaw), &here, &there);
                return Ok(false);
            }
        }
        // What the base has need not be what the other side had: a pull keeps the folder's stash apart. Only what the folder did with its
        // own is followed as it is.
        let follows = self.unclear != UnclearRefs::Apart || self.label == HEAD_LABEL;
        let free = if follows { here == was } else { there.goes_on_from(&here, &was) };
        if free {
            return self.take_stash(repository, &here, &there);
        }
        self.keep_stash(repository, &was, &here, &there)?;
        Ok(false)
    }

    /// Puts the other side's stash in place of the target's; whether that has none any more.
    fn take_stash(&mut self, repository: &VaultPath, here: &Stack, there: &Stack) -> Result<bool> {
        match &there.top {
            Some(value) => self.write_ref(repository, STASH, value)?,
            None => self.edit.remove(&ref_path(repository, STASH))?,
        }
        self.take_as_it_is(&log_path(repository, STASH))?;
        let event = if there.top.is_some() { GitEvent::Moved } else { GitEvent::Deleted };
        if self.unclear == UnclearRefs::Stay || event == GitEvent::Deleted {
            self.note_stash(repository, event, here, there);
        }
        Ok(there.top.is_none())
    }

    /// Leaves the target's stash as it is, and keeps what the other side stashed under a name of its own.
    fn keep_stash(
        &mut self,
        repository: &VaultPath,
        was: &Stack,
        here: &Stack,
        there: &Stack,
    ) -> Result<()> {
        if self.unclear == UnclearRefs::Stay {
            self.note_stash(repository, GitEvent::Stayed, here, there);
            return Ok(());
        }
        let entries = there.entries();
        let known = |entry: &&[u8]| was.entries().contains(entry) || here.entries().contains(entry);
        let Some(value) = there.top.as_ref().filter(|_| !entries.iter().all(known)) else {
            // What the person dropped says nothing about what the workspace stashed.
            if self.label != HEAD_LABEL && !there.has_all_of(here) {
                let why = "it lacks one that stays here".to_owned();
                self.note_stash(repository, GitEvent::NotBrought(why), here, there);
            }
            return Ok(());
        };
        let refs = self.sides.target.refs(repository)?;
        let is_own = |kept: &[u8]| entries.contains(kept) || Some(kept) == was.top.as_deref();
        let own = own_name(&refs, self.label, STASH, value, &|_, there| is_own(there));
        self.write_ref(repository, &own, value)?;
        if let Some(log) = &there.log {
            self.write_log(&log_path(repository, &own), log)?;
        }
        let event = GitEvent::KeptApart(text(&own));
        self.note_stash(repository, event, here, there);
        Ok(())
    }

    fn note_stash(&mut self, repository: &VaultPath, event: GitEvent, here: &Stack, there: &Stack) {
        self.note(repository, event, text(STASH), here.top.as_deref(), there.top.as_deref());
    }
}
