//! Moves of refs that people should know about: those that leave commits behind.

use std::collections::BTreeSet;

use offshoot_tree::VaultPath;

use super::ancestry::{Ancestry, ahead, ancestry, history, includes};
use super::directory::Checkouts;
use super::directory::ref_files::{log_path, text};
use super::logs;
use super::own_name::{own_branches, own_name};
use super::refs::{Name, RefPlan, TAGS, kept_from};
use super::report::GitEvent;
use super::store::is_id;
use super::taking::{Taking, UnclearRefs};
use crate::error::Result;
use crate::git::repository::{Refs, resolve};

/// Refs that people name. Others, such as those of remotes, move as they like.
pub(super) const REPORTED: [&[u8]; 2] = [b"refs/heads/", b"refs/tags/"];
/// Names below which refs are kept that the target had before its repository was replaced by another one.
const BEFORE: &str = "before";

impl Taking<'_, '_> {
    /// Says which branches and tags no longer have the commits that they had. Where the other side has another repository altogether, what
    /// the target had is kept under other names.
    pub(super) fn tell_moves(
        &mut self,
        repository: &VaultPath,
        plan: &RefPlan,
        (base, target): (&Refs, &Refs),
        after: &mut Refs,
    ) -> Result<()> {
        let any =
            self.unclear == UnclearRefs::Apart && !(plan.deleted.is_empty() && plan.set.is_empty());
        let replaced = any && self.is_replaced(repository, base)?;
        for (name, was) in &plan.deleted {
            if replaced {
                self.keep_before(repository, name, (was, None), after)?;
            } else if !self.is_merged(repository, after, name, was)? {
                self.note(repository, GitEvent::Deleted, text(name), Some(was), None);
                self.tell_log(repository, name, was, after)?;
            }
        }
        if self.unclear == UnclearRefs::Stay {
            return Ok(());
        }
        for (name, value) in &plan.set {
            let is_told = REPORTED.iter().any(|kind| name.starts_with(kind));
            let was = target.get(name).filter(|was| is_told && is_id(was) && is_id(value));
            let Some(was) = was else { continue };
            if replaced {
                self.keep_before(repository, name, (was, Some(value)), after)?;
            } else if let Some(event) = self.left_behind(repository, name, was, value)? {
                let logged = self.is_logged(repository, name, was)?;
                self.note(repository, event, text(name), Some(was), Some(value));
                self.report.notes.last_mut().expect("a note was just added").logged = logged;
            }
        }
        Ok(())
    }

    /// Whether a log of the target has what a ref was.
    fn is_logged(&self, repository: &VaultPath, name: &[u8], was: &[u8]) -> Result<bool> {
        let sides = self.sides;
        let own = log_path(repository, name);
        // The other side's new lines come along; a log that the target lacks is made of them.
        let logs = [
            sides.target.file(&own)?,
            sides.other.file(&own)?,
            sides.target.file(&log_path(repository, b"HEAD"))?,
        ];
        let has = |log: &Vec<u8>| log.windows(was.len().max(1)).any(|part| part == was);
        Ok(logs.iter().flatten().any(has))
    }

    /// Names the commits that only the log of a deleted ref leads to: it goes with the ref.
    pub(super) fn tell_log(
        &mut self,
        repository: &VaultPath,
        name: &[u8],
        was: &[u8],
        after: &Refs,
    ) -> Result<()> {
        if self.unclear != UnclearRefs::Apart {
            return Ok(());
        }
        let both = self.both(repository)?;
        let read = |name: &[u8]| self.sides.target.file(&log_path(repository, name));
        let (log, head) = (read(name)?.unwrap_or_default(), read(b"HEAD")?.unwrap_or_default());
        let mut known: BTreeSet<&[u8]> = logs::values(&head).collect();
        known.extend(after.values().map(Vec::as_slice).chain([was]));
        let tips: Vec<Vec<u8>> =
            [Some(was.to_vec()), resolve(after, b"HEAD")].into_iter().flatten().collect();
        let values: Vec<&[u8]> = logs::values(&log).collect();
        for (at, value) in values.iter().rev().enumerate() {
            if !is_id(value) || !both.target.has(value)? || !known.insert(value) {
                continue;
            }
            let mut is_reached = false;
            for tip in &tips {
                is_reached = is_reached || includes(&both.target, tip, value)?;
            }
            if !is_reached {
                let name = format!("{}@{{{at}}}", text(name));
                self.note(repository, GitEvent::Deleted, name, Some(value), None);
            }
        }
        Ok(())
    }

    /// Takes away refs that were kept apart for the other side, are as they were left, and are merged into their branch by now.
    pub(super) fn drop_merged(
        &mut self,
        repository: &VaultPath,
        base: &Refs,
        plan: &mut RefPlan,
        guarded: &BTreeSet<Name>,
    ) -> Result<()> {
        if self.unclear != UnclearRefs::Apart {
            return Ok(());
        }
        let both = self.both(repository)?;
        let start = own_branches(self.label);
        let own =
            plan.after.range(start.clone()..).take_while(|(name, _)| name.starts_with(&start));
        let mut merged = Vec::new();
        for (name, value) in own {
            let is_left = base.get(name) == Some(value) && !plan.set.contains_key(name);
            if !is_left || guarded.contains(name) {
                continue;
            }
            let Some((branch, tip)) = kept_from(&plan.after, name) else { continue };
            let store = match plan.set.contains_key(branch) {
                true => &both.other,
                false => &both.target,
            };
            if includes(store, tip, value)? {
                merged.push((name.clone(), value.clone()));
            }
        }
        for (name, value) in merged {
            plan.after.remove(&name);
            plan.merged.insert(name, value);
        }
        Ok(())
    }

    /// Whether a ref is one that was kept apart, and its branch has its commits.
    fn is_merged(
        &mut self,
        repository: &VaultPath,
        refs: &Refs,
        name: &[u8],
        value: &[u8],
    ) -> Result<bool> {
        let both = self.both(repository)?;
        match kept_from(refs, name) {
            Some((_, tip)) => {
                Ok(includes(&both.other, tip, value)? || includes(&both.target, tip, value)?)
            }
            None => Ok(false),
        }
    }

    /// Says that something else is checked out now.
    pub(super) fn tell_switched(&mut self, repository: &VaultPath, checkout: &Checkouts) {
        let Checkouts { at, target, other, .. } = checkout;
        if self.unclear == UnclearRefs::Stay {
            return self.tell_detached(repository, checkout);
        }
        if target.head == other.head {
            return;
        }
        let shown = |head: &Option<Vec<u8>>| {
            let head = head.as_deref()?;
            Some(head.strip_prefix(b"ref:").unwrap_or(head).trim_ascii().to_vec())
        };
        let (from, to) = (shown(&target.head), shown(&other.head));
        let name = self.name_of_head(repository, at);
        self.note(repository, GitEvent::Switched, name, from.as_deref(), to.as_deref());
    }

    /// Says that a sparse checkout of the other side leaves files out.
    pub(super) fn tell_left_out(&mut self, repository: &VaultPath, checkout: &Checkouts) {
        let Checkouts { base, other, take, .. } = checkout;
        let files = other.left_out_since(base);
        if files > 0 && other.sparse != base.sparse && self.unclear == UnclearRefs::Apart {
            let event = GitEvent::LeftOut { files, taken: *take };
            self.note(repository, event, "info/sparse-checkout".to_owned(), None, None);
        }
    }

    /// Says from where to where a HEAD is taken back that names a commit: no branch tells it.
    fn tell_detached(&mut self, repository: &VaultPath, checkout: &Checkouts) {
        let Checkouts { at, target, other, .. } = checkout;
        let is_detached = target.branch().is_none() || other.branch().is_none();
        if is_detached && target.commit != other.commit {
            let name = self.name_of_head(repository, at);
            let (from, to) = (target.commit.as_deref(), other.commit.as_deref());
            self.note(repository, GitEvent::Moved, name, from, to);
        }
    }

    /// Whether the other side has another repository in place of the one that both had: it has none of its commits.
    fn is_replaced(&mut self, repository: &VaultPath, base: &Refs) -> Result<bool> {
        let both = self.both(repository)?;
        if self.has_common_pack(repository)? {
            return Ok(false);
        }
        let tips: Vec<Vec<u8>> = base.values().filter(|value| is_id(value)).cloned().collect();
        let any = !tips.is_empty();
        // Those that refs lead to are looked for first: usually one is there. A branch that was taken back has older ones.
        for id in &tips {
            if both.other.has(id)? {
                return Ok(false);
            }
        }
        for id in history(&both.target, tips)? {
            if both.other.has(&id)? {
                return Ok(false);
            }
        }
        Ok(any)
    }

    /// Whether the other side still has a pack that both had.
    fn has_common_pack(&self, repository: &VaultPath) -> Result<bool> {
        let (base, other) = (self.sides.base.tree, self.sides.other.tree);
        let directory = repository.join(b"objects").join(b"pack");
        let entry = base.get(&directory)?;
        let Some(dir) = entry.as_ref().and_then(|entry| entry.directory()) else {
            return Ok(false);
        };
        for entry in base.list(dir)?.iter().filter(|entry| entry.name.ends_with(b".pack")) {
            if other.get(&directory.join(&entry.name))?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Keeps what a ref was in a repository that is replaced.
    fn keep_before(
        &mut self,
        repository: &VaultPath,
        name: &[u8],
        (was, value): (&[u8], Option<&[u8]>),
        after: &mut Refs,
    ) -> Result<()> {
        let own = own_name(after, BEFORE, name, was, &|_, _| false);
        self.write_ref(repository, &own, was)?;
        after.insert(own.clone(), was.to_vec());
        let event = GitEvent::Replaced(Some(text(&own)));
        self.note(repository, event, text(name), Some(was), value);
        Ok(())
    }

    /// What to say about a ref that moved; nothing where it only went on.
    fn left_behind(
        &mut self,
        repository: &VaultPath,
        name: &[u8],
        was: &[u8],
        value: &[u8],
    ) -> Result<Option<GitEvent>> {
        let both = self.both(repository)?;
        let on = ancestry(&both.other, value, was)?;
        if on == Ancestry::Yes {
            // Nobody expects a tag to move.
            return Ok(name.starts_with(TAGS).then_some(GitEvent::Moved));
        }
        if ancestry(&both.target, was, value)? == Ancestry::Yes {
            return Ok(Some(GitEvent::Rewound(ahead(&both.target, was, value)?)));
        }
        let only_went_on = on == Ancestry::Unknown && self.only_went_on(repository, name)?;
        Ok((!only_went_on).then_some(GitEvent::Replaced(None)))
    }

    /// Whether all that the other side says it did with a ref is making commits. Only asked where its history cannot be read.
    fn only_went_on(&self, repository: &VaultPath, name: &[u8]) -> Result<bool> {
        let path = log_path(repository, name);
        let was = self.sides.base.file(&path)?.unwrap_or_default();
        let there = self.sides.other.file(&path)?.unwrap_or_default();
        let new = logs::new_lines(&[&was], &there);
        let mut words = logs::messages(&new);
        let goes_on = |word: &[u8]| {
            let forward = [b"commit: ".as_slice(), b"commit (merge)", b"cherry-pick", b"revert"];
            forward.iter().any(|start| word.starts_with(start)) || word.ends_with(b"Fast-forward")
        };
        Ok(words.all(goes_on))
    }
}
