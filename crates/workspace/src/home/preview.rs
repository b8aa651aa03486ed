//! What a commit would do, from what the vault has recorded: the folders are not read.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;

use offshoot_vault::diff::{Change, DiffOptions};
use offshoot_vault::merge::MergeOptions;
use offshoot_vault::{
    Binding, Body, Entry, Mtime, RootId, Snapshot, Tree, Vault, VaultPath, Workspace,
};

use super::obstacles::first_obstacle;
use super::proposal::{Proposal, ProposalInputs};
use super::pull::merge_head;
use super::select::{Selection, Tracked};
use super::{bytes_path, closed, markers};
use crate::binding::{host_place, require_same};
use crate::change::{ChangeSummaryService, Summary};
use crate::error::{Result, ServiceError};
use crate::git::check_folder;

/// What a commit would do.
#[derive(Debug)]
pub struct Preview {
    /// The main line as it was captured last.
    pub head: Snapshot,
    /// The workspace's newest snapshot.
    pub tip: Snapshot,
    /// What would come home, and how.
    pub proposal: Proposal,
    /// What would change in the folders.
    pub summary: Summary,
    /// Why a commit would be refused, beside conflicts with the main line.
    pub refused: Option<ServiceError>,
    /// Paths that would come home and were changed in a folder since that was captured.
    pub outdated: Vec<VaultPath>,
}

/// Says what a commit would do, without locks and without reading the folders. Costs as much as there are changes.
#[derive(Clone, Copy, Debug)]
pub struct PreviewService<'a> {
    vault: &'a Vault,
    merge: MergeOptions,
    diff: DiffOptions,
}

impl<'a> PreviewService<'a> {
    /// Works on a vault; the options are those that commits have.
    pub fn new(vault: &'a Vault, merge: MergeOptions, diff: DiffOptions) -> Self {
        Self { vault, merge, diff }
    }

    /// What a commit of a workspace would do. Changes of metadata are listed only where `metadata` is set.
    pub fn preview(
        &self,
        workspace: &Workspace,
        selection: &Selection<'_>,
        metadata: bool,
    ) -> Result<Preview> {
        let vault = self.vault;
        let _held = vault.hold()?;
        let _kept = vault.objects()?.keep_nodes();
        let (head, tip) = (vault.head()?, vault.snapshot(&workspace.state.head)?);
        let bindings = vault.bindings()?;
        let selection = selection.clone().in_folders(&bindings);
        let inputs = ProposalInputs { workspace, tip: &tip, head: &head, main: head.root };
        let mut proposal = Proposal::new(vault, &inputs, &selection, &self.merge)?;
        let (before, after) = proposal.sides();
        let summary =
            ChangeSummaryService::new(vault, self.diff).between(&before, &after, metadata)?;
        let refused = match require_same(&bindings).err().or_else(|| proposal.refused.take()) {
            None => self.refused(workspace, &proposal, &tip.root, &summary, &selection)?,
            refused => refused,
        };
        let refused = refused.or_else(|| busy_git(&bindings, &proposal));
        let refused = refused.or_else(|| match proposal.conflicts.is_empty() {
            true => first_obstacle(&bindings, &summary.changes),
            false => None,
        });
        let outdated = match proposal.main == head.root && proposal.conflicts.is_empty() {
            true => outdated(&bindings, &summary.changes, |_, before| Ok(before.cloned()))?,
            // What is listed was not compared with the main line.
            false => {
                let main = Tree::open(vault.objects()?, &head.root)?;
                let found =
                    |path: &VaultPath, _: Option<&Arc<Entry>>| Ok(main.get(path)?.map(Arc::new));
                outdated(&bindings, &summary.changes, found)?
            }
        };
        Ok(Preview { head, tip, proposal, summary, refused, outdated })
    }

    /// Whether a pull would bring something into the workspace of a preview: the main line may have moved without anything that it lacks.
    /// `tracked` says which paths git tracks, as for the pull itself.
    pub fn pull_brings(
        &self,
        workspace: &Workspace,
        preview: &Preview,
        tracked: Tracked<'_>,
    ) -> Result<bool> {
        let Preview { head, tip, proposal, .. } = preview;
        // Whatever happened there, it was taken back.
        if proposal.base == proposal.main {
            return Ok(false);
        }
        let _held = self.vault.hold()?;
        match merge_head(self.vault, &workspace.name, [head, tip], tracked, &self.merge) {
            Ok(both) => {
                let service = ChangeSummaryService::new(self.vault, self.diff);
                let changes = service.between(&tip.root, &both.merged.root, false)?.changes;
                let quiet = both.merged.conflicts.is_empty() && both.report.notes.is_empty();
                Ok(!quiet || !changes.is_empty())
            }
            // The pull itself says what is in its way.
            Err(ServiceError::Git(_)) => Ok(true),
            Err(error) => Err(error),
        }
    }

    fn refused(
        &self,
        workspace: &Workspace,
        proposal: &Proposal,
        tip: &RootId,
        summary: &Summary,
        selection: &Selection<'_>,
    ) -> Result<Option<ServiceError>> {
        let decided = markers::require_decided(self.vault, workspace, tip);
        let fits = proposal.conflicts.is_empty();
        let open = decided.and_then(|()| match fits {
            true => closed::require_open(&summary.changes),
            false => Ok(()),
        });
        let checked = open.and_then(|()| match fits && !selection.allow.markers {
            true => markers::require_none(self.vault, &proposal.base, &summary.changes),
            false => Ok(()),
        });
        match checked {
            Ok(()) => Ok(None),
            Err(
                error @ (ServiceError::Undecided { .. }
                | ServiceError::Markers(_)
                | ServiceError::ClosedToOwner(_)),
            ) => Ok(Some(error)),
            Err(error) => Err(error),
        }
    }
}

/// A git that is at work in a folder, or that left its lock there; nobody has to wait for it where nothing comes home.
fn busy_git(bindings: &[Binding], proposal: &Proposal) -> Option<ServiceError> {
    if proposal.is_empty() {
        return None;
    }
    let checked = |binding: &Binding| check_folder(&binding.host_path()).err();
    bindings.iter().filter(|binding| !binding.git).find_map(checked).map(ServiceError::Git)
}

/// The paths among those to be changed that a folder no longer has as they were captured. `captured` is asked for what the main line has
/// at a path, and told what the change says was there.
fn outdated(
    bindings: &[Binding],
    changes: &[Change],
    captured: impl Fn(&VaultPath, Option<&Arc<Entry>>) -> Result<Option<Arc<Entry>>>,
) -> Result<Vec<VaultPath>> {
    let mut outdated = Vec::new();
    // Nothing was changed in a folder that is gone.
    let gone: Vec<bool> = bindings.iter().map(Binding::is_gone).collect();
    for change in changes {
        // What was moved was at its old path, and nothing at the new one.
        let (from, here) = match &change.moved {
            Some((from, _)) => (Some((from, change.before.as_ref())), None),
            None => (None, change.before.as_ref()),
        };
        for (path, before) in from.into_iter().chain([(&change.path, here)]) {
            let Some((binding, place)) = host_place(bindings, path) else { continue };
            if gone[binding] {
                continue;
            }
            if !is_as_captured(&place, captured(path, before)?.as_deref()) {
                outdated.push(path.clone());
            }
        }
    }
    Ok(outdated)
}

/// Whether a file looks as it was captured: its kind, and of files their length and time.
fn is_as_captured(place: &std::path::Path, entry: Option<&Entry>) -> bool {
    let found = match fs::symlink_metadata(place) {
        Ok(found) => found,
        Err(error) => {
            use io::ErrorKind::{NotADirectory, NotFound};
            let is_gone = matches!(error.kind(), NotFound | NotADirectory);
            return !is_gone || entry.is_none();
        }
    };
    let Some(entry) = entry else { return false };
    match &entry.body {
        Body::File { size, .. } => {
            let time = Mtime { seconds: found.mtime(), nanoseconds: found.mtime_nsec() as u32 };
            found.is_file() && found.len() == *size && time == entry.meta.mtime
        }
        Body::Directory(_) => found.is_dir(),
        Body::Symlink { target } => {
            fs::read_link(place).is_ok_and(|found| found == bytes_path(target))
        }
        Body::Fifo => !found.is_file() && !found.is_dir(),
    }
}
