//! Deciding about what a workspace changed, piece by piece.

use offshoot_vault::Vault;
use offshoot_workspace::Selection;
pub use offshoot_workspace::{
    Edited, FoldedReview, PieceKind, PieceOutcome, ReviewDecision as Decision,
    ReviewGroup as Group, ReviewItem as Item, ReviewPiece as Piece, ReviewService, Tally, Wanted,
    decide_all,
};

use crate::commit::{Commit, Outcome};
use crate::error::{Error, Result};
use crate::offshoot::Offshoot;
use crate::workspace::Workspace;

/// What a workspace changed, to be decided about.
#[derive(Debug)]
pub struct Review {
    workspace: Workspace,
    folded: FoldedReview,
}

impl Workspace {
    /// What it changed, in pieces that can be accepted, dropped and edited. Nothing is decided yet.
    pub fn review(&self) -> Result<Review> {
        let vault = self.project().vault();
        let tracked = self.project().engine().tracked(vault)?;
        let is_tracked = |path: &_| Ok(tracked.has(path));
        let selection = Selection { tracked: &is_tracked, ..Selection::default() };
        let items = self.reviews().items(&self.record()?, &selection, &[])?;
        Ok(Review { workspace: self.clone(), folded: FoldedReview::new(items, None)? })
    }

    fn reviews(&self) -> ReviewService<'_> {
        self.project().engine().reviews(self.project().vault())
    }
}

impl Offshoot {
    /// Divides what workspaces of a vault changed into pieces, and carries out what was decided about them.
    pub fn reviews<'v>(&self, vault: &'v Vault) -> ReviewService<'v> {
        ReviewService::new(vault, self.actor(), self.diff_options(), self.merge_options())
    }
}

impl Review {
    /// The changed files, each with its pieces.
    pub fn items(&self) -> &[Item] {
        &self.folded.items
    }

    /// The same, to decide about them one by one.
    pub fn items_mut(&mut self) -> &mut [Item] {
        &mut self.folded.items
    }

    /// Decides about the piece of this id.
    pub fn decide(&mut self, id: &str, decision: &Decision) -> Result<()> {
        let mut pieces = self.folded.items.iter_mut().flat_map(|item| &mut item.pieces);
        let Some(piece) = pieces.find(|piece| piece.id == id) else {
            return Err(Error::usage(format!("there is no change {id} to decide about")));
        };
        piece.decision = decision.clone();
        Ok(())
    }

    /// How many pieces were accepted, dropped, edited, and not decided about.
    pub fn tally(&self) -> Tally {
        Tally::of_pieces(&self.folded.items)
    }

    /// Takes what was dropped out of the workspace, and puts in what was edited, as one operation.
    pub fn apply(&self) -> Result<Edited> {
        Ok(self.workspace.reviews().apply(&self.workspace.record()?, &self.folded)?)
    }

    /// The same, and brings exactly what was accepted or edited into the folder.
    pub fn commit(self, commit: impl Into<Commit>) -> Result<Outcome> {
        self.apply()?;
        let vault = self.workspace.project().vault();
        let tracked = self.workspace.project().engine().tracked(vault)?;
        let is_tracked = |path: &_| Ok(tracked.has(path));
        let selection = Selection { tracked: &is_tracked, ..Selection::default() };
        let service = self.workspace.reviews();
        let choices = service.choices(&self.workspace.record()?, &selection, &self.folded.items)?;
        self.workspace.commit(commit.into().choices(choices))
    }
}
