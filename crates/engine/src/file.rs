//! Files of a vault: their paths and entries, reading and changing them.

use std::path::Path;

pub use offshoot_tree::{BlobId, Body, Entry, EntryKind, Meta, RootId, VaultPath};
pub use offshoot_vault::NewContent;
use offshoot_vault::{ExportOptions, ImportReport, Vault, WorkspaceRecord};
pub use offshoot_workspace::{CopyOptions, Edited, FileService, PathContext};

use crate::error::Result;
use crate::offshoot::Offshoot;

impl Offshoot {
    /// Takes a file or a folder of the host into a workspace, and tells what could not be taken in.
    ///
    /// ```
    /// # fn example(workspace: &offshoot_engine::Workspace) -> offshoot_engine::Result<()> {
    /// let project = workspace.project();
    /// let (engine, vault) = (project.engine(), project.vault());
    /// use offshoot_engine::file::VaultPath;
    ///
    /// let to = VaultPath::parse(b"/vendor")?;
    /// engine.import_files(vault, &workspace.record()?, "/usr/share/doc".as_ref(), &to)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn import_files(
        &self,
        vault: &Vault,
        workspace: &WorkspaceRecord,
        source: &Path,
        to: &VaultPath,
    ) -> Result<(Edited, ImportReport)> {
        let options = self.import_options();
        let (edited, report) = self.files(vault).import(workspace, source, to, &options)?;
        self.tell_skipped(&report);
        Ok((edited, report))
    }

    /// Writes a file or a folder of a vault to the host.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// let (engine, vault) = (project.engine(), project.vault());
    /// use offshoot_engine::file::VaultPath;
    ///
    /// let (root, path) = (vault.head()?.root, VaultPath::parse(b"/src")?);
    /// engine.export_files(vault, &root, &path, "/tmp/src".as_ref())?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn export_files(
        &self,
        vault: &Vault,
        root: &RootId,
        path: &VaultPath,
        destination: &Path,
    ) -> Result<Entry> {
        let options = ExportOptions {
            // Only root can give files away; for others everything is their own.
            owners: rustix::process::geteuid().is_root(),
            threads: self.config().import.threads.into(),
        };
        Ok(self.files(vault).export(root, path, destination, &options)?)
    }

    /// Reads and changes files of a vault without a command.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// let (engine, vault) = (project.engine(), project.vault());
    /// use offshoot_engine::file::VaultPath;
    ///
    /// let entry = engine.files(vault).stat(&vault.head()?.root, &VaultPath::parse(b"/README.md")?)?;
    /// println!("{} bytes", entry.size());
    /// # Ok(())
    /// # }
    /// ```
    pub fn files<'v>(&self, vault: &'v Vault) -> FileService<'v> {
        FileService::new(vault, self.actor())
    }
}
