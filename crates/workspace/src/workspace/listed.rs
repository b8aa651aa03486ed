//! How much of a workspace a status lists, without merging anything.

use std::collections::HashSet;
use std::rc::Rc;

use offshoot_vault::diff::{self, Change, ChangeKind, DiffOptions};
use offshoot_vault::merge::MergeOptions;
use offshoot_vault::{Binding, Objects, Tree, Vault, VaultPath, Workspace};

use crate::change::{is_metadata_of_file, without_frames};
use crate::error::Result;
use crate::git::{TrackedPaths, is_index_refresh};
use crate::home::{Selection, SelectionStates, held_back};
use crate::noise::{Folded, FoldedKind, GitActivity, Noise, Sorted};

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
        let selection = selection.in_folders(&self.bindings);
        let changes = diff::compare(objects, &base, &tip)?;
        let held = held_back(vault, &states, &selection, &changes)?;
        let held: HashSet<VaultPath> = held
            .into_iter()
            .filter(|held| !held.is_partial())
            .map(|held| held.change.path)
            .collect();
        let tree = Tree::open(objects, &main)?;
        let (mut brought, mut metadata) = (Vec::new(), 0);
        for change in changes.into_iter().filter(|change| !held.contains(&change.path)) {
            match change.kind() {
                ChangeKind::Metadata => metadata |= u64::from(is_metadata_of_file(&change)),
                _ if main != base && has(&tree, &change)? => {}
                _ => brought.push(change),
            }
        }
        let brought = diff::detect_renames(objects, brought, &self.diff)?;
        let mut noise = Noise::new(vault, &[base, main, tip], self.tracked.clone())?;
        let Sorted { single, mut folded } =
            noise.sort(without_frames(&brought), |change| change)?;
        folded.retain(|folded| !is_all_the_same(objects, folded));
        Ok((single.len() + folded.len()) as u64 + metadata)
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

/// Whether nothing comes home of what was done in a git directory: the same refs are kept in other files, an index was written anew, or a log
/// tells of refs that did not move.
fn is_all_the_same(objects: &Objects, folded: &Folded<&Change>) -> bool {
    let FoldedKind::Git(activity) = &folded.kind else { return false };
    let depth = folded.at.names().len();
    let is_in = |change: &Change, name: &[u8]| change.path.names()[depth] == name;
    let is_ref = |change: &Change| is_in(change, b"refs") || is_in(change, b"packed-refs");
    let refs_moved =
        folded.items.iter().any(|change| is_ref(change)) && *activity != GitActivity::default();
    let mut others = folded.items.iter().filter(|change| !is_ref(change));
    !refs_moved && others.all(|change| is_in(change, b"logs") || is_index_refresh(objects, change))
}
