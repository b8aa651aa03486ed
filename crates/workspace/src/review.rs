//! Deciding about the changes of a workspace, piece by piece.

mod apply;
mod choices;
mod decide;
mod fold;
mod listed;
mod origin;
mod repository;
mod tally;
mod together;

pub use decide::{Mixed, PieceKind, PieceOutcome, ReviewDecision, ReviewItem, ReviewPiece, Wanted};
pub use fold::{FoldedReview, ReviewGroup, decide_all};
pub use origin::Origin;
pub use tally::Tally;

use std::collections::BTreeMap;

use offshoot_store::Id;
use offshoot_text::lines::is_binary;
use offshoot_text::pick::TextPick;
use offshoot_tree::diff::{Change, DiffOptions};
use offshoot_tree::merge::MergeOptions;
use offshoot_tree::{Body, Entry, VaultPath};
use offshoot_vault::{Actor, Vault, WorkspaceRecord};

use crate::change::ChangeSummaryService;
use crate::commit::{Choice, PreviewService, Selection, SelectionStates};
use crate::edit::Edited;
use crate::error::Result;
use crate::git::{changed_in_index, git_directory};
use listed::Listed;

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

    /// For a commit: what was accepted or edited is committed, and everything else stays. Where that is all that is listed, the commit is
    /// the same as one without choices, edited lines aside. The workspace is as it is now, after [`Self::apply`], and the selection the
    /// commit's.
    pub fn choices(
        &self,
        workspace: &WorkspaceRecord,
        selection: &Selection<'_>,
        items: &[ReviewItem],
    ) -> Result<BTreeMap<VaultPath, Choice>> {
        let _held = self.vault.hold()?;
        let (listed, _) = self.listed(workspace, selection)?;
        let states = SelectionStates::of(self.vault, workspace, &self.merge)?;
        choices::choices(self.vault, &states, &listed, &together::together(items))
    }

    /// What a commit with this selection would take, by path, in pieces that can be decided about, and what it would leave in
    /// the workspace. Where `paths` are given, only what is at or below one of them.
    ///
    /// Where the main line changed a file as well, its pieces are what the workspace did to it. Of a repository they are what changes in
    /// that of the folder.
    pub fn items(
        &self,
        workspace: &WorkspaceRecord,
        selection: &Selection<'_>,
        paths: &[VaultPath],
    ) -> Result<Vec<ReviewItem>> {
        let _held = self.vault.hold()?;
        let (mut listed, common) = self.listed(workspace, selection)?;
        let paths = listed::replaced_above(&listed, together::widened(paths));
        listed.retain(|one| is_wanted(one, &paths));
        let origins = origin::of(self.vault, workspace, &common)?;
        listed.into_iter().map(|one| self.item(one, &origins)).collect()
    }

    /// What there is to decide about, and what the workspace and the main line came from.
    fn listed(
        &self,
        workspace: &WorkspaceRecord,
        selection: &Selection<'_>,
    ) -> Result<(Vec<Listed>, Vec<Id>)> {
        let preview = PreviewService::new(self.vault, self.merge, self.options);
        let preview = preview.preview(workspace, selection, false)?;
        let summary = ChangeSummaryService::new(self.vault, self.options);
        let listed = listed::listed(self.vault, &summary, &preview)?;
        Ok((listed, preview.proposal.common))
    }

    fn item(&self, listed: Listed, origins: &BTreeMap<VaultPath, Origin>) -> Result<ReviewItem> {
        let Listed { change, source, held, made } = listed;
        // Nobody can edit in the workspace what it does not have.
        let text = if made { None } else { self.text(&change)? };
        let origin = origins.get(source.as_ref().unwrap_or(&change.path)).cloned();
        let item = ReviewItem::of(change, text, self.options.context, origin);
        Ok(ReviewItem { held, source, ..item })
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
    /// commit takes them with it.
    pub fn dropped_but_in_git(
        &self,
        workspace: &WorkspaceRecord,
        items: &[ReviewItem],
    ) -> Result<Vec<VaultPath>> {
        let is_dropped = |item: &&ReviewItem| {
            item.pieces.iter().any(|piece| piece.decision == ReviewDecision::Dropped)
        };
        let (git, files): (Vec<_>, Vec<_>) = items
            .iter()
            .filter(is_dropped)
            .map(ReviewItem::workspace_path)
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
    pub fn apply(&self, workspace: &WorkspaceRecord, review: &FoldedReview) -> Result<Edited> {
        let base = SelectionStates::of(self.vault, workspace, &self.merge)?.base;
        let tally = Tally::of(&review.items, &review.groups);
        let mut items = together::together(&review.items);
        items.sort_by(|one, other| one.change.path.cmp(&other.change.path));
        apply::apply(self.vault, &self.actor, workspace, &base, (&items, &tally))
    }
}

fn is_wanted(listed: &Listed, paths: &[VaultPath]) -> bool {
    let wanted = |path: &VaultPath| paths.iter().any(|filter| path.is_within(filter));
    let Listed { change, source, .. } = listed;
    let from = change.moved.as_ref().map(|(from, _)| from);
    paths.is_empty() || from.into_iter().chain(source).chain([&change.path]).any(wanted)
}
