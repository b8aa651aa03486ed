//! What is decided together in a review: nobody goes through build output file by file.

use std::ops::Range;

use offshoot_text::pick::fingerprint;
use offshoot_tree::VaultPath;

use super::{ReviewDecision, ReviewItem};
use crate::error::Result;
use crate::noise::{Folded, FoldedKind, Noise};

/// What a workspace changed, with what is folded at the end.
#[derive(Clone, Debug, Default)]
pub struct FoldedReview {
    /// All items: those that are shown one by one first.
    pub items: Vec<ReviewItem>,
    /// Which of them are shown as one.
    pub groups: Vec<ReviewGroup>,
}

/// Items that are shown, and decided about, as one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewGroup {
    /// A word for it that stays the same while nothing in it changes.
    pub id: String,
    /// The directory that they are in.
    pub at: VaultPath,
    /// What is in it.
    pub kind: FoldedKind,
    /// Which items they are.
    pub items: Range<usize>,
}

impl FoldedReview {
    /// Folds items; without noise none.
    pub fn new(items: Vec<ReviewItem>, noise: Option<&mut Noise<'_>>) -> Result<Self> {
        let Some(noise) = noise else { return Ok(Self { items, groups: Vec::new() }) };
        let sorted = noise.sort(items, |item| &item.change)?;
        let mut review = Self { items: sorted.single, groups: Vec::new() };
        for Folded { at, kind, items } in sorted.folded {
            let ids = items.iter().flat_map(|item| &item.pieces).map(|piece| piece.id.as_bytes());
            let id = fingerprint(ids);
            let start = review.items.len();
            review.items.extend(items);
            let items = start..review.items.len();
            review.groups.push(ReviewGroup { id, at, kind, items });
        }
        Ok(review)
    }

    /// Makes a decision about everything in the group with this id; false where there is none.
    pub fn decide(&mut self, id: &str, decision: &ReviewDecision) -> bool {
        let Some(group) = self.groups.iter().find(|group| group.id == id) else { return false };
        decide_all(&mut self.items[group.items.clone()], decision);
        true
    }
}

/// Makes a decision about all pieces of items.
pub fn decide_all(items: &mut [ReviewItem], decision: &ReviewDecision) {
    let pieces = items.iter_mut().flat_map(|item| &mut item.pieces);
    pieces.for_each(|piece| piece.decision = decision.clone());
}
