//! What a workspace brings home: the one answer for a commit and for everybody who asks before it.

use offshoot_vault::merge::conflict::Conflict;
use offshoot_vault::merge::{Base, MergeInputs, MergeOptions, Side};
use offshoot_vault::{Id, RootId, Snapshot, Vault, Workspace};

use super::select::{Held, Selected, Selection, SelectionStates, held_back, select};
use crate::error::{Result, ServiceError};
use crate::git::{SettleStates, settle_repository};

/// What the main line is called where sides are named.
pub(super) const HEAD_LABEL: &str = "head";

/// The states that a proposal is about.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProposalInputs<'a> {
    /// The workspace.
    pub(super) workspace: &'a Workspace,
    /// Its newest snapshot.
    pub(super) tip: &'a Snapshot,
    /// The main line's newest snapshot.
    pub(super) head: &'a Snapshot,
    /// What the folders are, which may be newer than that.
    pub(super) main: RootId,
}

/// What a workspace brings home.
#[derive(Debug)]
pub struct Proposal {
    /// What the workspace and the main line came from.
    pub base: RootId,
    /// The newest snapshots that both came from.
    pub common: Vec<Id>,
    /// The main line.
    pub main: RootId,
    /// What the workspace offers, and what it keeps.
    pub selected: Selected,
    /// The main line with what comes home. Where there are conflicts, with their markers.
    pub merged: RootId,
    /// What does not fit: nothing comes home where there is any.
    pub conflicts: Vec<Conflict>,
    /// Why nothing can come home, where git is in the way.
    pub refused: Option<ServiceError>,
}

impl Proposal {
    /// Selects what comes home and merges it with the main line. What this stores is not durable before a transaction follows.
    pub(super) fn new(
        vault: &Vault,
        inputs: &ProposalInputs<'_>,
        selection: &Selection<'_>,
        options: &MergeOptions,
    ) -> Result<Self> {
        let ProposalInputs { workspace, tip, head, main } = *inputs;
        let common = vault.common_ancestors(&[head.id, tip.id])?;
        let ids = [head.id, tip.id];
        let states = SelectionStates::between(vault, ids, tip.root, main, options)?;
        let base = states.base;
        if vault.is_read_only() {
            return Self::unmerged(vault, &states, common, selection);
        }
        let selected = select(vault, &states, selection)?;
        let mut proposal = Self {
            base,
            common,
            main,
            merged: main,
            selected,
            conflicts: Vec::new(),
            refused: None,
        };
        let offered = proposal.selected.root;
        if offered == base || main == base {
            // Only one side changed anything, or none did.
            proposal.merged = if main == base { offered } else { main };
            return Ok(proposal);
        }
        let sides = [side(HEAD_LABEL, main), side(&workspace.name, offered)];
        let (merged, conflicts) = merge(vault, base, &sides, options)?;
        let states = SettleStates { base, folder: main, workspace: offered, merged };
        match settle_repository(vault, &states, conflicts.clone()) {
            Ok(settled) => {
                (proposal.merged, proposal.conflicts) = (settled.root, settled.conflicts)
            }
            Err(error @ ServiceError::Git(_)) => {
                (proposal.merged, proposal.conflicts) = (merged, conflicts);
                proposal.refused = Some(error);
            }
            Err(error) => return Err(error),
        }
        Ok(proposal)
    }

    /// What a workspace changed, where nothing can be stored: nothing can come home there either.
    fn unmerged(
        vault: &Vault,
        states: &SelectionStates,
        common: Vec<Id>,
        selection: &Selection<'_>,
    ) -> Result<Self> {
        let SelectionStates { base, workspace, .. } = *states;
        let held = held_back(vault, states, selection)?;
        let selected = Selected { root: workspace, held, unmatched: Vec::new() };
        let (conflicts, refused) = (Vec::new(), None);
        Ok(Self { base, common, main: base, selected, merged: workspace, conflicts, refused })
    }

    /// Whether nothing comes home.
    pub fn is_empty(&self) -> bool {
        self.selected.root == self.base
    }

    /// Two states whose difference is what comes home: the main line without and with it. Where there are conflicts, what the
    /// workspace came from and what it offers.
    pub fn sides(&self) -> (RootId, RootId) {
        match self.conflicts.is_empty() {
            true => (self.main, self.merged),
            false => (self.base, self.selected.root),
        }
    }

    /// What stays in the workspace as a whole. Of a change that is held back for its mode alone, the rest comes home.
    pub fn stays(&self) -> impl Iterator<Item = &Held> {
        self.selected.held.iter().filter(|held| !held.is_partial())
    }
}

/// Merges sides against one state.
pub(super) fn merge(
    vault: &Vault,
    base: RootId,
    sides: &[Side],
    options: &MergeOptions,
) -> Result<(RootId, Vec<Conflict>)> {
    let inputs = MergeInputs { base: &Base::Root(base), sides };
    let merged = vault.merge(&inputs, options)?;
    Ok((merged.root, merged.conflicts))
}

pub(super) fn side(label: &str, root: RootId) -> Side {
    Side { label: label.to_owned(), root }
}
