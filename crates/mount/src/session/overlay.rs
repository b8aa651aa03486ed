//! The kernel's overlayfs over the layers of a vault.

use offshoot_sandbox::{Ended, Files, Overlay};
use offshoot_vault::{Adopted, Stack, Upper, Vault};

use super::MountRequest;
use crate::access::KeeperAccess;
use crate::error::Result;

/// Layers to stack, with a fresh one above them.
#[derive(Debug)]
pub(super) struct Layers {
    stack: Stack,
    upper: Upper,
    //LINKS placed: Placed,
}

impl Layers {
    pub(super) fn prepare(vault: &Vault, request: &MountRequest) -> Result<Self> {
        let stack = vault.stack(&request.root, &request.near)?;
        let upper = vault.begin_upper(&request.root)?;
        //LINKS let placed = match request.read_only {
        //LINKS     true => Placed::default(),
        //LINKS     false => upper.place_links(vault, &request.near, request.links)?,
        //LINKS };
        upper.note(&request.note)?;
        Ok(Self { stack, upper })
    }

    pub(super) fn files(&self) -> Files {
        Files::Overlay(Overlay {
            directory: self.upper.layers_dir().to_owned(),
            lower: self.stack.names.iter().map(Into::into).collect(),
            upper: self.upper.fs_name().into(),
            work: self.upper.work_name().into(),
        })
    }

    /// A word about hard links that could not be kept whole.
    pub(super) fn warning(&self) -> Option<String> {
        None
        //LINKS (self.placed.left_names > 0).then(|| {
        //LINKS     format!(
        //LINKS         "{} names of hard links were too many to keep together: a write through one of them did not reach the others",
        //LINKS         self.placed.left_names
        //LINKS     )
        //LINKS })
    }

    pub(super) fn seal(self, vault: &Vault, ended: &Ended) -> Result<Adopted> {
        let access = KeeperAccess(&ended.keeper);
        // Somebody outside may go on writing: what is sealed must be out of their reach.
        let upper = match ended.busy {
            true => self.upper.into_copy(vault, &access)?,
            false => self.upper,
        };
        Ok(vault.adopt(upper, &access)?)
    }
}
