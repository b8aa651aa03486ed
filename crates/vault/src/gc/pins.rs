//! What commands that run, or that were cut off, build upon: their notes say so.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use offshoot_host::lock::DirLock;
use offshoot_store::{Hash, Id};
use offshoot_tree::RootId;

use super::mark::Marks;
use crate::applies::pinned_roots;
use crate::error::{Result, VaultError, io_error};
use crate::layer::ExecNote;
use crate::vault::Vault;

/// What the notes beside layers that are being written, or were left, name.
#[derive(Debug, Default)]
pub(crate) struct Pins {
    snapshots: HashSet<Id>,
    /// Layers that hold what a command wrote and that is not part of the history yet.
    sealed: HashSet<Id>,
    /// The layers that lie below, and those.
    pub(crate) layers: HashSet<Id>,
    /// Directories that nobody writes and no note speaks for.
    pub(super) leftovers: Vec<PathBuf>,
    /// One that somebody writes without a note: an import, or a command that is just being started.
    pub(super) unaccounted: Option<PathBuf>,
}

impl Pins {
    pub(crate) fn read(vault: &Vault) -> Result<Self> {
        let folder = vault.layers_dir();
        let mut pins = Self::default();
        for entry in fs::read_dir(&folder).map_err(io_error("read", &folder))? {
            let path = entry.map_err(io_error("read", &folder))?.path();
            if path.file_name().unwrap_or_default().as_encoded_bytes().ends_with(b".tmp") {
                pins.written(&path);
            }
        }
        for note in vault.notes()? {
            pins.keep(note);
        }
        Ok(pins)
    }

    fn keep(&mut self, note: ExecNote) {
        self.snapshots.insert(note.snapshot);
        self.layers.extend(note.layers.iter().chain(&note.layer));
        self.sealed.extend(note.layer);
    }

    fn written(&mut self, path: &Path) {
        if ExecNote::read(path).is_some() {
            return;
        }
        if DirLock::take(path).is_ok() {
            self.leftovers.push(path.to_owned());
        } else if path.exists() {
            self.unaccounted = Some(path.to_owned());
        }
    }

    /// Marks what commands build upon, and what they wrote that is not part of the history yet.
    pub(super) fn mark(&self, vault: &Vault, marks: &mut Marks) -> Result<()> {
        let mut roots: Vec<Hash> = Vec::new();
        vault.read(|reader| {
            for id in &self.snapshots {
                roots.extend(reader.snapshot(id)?.map(|row| row.root));
            }
            if !self.sealed.is_empty() {
                let layers = reader.layers()?.into_iter();
                let sealed = layers.filter(|layer| self.sealed.contains(&layer.id));
                roots.extend(sealed.filter_map(|layer| layer.root));
            }
            Ok(())
        })?;
        roots.extend(pinned_roots(vault)?.into_iter().map(|root| root.0));
        let objects = vault.objects()?;
        for root in roots.into_iter().map(RootId) {
            // A note may be older than the collection that took what it names.
            if objects.has_root(&root)? {
                marks.root(objects, &root)?;
            }
        }
        Ok(())
    }

    /// The snapshots that commands run upon.
    pub(super) fn snapshots(&self) -> impl Iterator<Item = &Id> {
        self.snapshots.iter()
    }

    /// Fails where somebody writes without saying upon what. With the gate closed there is nobody who may.
    pub(super) fn accounted(self) -> Result<Self> {
        match self.unaccounted {
            Some(path) => Err(VaultError::Unaccounted(path)),
            None => Ok(self),
        }
    }
}
