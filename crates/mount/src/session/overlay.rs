//! The kernel's overlayfs over the layers of a vault.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use offshoot_sandbox::{self as sandbox, Ended, Files, Overlay};
use offshoot_vault::{Adopted, Placed, Stack, Upper, Vault};

use super::MountRequest;
use crate::access::KeeperAccess;
use crate::data_layers::data_layers_work;
use crate::error::Result;

/// Layers to stack, with a fresh one above them.
#[derive(Debug)]
pub(super) struct Layers {
    pub(super) stack: Stack,
    pub(super) upper: Upper,
    placed: Placed,
    read_only: bool,
}

impl Layers {
    pub(super) fn prepare(vault: &Vault, request: &MountRequest) -> Result<Self> {
        let stack = vault.stack(&request.root, &request.near)?;
        // A kernel that cannot use them need not say so: it may show zeros.
        let stack = match stack.data.is_empty() || data_layers_work(vault) {
            true => stack,
            false => vault.plain_stack(&request.root, &request.near)?,
        };
        let mut upper = vault.begin_upper(&request.root)?;
        let placed = match request.read_only {
            true => Placed::default(),
            false => upper.place_links(vault, request.links)?,
        };
        Ok(Self { stack, upper, placed, read_only: request.read_only })
    }

    pub(super) fn files(&self) -> Files {
        let mut lower: Vec<PathBuf> = self.stack.names.iter().map(Into::into).collect();
        let upper = sandbox::Upper {
            directory: self.upper.fs_name().into(),
            work: self.upper.work_name().into(),
        };
        let upper = match self.read_only {
            // Without a directory for changes the kernel mounts read-only, and wants two others: the empty one will do.
            true => {
                lower.insert(0, upper.directory);
                None
            }
            false => Some(upper),
        };
        Files::Overlay(Overlay {
            directory: self.upper.layers_dir().to_owned(),
            lower,
            data: self.stack.data.iter().map(Into::into).collect(),
            upper,
            look_up: self.upper.placed_directories().into_iter().map(path).collect(),
        })
    }

    /// A word about hard links that could not be kept whole.
    pub(super) fn warning(&self) -> Option<String> {
        (self.placed.left_names > 0).then(|| {
            format!(
                "{} names of hard links were too many to keep together: a write through one of them did not reach the others",
                self.placed.left_names
            )
        })
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

fn path(bytes: Vec<u8>) -> PathBuf {
    OsString::from_vec(bytes).into()
}
