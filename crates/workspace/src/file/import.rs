//! Bringing files and directories of the host into a workspace.

use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use offshoot_host::HostError;
use offshoot_tree::TreeError;
use offshoot_tree::{Body, Entry, Meta, TreeEditor, VaultPath};
use offshoot_vault::{ImportOptions, ImportReport, VaultError, WorkspaceRecord};

use super::regroup::regroup;
use super::{FileService, not_a_file};
use crate::edit::{EditKind, Edited, edit};
use crate::error::Result;

impl FileService<'_> {
    /// Brings a file or directory of the host in at a path, with its metadata. A file takes the place of another; a
    /// directory needs a free name.
    pub fn import(
        &self,
        workspace: &WorkspaceRecord,
        source: &Path,
        path: &VaultPath,
        options: &ImportOptions,
    ) -> Result<(Edited, ImportReport)> {
        let failed = |error| {
            VaultError::Host(HostError::Io {
                action: "import",
                path: source.to_owned(),
                source: error,
            })
        };
        let metadata = std::fs::metadata(source).map_err(failed)?;
        let kind = metadata.file_type();
        // Some have no end.
        if kind.is_char_device() || kind.is_block_device() || kind.is_socket() {
            let reason = io::Error::new(io::ErrorKind::InvalidInput, "devices are not kept");
            return Err(failed(reason).into());
        }
        let _held = self.vault.hold()?;
        let summary = format!("import {} to {path}", source.display());
        let words =
            EditKind { kind: "fs import", reason: "import", summary: &summary, stamps: false };
        if metadata.is_dir() {
            self.import_directory(workspace, source, path, options, words)
        } else {
            self.import_file(workspace, source, path, words)
        }
    }

    fn import_file(
        &self,
        workspace: &WorkspaceRecord,
        source: &Path,
        path: &VaultPath,
        words: EditKind<'_>,
    ) -> Result<(Edited, ImportReport)> {
        let head = self.vault.snapshot(&workspace.state.head)?;
        self.check_writable(&head.root, path)?;
        let (content, meta) = self.vault.add_file(source)?;
        let edited = self.edit(workspace, words, |editor| {
            make_parent(editor, path)?;
            if let Some(entry) = editor.get(path)?.filter(|entry| !is_file(entry)) {
                return Err(not_a_file(path, &entry));
            }
            let body = Body::File { size: content.size, blob: content.blob };
            let mut entry = Entry::new(meta.clone(), body);
            self.keep_open(editor, path, &mut entry)?;
            Ok(editor.put(path, entry)?)
        })?;
        let report = ImportReport { files: 1, bytes: content.size, ..ImportReport::default() };
        Ok((edited, report))
    }

    fn import_directory(
        &self,
        workspace: &WorkspaceRecord,
        source: &Path,
        path: &VaultPath,
        options: &ImportOptions,
        words: EditKind<'_>,
    ) -> Result<(Edited, ImportReport)> {
        let imported = self.vault.import(source, options)?;
        // The same directory at two places is two sets of files, with links inside each only.
        let top = regroup(self.vault, imported.top.clone(), path)?;
        let change = |editor: &mut TreeEditor<'_>| {
            make_parent(editor, path)?;
            match editor.get(path)? {
                Some(_) => Err(TreeError::EntryExists { path: path.to_string() }.into()),
                None => Ok(editor.put(path, top.clone())?),
            }
        };
        let edited =
            edit((self.vault, self.call.as_ref()), &self.actor, workspace, words, change, |tx| {
                imported.record(tx)
            })?;
        Ok((edited, imported.report))
    }
}

fn make_parent(editor: &mut TreeEditor<'_>, path: &VaultPath) -> Result<()> {
    match path.parent() {
        Some(parent) => Ok(editor.make_directories(&parent, &Meta::of_new(0o755))?),
        None => Ok(()),
    }
}

fn is_file(entry: &Entry) -> bool {
    matches!(entry.body, Body::File { .. })
}
