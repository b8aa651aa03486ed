//! How much of a workspace a status lists, without merging anything.

use std::collections::HashSet;
use std::rc::Rc;

use offshoot_vault::diff::Change;
use offshoot_vault::merge::MergeOptions;
use offshoot_vault::{Binding, Entry, Tree, Vault, VaultPath, Workspace};

use crate::change::{ChangeSummaryService, Summary, without_frames};
use crate::error::Result;
use crate::git::{TrackedPaths, is_index_refresh};
use crate::home::{Selection, SelectionStates, held_back};
use crate::noise::{Folded, FoldedKind, GitActivity, Noise, Sorted};

/// Counts what statuses list.
pub(super) struct Lister<'v> {
    vault: &'v Vault,
    changes: ChangeSummaryService<'v>,
    merge: MergeOptions,
    tracked: Rc<TrackedPaths>,
    bindings: Vec<Binding>,
}

impl<'v> Lister<'v> {
    pub(super) fn new(
        vault: &'v Vault,
        changes: ChangeSummaryService<'v>,
        merge: MergeOptions,
        tracked: TrackedPaths,
    ) -> Result<Self> {
        let bindings = vault.bindings()?;
        Ok(Self { vault, changes, merge, tracked: Rc::new(tracked), bindings })
    }

    /// How many changes of a workspace come home, where what is folded is one: all that are not held back, and that the main line does not
    /// have itself.
    pub(super) fn listed(&self, workspace: &Workspace) -> Result<u64> {
        let (vault, objects) = (self.vault, self.vault.objects()?);
        let states = SelectionStates::of(vault, workspace, &self.merge)?;
        let SelectionStates { base, workspace: tip, main } = states;
        if tip == base {
            return Ok(0);
        }
        let is_tracked = |path: &VaultPath| Ok(self.tracked.has(path));
        let selection = Selection { tracked: &is_tracked, ..Selection::default() };
        let held = held_back(vault, &states, &selection.in_folders(&self.bindings))?;
        let held: HashSet<VaultPath> = held
            .into_iter()
            .filter(|held| !held.is_partial())
            .map(|held| held.change.path)
            .collect();
        let Summary { changes, metadata_files, .. } = self.changes.between(&base, &tip, false)?;
        let tree = Tree::open(objects, &main)?;
        let mut brought = Vec::new();
        for change in changes {
            let stays = held.contains(&change.path) || is_index_refresh(objects, &change);
            if !stays && (main == base || !has(&tree, &change)?) {
                brought.push(change);
            }
        }
        let mut noise = Noise::new(vault, &[base, main, tip], self.tracked.clone())?;
        let Sorted { single, mut folded } =
            noise.sort(without_frames(&brought), |change| change)?;
        folded.retain(|folded| !is_kept_otherwise(folded));
        Ok((single.len() + folded.len()) as u64 + u64::from(metadata_files > 0))
    }
}

/// Whether a state has what a change leads to.
fn has(tree: &Tree<'_>, change: &Change) -> Result<bool> {
    let is_there = |path: &VaultPath, wanted: Option<&Entry>| -> Result<bool> {
        let found = tree.get(path)?;
        Ok(match (found.as_ref(), wanted) {
            (Some(found), Some(wanted)) => {
                found.same_content(wanted) && found.meta.mode == wanted.meta.mode
            }
            (found, wanted) => found.is_none() && wanted.is_none(),
        })
    };
    let gone = change.moved.as_ref().map_or(Ok(true), |(from, _)| is_there(from, None))?;
    Ok(gone && is_there(&change.path, change.after.as_deref())?)
}

/// Whether all that was done in a git directory is that the same refs are kept in other files.
fn is_kept_otherwise(folded: &Folded<&Change>) -> bool {
    let depth = folded.at.names().len();
    let is_ref = |change: &&Change| {
        let name = &change.path.names()[depth];
        name == b"refs" || name == b"packed-refs"
    };
    let is_nothing =
        matches!(&folded.kind, FoldedKind::Git(done) if *done == GitActivity::default());
    is_nothing && folded.items.iter().all(is_ref)
}
