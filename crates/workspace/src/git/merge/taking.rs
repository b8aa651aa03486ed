//! What one directory of a target takes from another side of a merge.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use offshoot_tree::diff::Change;
use offshoot_tree::{RootId, Tree, VaultPath};

use super::both::Both;
use super::edit::Edit;
use super::report::GitReport;
use crate::git::repository::State;
use crate::side_label::HEAD_LABEL;

/// What becomes of the other side's refs that the target's own work stands in the way of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnclearRefs {
    /// They are kept in the target under a name of their own.
    Apart,
    /// The same, for a target that has just given all it has to the other side: where it did nothing since, it follows.
    Follow,
    /// They are left out: something is taken back, or brought back, and what was done since stays.
    Stay,
}

/// A moment at which the other side took the target's state in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meeting {
    /// What the target was.
    pub target: RootId,
    /// What the other side became.
    pub other: RootId,
}

/// Checkouts of the other side that do not come along, though its branches may.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeldBackCheckouts {
    /// Something is in progress there, and its steps were held back.
    pub unfinished: BTreeSet<VaultPath>,
    /// Their files were held back, since the folder that they are in is ignored.
    pub ignored: BTreeSet<VaultPath>,
    /// Objects were held back, so what a pack has may lead to something that is not there.
    pub objects: bool,
    /// Their commits have files that something on the host runs or obeys.
    pub trusted: BTreeSet<VaultPath>,
}

/// The three states that a target's directory is decided from.
#[derive(Clone, Copy)]
pub(super) struct Sides<'a> {
    pub(super) base: State<'a>,
    pub(super) target: State<'a>,
    pub(super) other: State<'a>,
}

/// What one directory of the target takes from another side.
pub(super) struct Taking<'a, 'e> {
    pub(super) sides: Sides<'a>,
    /// What the other side changed there since the base.
    pub(super) theirs: &'e [Change],
    /// What is different there between the target and the other side.
    pub(super) toward: &'e [Change],
    /// What the other side is called.
    pub(super) label: &'e str,
    /// What the target is called.
    pub(super) target_label: &'e str,
    pub(super) unclear: UnclearRefs,
    /// The target's and the other side's trees when they met, newest first.
    pub(super) meetings: &'e [(Tree<'a>, Tree<'a>)],
    /// What was held back of the other side's checkouts.
    pub(super) held: &'e HeldBackCheckouts,
    /// Files that the other side changed and does not bring.
    pub(super) left_out: &'e [VaultPath],
    pub(super) edit: &'e mut Edit<'a>,
    pub(super) report: &'e mut GitReport,
    /// What is kept beside directories that are taken whole.
    pub(super) beside: &'e mut Vec<VaultPath>,
    /// The objects of repositories that were looked at.
    pub(super) stores: BTreeMap<VaultPath, Rc<Both<'a>>>,
}

impl Taking<'_, '_> {
    /// Whether the target is the folders, and the other side is what was selected of a workspace.
    pub(super) fn is_commit(&self) -> bool {
        self.unclear == UnclearRefs::Apart && self.target_label == HEAD_LABEL
    }
}
