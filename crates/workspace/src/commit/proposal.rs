//! What a workspace commits: the one answer for a commit and for everybody who asks before it.

use std::collections::BTreeSet;

use offshoot_store::Id;
use offshoot_tree::diff;
use offshoot_tree::diff::{Change, ChangeKind};
use offshoot_tree::merge::Conflict;
use offshoot_tree::merge::{Base, MergeInputs, MergeOptions, Rename, Side};
use offshoot_tree::{RootId, VaultPath};
use offshoot_vault::{Snapshot, Vault, WorkspaceRecord};

use super::kept_out::kept_out;
use super::select::{Held, HeldReason, Selected, Selection, SelectionStates, held_back, select};
use crate::error::{Result, ServiceError};
use crate::git::{
    GitReport, HeldBackCheckouts, Meeting, MergedRepositories, RepositoryMerge, State, UnclearRefs,
    is_vcs_path, merge_repositories,
};
use crate::side_label::HEAD_LABEL;
use crate::trusted::{Surroundings, TrustedFiles};

/// Further back, moments at which a workspace took the main line in are not looked for.
const MOST_MEETINGS: usize = 32;

/// The states that a proposal is about.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProposalInputs<'a> {
    /// The workspace.
    pub(super) workspace: &'a WorkspaceRecord,
    /// Its newest snapshot.
    pub(super) tip: &'a Snapshot,
    /// The main line's newest snapshot.
    pub(super) head: &'a Snapshot,
    /// What the folders are, which may be newer than that.
    pub(super) main: RootId,
}

/// What a workspace commits.
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
    /// The main line with what is committed. Where there are conflicts, with their markers.
    pub merged: RootId,
    /// What does not fit: nothing is committed where there is any.
    pub conflicts: Vec<Conflict>,
    /// What was followed to another path by the merge: the main line is the first side, and what is offered the second.
    pub renames: Vec<Rename>,
    /// What becomes of repositories.
    pub git: GitReport,
    /// All that the workspace has of its own is what a version control keeps for itself, and none of it matters to the folders.
    nothing: bool,
    /// Why nothing can be committed, where git is in the way.
    pub refused: Option<ServiceError>,
    /// Git is in the way.
    blocked: bool,
    /// When the workspace took the main line in, newest first.
    pub(super) meetings: Vec<Meeting>,
}

impl Proposal {
    /// Selects what is committed and merges it with the main line. What this stores is not durable before a transaction follows.
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
            renames: Vec::new(),
            git: GitReport::default(),
            nothing: false,
            refused: None,
            blocked: false,
            meetings: Vec::new(),
        };
        let offered = proposal.selected.root;
        if offered == base {
            return Ok(proposal);
        }
        let sides = [side(HEAD_LABEL, main), side(&workspace.name, offered)];
        let meetings = [Vec::new(), meetings(vault, tip, &proposal.common)?];
        let (held, left_out) = (&proposal.selected.checkouts(), &left_out(&proposal.selected));
        let unclear = UnclearRefs::Apart;
        let how = How { target: 0, unclear, meetings: &meetings, held, left_out };
        match merge(vault, base, &sides, &how, options) {
            Ok(MergedRepositories { merged, report, directories }) => {
                let quiet = merged.root == main && report.notes.is_empty();
                proposal.nothing = quiet && is_all_own(vault, &base, &offered, &directories)?;
                (proposal.merged, proposal.conflicts) = (merged.root, merged.conflicts);
                (proposal.renames, proposal.git) = (merged.renames, report);
                let gone = kept_out(vault, (&main, &proposal.merged), &workspace.name)?;
                proposal.git.notes.extend(gone);
                let [_, met] = meetings;
                proposal.meetings = met;
                if let Some(path) = proposal.moved_to_trusted(vault, selection)? {
                    let error = ServiceError::MovedToTrusted(path.to_string());
                    (proposal.refused, proposal.blocked) = (Some(error), true);
                }
            }
            Err(error @ ServiceError::Git(_)) => {
                (proposal.refused, proposal.blocked) = (Some(error), true);
            }
            Err(error) => return Err(error),
        }
        Ok(proposal)
    }

    /// What a workspace changed, where nothing can be stored: nothing can be committed there either.
    fn unmerged(
        vault: &Vault,
        states: &SelectionStates,
        common: Vec<Id>,
        selection: &Selection<'_>,
    ) -> Result<Self> {
        let SelectionStates { base, workspace, .. } = *states;
        let changes = diff::compare(vault.objects()?, &base, &workspace)?;
        let held = held_back(vault, states, selection, &changes)?;
        let (staged, unmatched, parts_of_git) = (Vec::new(), Vec::new(), Vec::new());
        let held_checkouts = BTreeSet::new();
        let root = workspace;
        let selected = Selected { root, held, staged, held_checkouts, unmatched, parts_of_git };
        let (conflicts, git, nothing, refused) = (Vec::new(), GitReport::default(), false, None);
        let (main, merged) = (base, workspace);
        let meetings = Vec::new();
        Ok(Self {
            base,
            common,
            main,
            selected,
            merged,
            conflicts,
            renames: Vec::new(),
            git,
            nothing,
            refused,
            blocked: false,
            meetings,
        })
    }

    /// A file that was like any other where the workspace changed it, and that something on the host runs or obeys where the main line
    /// moved it to.
    fn moved_to_trusted(
        &self,
        vault: &Vault,
        selection: &Selection<'_>,
    ) -> Result<Option<VaultPath>> {
        if self.renames.is_empty() || selection.allow.trusted {
            return Ok(None);
        }
        let objects = vault.objects()?;
        let changes = diff::compare(objects, &self.main, &self.merged)?;
        let trees = [vault.tree(&self.merged)?, vault.tree(&self.main)?];
        let states = [&trees[0], &trees[1]].map(|tree| State { objects, tree });
        let repository = states[1].repository_at(&VaultPath::top())?;
        let bindings = vault.bindings()?;
        let (shared, bindings, git) = (&repository, bindings.as_slice(), selection.git);
        let main = &self.main;
        let around = Surroundings { vault, main, states, shared, bindings, git };
        let trusted = TrustedFiles::new(selection.trusted, &changes, &around)?;
        let is_taken = |path: &VaultPath| selection.take.iter().any(|p| p.matches(path));
        let mut found = changes.iter().filter(|change| trusted.of(change).is_some());
        Ok(found.find(|change| !is_taken(&change.path)).map(|change| change.path.clone()))
    }

    /// Whether nothing is committed.
    pub fn is_empty(&self) -> bool {
        self.nothing || self.selected.root == self.base
    }

    /// Whether what is offered could be merged: there are no conflicts, and git is not in the way.
    pub fn fits(&self) -> bool {
        self.conflicts.is_empty() && !self.blocked
    }

    /// Two states whose difference is what is committed: the main line without and with it. Where that does not fit, what the
    /// workspace came from and what it offers.
    pub fn sides(&self) -> (RootId, RootId) {
        match self.fits() {
            true => (self.main, self.merged),
            false => (self.base, self.selected.root),
        }
    }

    /// What stays in the workspace as a whole. Of a change that is held back for its mode alone, the rest is committed.
    pub fn stays(&self) -> impl Iterator<Item = &Held> {
        self.selected.held.iter().filter(|held| !held.is_partial())
    }
}

/// The files that stay because they were not asked for, or not taken: a checkout without them does not come along.
fn left_out(selected: &Selected) -> Vec<VaultPath> {
    let is_choice = |held: &&Held| {
        matches!(held.reason, HeldReason::NotAsked | HeldReason::Left | HeldReason::Trusted(_))
    };
    let held = selected.held.iter().filter(is_choice).map(|held| &held.change.path);
    held.chain(&selected.staged).cloned().collect()
}

/// Whether states differ in nothing but what a version control keeps for itself.
fn is_all_own(
    vault: &Vault,
    before: &RootId,
    after: &RootId,
    directories: &[VaultPath],
) -> Result<bool> {
    let changes = diff::compare(vault.objects()?, before, after)?;
    let is_file = |change: &&Change| change.kind() != ChangeKind::Metadata;
    let is_in_one =
        |path: &VaultPath| directories.iter().any(|directory| path.is_within(directory));
    let mut files = changes.iter().filter(is_file);
    Ok(files.all(|change| is_vcs_path(&change.path) || is_in_one(&change.path)))
}

/// When a workspace took the main line in, newest first.
pub(crate) fn meetings(vault: &Vault, tip: &Snapshot, common: &[Id]) -> Result<Vec<Meeting>> {
    let mut meetings = Vec::new();
    let (mut common, mut tip) = (common.to_vec(), tip.clone());
    while let [shared] = common[..]
        && meetings.len() < MOST_MEETINGS
    {
        let Some(met) = taken_in(vault, &tip, &shared)? else { break };
        let target = vault.snapshot(&shared)?.root;
        // What was forked from it, and has nothing of its own before, was the very same then.
        let other = if met.parents[..] == [shared] { target } else { met.root };
        meetings.push(Meeting { target, other });
        let before = met.parents.iter().find(|parent| **parent != shared);
        let Some(before) = before.filter(|_| met.id != shared) else { break };
        tip = vault.snapshot(before)?;
        common = vault.common_ancestors(&[shared, tip.id])?;
    }
    Ok(meetings)
}

/// The newest snapshot on the way to another one that came from it directly; that one itself where there is none.
fn taken_in(vault: &Vault, tip: &Snapshot, shared: &Id) -> Result<Option<Snapshot>> {
    // Ids sort by creation: nothing older than what is looked for leads to it.
    let mut waiting = BTreeSet::from([tip.id]);
    while let Some(id) = waiting.pop_last() {
        let snapshot = vault.snapshot(&id)?;
        if id == *shared || snapshot.parents.contains(shared) {
            return Ok(Some(snapshot));
        }
        waiting.extend(snapshot.parents.iter().filter(|parent| *parent > shared));
    }
    Ok(None)
}

/// How states with repositories are merged.
pub(super) struct How<'a> {
    /// The side that is changed.
    pub(super) target: usize,
    /// What becomes of refs that are not clear.
    pub(super) unclear: UnclearRefs,
    /// For each side, when it took the target in.
    pub(super) meetings: &'a [Vec<Meeting>],
    /// What was held back of the other sides' checkouts.
    pub(super) held: &'a HeldBackCheckouts,
    /// Files that are not brought though they were changed.
    pub(super) left_out: &'a [VaultPath],
}

/// Merges sides against one state into one of them.
pub(super) fn merge(
    vault: &Vault,
    base: RootId,
    sides: &[Side],
    how: &How<'_>,
    options: &MergeOptions,
) -> Result<MergedRepositories> {
    let inputs = MergeInputs { base: &Base::Root(base), sides };
    let How { target, unclear, meetings, held, left_out } = *how;
    let merge = RepositoryMerge { inputs, options, target, unclear, meetings, held, left_out };
    merge_repositories(vault, &merge)
}

pub(super) fn side(label: &str, root: RootId) -> Side {
    Side { label: label.to_owned(), root }
}
