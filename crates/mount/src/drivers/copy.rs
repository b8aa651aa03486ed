//! A plain copy of a root.

use std::io;
use std::path::Path;

use offshoot_store::Id;
use offshoot_tree::VaultPath;
use offshoot_vault::{ExportOptions, LeftoverShape, Upper, Vault};
use offshoot_vocabulary::DriverName;

use crate::driver::{After, Captured, Driver, DriverWords, Prepared};
use crate::error::Result;
use crate::request::MountRequest;
use crate::view::View;

/// A plain copy; changes are found by looking at all of it.
#[derive(Debug)]
pub(super) struct CopyDriver;

impl Driver for CopyDriver {
    fn name(&self) -> DriverName {
        DriverName::Copy
    }

    fn words(&self) -> DriverWords {
        DriverWords {
            in_use: "each command works on a plain copy",
            done: "worked on a plain copy",
            needs: "a plain copy",
            remedy: None,
        }
    }

    fn version(&self) -> u32 {
        1
    }

    fn shape(&self, version: u32) -> Option<LeftoverShape> {
        (version == 1).then_some(LeftoverShape::Tree)
    }

    /// It is made of verified content.
    fn stacks(&self) -> bool {
        false
    }

    fn prepare(&self, vault: &Vault, request: &MountRequest) -> Result<Box<dyn Prepared>> {
        let upper = vault.begin_upper(&request.root)?;
        let directory = upper.copy_dir();
        let options = ExportOptions::default();
        vault.export(&request.root, &VaultPath::top(), &directory, &options)?;
        Ok(Box::new(Copied { upper }))
    }

    fn trial(&self, scratch: &Path) -> io::Result<View> {
        Ok(View::Directory(scratch.to_owned()))
    }
}

/// A copy, kept beside the layers that are being written so that it goes when they go.
#[derive(Debug)]
struct Copied {
    upper: Upper,
}

impl Prepared for Copied {
    fn upper(&mut self) -> &mut Upper {
        &mut self.upper
    }

    fn layers(&self) -> Vec<Id> {
        Vec::new()
    }

    fn show(&mut self) -> Result<View> {
        Ok(View::Directory(self.upper.copy_dir()))
    }

    /// Finds what changed by reading all of it.
    fn capture(self: Box<Self>, vault: &Vault, _after: &After<'_>) -> Result<Captured> {
        Ok(Captured { adopted: vault.adopt_copy(self.upper)?, warnings: Vec::new() })
    }

    fn abandon(self: Box<Self>) -> Upper {
        self.upper
    }
}
