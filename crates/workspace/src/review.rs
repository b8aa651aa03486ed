//! Deciding about the changes of a workspace, piece by piece.

mod apply;
mod choices;
mod decide;
mod origin;
mod together;

pub use decide::{Decision, Mixed, Outcome, Piece, PieceKind, ReviewItem, Wanted};
pub use origin::Origin;

use std::collections::BTreeMap;

use offshoot_vault::diff::pick::TextPick;
use offshoot_vault::diff::text::is_binary;
use offshoot_vault::diff::{Change, ChangeKind, DiffOptions};
use offshoot_vault::{Actor, Body, Entry, EntryKind, RootId, Vault, VaultPath, Workspace};

use crate::change::ChangeSummaryService;
use crate::edit::Edited;
use crate::error::Result;
use crate::home::{Choice, Held, HeldReason, Selection, SelectionStates, held_back};

/// Lists what a workspace changed, to be decided about, and carries the decisions out.
#[derive(Debug)]
pub struct ReviewService<'a> {
    vault: &'a Vault,
    actor: Actor,
    options: DiffOptions,
}

impl<'a> ReviewService<'a> {
    /// Works on a vault on behalf of somebody.
    pub fn new(vault: &'a Vault, actor: &Actor, options: DiffOptions) -> Self {
        Self { vault, actor: actor.clone(), options }
    }

    /// The same since what the workspace has in common with the main line: what a commit is about. What `selection` holds back is
    /// left out.
    pub fn items_to_commit(
        &self,
        workspace: &Workspace,
        selection: &Selection<'_>,
    ) -> Result<Vec<ReviewItem>> {
        let base = choices::home_base(self.vault, workspace)?;
        let held = self.held_back(workspace, selection)?;
        let held: Vec<_> = held.iter().filter(|held| held.reason != HeldReason::Setuid).collect();
        let mut items = self.items_since(workspace, &base, &[])?;
        items.retain(|item| !held.iter().any(|held| held.change.path == item.change.path));
        Ok(items)
    }

    /// What a commit with this selection would leave in the workspace. Nothing is stored.
    pub fn held_back(&self, workspace: &Workspace, selection: &Selection<'_>) -> Result<Vec<Held>> {
        let states = SelectionStates {
            base: choices::home_base(self.vault, workspace)?,
            workspace: self.vault.snapshot(&workspace.state.head)?.root,
            main: self.vault.head()?.root,
        };
        held_back(self.vault, &states, selection)
    }

    /// For a commit: what was accepted or edited comes home, and everything else stays. The workspace is as it is now, after
    /// [`Self::apply`].
    pub fn choices(
        &self,
        workspace: &Workspace,
        items: &[ReviewItem],
    ) -> Result<BTreeMap<VaultPath, Choice>> {
        choices::choices(self.vault, workspace, &together::together(items))
    }

    /// What a workspace changed since its base, by path, in pieces that can be decided about. Where `paths` are given, only
    /// what is at or below one of them.
    pub fn items(&self, workspace: &Workspace, paths: &[VaultPath]) -> Result<Vec<ReviewItem>> {
        let base = self.vault.snapshot(&workspace.state.base)?;
        self.items_since(workspace, &base.root, paths)
    }

    fn items_since(
        &self,
        workspace: &Workspace,
        base: &RootId,
        paths: &[VaultPath],
    ) -> Result<Vec<ReviewItem>> {
        let head = self.vault.snapshot(&workspace.state.head)?;
        let summary = ChangeSummaryService::new(self.vault, self.options);
        let mut changes = summary.between(base, &head.root, false)?.changes;
        leave_out_what_comes_along(&mut changes);
        let paths = together::widened(paths);
        changes.retain(|change| is_wanted(change, &paths));
        let origins = origin::of(self.vault, workspace)?;
        changes.into_iter().map(|change| self.item(change, &origins)).collect()
    }

    fn item(&self, change: Change, origins: &BTreeMap<VaultPath, Origin>) -> Result<ReviewItem> {
        let text = self.text(&change)?;
        let origin = origins.get(&change.path).cloned();
        Ok(ReviewItem::of(change, text, self.options.context, origin))
    }

    /// The texts of a change, if it has such on all of its sides.
    fn text(&self, change: &Change) -> Result<Option<TextPick>> {
        let (before, after) =
            (self.bytes(change.before.as_ref())?, self.bytes(change.after.as_ref())?);
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

    /// Takes what was dropped out of the workspace and puts in what was edited, as one operation. Fails where the workspace
    /// has something else at such a path by now.
    pub fn apply(&self, workspace: &Workspace, items: &[ReviewItem]) -> Result<Edited> {
        apply::apply(self.vault, &self.actor, workspace, &together::together(items))
    }
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
    let kinds = (change.before.as_ref().map(Entry::kind), change.after.as_ref().map(Entry::kind));
    matches!(kinds, (Some(before), Some(after)) if before != after)
}

fn is_wanted(change: &Change, paths: &[VaultPath]) -> bool {
    let wanted = |path: &VaultPath| paths.iter().any(|filter| path.is_within(filter));
    paths.is_empty()
        || wanted(&change.path)
        || change.moved.as_ref().is_some_and(|(from, _)| wanted(from))
}
