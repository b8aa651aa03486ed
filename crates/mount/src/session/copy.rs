//! A plain copy of a root.

use std::path::PathBuf;

use offshoot_sandbox::Files;
use offshoot_vault::{Adopted, ExportOptions, Upper, Vault, VaultPath};

use super::MountRequest;
use crate::error::Result;

/// A copy, kept beside the layers that are being written so that it goes when they go.
#[derive(Debug)]
pub(super) struct Copied {
    upper: Upper,
    directory: PathBuf,
}

impl Copied {
    pub(super) fn prepare(vault: &Vault, request: &MountRequest) -> Result<Self> {
        let upper = vault.begin_upper(&request.root)?;
        upper.note(&request.note)?;
        let directory = upper.work_dir().with_file_name("copy");
        let options = ExportOptions::default();
        vault.export(&request.root, &VaultPath::top(), &directory, &options)?;
        Ok(Self { upper, directory })
    }

    pub(super) fn files(&self) -> Files {
        Files::Directory(self.directory.clone())
    }

    /// Finds what changed by reading all of it.
    pub(super) fn seal(self, vault: &Vault) -> Result<Adopted> {
        Ok(vault.capture(&self.directory, self.upper.base())?)
    }
}
