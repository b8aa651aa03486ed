//! The workspace of a command that runs: its files as the command sees them, and what it has changed so far.

mod overlap;

use std::path::Path;
use std::sync::Arc;

use offshoot_store::Id;
use offshoot_tree::{Body, Entry, Objects};
use offshoot_vault::{Approval, Vault, WorkspaceRecord};
use offshoot_workspace::{LiveService, OverlapService, sorted};
pub use offshoot_workspace::{Overlap, OverlapSide, WorkSoFar};
pub use overlap::{overlap_groups, overlap_notices, overlap_places, overlap_way_out};

use crate::change::{Change, ChangeKind};
use crate::error::Result;
use crate::offshoot::Offshoot;
use crate::project::Project;
use crate::workspace::Workspace;

/// A path that a command has changed which is not recorded yet, or which waits for an approval, with its text where it has one.
///
/// ```
/// use offshoot_engine::change::ChangeKind;
/// use offshoot_engine::live::LiveChange;
///
/// # fn example(change: &LiveChange) {
/// if change.kind == ChangeKind::Added {
///     println!("{}: {} bytes", change.path, change.after.as_ref().map_or(0, String::len));
/// }
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveChange {
    /// Where it is in the workspace, from its top.
    pub path: String,
    /// What happened to it.
    pub kind: ChangeKind,
    /// Its text before the command; none where there was none, or it is too long or no text.
    pub before: Option<String>,
    /// Its text now, in the same way.
    pub after: Option<String>,
    /// Both sides are there as far as they exist.
    pub is_text: bool,
}

impl Project {
    /// Makes a workspace of what a running command has written so far, to be reviewed and committed while the command goes on.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project, exec: &offshoot_engine::exec::Exec) -> offshoot_engine::Result<()> {
    /// let so_far = project.live_fork(&exec.id(), "so-far")?;
    /// so_far.commit("What there is by now")?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn live_fork(&self, exec: &Id, name: &str) -> Result<Workspace> {
        let made = LiveService::new(self.vault()).fork(exec, name, self.engine().actor())?;
        Ok(Workspace::new(self.clone(), made.id))
    }

    /// Reads a file as a running command sees it, by the path that the command has for it.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project, exec: &offshoot_engine::exec::Exec) -> offshoot_engine::Result<()> {
    /// let bytes = project.live_read(&exec.id(), "/srv/me/project/README.md".as_ref())?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn live_read(&self, exec: &Id, path: &Path) -> Result<Vec<u8>> {
        Ok(LiveService::new(self.vault()).read(exec, path)?)
    }

    /// Writes a file for a running command, as it could itself: what is written is part of its work.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project, exec: &offshoot_engine::exec::Exec) -> offshoot_engine::Result<()> {
    /// project.live_write(&exec.id(), "/srv/me/project/notes".as_ref(), b"to do\n")?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn live_write(&self, exec: &Id, path: &Path, bytes: &[u8]) -> Result<()> {
        Ok(LiveService::new(self.vault()).write(exec, path, bytes)?)
    }

    /// What a running command has changed so far, without what `offshoot diff` folds. Texts of up to `longest` bytes are along.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project, exec: &offshoot_engine::exec::Exec) -> offshoot_engine::Result<()> {
    /// for change in project.live_changes(&exec.id(), 64 << 10)? {
    ///     println!("{:?} {}", change.kind, change.path);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn live_changes(&self, exec: &Id, longest: u64) -> Result<Vec<LiveChange>> {
        let vault = self.vault();
        let (base, preview) = LiveService::new(vault).changes(exec)?;
        let noise = self.engine().folding(vault, &[base])?;
        let mut noise = noise.reading(&preview.objects);
        let single = sorted(&preview.changes, Some(&mut noise))?.single;
        let objects = preview.objects.as_ref();
        Ok(single.into_iter().map(|change| with_text(objects, change, longest)).collect())
    }

    /// What a command that waits for an approval changed when it was tried, in the same way; nothing where it was not tried.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// for approval in project.pending()? {
    ///     println!("{}: {} files", approval.command, project.tried_changes(&approval, 64 << 10)?.len());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn tried_changes(&self, approval: &Approval, longest: u64) -> Result<Vec<LiveChange>> {
        let (Some(base), Some(trial)) = (approval.base, approval.trial) else {
            return Ok(Vec::new());
        };
        self.changes_between(&base, &trial, longest)
    }

    /// What changed from one snapshot to another, in the same way.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// for approval in project.pending()? {
    ///     if let (Some(base), Some(trial)) = (approval.base, approval.trial) {
    ///         println!("{} files", project.changes_between(&base, &trial, 64 << 10)?.len());
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn changes_between(&self, base: &Id, after: &Id, longest: u64) -> Result<Vec<LiveChange>> {
        let vault = self.vault();
        let (base, trial) = (vault.snapshot(base)?.root, vault.snapshot(after)?.root);
        let changes = self.engine().changes(vault).between(&base, &trial, false)?.changes;
        let mut noise = self.engine().folding(vault, &[base])?;
        let single = sorted(&changes, Some(&mut noise))?.single;
        let objects = vault.objects()?;
        Ok(single.into_iter().map(|change| with_text(objects, change, longest)).collect())
    }
}

impl Offshoot {
    /// What every workspace of a vault has changed so far, those in which a command runs too, and where two of them changed the same lines.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// let (workspaces, overlaps) = project.engine().work_so_far(project.vault())?;
    /// println!("{} workspaces, {} overlaps", workspaces.len(), overlaps.len());
    /// # Ok(())
    /// # }
    /// ```
    pub fn work_so_far(&self, vault: &Vault) -> Result<(Vec<WorkSoFar>, Vec<Overlap>)> {
        Ok(self.overlap_service(vault)?.all()?)
    }

    /// Where others changed the same lines as a workspace in which nothing runs.
    ///
    /// ```
    /// # fn example(workspace: &offshoot_engine::Workspace) -> offshoot_engine::Result<()> {
    /// let project = workspace.project();
    /// for overlap in project.engine().overlaps(project.vault(), &workspace.record()?)? {
    ///     println!("{} also changed {}", overlap.sides[1].workspace, overlap.path);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn overlaps(&self, vault: &Vault, workspace: &WorkspaceRecord) -> Result<Vec<Overlap>> {
        Ok(self.overlap_service(vault)?.of(workspace)?)
    }

    fn overlap_service<'v>(&self, vault: &'v Vault) -> Result<OverlapService<'v>> {
        let longest = self.merge_options().max_text_bytes;
        Ok(OverlapService::new(vault, self.tracked(vault)?, longest))
    }
}

fn with_text(objects: &Objects, change: &Change, longest: u64) -> LiveChange {
    let side = |entry: &Option<Arc<Entry>>| {
        let Some(entry) = entry else { return Some(None) };
        let Body::File { blob, .. } = &entry.body else { return None };
        // What cannot be read now is shown by name alone.
        let bytes = (objects.length(blob).ok()? <= longest).then(|| objects.blob(blob).ok())??;
        if bytes.contains(&0) {
            return None;
        }
        String::from_utf8(bytes).ok().map(Some)
    };
    let (before, after) = (side(&change.before), side(&change.after));
    LiveChange {
        path: change.path.to_string(),
        kind: change.kind(),
        is_text: before.is_some() && after.is_some(),
        before: before.flatten(),
        after: after.flatten(),
    }
}
