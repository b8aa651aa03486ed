//! What a way to make a root a directory has to offer.

use std::fmt::Debug;
use std::io;
use std::path::Path;

use offshoot_store::Id;
use offshoot_vault::{Access, Adopted, LeftoverShape, Upper, Vault};
use offshoot_vocabulary::DriverName;

use crate::error::Result;
use crate::request::MountRequest;
use crate::view::View;

/// A way to make a root a directory. It has no state; what one use of it needs is in what it prepares.
pub trait Driver: Debug + Sync {
    /// What it is called in options, settings, notes and documents.
    fn name(&self) -> DriverName;

    /// What is said about it.
    fn words(&self) -> DriverWords;

    /// Which version of its way to capture is in use. Another is due when what lies beside a note changes its meaning.
    fn version(&self) -> u32;

    /// In which shape what was written lies there, for this and earlier versions.
    fn shape(&self, version: u32) -> Option<LeftoverShape>;

    /// Whether it shows layers as they lie in the vault, whose content nobody has verified on the way.
    fn stacks(&self) -> bool;

    /// Whether it may be used where nobody asked for it.
    fn is_automatic(&self) -> bool {
        true
    }

    /// Makes what is needed: layers, and a fresh upper for what is written.
    fn prepare(&self, vault: &Vault, request: &MountRequest) -> Result<Box<dyn Prepared>>;

    /// The least that tells whether it works in an existing empty directory.
    fn trial(&self, scratch: &Path) -> io::Result<View>;
}

impl PartialEq for dyn Driver {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for dyn Driver {}

/// What is said about a driver, each to be put into a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DriverWords {
    /// Where it is in use: "overlay: …".
    pub in_use: &'static str,
    /// Where another had to do: "…, because … cannot be used here".
    pub done: &'static str,
    /// What it needs: "because … cannot be used here".
    pub needs: &'static str,
    /// What can be done where it cannot be used, alone.
    pub remedy: Option<&'static str>,
}

/// A root that was prepared, to be shown and captured.
pub trait Prepared: Debug {
    /// Where everything goes that is written.
    fn upper(&mut self) -> &mut Upper;

    /// The layers in use, topmost first.
    fn layers(&self) -> Vec<Id>;

    /// How the root appears. What this starts goes on until it is captured or abandoned.
    fn show(&mut self) -> Result<View>;

    /// Makes a root of what was written. Nobody writes any more.
    fn capture(self: Box<Self>, vault: &Vault, after: &After<'_>) -> Result<Captured>;

    /// Takes down what was shown, and gives the upper as it is.
    fn abandon(self: Box<Self>) -> Upper;
}

/// How whoever worked in a root left it.
pub struct After<'a> {
    /// Somebody else has a descriptor to the files, and may still write.
    pub busy: bool,
    /// Opens what the modes of files close to their own user.
    pub access: &'a dyn Access,
}

/// What was captured.
#[derive(Debug)]
pub struct Captured {
    /// The new state, stored but not part of any history yet.
    pub adopted: Adopted,
    /// What is not as one may expect.
    pub warnings: Vec<String>,
}
