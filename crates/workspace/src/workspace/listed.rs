//! How much of a workspace a status lists, without merging more than it has to.

use std::collections::HashSet;
use std::rc::Rc;

use offshoot_tree::diff;
use offshoot_tree::diff::{Change, ChangeKind, DiffOptions};
use offshoot_tree::merge::MergeOptions;
use offshoot_tree::{Tree, VaultPath};
use offshoot_vault::{Binding, Vault, WorkspaceRecord};

use crate::change::{is_telling_metadata, without_frames};
use crate::commit::{Held, PreviewService, Selection, SelectionStates, held_back, is_told};
use crate::error::Result;
use crate::git::TrackedPaths;
use crate::noise::{Folded, FoldedKind, Noise, Sorted};

/// How many changes of a workspace a status lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListedChanges {
    /// Those that are committed, where what is folded is one.
    pub committed: u64,
    /// Those that a commit holds back, but for what ignore files leave out.
    pub held: u64,
}

/// Counts what statuses list.
pub(super) struct Lister<'v> {
    vault: &'v Vault,
    diff: DiffOptions,
    merge: MergeOptions,
    tracked: Rc<TrackedPaths>,
    bindings: Vec<Binding>,
}

impl<'v> Lister<'v> {
    pub(super) fn new(
        vault: &'v Vault,
        diff: DiffOptions,
        merge: MergeOptions,
        tracked: TrackedPaths,
    ) -> Result<Self> {
        let bindings = vault.bindings()?;
        Ok(Self { vault, diff, merge, tracked: Rc::new(tracked), bindings })
    }

    /// How many changes of a workspace are committed, where what is folded is one: all that are not held back, and that the main line does not
    /// have itself; and how many are held back.
    pub(super) fn listed(&self, workspace: &WorkspaceRecord) -> Result<ListedChanges> {
        let (vault, objects) = (self.vault, self.vault.objects()?);
        let states = SelectionStates::of(vault, workspace, &self.merge)?;
        let SelectionStates { base, workspace: tip, main } = states;
        if tip == base {
            return Ok(ListedChanges::default());
        }
        let is_tracked = |path: &VaultPath| Ok(self.tracked.has(path));
        let selection =
            Selection { tracked: &is_tracked, git: Some(&self.tracked), ..Selection::default() };
        let selection = selection.in_folders(&self.bindings);
        let changes = diff::compare(objects, &base, &tip)?;
        let held = held_back(vault, &states, &selection, &changes)?;
        let tree = Tree::open(objects, &main)?;
        let mut missed = 0;
        let counts =
            |it: &&Held| !it.is_partial() && is_told(it) && it.reason.word().is_difference();
        for held in held.iter().filter(counts) {
            missed += u64::from(main == base || !has(&tree, &held.change)?);
        }
        let held: HashSet<VaultPath> = held
            .into_iter()
            .filter(|held| !held.is_partial())
            .map(|held| held.change.path)
            .collect();
        let counted = |committed: u64| Ok(ListedChanges { committed, held: missed });
        let (mut brought, mut metadata) = (Vec::new(), 0);
        for change in changes.into_iter().filter(|change| !held.contains(&change.path)) {
            match change.kind() {
                ChangeKind::Metadata => metadata |= u64::from(is_telling_metadata(&change)),
                _ if main != base && has(&tree, &change)? => {}
                _ => brought.push(change),
            }
        }
        let brought = diff::detect_renames(objects, brought, &self.diff)?;
        let mut noise = Noise::new(vault, &[base, main, tip], self.tracked.clone())?;
        let Sorted { single, folded } = noise.sort(without_frames(&brought), |change| change)?;
        let is_git = |folded: &Folded<&Change>| matches!(folded.kind, FoldedKind::Git(_));
        if folded.iter().any(is_git) {
            // Which of its refs the main line has under other names is known when they are merged.
            let service = PreviewService::new(vault, self.merge, self.diff);
            let preview = service.preview(workspace, &selection, false)?;
            let coming = noise.sort(without_frames(&preview.summary.changes), |change| change)?;
            return counted((coming.single.len() + coming.folded.len()) as u64 + metadata);
        }
        counted((single.len() + folded.len()) as u64 + metadata)
    }
}

/// Whether a state has what a change leads to.
fn has(tree: &Tree<'_>, change: &Change) -> Result<bool> {
    let found = tree.get(&change.path)?;
    Ok(match (found.as_ref(), change.after.as_deref()) {
        (Some(found), Some(wanted)) => {
            found.same_content(wanted) && found.meta.mode == wanted.meta.mode
        }
        (found, wanted) => found.is_none() && wanted.is_none(),
    })
}
