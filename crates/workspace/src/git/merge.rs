//! Merging states that have repositories in them: files are merged as files, and what a version control keeps for itself by the rules of
//! `docs/design/git.md`. The merge of files never sees a repository's own directory, so it can put no markers there.

mod ancestry;
mod bare;
mod both;
mod brought;
mod checkout;
mod directory;
mod edit;
mod flaw;
mod gained;
mod kept_apart;
mod logs;
mod lost;
mod missing;
mod objects;
mod own_name;
mod ref_notes;
mod refs;
mod report;
mod role;
mod store;
mod taking;
mod vcs_directory;
mod way_on;
mod whole;

use std::collections::BTreeMap;

use offshoot_host::Mtime;
use offshoot_tree::merge::{Base, MergeInputs, MergeOptions, Merged, Side};
use offshoot_tree::{RootId, Tree, TreeEditor, VaultPath};
use offshoot_vault::Vault;

use super::error::GitError;
use super::repository::State;
use crate::edited_tree::store_edited;
use crate::error::Result;
use crate::side_label::{FOLDER_LABEL, HEAD_LABEL};
pub(super) use brought::{Brought, Surroundings};
pub use brought::{Judge, Staged};
pub(super) use checkout::Checkout;
use edit::Edit;
pub(crate) use gained::Commits;
pub use kept_apart::kept_apart;
pub(crate) use own_name::{in_the_way, own_branches};
pub use report::{GitEvent, GitNote, GitReport, InUse, NextStep};
pub(super) use role::is_cache;
pub(crate) use role::{is_object, is_unknown, object_holder};
pub(super) use store::{hex, is_id, is_object_of};
pub use taking::{HeldBackCheckouts, Meeting, UnclearRefs};
use taking::{Sides, Taking};
pub(crate) use vcs_directory::is_vcs_path;
use vcs_directory::{VcsDirectory, VcsDirectoryKind, changed_vcs_directories};
pub(crate) use way_on::short_ref;
pub(crate) use whole::is_the_folders;

/// A merge of states with repositories.
#[derive(Clone, Copy, Debug)]
pub struct RepositoryMerge<'a> {
    /// What to merge.
    pub inputs: MergeInputs<'a>,
    /// How files are merged.
    pub options: &'a MergeOptions,
    /// The side that is changed; what is in its repositories stays wherever two sides disagree.
    pub target: usize,
    /// What becomes of refs that are not clear.
    pub unclear: UnclearRefs,
    /// For each side, when it took the target's state in, newest first. What is checked out and what is taken whole do not always come
    /// along then, so they are compared with the newest at which both had the same, and with the base where none is given.
    pub meetings: &'a [Vec<Meeting>],
    /// What was held back of the other sides' checkouts.
    pub held: &'a HeldBackCheckouts,
    /// Files that other sides changed and do not bring.
    pub left_out: &'a [VaultPath],
}

/// A merged state, and what to say about its repositories.
#[derive(Clone, Debug)]
pub struct MergedRepositories {
    /// The state.
    pub merged: Merged,
    /// What people should know.
    pub report: GitReport,
    /// The directories that were not merged as files.
    pub directories: Vec<VaultPath>,
}

/// Merges states and stores the result; a transaction that follows makes it durable with itself.
pub fn merge_repositories(
    vault: &Vault,
    merge: &RepositoryMerge<'_>,
) -> Result<MergedRepositories> {
    let nothing = MergeInputs { base: merge.inputs.base, sides: &[] };
    let base = vault.merge(&nothing, merge.options)?.root;
    let sides = merge.inputs.sides;
    let roots: Vec<RootId> = sides.iter().map(|side| side.root).collect();
    let directories = changed_vcs_directories(vault, &base, &roots)?;
    let files = files_alone(vault, &base, sides, &directories)?;
    let inputs = MergeInputs { base: &Base::Root(files.base), sides: &files.sides };
    let mut merged = vault.merge(&inputs, merge.options)?;
    let mut report = GitReport::default();
    let Some(target) = sides.get(merge.target).filter(|_| !directories.is_empty()) else {
        return Ok(MergedRepositories { merged, report, directories: Vec::new() });
    };
    let mut now = target.root;
    let mut beside = Vec::new();
    let others = sides.iter().enumerate().filter(|(at, _)| *at != merge.target);
    for (at, other) in others {
        let states = [base, now, other.root];
        let labels = (target.label.as_str(), other.label.as_str());
        let how = How {
            unclear: merge.unclear,
            meetings: merge.meetings.get(at).map_or(&[], Vec::as_slice),
            held: merge.held,
            left_out: merge.left_out,
        };
        now = take(vault, states, &directories, labels, &how, (&mut report, &mut beside))?;
    }
    let mut directories: Vec<VaultPath> =
        directories.into_iter().map(|directory| directory.path).collect();
    // What is kept beside a directory is put in with it.
    beside.retain(|path| !directories.contains(path));
    directories.extend(beside);
    let candidates: Vec<RootId> = [target.root].into_iter().chain(roots).collect();
    merged.root = rejoin(vault, merged.root, &now, &candidates, &directories)?;
    Ok(MergedRepositories { merged, report, directories })
}

/// The states without the directories that are not merged as files.
struct Files {
    base: RootId,
    sides: Vec<Side>,
}

fn files_alone(
    vault: &Vault,
    base: &RootId,
    sides: &[Side],
    directories: &[VcsDirectory],
) -> Result<Files> {
    // Who reads markers knows the main line as the folder, unless a workspace is called so.
    let is_taken = sides.iter().any(|side| side.label == FOLDER_LABEL);
    let strip = |side: &Side| -> Result<Side> {
        let is_folder = side.label == HEAD_LABEL && !is_taken;
        let label = if is_folder { FOLDER_LABEL } else { &side.label };
        Ok(Side { label: label.to_owned(), root: without(vault, side.root, directories)? })
    };
    let sides = sides.iter().map(strip).collect::<Result<_>>()?;
    Ok(Files { base: without(vault, *base, directories)?, sides })
}

fn without(vault: &Vault, mut root: RootId, directories: &[VcsDirectory]) -> Result<RootId> {
    for directory in directories {
        let tree = vault.tree(&root)?;
        if tree.get(&directory.path)?.is_some() {
            let mut editor = quiet_editor(vault, &root, &directory.path)?;
            editor.remove(&directory.path)?;
            root = store_edited(vault, editor)?;
        }
    }
    Ok(root)
}

/// An editor that leaves the time of the directory that a path is in as it is.
fn quiet_editor<'v>(vault: &'v Vault, root: &RootId, path: &VaultPath) -> Result<TreeEditor<'v>> {
    let tree = vault.tree(root)?;
    let parent = path.parent().map(|parent| tree.get(&parent)).transpose()?.flatten();
    let time = parent.map_or_else(Mtime::now, |entry| entry.meta.mtime);
    Ok(TreeEditor::open(vault.objects()?, root, time)?)
}

/// How one side is taken in.
struct How<'a> {
    unclear: UnclearRefs,
    meetings: &'a [Meeting],
    held: &'a HeldBackCheckouts,
    left_out: &'a [VaultPath],
}

/// The target with what it takes from one other side, in these directories; the states are the base, the target and the other one.
fn take(
    vault: &Vault,
    roots: [RootId; 3],
    directories: &[VcsDirectory],
    (target_label, label): (&str, &str),
    how: &How<'_>,
    (report, beside): (&mut GitReport, &mut Vec<VaultPath>),
) -> Result<RootId> {
    let objects = vault.objects()?;
    let mut meetings = Vec::new();
    for Meeting { target, other } in how.meetings {
        meetings.push((Tree::open(objects, target)?, Tree::open(objects, other)?));
    }
    let [base, target, other] = roots.map(|root| Tree::open(objects, &root));
    let (base, target, other) = (base?, target?, other?);
    let state = |tree| State { objects, tree };
    let sides = Sides { base: state(&base), target: state(&target), other: state(&other) };
    let mut edit = Edit::open(vault, &roots[1])?;
    let theirs = offshoot_tree::diff::compare(objects, &roots[0], &roots[2])?;
    let toward = offshoot_tree::diff::compare(objects, &roots[1], &roots[2])?;
    for directory in directories {
        let of = |changes: &[offshoot_tree::diff::Change]| -> Vec<_> {
            changes
                .iter()
                .filter(|change| change.path.is_within(&directory.path))
                .cloned()
                .collect()
        };
        let (theirs, toward) = (of(&theirs), of(&toward));
        if theirs.is_empty() {
            continue;
        }
        let mut taking = Taking {
            sides,
            theirs: &theirs,
            toward: &toward,
            label,
            target_label,
            unclear: how.unclear,
            meetings: &meetings,
            held: how.held,
            left_out: how.left_out,
            edit: &mut edit,
            report,
            beside,
            stores: BTreeMap::new(),
        };
        match directory.kind {
            VcsDirectoryKind::Git => taking.git_directory(&directory.path)?,
            VcsDirectoryKind::Whole => taking.whole(&directory.path)?,
        }
    }
    edit.finish()
}

/// Puts the decided directories into the merged files.
fn rejoin(
    vault: &Vault,
    mut root: RootId,
    decided: &RootId,
    candidates: &[RootId],
    directories: &[VaultPath],
) -> Result<RootId> {
    let objects = vault.objects()?;
    let decided = Tree::open(objects, decided)?;
    let known: Vec<Tree<'_>> =
        candidates.iter().map(|root| Tree::open(objects, root)).collect::<Result<_, _>>()?;
    for directory in directories {
        let Some(mut entry) = decided.get(directory)? else { continue };
        // A side that has the very same keeps its times, so that equal states stay equal.
        for tree in &known {
            let same = tree.get(directory)?.filter(|there| there.same_content(&entry));
            if let Some(same) = same {
                entry = same;
                break;
            }
        }
        let mut edit = Edit::with(vault, quiet_editor(vault, &root, directory)?);
        let mut holders = vec![&decided];
        holders.extend(&known);
        if !edit.put(directory, entry, &holders)? {
            return Err(GitError::InTheWay(directory.clone()).into());
        }
        root = edit.finish()?;
    }
    Ok(root)
}
