//! Deciding about one change at a time.

use std::collections::{BTreeMap, BTreeSet};

use offshoot_tree::diff::Change;
use offshoot_tree::{Body, Entry, EntryKind, RootId, Tree, VaultPath};
use offshoot_vault::{Binding, IGNORE_FILE, Symlinks, Vault, bound_path, is_staging};

use super::held::HeldReason;
use super::selection::{Choice, Selection};
use super::states::SelectionStates;
use super::{attributes, modes};
use crate::error::Result;
use crate::git::{
    Checkouts, Judge, PackChecker, Planted, Planting, Staged, State, common, git_directory,
    is_new_pipe, worktree_of,
};
use crate::ignore_rules::{IgnoreRules, is_ignore_file, text_at};
use crate::trusted::{Surroundings, TrustedFiles};

/// What becomes of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    /// It is committed as it is.
    Take,
    /// This is committed in its place; the rest of it stays for the reason.
    Instead(Box<Entry>, HeldReason),
    /// It stays.
    Hold(HeldReason),
}

pub(super) struct Decider<'d> {
    vault: &'d Vault,
    selection: &'d Selection<'d>,
    rules: IgnoreRules<'d>,
    /// What is never read from a folder, and so never brought there; nothing without a folder.
    never: Option<IgnoreRules<'d>>,
    planting: Planting,
    trusted: TrustedFiles<'d>,
    checkouts: Checkouts,
    /// Where the further folders lie that the vault is bound to.
    bound: Vec<VaultPath>,
    /// The workspace and the main line, and which further working trees lie in a folder that is ignored.
    states: [RootId; 2],
    ignored_worktrees: BTreeMap<VaultPath, bool>,
    /// What this process takes from the modes of files that it makes.
    umask: u16,
    /// The modes that all names of one file may have, by what they share.
    modes: BTreeMap<u64, u16>,
}

impl<'d> Decider<'d> {
    pub(super) fn new(
        vault: &'d Vault,
        states: &SelectionStates,
        selection: &'d Selection<'d>,
        changes: &[Change],
    ) -> Result<Self> {
        let objects = vault.objects()?;
        let main = Tree::open(objects, &states.main)?;
        let bindings = vault.bindings()?;
        let before = Tree::open(objects, &states.base)?;
        let after = Tree::open(objects, &states.workspace)?;
        let checkouts = Checkouts::of(objects, &main, [&before, &after])?;
        let excludes = checkouts.shared().join(b"info").join(b"exclude");
        let excludes = text_at(objects, &main, &excludes)?.unwrap_or_default();
        let roots = [states.base, states.workspace, states.main];
        let rules = IgnoreRules::new(objects, &roots, &excludes)?;
        let never = [states.workspace, states.main];
        let never = match bindings.is_empty() {
            true => None,
            false => Some(IgnoreRules::never(objects, &never)?),
        };
        let trees = [&before, &after, &main];
        let states_of = [&after, &main].map(|tree| State { objects, tree });
        let shared = checkouts.shared();
        let git = selection.git;
        let around = Surroundings {
            vault,
            main: &states.main,
            states: states_of,
            shared,
            bindings: &bindings,
            git,
        };
        let trusted = TrustedFiles::new(selection.trusted, changes, &around)?;
        let judge = SelectionJudge { trusted: &trusted, selection };
        let packs_by = git.map(|git| PackChecker { git: git.options(), vault });
        let planting = Planting::of(changes, objects, trees, &bindings, &judge, packs_by.as_ref())?;
        let bound = bindings.iter().map(Binding::at).filter(|at| !at.is_top()).collect();
        let states = [states.workspace, states.main];
        let ignored_worktrees = BTreeMap::new();
        let mut decider = Self {
            vault,
            selection,
            rules,
            never,
            planting,
            trusted,
            checkouts,
            bound,
            states,
            ignored_worktrees,
            umask: modes::umask(),
            modes: BTreeMap::new(),
        };
        for change in changes {
            let Some(after) = change.after.as_deref() else { continue };
            if let Some(group) = after.group {
                let mode = decider.allowed_mode(change, after)?;
                decider.modes.entry(group).and_modify(|all| *all &= mode).or_insert(mode);
            }
        }
        Ok(decider)
    }

    /// What indexes of git have of files that something on the host runs or obeys.
    pub(super) fn staged(&self) -> &Staged {
        self.planting.staged()
    }

    /// The checkouts whose commits have such files.
    pub(super) fn held_checkouts(&self) -> BTreeSet<VaultPath> {
        match self.selection.allow.git {
            true => BTreeSet::new(),
            false => self.planting.held_checkouts().clone(),
        }
    }

    pub(super) fn decide(&mut self, change: &Change) -> Result<Decision> {
        let decision = self.decide_on_content(change)?;
        let (entry, reason) = match (&decision, change.after.as_deref()) {
            (Decision::Take, Some(after)) => (after, HeldReason::Attributes),
            (Decision::Instead(entry, reason), _) => (&**entry, *reason),
            _ => return Ok(decision),
        };
        let Some(meta) = attributes::allowed(entry, change.before.as_deref()) else {
            return Ok(decision);
        };
        Ok(Decision::Instead(Box::new(Entry { meta, ..entry.clone() }), reason))
    }

    fn decide_on_content(&mut self, change: &Change) -> Result<Decision> {
        let (path, selection) = (&change.path, self.selection);
        // A part of a git directory without the rest would be a broken repository, so it is asked for as a whole.
        let named = git_directory(path).unwrap_or_else(|| path.clone());
        let asked = selection.only.is_empty() || selection.only.iter().any(|p| p.matches(&named));
        if !asked || selection.exclude.iter().any(|pattern| pattern.matches(&named)) {
            return Ok(Decision::Hold(HeldReason::NotAsked));
        }
        if self.has_no_folder(path) {
            return Ok(Decision::Hold(HeldReason::Unbound));
        }
        if self.is_never_read(change)? {
            return Ok(Decision::Hold(HeldReason::Excluded));
        }
        if self.spoils_ignores(path)? {
            return Ok(Decision::Hold(HeldReason::IgnoreFile));
        }
        let (before, after) = (change.before.as_deref(), change.after.as_deref());
        let planted = self.planting.planted(path, before, after);
        let others = || self.checkouts.belongs_to_another(change).then_some(Planted::OtherCheckout);
        let planted = planted.or_else(others);
        let never =
            [Planted::Gone, Planted::Newer, Planted::FalseObject, Planted::Pipe, Planted::Cache];
        // What somebody takes by its name was looked at by itself.
        let taken = selection.take.iter().any(|pattern| pattern.matches(path));
        let allow_git = selection.allow.git || taken;
        let allowed = |planted: &Planted| allow_git && !never.contains(planted);
        if let Some(planted) = planted.filter(|planted| !allowed(planted)) {
            return Ok(Decision::Hold(HeldReason::Git(planted)));
        }
        if let Some((text, planted)) = self.planting.without_planted(path).filter(|_| !allow_git)
            && let Some(entry) = self.with_content(change, text)?
        {
            return Ok(Decision::Instead(Box::new(entry), HeldReason::Git(planted)));
        }
        if !selection.ignored && self.is_ignored(change)? {
            return Ok(Decision::Hold(HeldReason::Ignored));
        }
        if !selection.allow.trusted
            && !taken
            && let Some(file) = self.trusted.of(change)
        {
            return Ok(Decision::Hold(HeldReason::Trusted(file)));
        }
        if !taken && is_new_pipe(before, after) {
            return Ok(Decision::Hold(HeldReason::Pipe));
        }
        let chosen = match selection.choices.get(path) {
            None | Some(Choice::Take) => None,
            Some(Choice::Leave) => return Ok(Decision::Hold(HeldReason::Left)),
            Some(Choice::Content(bytes)) => self.with_content(change, bytes)?,
            Some(Choice::File { content, mode }) => {
                let mut chosen = self.with_content(change, content)?;
                chosen.iter_mut().for_each(|entry| entry.meta.mode = *mode);
                chosen
            }
        };
        self.with_allowed_mode(change, chosen, selection.allow.setuid || taken)
    }

    /// Whether a path belongs to a folder that the vault is not bound to any more.
    fn has_no_folder(&self, path: &VaultPath) -> bool {
        let place = bound_path();
        let is_in_one = path.is_within(&place) && path.names().len() > place.names().len();
        is_in_one && !self.bound.iter().any(|at| path.is_within(at))
    }

    /// Whether nobody would find it in the folder: ignore files keep it out of the vault, or it is named like what an apply stages.
    fn is_never_read(&mut self, change: &Change) -> Result<bool> {
        let Some(never) = &mut self.never else { return Ok(false) };
        let is_directory = change.entry().kind() == EntryKind::Directory;
        let names = change.path.names();
        let directories = if is_directory { names } else { &names[..names.len().max(1) - 1] };
        Ok(directories.iter().any(|name| is_staging(name))
            || never.ignores(&change.path, is_directory)?)
    }

    /// Whether it is, or lies in, an ignore file of the workspace that would be refused in the folder.
    fn spoils_ignores(&self, path: &VaultPath) -> Result<bool> {
        let Some(depth) = path.names().iter().position(|name| name == IGNORE_FILE) else {
            return Ok(false);
        };
        let file = path.names()[..=depth].iter().fold(VaultPath::top(), |at, name| at.join(name));
        let objects = self.vault.objects()?;
        let [workspace, _] = &self.states;
        match Tree::open(objects, workspace)?.get(&file)? {
            Some(entry) if self.never.is_some() => Ok(!is_ignore_file(objects, &entry)?),
            _ => Ok(false),
        }
    }

    fn is_ignored(&mut self, change: &Change) -> Result<bool> {
        let is_directory = change.entry().kind() == EntryKind::Directory;
        let ignored = self.rules.ignores(&change.path, is_directory)?
            && !(self.selection.tracked)(&change.path)?;
        Ok(ignored || self.is_of_ignored_worktree(&change.path)?)
    }

    /// Whether a path belongs to what git keeps of a further working tree whose files are ignored: it is of no use without them.
    fn is_of_ignored_worktree(&mut self, path: &VaultPath) -> Result<bool> {
        let Some(worktree) = worktree_of(path) else { return Ok(false) };
        if let Some(known) = self.ignored_worktrees.get(&worktree) {
            return Ok(*known);
        }
        let objects = self.vault.objects()?;
        let mut ignored = false;
        for root in self.states {
            let tree = &Tree::open(objects, &root)?;
            let folder = State { objects, tree }.worktree_folder(&common(&worktree), &worktree)?;
            if let Some(folder) = folder {
                ignored |= self.rules.ignores(&folder, true)?;
            }
        }
        self.ignored_worktrees.insert(worktree, ignored);
        Ok(ignored)
    }

    /// The file with the bytes that somebody decided for.
    fn with_content(&self, change: &Change, bytes: &[u8]) -> Result<Option<Entry>> {
        let Some(after) = change.after.as_deref().filter(|e| e.kind() == EntryKind::File) else {
            return Ok(None);
        };
        let source = std::path::Path::new("what was chosen");
        let content = self.vault.add_content(&mut &*bytes, source)?;
        let body = Body::File { size: content.size, blob: content.blob };
        Ok(Some(Entry { group: None, body, ..after.clone() }))
    }

    /// Takes away what would give others more rights: to run a program with somebody else's, to write what they could not, or to read what was
    /// closed to them.
    fn with_allowed_mode(
        &self,
        change: &Change,
        chosen: Option<Entry>,
        allowed: bool,
    ) -> Result<Decision> {
        let left = chosen.as_ref().map(|_| HeldReason::Left);
        let Some(entry) = chosen.as_ref().or(change.after.as_deref()) else {
            return Ok(Decision::Take);
        };
        let mode = self.allowed_mode(change, entry)?;
        if mode != entry.meta.mode && !allowed {
            let mut entry = entry.clone();
            entry.meta.mode = mode;
            return Ok(Decision::Instead(Box::new(entry), HeldReason::Setuid));
        }
        Ok(match (chosen, left) {
            (Some(entry), Some(reason)) => Decision::Instead(Box::new(entry), reason),
            _ => Decision::Take,
        })
    }

    /// The mode that an entry may have in the folder.
    fn allowed_mode(&self, change: &Change, entry: &Entry) -> Result<u16> {
        let inside = self.directory_of(&change.path)?;
        let mode = modes::allowed(entry, change.before.as_deref(), inside.as_ref(), self.umask);
        let all = entry.group.and_then(|group| self.modes.get(&group));
        Ok(all.map_or(mode, |all| mode & all))
    }

    /// The directory of the main line that a path lies in; where that is new, the one that it lies in.
    fn directory_of(&self, path: &VaultPath) -> Result<Option<Entry>> {
        let [_, main] = &self.states;
        let tree = Tree::open(self.vault.objects()?, main)?;
        let mut above = path.parent();
        while let Some(directory) = above {
            if let Some(entry) = tree.get(&directory)? {
                return Ok(Some(entry));
            }
            above = directory.parent();
        }
        Ok(None)
    }
}

/// What counts of what git stores, as far as it is not allowed.
struct SelectionJudge<'j> {
    trusted: &'j TrustedFiles<'j>,
    selection: &'j Selection<'j>,
}

impl Judge for SelectionJudge<'_> {
    fn counts(&self, path: &VaultPath, is_link: bool) -> bool {
        !self.selection.allow.trusted && self.trusted.counts(path, is_link)
    }

    fn is_harmless(&self, path: &VaultPath, before: Option<&[u8]>, after: Option<&[u8]>) -> bool {
        self.trusted.is_harmless(path, before, after)
    }

    fn leads_astray(&self, links: &Symlinks) -> bool {
        !self.selection.allow.trusted && self.trusted.leads_astray(links)
    }

    fn takes(&self, path: &VaultPath) -> bool {
        self.selection.take.iter().any(|pattern| pattern.matches(path))
    }
}
