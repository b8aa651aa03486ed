//! What there is to decide about: what a commit would do, by path, and what it would leave in the workspace.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use offshoot_tree::diff::{Change, ChangeKind};
use offshoot_tree::merge::Rename;
use offshoot_tree::{Entry, EntryKind, Tree, VaultPath};
use offshoot_vault::Vault;

use crate::change::ChangeSummaryService;
use crate::commit::{CommitPreview, HeldReason, Proposal};
use crate::error::Result;
use crate::git::git_directory;

/// A change to decide about.
#[derive(Clone, Debug)]
pub(super) struct Listed {
    /// The change, at the path where it is committed.
    pub(super) change: Change,
    /// Where the workspace has it, where that is another path.
    pub(super) source: Option<VaultPath>,
    /// Why a commit leaves it in the workspace, where it does.
    pub(super) held: Option<HeldReason>,
    /// The workspace has something else there: the commit makes it, as it does with refs.
    pub(super) made: bool,
}

/// All of them, by path.
///
/// Files are listed by what the workspace did to them, and repositories by what becomes of the folder's: refs are committed one by one, under
/// other names where both sides moved them.
pub(super) fn listed(
    vault: &Vault,
    summary: &ChangeSummaryService<'_>,
    preview: &CommitPreview,
) -> Result<Vec<Listed>> {
    let proposal = &preview.proposal;
    let held: BTreeMap<&VaultPath, HeldReason> =
        proposal.stays().map(|held| (&held.change.path, held.reason)).collect();
    let (before, after) = proposal.sides();
    let (before, after) = (vault.tree(&before)?, vault.tree(&after)?);
    let targets = CommitTargets::of(proposal);
    let mut all = Vec::new();
    let mut own = summary.between(&proposal.base, &preview.tip.root, false)?.changes;
    part_moves(&mut own);
    leave_out_what_comes_along(&mut own);
    for mut change in own {
        let held = held.get(&change.path).copied();
        if held.is_none() && is_of_repository(&change) {
            continue;
        }
        let target = targets.of_change(&change).cloned();
        let source = target.map(|target| std::mem::replace(&mut change.path, target));
        if held.is_some() || is_committed(&change, &before, &after)? {
            all.push(Listed { change, source, held, made: false });
        }
    }
    let tip = vault.tree(&preview.tip.root)?;
    let is_brought = |change: &&Change| is_of_repository(change);
    let mut brought: Vec<Change> =
        preview.summary.changes.iter().filter(is_brought).cloned().collect();
    leave_out_what_comes_along(&mut brought);
    for change in brought {
        let made = tip.get(&change.path)?.as_ref() != change.after.as_deref();
        all.push(Listed { change, source: None, held: None, made });
    }
    all.sort_by(|one, other| one.change.path.cmp(&other.change.path));
    super::repository::leave_out_mere_objects(&mut all);
    Ok(all)
}

/// Whether a change is one inside of a git directory alone.
fn is_of_repository(change: &Change) -> bool {
    let from = change.moved.as_ref().map(|(from, _)| from);
    from.into_iter().chain([&change.path]).all(|path| git_directory(path).is_some())
}

/// Where changes are committed that the main line has at other paths.
struct CommitTargets<'p> {
    /// By the paths of what the workspace changed or added.
    stayed: HashMap<&'p VaultPath, &'p VaultPath>,
    /// By the old paths of what the workspace moved.
    moved: HashMap<&'p VaultPath, &'p VaultPath>,
}

impl<'p> CommitTargets<'p> {
    fn of(proposal: &'p Proposal) -> Self {
        let (mut stayed, mut moved) = (HashMap::new(), HashMap::new());
        let renames = if proposal.fits() { proposal.renames.as_slice() } else { &[] };
        for Rename { side, from, to, similarity } in renames {
            match (side, similarity) {
                (1, Some(_)) => moved.insert(from, to),
                _ => stayed.insert(from, to),
            };
        }
        Self { stayed, moved }
    }

    fn of_change(&self, change: &Change) -> Option<&'p VaultPath> {
        let target = match &change.moved {
            Some((from, _)) => self.moved.get(from),
            None => self.stayed.get(&change.path),
        };
        target.copied().filter(|target| **target != change.path)
    }
}

/// Whether something of what a workspace did to a path is committed: nothing is where the main line did the same.
fn is_committed(change: &Change, before: &Tree<'_>, after: &Tree<'_>) -> Result<bool> {
    let moved = change.moved.as_ref().map(|(from, _)| from);
    for path in moved.into_iter().chain([&change.path]) {
        let (before, after) = (before.get(path)?, after.get(path)?);
        if before.is_none() && after.is_none() {
            continue;
        }
        let (before, after) = (before.map(Arc::new), after.map(Arc::new));
        let there = Change { path: path.clone(), before, after, moved: None };
        if there.before != there.after && there.kind() != ChangeKind::Metadata {
            return Ok(true);
        }
    }
    Ok(false)
}

/// What was moved into something that became a directory, or out of one that is none any more, comes and goes with that: it was deleted
/// and added.
fn part_moves(changes: &mut Vec<Change>) {
    let replaced: Vec<VaultPath> =
        changes.iter().filter(|c| changes_kind(c)).map(|c| c.path.clone()).collect();
    let is_below = |path: &VaultPath| replaced.iter().any(|p| path != p && path.is_within(p));
    let mut deleted = Vec::new();
    for change in changes.iter_mut() {
        let Some((from, _)) =
            change.moved.take_if(|(from, _)| is_below(from) || is_below(&change.path))
        else {
            continue;
        };
        let before = change.before.take();
        deleted.push(Change { path: from, before, after: None, moved: None });
    }
    changes.extend(deleted);
    changes.sort_by(|a, b| a.path.cmp(&b.path));
}

/// The paths that are asked for; for one below something that became a directory or is none any more, that.
pub(super) fn replaced_above(listed: &[Listed], paths: Vec<VaultPath>) -> Vec<VaultPath> {
    let above = |path: VaultPath| {
        let changes = listed.iter().map(|one| &one.change);
        let mut replaced = changes.filter(|change| changes_kind(change));
        let found = replaced.find(|change| path.is_within(&change.path));
        found.map_or(path, |change| change.path.clone())
    };
    paths.into_iter().map(above).collect()
}

/// Directories that only frame other changes, and what lies below something that became a directory or is none any more,
/// come and go with the others.
fn leave_out_what_comes_along(changes: &mut Vec<Change>) {
    let replaced: Vec<VaultPath> =
        changes.iter().filter(|c| changes_kind(c)).map(|c| c.path.clone()).collect();
    let moved_from: Vec<VaultPath> =
        changes.iter().filter_map(|c| Some(c.moved.as_ref()?.0.clone())).collect();
    let paths: Vec<VaultPath> = changes.iter().map(|c| c.path.clone()).collect();
    let frames = |change: &Change| {
        let comes_or_goes = matches!(change.kind(), ChangeKind::Added | ChangeKind::Deleted);
        let below = |path: &VaultPath| *path != change.path && path.is_within(&change.path);
        comes_or_goes
            && change.entry().kind() == EntryKind::Directory
            && (paths.iter().any(below) || moved_from.iter().any(below))
    };
    let below_replaced =
        |change: &Change| replaced.iter().any(|p| change.path != *p && change.path.is_within(p));
    let keep: Vec<bool> = changes.iter().map(|c| !frames(c) && !below_replaced(c)).collect();
    let mut keep = keep.into_iter();
    changes.retain(|_| keep.next().unwrap_or(true));
}

fn changes_kind(change: &Change) -> bool {
    let kinds =
        (change.before.as_deref().map(Entry::kind), change.after.as_deref().map(Entry::kind));
    matches!(kinds, (Some(before), Some(after)) if before != after)
}
