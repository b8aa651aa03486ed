//! Why a checkout stays, and how to bring together what was kept apart by that.

use offshoot_vault::VaultPath;

use super::super::Taking;
use super::super::report::{GitEvent, InUse, WayOn};
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

    /// Adds to what was said about branches that were kept apart how to bring them together.
    pub(super) fn ways_on(
        &mut self,
        repository: &VaultPath,
        checkouts: &[Checkouts],
        noted: usize,
    ) -> Result<()> {
        for at in noted..self.report.notes.len() {
            let note = &self.report.notes[at];
            let is_apart = matches!(note.event, GitEvent::KeptApart(_) | GitEvent::CheckedOut(..));
            if is_apart && note.name.starts_with("refs/heads/") {
                let name = note.name.as_bytes().to_vec();
                self.report.notes[at].way = Some(self.way_on(repository, checkouts, &name)?);
            }
        }
        Ok(())
    }

    fn way_on(
        &self,
        repository: &VaultPath,
        checkouts: &[Checkouts],
        name: &[u8],
    ) -> Result<WayOn> {
        let user = checkouts.iter().find(|checkout| checkout.target.in_use.contains_key(name));
        let Some(checkout) = user else { return Ok(WayOn::Merge) };
        let Checkouts { at, base, target, other, .. } = checkout;
        let in_folder = self.target_label == HEAD_LABEL;
        if at != repository && in_folder && self.is_elsewhere(repository, at)? {
            return Ok(WayOn::Merge);
        }
        match target.in_use.get(name) {
            Some(InUse::Rebased) => return Ok(WayOn::QuitRebase),
            Some(InUse::Bisected) => return Ok(WayOn::EndBisect),
            _ if target.busy => return Ok(WayOn::Finish),
            _ => {}
        }
        let staged = self.staged(checkout)?.unwrap_or_default();
        if in_folder && *at == self.sides.target.repository_at(&VaultPath::top())? {
            let both = staged.iter().any(|path| other.says_other_of(base, path));
            return Ok(if both { WayOn::CommitStaged } else { WayOn::GitCommit });
        }
        Ok(if staged.is_empty() { WayOn::Record } else { WayOn::RecordStaged })
    }
}

fn shown(path: &[u8]) -> String {
    String::from_utf8_lossy(path).into_owned()
}
