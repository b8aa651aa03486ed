//! Which of a workspace's changes come home, and why the others do not.

mod build;
mod decide;
mod ignored;
mod newer;

use std::collections::BTreeMap;

use offshoot_protocol::HeldReasonDoc;
use offshoot_store::Id;
use offshoot_tree::diff::Change;
use offshoot_tree::merge::{MergeInputs, MergeOptions};
use offshoot_tree::{RootId, VaultPath, diff};
use offshoot_vault::{Binding, Vault, Workspace};

use super::pattern::PathPattern;
use super::times::is_time_alone;
use crate::error::Result;
use crate::git::{HeldCheckouts, Planted, git_directory, is_the_folders, steps, worktree_of};
pub(super) use build::store;
use decide::Decider;
pub(super) use ignored::seen_by_workspace;

/// What somebody decided about one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The change comes home.
    Take,
    /// It stays in the workspace.
    Leave,
    /// The file comes home with these bytes, and what is different from them stays.
    Content(Vec<u8>),
    /// The same with this mode, whatever it has in the workspace.
    File {
        /// The bytes.
        content: Vec<u8>,
        /// The permission bits.
        mode: u16,
    },
}

/// What may come home although it is held back otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allow {
    /// Modes that run a program as somebody else.
    pub setuid: bool,
    /// What git runs by itself.
    pub git: bool,
    /// Texts with markers of conflicts.
    pub markers: bool,
}

impl Allow {
    /// All of it.
    pub fn everything() -> Self {
        Self { setuid: true, git: true, markers: true }
    }
}

/// Tells whether git tracks a path.
pub type Tracked<'a> = &'a dyn Fn(&VaultPath) -> Result<bool>;

/// What to bring home.
#[derive(Clone)]
pub struct Selection<'a> {
    /// Only these; all where there are none.
    pub only: Vec<PathPattern>,
    /// Not these.
    pub exclude: Vec<PathPattern>,
    /// Also what ignore files ignore.
    pub ignored: bool,
    /// Also what is held back for safety.
    pub allow: Allow,
    /// What was decided path by path. A path that is not in it is taken.
    pub choices: BTreeMap<VaultPath, Choice>,
    /// Which paths git tracks: an ignored one that it tracks comes home. Only asked for ignored paths.
    pub tracked: Tracked<'a>,
}

impl Default for Selection<'_> {
    fn default() -> Self {
        Self {
            only: Vec::new(),
            exclude: Vec::new(),
            ignored: false,
            allow: Allow::default(),
            choices: BTreeMap::new(),
            tracked: &|_| Ok(false),
        }
    }
}

impl Selection<'_> {
    /// The same in a vault with these folders: without any there is nothing to keep anything from.
    pub(crate) fn in_folders(self, bindings: &[Binding]) -> Self {
        match bindings.is_empty() {
            true => Self { ignored: true, allow: Allow::everything(), ..self },
            false => self,
        }
    }
}

impl std::fmt::Debug for Selection<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { only, exclude, ignored, allow, choices, tracked: _ } = self;
        f.debug_struct("Selection")
            .field("only", only)
            .field("exclude", exclude)
            .field("ignored", ignored)
            .field("allow", allow)
            .field("choices", choices)
            .finish_non_exhaustive()
    }
}

/// Why a change stays in the workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HeldReason {
    /// Ignore files say so.
    Ignored,
    /// `.offshootignore` says that it is never read from the folder, or its name does.
    Excluded,
    /// It would run a program as somebody else.
    Setuid,
    /// Git would run it, or something that it names.
    Git(Planted),
    /// The vault is not bound to its folder any more.
    Unbound,
    /// It was not asked for.
    NotAsked,
    /// Somebody decided so.
    Left,
}

impl HeldReason {
    /// The word for it.
    pub fn word(self) -> HeldReasonDoc {
        match self {
            Self::Ignored => HeldReasonDoc::Ignored,
            Self::Excluded => HeldReasonDoc::Excluded,
            Self::Setuid => HeldReasonDoc::Setuid,
            Self::Git(_) => HeldReasonDoc::Git,
            Self::Unbound => HeldReasonDoc::Unbound,
            Self::NotAsked => HeldReasonDoc::NotAsked,
            Self::Left => HeldReasonDoc::Left,
        }
    }

    /// The option that brings it home, where it is one.
    pub fn option(self) -> Option<&'static str> {
        match self {
            Self::Ignored => Some("--ignored"),
            Self::Setuid => Some("--allow setuid"),
            // What waits to be finished never comes home.
            Self::Git(Planted::Gone | Planted::Todo | Planted::Newer) => None,
            Self::Git(_) => Some("--allow git"),
            Self::Excluded | Self::Unbound | Self::NotAsked | Self::Left => None,
        }
    }
}

/// A change that stays in the workspace, whole or in part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// The change.
    pub change: Change,
    /// Why it stays.
    pub reason: HeldReason,
}

impl Held {
    /// Only a part of the change stays, such as its mode, and the rest comes home.
    pub fn is_partial(&self) -> bool {
        let is_list = self.change.path.name() == Some(b"packed-refs");
        match self.reason {
            HeldReason::Git(Planted::Replacement) => is_list,
            reason => reason == HeldReason::Setuid,
        }
    }
}

/// What comes home.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selected {
    /// The base with everything that comes home: what is offered to the main line.
    pub root: RootId,
    /// What stays in the workspace.
    pub held: Vec<Held>,
    /// Named by `only`, and nothing there has changed.
    pub unmatched: Vec<String>,
    /// Named by `only` or `exclude`, and of no effect: a part of a git directory, which comes home as a whole or not at all.
    pub parts_of_git: Vec<String>,
}

impl Selected {
    /// The checkouts that do not come along with the branches that the workspace moved.
    pub(super) fn checkouts(&self) -> HeldCheckouts {
        let mut held = HeldCheckouts::default();
        for Held { change, reason } in &self.held {
            match reason {
                HeldReason::Git(Planted::Todo) => {
                    held.unfinished.extend(steps(&change.path).and_then(|steps| steps.parent()));
                }
                HeldReason::Ignored => held.ignored.extend(worktree_of(&change.path)),
                _ => {}
            }
        }
        held
    }
}

/// The states that a selection is made from.
#[derive(Clone, Copy, Debug)]
pub struct SelectionStates {
    /// What the workspace has in common with the main line.
    pub base: RootId,
    /// The workspace.
    pub workspace: RootId,
    /// The main line, whose repository may have rules of its own about what is ignored.
    pub main: RootId,
}

impl SelectionStates {
    /// Those of a workspace, with the main line as it was captured last.
    pub fn of(vault: &Vault, workspace: &Workspace, options: &MergeOptions) -> Result<Self> {
        let head = vault.head()?;
        let tip = vault.snapshot(&workspace.state.head)?;
        Self::between(vault, [head.id, tip.id], tip.root, head.root, options)
    }

    /// Those of two snapshots, the main line's first, whose newest states may be newer than they are.
    pub(super) fn between(
        vault: &Vault,
        snapshots: [Id; 2],
        workspace: RootId,
        main: RootId,
        options: &MergeOptions,
    ) -> Result<Self> {
        let base = vault.merge_base(&snapshots)?;
        // A merge of nothing gives what it starts from: several bases as one.
        let nothing = MergeInputs { base: &base, sides: &[] };
        let base = vault.merge(&nothing, options)?.root;
        Ok(Self { base, workspace, main })
    }
}

/// What would be held back of a workspace's changes since its base. Nothing is stored.
pub(crate) fn held_back(
    vault: &Vault,
    states: &SelectionStates,
    selection: &Selection<'_>,
    changes: &[Change],
) -> Result<Vec<Held>> {
    let mut decider = Decider::new(vault, states, selection, changes)?;
    let mut held = Vec::new();
    for change in changes {
        if let decide::Decision::Hold(reason) | decide::Decision::Instead(_, reason) =
            decider.decide(change)?
        {
            held.push(Held { change: change.clone(), reason });
        }
    }
    Ok(held)
}

/// Sorts what a workspace changed since its base, and builds the state that is offered to the main line.
pub fn select(
    vault: &Vault,
    states: &SelectionStates,
    selection: &Selection<'_>,
) -> Result<Selected> {
    let objects = vault.objects()?;
    let mut changes = diff::compare(objects, &states.base, &states.workspace)?;
    let all = changes.len();
    changes.retain(|change| !is_time_alone(change));
    let all = changes.len() == all;
    let unmatched = selection.only.iter();
    let unmatched = unmatched.filter(|p| !changes.iter().any(|change| p.matches(&change.path)));
    let unmatched = unmatched.map(|pattern| pattern.text().to_owned()).collect();
    let named = selection.only.iter().chain(&selection.exclude);
    let parts_of_git = named.filter(|pattern| names_part_of_git(pattern, &changes));
    let parts_of_git = parts_of_git.map(|pattern| pattern.text().to_owned()).collect();
    let mut decider = Decider::new(vault, states, selection, &changes)?;
    let decided = changes.iter().map(|change| decider.decide(change));
    let decisions = decided.collect::<Result<Vec<_>>>()?;
    let (root, mut held) = build::build(vault, states, (changes, all), decisions)?;
    // What a pull kept of the folder beside the workspace's own is nothing that it could bring home.
    held.retain(|held| {
        !(held.reason == HeldReason::Git(Planted::Repository) && is_the_folders(&held.change.path))
    });
    Ok(Selected { root, held, unmatched, parts_of_git })
}

/// Whether a pattern fits something in a git directory, and not the directory itself.
fn names_part_of_git(pattern: &PathPattern, changes: &[Change]) -> bool {
    let fits = |path: &VaultPath| pattern.matches(path);
    changes.iter().any(|change| match git_directory(&change.path) {
        Some(whole) => fits(&change.path) && !fits(&whole),
        None => false,
    })
}
