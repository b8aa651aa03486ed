//! The files that change where the main line or a workspace is moved to a state that is there already.

use std::collections::HashMap;

use offshoot_store::{Id, RefChange};
use offshoot_tree::diff::Change;
use offshoot_tree::{RootId, diff};
use offshoot_vault::{RefMove, Result, Transaction, Vault};

use crate::audited::audited_moves;
use crate::exec::summary::is_directory_time;

/// Compares states for the audit log, at the cost of what changed.
#[derive(Debug)]
pub(crate) struct MovedFiles<'a> {
    vault: &'a Vault,
    /// What was compared before the transaction.
    known: HashMap<(RootId, RootId), Vec<Change>>,
}

impl<'a> MovedFiles<'a> {
    /// Of this vault.
    pub(crate) fn new(vault: &'a Vault) -> Self {
        Self { vault, known: HashMap::new() }
    }

    /// Compares what these changes are going to move, so that nobody waits for that in the transaction.
    pub(crate) fn expecting<'c>(
        mut self,
        changes: impl IntoIterator<Item = &'c RefChange>,
    ) -> Self {
        // What cannot be compared is found out again, and told, in the transaction.
        for moved in changes.into_iter().filter_map(|change| RefMove::of(change).ok().flatten()) {
            self = self.expecting_move(&moved.before, &moved.after);
        }
        self
    }

    /// The same of a move from one snapshot to another.
    pub(crate) fn expecting_move(self, before: &Id, after: &Id) -> Self {
        match [before, after].map(|id| self.vault.snapshot(id)) {
            [Ok(before), Ok(after)] => self.expecting_roots(before.root, after.root),
            _ => self,
        }
    }

    /// The same of two states.
    pub(crate) fn expecting_roots(mut self, before: RootId, after: RootId) -> Self {
        if let Ok(changes) = self.compare(&before, &after) {
            self.known.insert((before, after), changes);
        }
        self
    }

    /// Adds the files to the event of a transaction that has moved its refs. A state that cannot be read is left, or come back to, all the
    /// same: the event says why it lists none.
    pub(crate) fn note(mut self, tx: &mut Transaction<'_, '_>) -> Result<()> {
        let mut lists = Vec::new();
        for moved in tx.moves()? {
            match self.files(tx, &moved) {
                Ok(changes) => lists.push((moved.moved, changes)),
                Err(error) => {
                    tx.detail("files_unknown", error.to_string());
                    return Ok(());
                }
            }
        }
        if !lists.is_empty() {
            lists.retain(|(_, changes)| !changes.is_empty());
            tx.files(audited_moves(&lists));
        }
        Ok(())
    }

    fn files(&mut self, tx: &Transaction<'_, '_>, moved: &RefMove) -> Result<Vec<Change>> {
        let roots = (tx.snapshot(&moved.before)?.root, tx.snapshot(&moved.after)?.root);
        match self.known.remove(&roots) {
            Some(known) => Ok(known),
            None => self.compare(&roots.0, &roots.1),
        }
    }

    fn compare(&self, before: &RootId, after: &RootId) -> Result<Vec<Change>> {
        let mut changes = diff::compare(self.vault.objects()?, before, after)?;
        changes.retain(|change| !is_directory_time(change));
        Ok(changes)
    }
}
