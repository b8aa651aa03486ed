//! Why a checkout stays, and how to bring together what was kept apart by that.

use offshoot_tree::VaultPath;

use super::super::ancestry::{are_unrelated, includes};
use super::super::report::{GitEvent, GitNote, InUse, NextStep};
use super::super::store::Store;
use super::super::taking::{Taking, UnclearRefs};
use super::super::way_on::short_ref;
use super::Checkouts;
use super::ref_files::text;
use crate::error::Result;
use crate::git::repository::Refs;
use crate::side_label::HEAD_LABEL;

impl Taking<'_, '_> {
    /// Why the target's checkout stays.
    pub(super) fn why_it_stays(&self, checkout: &Checkouts, refs: &Refs) -> Result<String> {
        let Checkouts { base, target, other, .. } = checkout;
        if let Some(path) = checkout.left_out.first() {
            return Ok(format!("{path} is committed or staged in {}, and stays there", self.label));
        }
        if self.held.trusted.contains(&checkout.at) {
            return Ok("its commit has files that this machine would run or obey".to_owned());
        }
        Ok(match (target.busy, other.busy, target.is_same(base)) {
            (true, ..) => "a merge or rebase is in progress there".to_owned(),
            (_, true, _) => "the other side has a merge or rebase in progress".to_owned(),
            (_, _, false) => match self.staged(checkout)?.as_deref() {
                Some([file]) => format!("{} is staged there", shown(file)),
                Some([file, more @ ..]) => {
                    format!("{} and {} more are staged there", shown(file), more.len())
                }
                _ => match (target.branch(), other.branch()) {
                    (Some(here), Some(there)) if here != there => {
                        let [here, there] = [here, there].map(|name| text(&name));
                        let (here, there) = (short_ref(&here), short_ref(&there));
                        let why = format!("{here} is checked out there, not {there}");
                        match self.left_branch(checkout, refs)? {
                            Some(left) if !left.had_all => format!(
                                "{why}, which has the commits; their files came as well, and stand in the way of `git switch`"
                            ),
                            _ => why,
                        }
                    }
                    _ => "they were changed there as well".to_owned(),
                },
            },
            _ => "the branch that is checked out stays".to_owned(),
        })
    }

    /// What to do where the other side's commit stays because of files that it has.
    pub(super) fn way_with_left_out(&self, checkout: &Checkouts) -> Result<Option<NextStep>> {
        let Checkouts { at, left_out, .. } = checkout;
        let is_held = self.target_label == HEAD_LABEL && self.held.trusted.contains(at);
        let is_first = *at == self.sides.target.repository_at(&VaultPath::top())?;
        let is_asked = is_held && is_first && !left_out.is_empty();
        Ok(is_asked.then(|| NextStep::git_commit(self.label, left_out)))
    }

    /// The files that stayed and have to come with a checkout. What nobody asked for comes with a commit of everything.
    fn to_take<'c>(&self, checkout: &'c Checkouts) -> &'c [VaultPath] {
        match self.held.trusted.contains(&checkout.at) {
            true => &checkout.left_out,
            false => checkout.left_out.first().map_or(&[], std::slice::from_ref),
        }
    }

    /// What to do where the target switched to another branch while the other side made commits on the old one: that branch has them, and the
    /// files came to the new one. If that lacks older commits of the branch, their files are not there, and a merge of the files as they are
    /// would record them as deleted.
    pub(super) fn way_to_switched(
        &self,
        checkout: &Checkouts,
        refs: &Refs,
    ) -> Result<Option<NextStep>> {
        let Some(left) = self.left_branch(checkout, refs)?.filter(|left| left.had_all) else {
            return Ok(None);
        };
        let way = NextStep::record(&left.name);
        let staged = self.staged(checkout)?.unwrap_or_default();
        Ok(Some(if staged.is_empty() { way } else { way.after_commit() }))
    }

    /// The branch that the target switched away from while the other side made commits on it, which came and are not merged.
    fn left_branch(&self, checkout: &Checkouts, refs: &Refs) -> Result<Option<LeftBranch>> {
        let Checkouts { at, base, target, other, .. } = checkout;
        let (Some(branch), Some(here), Some(there)) =
            (other.branch(), &target.commit, &other.commit)
        else {
            return Ok(None);
        };
        let switched = base.branch().as_ref() == Some(&branch)
            && target.branch().is_some_and(|here| here != branch);
        let at_rest = !target.busy && !other.busy && self.unclear != UnclearRefs::Stay;
        let came = other.commit != base.commit && refs.get(&branch) == Some(there);
        if !switched || !at_rest || !came {
            return Ok(None);
        }
        let store = Store::new(self.sides.target, at);
        if includes(&store, here, there)? {
            return Ok(None);
        }
        let had_all = match &base.commit {
            Some(start) => includes(&store, here, start)?,
            None => true,
        };
        Ok(Some(LeftBranch { name: text(&branch), had_all }))
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
            let note = &self.report.notes[at];
            let GitNote { event, name, .. } = note;
            let way = match event {
                GitEvent::KeptApart(kept) | GitEvent::CheckedOut(kept, _)
                    if name.starts_with("refs/heads/") =>
                {
                    let histories = self.histories(repository, note)?;
                    let way = self.way_on(repository, checkouts, (name, kept), histories)?;
                    if histories == Histories::Unrelated { way.unrelated() } else { way }
                }
                GitEvent::KeptApart(kept)
                | GitEvent::CheckedOut(kept, _)
                | GitEvent::NoRoom(_, kept) => NextStep::look(name, kept),
                _ => continue,
            };
            self.report.notes[at].way = Some(way);
        }
        Ok(())
    }

    /// What the target's commit and the one that was kept apart are to each other.
    fn histories(&self, repository: &VaultPath, note: &GitNote) -> Result<Histories> {
        let (Some(here), Some(there)) = (&note.from, &note.to) else {
            return Ok(Histories::Apart);
        };
        let (here, there) = (here.as_bytes(), there.as_bytes());
        let other = Store::new(self.sides.other, repository);
        if matches!(note.event, GitEvent::KeptApart(_)) && includes(&other, there, here)? {
            return Ok(Histories::WentBack);
        }
        let target = Store::new(self.sides.target, repository);
        Ok(match are_unrelated((&target, here), (&other, there))? {
            true => Histories::Unrelated,
            false => Histories::Apart,
        })
    }

    fn way_on(
        &self,
        repository: &VaultPath,
        checkouts: &[Checkouts],
        (name, kept): (&str, &str),
        histories: Histories,
    ) -> Result<NextStep> {
        let key = name.as_bytes();
        let user = checkouts.iter().find(|checkout| checkout.target.in_use.contains_key(key));
        let Some(checkout) = user else { return Ok(NextStep::merge(name, kept)) };
        let Checkouts { at, base, target, other, .. } = checkout;
        let in_folder = self.target_label == HEAD_LABEL;
        if at != repository && in_folder && self.is_elsewhere(repository, at)? {
            return Ok(NextStep::merge(name, kept));
        }
        let is_first = in_folder && *at == self.sides.target.repository_at(&VaultPath::top())?;
        // Git cannot merge two moves of a submodule, so a commit of the workspace cannot either.
        let can_merge = is_first && !target.moves_submodule_of(other, base);
        let way = match (can_merge, histories) {
            // Its files did not come: a merge brings them.
            (_, Histories::WentBack) => NextStep { when: None, ..NextStep::merge(name, kept) },
            (true, Histories::Apart) => NextStep::git_commit(self.label, self.to_take(checkout)),
            (true, Histories::Unrelated) => NextStep::record(kept).after_commit_of(self.label),
            (false, _) => NextStep::record(kept),
        };
        match target.in_use.get(key) {
            Some(InUse::Rebased) if self.label == HEAD_LABEL => {
                return Ok(NextStep::pull_again(self.target_label));
            }
            Some(InUse::Rebased) => return Ok(NextStep::quit_rebase(name, kept)),
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

/// A branch that the target switched away from.
struct LeftBranch {
    name: String,
    /// What is checked out now has every commit that the branch had when both sides were on it.
    had_all: bool,
}

/// What two commits are to each other that a branch has on two sides.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Histories {
    /// They came from the same.
    Apart,
    /// The other side's came from the target's, which went back to where it is.
    WentBack,
    /// They have nothing in common.
    Unrelated,
}

fn shown(path: &[u8]) -> String {
    String::from_utf8_lossy(path).into_owned()
}
