//! What changed between two points, for people and programs.

use offshoot_tree::diff;
use offshoot_tree::diff::{BinaryForm, Change, ChangeKind, DiffOptions, FileDiff, MetadataField};
use offshoot_tree::{EntryKind, RootId, VaultPath};
use offshoot_vault::Vault;

use crate::error::Result;
use crate::exec::summary::is_directory_time;
use crate::git::git_directory;

/// The changes between two roots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// What changed, by path.
    pub changes: Vec<Change>,
    /// What changed in its metadata alone, by path; in `changes` instead where that was asked for.
    pub metadata: Vec<Change>,
}

impl Summary {
    /// How many paths changed in their metadata alone, and are not in `changes`.
    pub fn metadata_only(&self) -> u64 {
        self.metadata.len() as u64
    }

    /// Those of them that say something: see [`is_telling_metadata`].
    pub fn telling_metadata(&self) -> Vec<&Change> {
        self.metadata.iter().filter(|change| is_telling_metadata(change)).collect()
    }
}

/// Summarises changes; costs as much as there are changes.
#[derive(Clone, Copy, Debug)]
pub struct ChangeSummaryService<'a> {
    vault: &'a Vault,
    options: DiffOptions,
}

impl<'a> ChangeSummaryService<'a> {
    /// Works on a vault.
    pub fn new(vault: &'a Vault, options: DiffOptions) -> Self {
        Self { vault, options }
    }

    /// What changed from one root to another; times, owners and attributes only where `metadata` is set.
    pub fn between(&self, before: &RootId, after: &RootId, metadata: bool) -> Result<Summary> {
        let objects = self.vault.objects()?;
        let all = diff::compare(objects, before, after)?;
        let is_kept = |change: &Change| metadata || change.kind() != ChangeKind::Metadata;
        let (kept, left): (Vec<Change>, Vec<Change>) = all.into_iter().partition(is_kept);
        let changes = diff::detect_renames(objects, kept, &self.options)?;
        Ok(Summary { changes, metadata: left })
    }

    /// What a command changed, as everybody is told: with metadata and with moves as moves, but without directories whose time alone
    /// changed.
    pub fn told(&self, before: &RootId, after: &RootId) -> Result<Vec<Change>> {
        let mut changes = self.between(before, after, true)?.changes;
        changes.retain(|change| !is_directory_time(change));
        Ok(changes)
    }

    /// The same as a patch for people, and those of which a patch says nothing: directories, and metadata.
    pub fn told_patch<'c>(&self, changes: &'c [Change]) -> Result<(Vec<u8>, Vec<&'c Change>)> {
        let (mut patch, mut besides) = (Vec::new(), Vec::new());
        for change in changes {
            let before = patch.len();
            self.patch([change], BinaryForm::Named, &mut patch)?;
            if patch.len() == before {
                besides.push(change);
            }
        }
        Ok((patch, besides))
    }

    /// The lines of a change.
    pub fn lines(&self, change: &Change) -> Result<FileDiff> {
        Ok(diff::file_diff(self.vault.objects()?, change, &self.options)?)
    }

    /// Writes changes as a patch that git reads.
    pub fn patch<'c>(
        &self,
        changes: impl IntoIterator<Item = &'c Change>,
        binary: BinaryForm,
        out: &mut dyn std::io::Write,
    ) -> Result<()> {
        let objects = self.vault.objects()?;
        for change in changes {
            diff::write_change(objects, change, &self.options, binary, out)?;
        }
        Ok(())
    }
}

/// Whether a change of metadata alone says something that other changes do not. A directory gets another time by whatever changes in it,
/// and git keeps files whose times nobody cares about.
pub fn is_telling_metadata(change: &Change) -> bool {
    let is_file = change.entry().directory().is_none() && git_directory(&change.path).is_none();
    is_file || change.metadata().iter().any(|field| *field != MetadataField::Time)
}

/// Changes without directories that only frame other changes shown.
pub fn without_frames(changes: &[Change]) -> Vec<&Change> {
    // In the order of their paths, so that whether something is below a directory is seen at the first one from there on.
    let mut left: Vec<&VaultPath> =
        changes.iter().filter_map(|c| Some(&c.moved.as_ref()?.0)).collect();
    left.sort_unstable();
    let frames = |change: &Change, next: Option<&Change>| {
        let is_directory = change.entry().kind() == EntryKind::Directory;
        let is_below = |path: &VaultPath| *path != change.path && path.is_within(&change.path);
        let moved_from = || left.get(left.partition_point(|path| **path <= change.path));
        match change.kind() {
            ChangeKind::Added => is_directory && next.is_some_and(|next| is_below(&next.path)),
            ChangeKind::Deleted => {
                is_directory
                    && (next.is_some_and(|next| is_below(&next.path))
                        || moved_from().is_some_and(|path| is_below(path)))
            }
            _ => false,
        }
    };
    let all = changes.iter().enumerate();
    all.filter(|(at, change)| !frames(change, changes.get(at + 1))).map(|(_, c)| c).collect()
}
