//! How much was decided in which way.

use super::together::Together;
use super::{ReviewDecision, ReviewGroup, ReviewItem};

/// How many pieces were decided about in which way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// They are good.
    pub accepted: u64,
    /// They are taken out of the workspace.
    pub dropped: u64,
    /// Something else is put in their place.
    pub edited: u64,
    /// They stay as they are.
    pub undecided: u64,
}

impl Tally {
    /// Of a review, counted as it is listed: what is folded counts once. Where only a part of it was decided about, that part is counted
    /// piece by piece, and the rest once.
    pub fn of(items: &[ReviewItem], groups: &[ReviewGroup]) -> Self {
        let decided = Together::of(items);
        let (mut tally, mut folded) = (Self::default(), vec![Self::default(); groups.len()]);
        for (at, item) in items.iter().enumerate() {
            let group = groups.iter().position(|group| group.items.contains(&at));
            let counted = group.map_or(&mut tally, |group| &mut folded[group]);
            item.pieces.iter().for_each(|piece| counted.count(decided.decision(item, piece)));
        }
        folded.into_iter().for_each(|group| tally.add(group.folded()));
        tally
    }

    /// Of all pieces of items, one by one.
    pub fn of_pieces(items: &[ReviewItem]) -> Self {
        let mut tally = Self::default();
        let pieces = items.iter().flat_map(|item| &item.pieces);
        pieces.for_each(|piece| tally.count(&piece.decision));
        tally
    }

    fn count(&mut self, decision: &ReviewDecision) {
        match decision {
            ReviewDecision::Accepted => self.accepted += 1,
            ReviewDecision::Dropped => self.dropped += 1,
            ReviewDecision::Edited(_) => self.edited += 1,
            ReviewDecision::Undecided => self.undecided += 1,
        }
    }

    /// Whether something is committed in a commit of what was decided.
    pub fn takes_something(&self) -> bool {
        self.accepted + self.edited > 0
    }

    /// Whether the workspace changes by it.
    pub fn changes_something(&self) -> bool {
        self.dropped + self.edited > 0
    }

    /// What is shown as one.
    fn folded(self) -> Self {
        let once = |number: u64| number.min(1);
        let Self { accepted, dropped, edited, undecided } = self;
        match [accepted, dropped, edited, undecided].iter().filter(|number| **number > 0).count() {
            0 | 1 => Self {
                accepted: once(accepted),
                dropped: once(dropped),
                edited: once(edited),
                undecided: once(undecided),
            },
            _ => Self { undecided: once(undecided), ..self },
        }
    }

    fn add(&mut self, other: Self) {
        self.accepted += other.accepted;
        self.dropped += other.dropped;
        self.edited += other.edited;
        self.undecided += other.undecided;
    }
}
