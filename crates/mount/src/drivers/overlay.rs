//! The kernel's overlayfs over the layers of a vault.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use offshoot_store::Id;
use offshoot_vault::{LeftoverShape, Placed, Stack, Upper, Vault};
use offshoot_vocabulary::DriverName;

use crate::driver::{After, Captured, Driver, DriverWords, Prepared};
use crate::error::Result;
use crate::request::MountRequest;
use crate::view::{Layers, UpperNames, View};

/// The kernel stacks the layers; changes are what it writes into the topmost directory.
#[derive(Debug)]
pub(super) struct OverlayDriver;

impl Driver for OverlayDriver {
    fn name(&self) -> DriverName {
        DriverName::Overlay
    }

    fn words(&self) -> DriverWords {
        DriverWords {
            in_use: "layers are stacked here",
            done: "worked on stacked layers",
            needs: "overlayfs",
            remedy: Some(
                "overlayfs needs a file system such as ext4, xfs, btrfs or tmpfs, and Linux 6.7 or newer; \
                 set OFFSHOOT_HOME to such a place",
            ),
        }
    }

    fn version(&self) -> u32 {
        1
    }

    fn shape(&self, version: u32) -> Option<LeftoverShape> {
        (version == 1).then_some(LeftoverShape::Difference)
    }

    fn stacks(&self) -> bool {
        true
    }

    fn prepare(&self, vault: &Vault, request: &MountRequest) -> Result<Box<dyn Prepared>> {
        let stack = vault.stack(&request.root, &request.near)?;
        // A kernel that cannot use them need not say so: it may show zeros.
        let stack = match stack.data.is_empty() || (request.data_layers)(vault) {
            true => stack,
            false => vault.plain_stack(&request.root, &request.near)?,
        };
        let mut upper = vault.begin_upper(&request.root)?;
        let placed = match request.read_only {
            true => Placed::default(),
            false => upper.place_links(vault, request.links)?,
        };
        Ok(Box::new(Stacked { stack, upper, placed, read_only: request.read_only }))
    }

    fn trial(&self, scratch: &Path) -> io::Result<View> {
        for name in ["lower", "upper", "work"] {
            fs::create_dir(scratch.join(name))?;
        }
        Ok(View::Layers(Layers {
            directory: scratch.to_owned(),
            lower: vec!["lower".into()],
            data: Vec::new(),
            upper: Some(UpperNames { directory: "upper".into(), work: "work".into() }),
            look_up: Vec::new(),
        }))
    }
}

/// Layers to stack, with a fresh one above them.
#[derive(Debug)]
struct Stacked {
    stack: Stack,
    upper: Upper,
    placed: Placed,
    read_only: bool,
}

impl Prepared for Stacked {
    fn upper(&mut self) -> &mut Upper {
        &mut self.upper
    }

    fn layers(&self) -> Vec<Id> {
        self.stack.layers.clone()
    }

    fn show(&mut self) -> Result<View> {
        let mut lower: Vec<PathBuf> = self.stack.names.iter().map(Into::into).collect();
        let upper = UpperNames {
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
        Ok(View::Layers(Layers {
            directory: self.upper.layers_dir().to_owned(),
            lower,
            data: self.stack.data.iter().map(Into::into).collect(),
            upper,
            look_up: self.upper.placed_directories().into_iter().map(path).collect(),
        }))
    }

    fn capture(self: Box<Self>, vault: &Vault, after: &After<'_>) -> Result<Captured> {
        let mut warnings: Vec<String> = self.warning().into_iter().collect();
        // Somebody outside may go on writing: what is sealed must be out of their reach.
        let upper = match after.busy {
            true => {
                let busy = "something outside still has the files open; what it writes from now on is not kept";
                warnings.push(busy.to_owned());
                self.upper.into_copy(vault, after.access)?
            }
            false => self.upper,
        };
        Ok(Captured { adopted: vault.adopt(upper, after.access)?, warnings })
    }

    fn abandon(self: Box<Self>) -> Upper {
        self.upper
    }
}

impl Stacked {
    /// A word about hard links that could not be kept whole.
    fn warning(&self) -> Option<String> {
        (self.placed.left_names > 0).then(|| {
            format!(
                "{} names of hard links were too many to keep together: a write through one of them did not reach the others",
                self.placed.left_names
            )
        })
    }
}

fn path(bytes: Vec<u8>) -> PathBuf {
    OsString::from_vec(bytes).into()
}
