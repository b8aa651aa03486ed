//! Why a checkout stays, and how to bring together what was kept apart by that.

use offshoot_vault::VaultPath;

use super::super::Taking;
use super::super::report::{GitEvent, GitNote, InUse, WayOn};
use super::super::store::Store;
use super::Checkouts;
use crate::error::Result;
use crate::home::HEAD_LABEL;

impl Taking<'_, '_> {
    /// Why the target's checkout stays.
    pub(super) fn why_it_stays(&self, checkout: &Checkouts) -> Result<String> {
        let Checkouts { base, target, other, .. } = checkout;
        Ok(match (target.busy, other.busy, target.is_same(base)) {
            (true, ..) => "a merge or rebase is in progress there".to_owned(),
            (_, true, _) => "the other side has a merge or rebase in progress".to_owned(),
            (_, _, false) => match self.staged(checkout)?.as_deref() {
                Some([file]) => format!("{} is staged there", shown(file)),
                Some([file, more @ ..]) => {
                    format!("{} and {} more are staged there", shown(file), more.len())
                }
                _ => "they were changed there as well".to_owned(),
            },
            _ => "the branch that is checked out stays".to_owned(),
        })
    }

    /// The files that are staged in the target, as far as that can be told.
    fn staged(&self, checkout: &Checkouts) -> Result<Option<Vec<Vec<u8>>>> {
        let Checkouts { at, base, target, other, .. } = checkout;
        target.staged(other, base, &Store::new(self.sides.target, at))
    }

    /// Adds to what was said about refs that were kept apart what to do about them.
    pub(super) fn ways_on(
        &mut self,
        repository: &VaultPath,
        checkouts: &[Checkouts],
        noted: usize,
    ) -> Result<()> {
        for at in noted..self.report.notes.len() {
            let GitNote { event, name, .. } = &self.report.notes[at];
            let way = match event {
                GitEvent::KeptApart(kept) | GitEvent::CheckedOut(kept, _)
                    if name.starts_with("refs/heads/") =>
                {
                    self.way_on(repository, checkouts, name, kept)?
                }
                GitEvent::KeptApart(kept)
                | GitEvent::CheckedOut(kept, _)
                | GitEvent::NoRoom(_, kept) => WayOn::look(name, kept),
                _ => continue,
            };
            self.report.notes[at].way = Some(way);
        }
        Ok(())
    }

    fn way_on(
        &self,
        repository: &VaultPath,
        checkouts: &[Checkouts],
        name: &str,
        kept: &str,
    ) -> Result<WayOn> {
        let key = name.as_bytes();
        let user = checkouts.iter().find(|checkout| checkout.target.in_use.contains_key(key));
        let Some(checkout) = user else { return Ok(WayOn::merge(name, kept)) };
        let Checkouts { at, base, target, other, .. } = checkout;
        let in_folder = self.target_label == HEAD_LABEL;
        if at != repository && in_folder && self.is_elsewhere(repository, at)? {
            return Ok(WayOn::merge(name, kept));
        }
        let is_first = in_folder && *at == self.sides.target.repository_at(&VaultPath::top())?;
        // Git cannot merge two moves of a submodule, so a commit of the workspace cannot either.
        let can_merge = is_first && !target.moves_submodule_of(other, base);
        let way = match can_merge {
            true => WayOn::git_commit(self.label),
            false => WayOn::record(kept),
        };
        match target.in_use.get(key) {
            Some(InUse::Rebased) => return Ok(WayOn::quit_rebase(name, kept)),
            Some(InUse::Bisected) => {
                let was_on = base.in_use.get(key) == Some(&InUse::Bisected);
                return Ok(way.after_bisect(name, was_on && !other.busy));
            }
            _ if target.busy => return Ok(way.after_progress()),
            // The workspace has other files than its branch until that is over. Of a rebase only the detached HEAD is known here.
            _ if is_first && (other.busy || other.branch().is_none()) => {
                return Ok(way.after_progress_in(self.label, name, other.busy));
            }
            _ => {}
        }
        let staged = self.staged(checkout)?.unwrap_or_default();
        let is_in_the_way = match can_merge {
            true => staged.iter().any(|path| other.says_other_of(base, path)),
            false => !staged.is_empty(),
        };
        Ok(if is_in_the_way { way.after_commit() } else { way })
    }
}

fn shown(path: &[u8]) -> String {
    String::from_utf8_lossy(path).into_owned()
}
