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
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # use offshoot_engine::{Offshoot, Options};
/// # let scratch = tempfile::tempdir()?;
/// # let (vaults, folder) = (scratch.path().join("vaults"), scratch.path().join("project"));
/// # std::fs::create_dir(&folder)?;
/// # std::fs::write(folder.join("greeting"), "helo\n")?;
/// # let offshoot = Offshoot::open(Options::new(Vec::new()).registry(vaults))?;
/// use offshoot_engine::review::Decision;
///
/// let fix = offshoot.project(&folder)?.fork("fix")?;
/// fix.write("/greeting", b"hello\n")?;
/// fix.write("/junk", b"junk\n")?;
/// let mut review = fix.review()?;
/// for item in review.items_mut() {
///     let is_junk = item.change.path.to_string() == "/junk";
///     let decision = if is_junk { Decision::Dropped } else { Decision::Accepted };
///     item.pieces.iter_mut().for_each(|piece| piece.decision = decision.clone());
/// }
/// review.commit("Mend the greeting")?;
/// assert_eq!(std::fs::read(folder.join("greeting"))?, b"hello\n");
/// assert!(!folder.join("junk").exists());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Review {
    workspace: Workspace,
    folded: FoldedReview,
}

impl Workspace {
    /// What it changed, in pieces that can be accepted, dropped and edited. Nothing is decided yet.
    ///
    /// ```
    /// # fn example(workspace: &offshoot_engine::Workspace) -> offshoot_engine::Result<()> {
    /// let review = workspace.review()?;
    /// println!("{} files to look at", review.items().len());
    /// # Ok(())
    /// # }
    /// ```
    pub fn review(&self) -> Result<Review> {
        let vault = self.project().vault();
        let tracked = self.project().engine().tracked(vault)?;
        let is_tracked = |path: &_| Ok(tracked.has(path));
        let selection =
            Selection { tracked: &is_tracked, git: Some(&tracked), ..Selection::default() };
        let items = self.reviews().items(&self.record()?, &selection, &[])?;
        Ok(Review { workspace: self.clone(), folded: FoldedReview::new(items, None)? })
    }

    fn reviews(&self) -> ReviewService<'_> {
        self.project().engine().reviews(self.project().vault())
    }
}

impl Offshoot {
    /// Divides what workspaces of a vault changed into pieces, and carries out what was decided about them.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// let (engine, vault) = (project.engine(), project.vault());
    /// let service = engine.reviews(vault);
    /// # Ok(())
    /// # }
    /// ```
    pub fn reviews<'v>(&self, vault: &'v Vault) -> ReviewService<'v> {
        ReviewService::new(vault, self.actor(), self.diff_options(), self.merge_options())
    }
}

impl Review {
    /// The changed files, each with its pieces.
    ///
    /// ```
    /// # fn example(workspace: &offshoot_engine::Workspace) -> offshoot_engine::Result<()> {
    /// for item in workspace.review()?.items() {
    ///     println!("{}: {} pieces", item.change.path, item.pieces.len());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn items(&self) -> &[Item] {
        &self.folded.items
    }

    /// The same, to decide about them one by one.
    ///
    /// ```
    /// # fn example(workspace: &offshoot_engine::Workspace) -> offshoot_engine::Result<()> {
    /// use offshoot_engine::review::{Decision, decide_all};
    ///
    /// let mut review = workspace.review()?;
    /// decide_all(review.items_mut(), &Decision::Accepted);
    /// # Ok(())
    /// # }
    /// ```
    pub fn items_mut(&mut self) -> &mut [Item] {
        &mut self.folded.items
    }

    /// Decides about the piece of this id.
    ///
    /// ```
    /// # fn example(workspace: &offshoot_engine::Workspace) -> offshoot_engine::Result<()> {
    /// use offshoot_engine::review::Decision;
    ///
    /// let mut review = workspace.review()?;
    /// let first = review.items()[0].pieces[0].id.clone();
    /// review.decide(&first, &Decision::Dropped)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn decide(&mut self, id: &str, decision: &Decision) -> Result<()> {
        let mut pieces = self.folded.items.iter_mut().flat_map(|item| &mut item.pieces);
        let Some(piece) = pieces.find(|piece| piece.id == id) else {
            return Err(Error::usage(format!("there is no change {id} to decide about")));
        };
        piece.decision = decision.clone();
        Ok(())
    }

    /// How many pieces were accepted, dropped, edited, and not decided about.
    ///
    /// ```
    /// # fn example(workspace: &offshoot_engine::Workspace) -> offshoot_engine::Result<()> {
    /// println!("{} pieces left", workspace.review()?.tally().undecided);
    /// # Ok(())
    /// # }
    /// ```
    pub fn tally(&self) -> Tally {
        Tally::of_pieces(&self.folded.items)
    }

    /// Takes what was dropped out of the workspace, and puts in what was edited, as one operation.
    ///
    /// ```
    /// # fn example(workspace: &offshoot_engine::Workspace) -> offshoot_engine::Result<()> {
    /// let edited = workspace.review()?.apply()?;
    /// println!("{} files are other than before", edited.changes.len());
    /// # Ok(())
    /// # }
    /// ```
    pub fn apply(&self) -> Result<Edited> {
        Ok(self.workspace.reviews().apply(&self.workspace.record()?, &self.folded)?)
    }

    /// The same, and brings exactly what was accepted or edited into the folder.
    ///
    /// ```
    /// # fn example(workspace: &offshoot_engine::Workspace) -> offshoot_engine::Result<()> {
    /// workspace.review()?.commit("What was accepted")?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn commit(self, commit: impl Into<Commit>) -> Result<Outcome> {
        self.apply()?;
        let vault = self.workspace.project().vault();
        let tracked = self.workspace.project().engine().tracked(vault)?;
        let is_tracked = |path: &_| Ok(tracked.has(path));
        let selection =
            Selection { tracked: &is_tracked, git: Some(&tracked), ..Selection::default() };
        let service = self.workspace.reviews();
        let choices = service.choices(&self.workspace.record()?, &selection, &self.folded.items)?;
        self.workspace.commit(commit.into().choices(choices))
    }
}
