//! What to merge, and how.

use crate::hash::RootId;

/// How to merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MergeOptions {
    /// Follow files that were moved.
    pub renames: bool,
    /// How alike, in percent, a moved file must have stayed.
    pub rename_similarity: u8,
    /// Let what one side adds to a directory follow when another side moved the directory.
    pub directory_renames: bool,
    /// Files longer than this are not merged line by line.
    pub max_text_bytes: u64,
}

impl Default for MergeOptions {
    fn default() -> Self {
        Self {
            renames: true,
            rename_similarity: 50,
            directory_renames: true,
            max_text_bytes: 16 << 20,
        }
    }
}

/// A state to merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Side {
    /// What it is called in conflict markers and in the names of what is put beside.
    pub label: String,
    /// The state.
    pub root: RootId,
}

/// What the sides have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Base {
    /// Nothing: everything was added.
    Nothing,
    /// One state that all sides came from.
    Root(RootId),
    /// Several states that all sides came from, none of them from another: they are merged first.
    Several {
        /// The states.
        roots: Vec<RootId>,
        /// What these have in common.
        base: Box<Base>,
    },
}

impl Base {
    /// All states that it is made of.
    pub fn roots(&self) -> Vec<RootId> {
        match self {
            Self::Nothing => Vec::new(),
            Self::Root(root) => vec![*root],
            Self::Several { roots, base } => [roots.clone(), base.roots()].concat(),
        }
    }
}

/// What to merge.
#[derive(Clone, Copy, Debug)]
pub struct MergeInputs<'a> {
    /// What the sides have in common.
    pub base: &'a Base,
    /// The sides, the most important one first: where something must be chosen, it is hers.
    pub sides: &'a [Side],
}
