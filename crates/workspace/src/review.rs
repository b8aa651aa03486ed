//! Deciding about the changes of a workspace, piece by piece.

mod apply;
mod choices;
mod decide;
mod fold;
mod origin;
mod repository;
mod together;

pub use decide::{Decision, Mixed, Outcome, Piece, PieceKind, ReviewItem, Wanted};
pub use fold::{FoldedReview, ReviewGroup, decide_all};
pub use origin::Origin;

use std::collections::BTreeMap;
use std::sync::Arc;

use offshoot_vault::diff::pick::TextPick;
use offshoot_vault::diff::text::is_binary;
use offshoot_vault::diff::{Change, ChangeKind, DiffOptions};
use offshoot_vault::merge::MergeOptions;
use offshoot_vault::{Actor, Body, Entry, EntryKind, Tree, Vault, VaultPath, Workspace};

use crate::change::ChangeSummaryService;
use crate::edit::Edited;
use crate::error::Result;
use crate::git::{changed_in_index, git_directory};
use crate::home::{Choice, HeldReason, PreviewService, Selection, SelectionStates};

/// Lists what a workspace changed, to be decided about, and carries the decisions out.
#[derive(Debug)]
pub struct ReviewService<'a> {
    vault: &'a Vault,
    actor: Actor,
    options: DiffOptions,
    merge: MergeOptions,
}

impl<'a> ReviewService<'a> {
    /// Works on a vault on behalf of somebody; the options are those that commits have.
    pub fn new(vault: &'a Vault, actor: &Actor, options: DiffOptions, merge: MergeOptions) -> Self {
        Self { vault, actor: actor.clone(), options, merge }
    }

    /// For a commit: what was accepted or edited comes home, and everything else stays. The workspace is as it is now, after
    /// [`Self::apply`].
    pub fn choices(
        &self,
        workspace: &Workspace,
        items: &[ReviewItem],
    ) -> Result<BTreeMap<VaultPath, Choice>> {
        let states = SelectionStates::of(self.vault, workspace, &self.merge)?;
        choices::choices(self.vault, &states, &together::together(items))
    }

    /// What a commit with this selection would bring home, by path, in pieces that can be decided about, and what it would leave in
    /// the workspace. Where `paths` are given, only what is at or below one of them.
    ///
    /// Where the main line changed a file as well, its pieces are what the workspace did to it.
    pub fn items(
        &self,
        workspace: &Workspace,
        selection: &Selection<'_>,
        paths: &[VaultPath],
    ) -> Result<Vec<ReviewItem>> {
        let _held = self.vault.hold()?;
        let preview = PreviewService::new(self.vault, self.merge, self.options);
        let preview = preview.preview(workspace, selection, false)?;
        let proposal = &preview.proposal;
        let summary = ChangeSummaryService::new(self.vault, self.options);
        let mut changes = summary.between(&proposal.base, &preview.tip.root, false)?.changes;
        part_moves(&mut changes);
        leave_out_what_comes_along(&mut changes);
        let paths = replaced_above(&changes, together::widened(paths));
        changes.retain(|change| is_wanted(change, &paths));
        let held: BTreeMap<&VaultPath, HeldReason> =
            proposal.stays().map(|held| (&held.change.path, held.reason)).collect();
        let origins = origin::of(self.vault, workspace, &proposal.common)?;
        let (before, after) = proposal.sides();
        let (before, after) = (self.vault.tree(&before)?, self.vault.tree(&after)?);
        let mut items = Vec::new();
        for change in changes {
            let held = held.get(&change.path).copied();
            if held.is_some() || comes_home(&change, &before, &after)? {
                items.push(self.item(change, held, &origins)?);
            }
        }
        repository::leave_out_mere_objects(&mut items);
        Ok(items)
    }

    fn item(
        &self,
        change: Change,
        held: Option<HeldReason>,
        origins: &BTreeMap<VaultPath, Origin>,
    ) -> Result<ReviewItem> {
        let text = self.text(&change)?;
        let origin = origins.get(&change.path).cloned();
        let item = ReviewItem::of(change, text, self.options.context, origin);
        Ok(ReviewItem { held, ..item })
    }

    /// The texts of a change, if it has such on all of its sides.
    fn text(&self, change: &Change) -> Result<Option<TextPick>> {
        let (before, after) =
            (self.bytes(change.before.as_deref())?, self.bytes(change.after.as_deref())?);
        let (Some(before), Some(after)) = (before, after) else { return Ok(None) };
        if is_binary(&before) || is_binary(&after) {
            return Ok(None);
        }
        Ok(Some(TextPick::new(&before, &after)))
    }

    /// The bytes of a file that is not too long, nothing for a side that is not there, and `None` for everything else.
    fn bytes(&self, entry: Option<&Entry>) -> Result<Option<Vec<u8>>> {
        Ok(match entry.map(|entry| &entry.body) {
            None => Some(Vec::new()),
            Some(Body::File { size, blob }) if *size <= self.options.max_text_bytes => {
                Some(self.vault.objects()?.blob(blob)?)
            }
            Some(_) => None,
        })
    }

    /// Files among those that were dropped that the workspace has staged or committed in git, where its repository is not dropped as well: a
    /// commit brings them home with it.
    pub fn dropped_but_in_git(
        &self,
        workspace: &Workspace,
        items: &[ReviewItem],
    ) -> Result<Vec<VaultPath>> {
        let is_dropped = |item: &&ReviewItem| {
            item.pieces.iter().any(|piece| piece.decision == Decision::Dropped)
        };
        let (git, files): (Vec<_>, Vec<_>) = items
            .iter()
            .filter(is_dropped)
            .map(|item| &item.change.path)
            .partition(|path| git_directory(path).is_some());
        if !git.is_empty() || files.is_empty() {
            return Ok(Vec::new());
        }
        let states = SelectionStates::of(self.vault, workspace, &self.merge)?;
        let changed = changed_in_index(self.vault, &states.base, &states.workspace)?;
        Ok(files.into_iter().filter(|path| changed.contains(*path)).cloned().collect())
    }

    /// Takes what was dropped out of the workspace and puts in what was edited, as one operation. Fails where the workspace
    /// has something else at such a path by now.
    pub fn apply(&self, workspace: &Workspace, items: &[ReviewItem]) -> Result<Edited> {
        let base = SelectionStates::of(self.vault, workspace, &self.merge)?.base;
        apply::apply(self.vault, &self.actor, workspace, &base, &together::together(items))
    }
}

/// Whether something of what a workspace did to a path comes home: nothing does where the main line did the same.
fn comes_home(change: &Change, before: &Tree<'_>, after: &Tree<'_>) -> Result<bool> {
    let moved = change.moved.as_ref().map(|(from, _)| from);
    for path in moved.into_iter().chain([&change.path]) {
        let (before, after) = (before.get(path)?, after.get(path)?);
        if before.is_none() && after.is_none() {
            // The main line moved the file, and what was done to it comes home at its new place.
            let both = change.before.is_some() && change.after.is_some();
            if both && change.moved.is_none() {
                return Ok(true);
            }
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
fn replaced_above(changes: &[Change], paths: Vec<VaultPath>) -> Vec<VaultPath> {
    let above = |path: VaultPath| {
        let mut replaced = changes.iter().filter(|change| changes_kind(change));
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

fn is_wanted(change: &Change, paths: &[VaultPath]) -> bool {
    let wanted = |path: &VaultPath| paths.iter().any(|filter| path.is_within(filter));
    paths.is_empty()
        || wanted(&change.path)
        || change.moved.as_ref().is_some_and(|(from, _)| wanted(from))
}
