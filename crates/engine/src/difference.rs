//! What a workspace changed, as a document and a patch; and what a text names of its states.

use offshoot_protocol::{DiffDoc, ExitCode, Hint};
use offshoot_tree::VaultPath;
use offshoot_tree::diff::BinaryForm;
use offshoot_vault::Checkpoint;
use offshoot_workspace::{Point, Resolver, sorted, wire};

use crate::error::{Error, Result};
use crate::workspace::Workspace;

/// What differs between two states of a workspace.
///
/// ```
/// # fn example(workspace: &offshoot_engine::Workspace) -> offshoot_engine::Result<()> {
/// let difference = workspace.difference(None, &[], true)?;
/// println!("{} changes", difference.document.changes.len());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Difference {
    /// What changed, without the patch.
    pub document: DiffDoc,
    /// The patch, where one is wanted. Binary files are only named in it, and what lists fold is left out.
    pub patch: Option<Vec<u8>>,
}

impl Workspace {
    /// What changed since it was forked, or since another of its states, in some paths or in all.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # use offshoot_engine::{Offshoot, Options};
    /// # let scratch = tempfile::tempdir()?;
    /// # let (vaults, folder) = (scratch.path().join("vaults"), scratch.path().join("project"));
    /// # std::fs::create_dir(&folder)?;
    /// # let offshoot = Offshoot::open(Options::new(Vec::new()).registry(vaults))?;
    /// let fix = offshoot.project(&folder)?.fork("fix")?;
    /// fix.write("/greeting", b"hello\n")?;
    /// let patch = fix.difference(None, &[], true)?.patch.unwrap_or_default();
    /// assert!(String::from_utf8_lossy(&patch).contains("+hello"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn difference(
        &self,
        since: Option<Point>,
        paths: &[VaultPath],
        with_patch: bool,
    ) -> Result<Difference> {
        let (engine, vault) = (self.project().engine(), self.project().vault());
        let record = self.record()?;
        let before = match since {
            Some(point) => (point.label, point.snapshot),
            None => (format!("{}@base", record.name), vault.snapshot(&record.state.base)?),
        };
        let after = vault.snapshot(&record.state.head)?;
        let service = engine.changes(vault);
        let mut summary = service.between(&before.1.root, &after.root, false)?;
        let wanted = |path: &VaultPath| paths.iter().any(|filter| path.is_within(filter));
        summary.changes.retain(|change| paths.is_empty() || wanted(&change.path));
        let mut noise = engine.folding(vault, &[before.1.root, after.root])?;
        let listed = sorted(&summary.changes, Some(&mut noise))?;
        let patch = match with_patch {
            true => {
                let mut patch = Vec::new();
                service.patch(listed.single.iter().copied(), BinaryForm::Named, &mut patch)?;
                Some(patch)
            }
            false => None,
        };
        let document = DiffDoc {
            before: before.0,
            after: record.name,
            before_snapshot: before.1.id.to_string(),
            after_snapshot: after.id.to_string(),
            changes: summary.changes.iter().map(wire::change).collect(),
            metadata_only: summary.metadata_only(),
            stays: Vec::new(),
            patch: None,
        };
        Ok(Difference { document, patch })
    }

    /// What a text names of its own states and of the main line. What is of other workspaces is not there, and so no name of theirs is in
    /// an error.
    ///
    /// ```
    /// # fn example(workspace: &offshoot_engine::Workspace) -> offshoot_engine::Result<()> {
    /// let point = workspace.own_point("before-tests")?;
    /// println!("{}", point.label);
    /// # Ok(())
    /// # }
    /// ```
    pub fn own_point(&self, text: &str) -> Result<Point> {
        let (vault, record) = (self.project().vault(), self.record()?);
        let of_own = |checkpoint: &&Checkpoint| checkpoint.workspace == record.id;
        let all = vault.checkpoints()?;
        let own: Vec<&Checkpoint> = all.iter().filter(of_own).collect();
        let is_own = |point: &Point| match &point.workspace {
            Some(owner) => owner.id == record.id,
            // The main line, or a snapshot by its id.
            None => {
                let id = point.snapshot.id;
                let kept = own.iter().any(|checkpoint| checkpoint.state.snapshot == id);
                text == "head" || kept || [record.state.base, record.state.head].contains(&id)
            }
        };
        let found = Resolver::new(vault).point(text, Some(&record));
        if let Some(point) = found.ok().filter(is_own) {
            return Ok(point);
        }
        let message = format!("workspace {} has no state called {text:?}", record.name);
        let names: Vec<&str> = own.iter().map(|checkpoint| &*checkpoint.name).collect();
        let hint = format!("`head`, `{}@base`, or one of: {}", record.name, names.join(", "));
        Err(Error::new(ExitCode::NotFound, message).hint(Hint::from(hint)))
    }
}
