//! What a workspace brings home: the one answer for a commit and for everybody who asks before it.

use offshoot_vault::diff::{self, Change, ChangeKind};
use offshoot_vault::merge::conflict::Conflict;
use offshoot_vault::merge::{Base, MergeInputs, MergeOptions, Side};
use offshoot_vault::{Id, RootId, Snapshot, Vault, Workspace};

use super::select::{Held, Selected, Selection, SelectionStates, held_back, select};
use crate::error::{Result, ServiceError};
use crate::git::{GitReport, RepositoryMerge, Unclear, is_own, merge_repositories};

/// What the main line is called where sides are named.
pub(crate) const HEAD_LABEL: &str = "head";

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
    /// What becomes of repositories.
    pub git: GitReport,
    /// All that the workspace has of its own is what a version control keeps for itself, and none of it matters to the folders.
    nothing: bool,
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
            git: GitReport::default(),
            nothing: false,
            refused: None,
        };
        let offered = proposal.selected.root;
        if offered == base {
            return Ok(proposal);
        }
        let sides = [side(HEAD_LABEL, main), side(&workspace.name, offered)];
        match merge(vault, base, &sides, 0, Unclear::Apart, options) {
            Ok((merged, conflicts, git)) => {
                let quiet = merged == main && git.notes.is_empty();
                proposal.nothing = quiet && is_all_own(vault, &base, &offered)?;
                (proposal.merged, proposal.conflicts, proposal.git) = (merged, conflicts, git);
            }
            Err(error @ ServiceError::Git(_)) => proposal.refused = Some(error),
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
        let (conflicts, git, nothing, refused) = (Vec::new(), GitReport::default(), false, None);
        let (main, merged) = (base, workspace);
        Ok(Self { base, common, main, selected, merged, conflicts, git, nothing, refused })
    }

    /// Whether nothing comes home.
    pub fn is_empty(&self) -> bool {
        self.nothing || self.selected.root == self.base
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

/// Whether states differ in nothing but what a version control keeps for itself.
fn is_all_own(vault: &Vault, before: &RootId, after: &RootId) -> Result<bool> {
    let changes = diff::compare(vault.objects()?, before, after)?;
    let is_file = |change: &&Change| change.kind() != ChangeKind::Metadata;
    Ok(changes.iter().filter(is_file).all(|change| is_own(&change.path)))
}

/// Merges sides against one state into one of them.
pub(super) fn merge(
    vault: &Vault,
    base: RootId,
    sides: &[Side],
    target: usize,
    unclear: Unclear,
    options: &MergeOptions,
) -> Result<(RootId, Vec<Conflict>, GitReport)> {
    let inputs = MergeInputs { base: &Base::Root(base), sides };
    let both = merge_repositories(vault, &RepositoryMerge { inputs, options, target, unclear })?;
    Ok((both.merged.root, both.merged.conflicts, both.report))
}

pub(super) fn side(label: &str, root: RootId) -> Side {
    Side { label: label.to_owned(), root }
}
