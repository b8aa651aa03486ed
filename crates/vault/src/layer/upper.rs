//! A directory for somebody else to write a difference into.

use std::fs;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use offshoot_host::disk;
use offshoot_tree::{Entry, RootId};
use rustix::fs::Mode;

use super::joined;
use super::note::{COPY, ExecNote, OUTPUT};
use super::place::PlacedLinks;
use super::stage::{LayerKind, LayerStage};
use crate::error::{Result, io_error};
use crate::import::report::Skipped;
use crate::vault::Vault;

/// A directory to write a difference to a root into, in overlayfs format. Dropped without being adopted, it is removed.
#[derive(Debug)]
pub struct Upper {
    pub(super) stage: LayerStage,
    pub(super) base: RootId,
    /// What was left out when it was copied.
    pub(super) skipped: Vec<Skipped>,
    /// Hard links that were put there before anybody wrote.
    pub(super) placed: PlacedLinks,
}

impl Upper {
    /// Where to write.
    pub fn dir(&self) -> PathBuf {
        self.stage.fs_dir()
    }

    /// An empty directory beside it for overlayfs to work in; it is not part of the layer.
    pub fn work_dir(&self) -> PathBuf {
        self.stage.beside("work")
    }

    /// A directory beside it for a plain copy of the base; see [`Vault::adopt_copy`].
    pub fn copy_dir(&self) -> PathBuf {
        self.stage.beside(COPY)
    }

    /// The directory that the names of a mount are relative to: the one with all layers.
    pub fn layers_dir(&self) -> &Path {
        self.stage.layers()
    }

    /// Where to write, relative to the directory of layers.
    pub fn fs_name(&self) -> String {
        format!("{}/fs", self.stage.staged_name())
    }

    /// The directory to work in, relative to the directory of layers.
    pub fn work_name(&self) -> String {
        format!("{}/work", self.stage.staged_name())
    }

    /// The root that lies below.
    pub fn base(&self) -> &RootId {
        &self.base
    }

    /// The directories that were made for placed links, outermost first. overlayfs completes what it notes about a directory
    /// when it first looks it up, which changes the directory's change time: who mounts the layer should look these up.
    pub fn placed_directories(&self) -> Vec<Vec<u8>> {
        let mut found = std::collections::BTreeSet::new();
        for name in self.placed.names() {
            let parts = name.iter().enumerate().filter(|(_, byte)| **byte == b'/');
            found.extend(parts.map(|(end, _)| name[..end].to_vec()));
        }
        found.into_iter().collect()
    }

    /// Leaves a note beside the directory, in place of an earlier one, that says what it is for. It goes when what was
    /// written is part of the history.
    pub fn note(&mut self, note: &ExecNote) -> Result<()> {
        note.write(&self.stage.place)?;
        self.stage.note = Some(note.clone());
        Ok(())
    }

    /// Where to keep what is printed meanwhile. It goes with the note.
    pub fn output_file(&self) -> PathBuf {
        self.stage.beside(OUTPUT)
    }

    /// Where others can join whoever writes. It goes when what was written is sealed.
    pub fn door(&self) -> PathBuf {
        joined::door(&self.stage.place)
    }

    /// Hands what was printed and the note on to another.
    pub(super) fn pass_note_on(&mut self, other: &mut Self) -> Result<()> {
        let Some(note) = self.stage.note.take() else { return Ok(()) };
        other.note(&note)?;
        let (from, to) = (self.output_file(), other.output_file());
        match fs::rename(&from, &to) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            other => other.map_err(io_error("rename", &from)),
        }
    }
}

impl Vault {
    /// Starts a directory for a difference to `base`, with the metadata of its top directory.
    pub fn begin_upper(&self, base: &RootId) -> Result<Upper> {
        self.enter()?;
        let _held = self.hold()?;
        let top = self.objects()?.root(base)?;
        let upper = self.new_upper(base)?;
        let dir = upper.dir();
        set_metadata(&dir, &top).map_err(io_error("set metadata of", &dir))?;
        Ok(upper)
    }

    /// An empty one, whose own metadata is not set yet.
    pub(super) fn new_upper(&self, base: &RootId) -> Result<Upper> {
        self.make_left_dir()?;
        let stage = LayerStage::begin(&self.layers_dir(), LayerKind::Delta)?;
        let upper =
            Upper { stage, base: *base, skipped: Vec::new(), placed: PlacedLinks::default() };
        let work = upper.work_dir();
        fs::create_dir(&work).map_err(io_error("create", &work))?;
        Ok(upper)
    }
}

fn set_metadata(dir: &Path, entry: &Entry) -> std::io::Result<()> {
    let fd = disk::open_dir(dir)?;
    disk::set_xattrs(fd.as_fd(), &entry.meta.xattrs, true)?;
    rustix::fs::fchmod(&fd, Mode::from_raw_mode(entry.meta.mode.into()))?;
    Ok(rustix::fs::futimens(&fd, &disk::timestamps(entry.meta.mtime))?)
}
