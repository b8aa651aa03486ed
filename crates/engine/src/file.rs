//! Files of a vault: their paths and entries, reading and changing them.

use std::path::Path;

use offshoot_protocol::EditDoc;
pub use offshoot_tree::{BlobId, Body, Entry, EntryKind, Meta, RootId, VaultPath};
pub use offshoot_vault::NewContent;
use offshoot_vault::{ExportOptions, ImportReport, Vault, WorkspaceRecord};
pub use offshoot_workspace::{CopyOptions, Edited, FileService, PathContext};
use offshoot_workspace::{ServiceError, wire};

use crate::error::{Error, Result};
use crate::offshoot::Offshoot;
use crate::project::Project;
use crate::workspace::Workspace;

/// A larger file is not read into memory at once.
const MOST_BYTES: u64 = 16 << 20;

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

    /// All bytes of a file, which has no more than 16 MiB.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> Result<(), Box<dyn std::error::Error>> {
    /// use offshoot_engine::file::VaultPath;
    ///
    /// let (vault, path) = (project.vault(), VaultPath::parse(b"/README.md")?);
    /// let (path, entry, bytes) = project.engine().content(vault, &vault.head()?.root, &path)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn content(
        &self,
        vault: &Vault,
        root: &RootId,
        path: &VaultPath,
    ) -> Result<(VaultPath, Entry, Vec<u8>)> {
        let mut file = self.files(vault).open(root, path)?;
        let size = file.entry.size();
        if size > MOST_BYTES {
            let message = format!("{} is too large to read at once: {size} bytes", file.path);
            let hint = "read parts of it with a command: head, tail, sed -n";
            return Err(Error::usage(message).hint(hint));
        }
        let mut bytes = Vec::new();
        file.reader.read_to_end(&mut bytes).map_err(ServiceError::from)?;
        Ok((file.path, file.entry, bytes))
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

impl Project {
    /// The path that a text means for somebody who stands there: from the top, from where they stand, or as commands see it.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// use offshoot_engine::file::PathContext;
    ///
    /// let standing = PathContext::new(project.vault(), "/srv/me/project/src".as_ref())?;
    /// assert_eq!(project.path(&standing, "main.rs")?.to_string(), "/src/main.rs");
    /// assert_eq!(project.path(&standing, "/srv/me/project/src/main.rs")?.to_string(), "/src/main.rs");
    /// # Ok(())
    /// # }
    /// ```
    pub fn path(&self, standing: &PathContext, text: &str) -> Result<VaultPath> {
        for binding in self.vault().bindings()? {
            let folder = binding.host_path();
            if let Ok(below) = Path::new(text).strip_prefix(&folder) {
                let names = below.components().map(|name| name.as_os_str().as_encoded_bytes());
                return Ok(names.fold(binding.at(), |path, name| path.join(name)));
            }
        }
        Ok(standing.path(text.as_bytes())?)
    }
}

impl Workspace {
    /// Gives a file this content, with the directories that it needs, and says what changed.
    ///
    /// ```
    /// # fn example(workspace: &offshoot_engine::Workspace) -> Result<(), Box<dyn std::error::Error>> {
    /// use offshoot_engine::file::VaultPath;
    ///
    /// let edit = workspace.put(&VaultPath::parse(b"/notes/today.md")?, b"# Today\n")?;
    /// assert!(!edit.changes.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    pub fn put(&self, path: &VaultPath, bytes: &[u8]) -> Result<EditDoc> {
        let (record, name) = (self.record()?, Path::new("the content"));
        let edited = self.files().write(&record, path, &mut &*bytes, name, true)?;
        Ok(wire::edit(&record.name, &edited, None))
    }
}
