//! A plain copy of a root.

use offshoot_sandbox::Files;
use offshoot_tree::VaultPath;
use offshoot_vault::{Adopted, ExportOptions, Upper, Vault};

use super::MountRequest;
use crate::error::Result;

/// A copy, kept beside the layers that are being written so that it goes when they go.
#[derive(Debug)]
pub(super) struct Copied {
    pub(super) upper: Upper,
}

impl Copied {
    pub(super) fn prepare(vault: &Vault, request: &MountRequest) -> Result<Self> {
        let upper = vault.begin_upper(&request.root)?;
        let directory = upper.copy_dir();
        let options = ExportOptions::default();
        vault.export(&request.root, &VaultPath::top(), &directory, &options)?;
        Ok(Self { upper })
    }

    pub(super) fn files(&self) -> Files {
        Files::Directory(self.upper.copy_dir())
    }

    /// Finds what changed by reading all of it.
    pub(super) fn seal(self, vault: &Vault) -> Result<Adopted> {
        Ok(vault.adopt_copy(self.upper)?)
    }
}
