//! Folders become vaults at their first use.

use std::path::Path;

use offshoot_engine::vault::{Belongs, ListedVault, unsure};

use super::{Context, OpenVault, current_dir};
use crate::error::Result;
use crate::interrupt::{self, Watch};

impl Context {
    /// Makes a vault of a folder at its first use, and says so. `watch` tells if that is interrupted.
    pub(crate) fn adopt(&self, directory: &Path, watch: Watch) -> Result<ListedVault> {
        let made = self.engine.make_vault(None, directory)?;
        drop(watch);
        self.engine.adopted(made, directory)
    }

    /// The vault that this folder belongs to, made of it at its first use.
    pub(crate) fn vault_or_adopt(&self) -> Result<OpenVault> {
        let here = current_dir()?;
        if self.names_vault() {
            return self.vault();
        }
        match self.engine.belongs(&here)? {
            Belongs::To(..) => return self.vault(),
            Belongs::Perhaps(moved) => return Err(unsure(&moved, &here)),
            Belongs::Nowhere => {}
        }
        let project = self.engine.project_of(&here)?;
        let listed = self.adopt(&project, Watch::start(self, interrupt::NOTHING)?)?;
        self.open_listed(&listed)
    }
}
