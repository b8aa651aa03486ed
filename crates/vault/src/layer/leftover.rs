//! What an interrupted command left: set aside under `left/<exec>`, to be kept or dropped.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use offshoot_host::disk;
use offshoot_host::lock::DirLock;
use offshoot_store::{Id, StackRow, mark_unclean};
use offshoot_tree::diff::{Change, ChangeKind};
use offshoot_tree::{Batch, Objects, RootId, TreeError, diff};

use super::access::{Access, Reach};
use super::adopt::Adopted;
use super::note::{COPY, ExecNote, NOTE, OUTPUT};
use super::output::OutputReader;
use super::place::PlacedLinks;
use super::stage::{LayerStage, Progress};
use super::sweep::{self, LeftoverSize};
use super::upper::Upper;
use crate::error::{Result, VaultError, io_error};
use crate::exec::{STDERR, STDOUT};
use crate::import::report::Skipped;
use crate::vault::Vault;

/// Where what interrupted commands left is set aside.
pub(super) fn left_dir(layers: &Path) -> PathBuf {
    layers.with_file_name("left")
}

impl LayerStage {
    /// Sets aside what a command wrote and what could not be made part of the history. Without a note nobody could make
    /// anything of it, and it is removed.
    pub(super) fn set_aside(&mut self) {
        let progress = std::mem::replace(&mut self.progress, Progress::Away);
        let Some(note) = self.note.take() else {
            if progress != Progress::Named {
                // The first error is the one to report; what is left takes room and does no harm.
                drop(disk::remove_tree(&self.place));
            }
            return;
        };
        let left = left_dir(self.layers());
        let done = match progress {
            Progress::Named => refer(&left, &note.exec, &self.id(), &self.place),
            _ => move_aside(&self.place, &left.join(note.exec.to_string())),
        };
        if done.is_err() {
            // It stays where it is with its note, and the next open tries again.
            mark_unclean(left.parent().unwrap_or(&left));
        }
    }
}

impl Upper {
    /// Gives it up: the command is over and what it did cannot be recorded. What it wrote, if anything, is set aside.
    pub fn abandon(mut self, vault: &Vault) {
        let note = self.stage.note.as_ref();
        let worth = note.map(|note| vault.is_worth_keeping(&self.stage.place, note));
        match worth {
            // Where it cannot be known it may be worth something.
            Some(Ok(true) | Err(_)) => self.stage.set_aside(),
            Some(Ok(false)) | None => self.stage.discard(),
        }
    }

    /// Removes it: no command wrote to it.
    pub fn discard(self) {
        self.stage.discard();
    }
}

/// Moves what a command wrote to where it is set aside, all of it on disk before: nobody could make anything of it without its note.
pub(super) fn move_aside(from: &Path, to: &Path) -> Result<()> {
    // On a disk that is full or failing it is set aside as far as it is there.
    drop(disk::sync_file_system(from));
    fs::rename(from, to).map_err(io_error("rename", from))?;
    drop(to.parent().map(disk::sync_dir));
    Ok(())
}

/// Notes that a sealed layer, which has to stay where it is, holds what a command left: its note moves, by one call that needs
/// no room.
pub(super) fn refer(left: &Path, exec: &Id, layer: &Id, sealed: &Path) -> Result<()> {
    let note = sealed.join(NOTE);
    // On a disk that is full or failing it may still come to be read.
    drop(fs::File::open(&note).and_then(|file| file.sync_all()));
    fs::rename(&note, left.join(format!("{exec}.{layer}"))).map_err(io_error("rename", &note))?;
    drop(disk::sync_dir(left));
    Ok(())
}

/// What a name in the directory of what was left stands for: the command, and the layer where that has to stay.
pub(super) fn read_name(name: &str) -> Option<(Id, Option<Id>)> {
    match name.split_once('.') {
        Some((exec, layer)) => Some((exec.parse().ok()?, Some(layer.parse().ok()?))),
        None => Some((name.parse().ok()?, None)),
    }
}

/// What was adopted and is not yet part of the history. Dropped before it is settled, it is set aside.
#[derive(Debug)]
pub(super) struct Pending(Option<Origin>);

/// Where what was adopted comes from.
#[derive(Debug)]
enum Origin {
    /// A command wrote it just now.
    Stage(LayerStage),
    /// It was set aside before, and stays so.
    Leftover(Leftover),
}

impl Pending {
    pub(super) fn stage(stage: LayerStage) -> Self {
        Self(Some(Origin::Stage(stage)))
    }

    /// It is part of the history: its note goes, and a directory that is not the layer itself.
    pub(super) fn settle(mut self) -> Result<()> {
        match self.0.take() {
            Some(Origin::Stage(stage)) if stage.progress == Progress::Written => {
                stage.discard();
                Ok(())
            }
            Some(Origin::Stage(stage)) if stage.note.is_some() => ExecNote::remove(&stage.place),
            Some(Origin::Leftover(left)) => left.remove(),
            Some(Origin::Stage(_)) | None => Ok(()),
        }
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if let Some(Origin::Stage(stage)) = &mut self.0 {
            stage.set_aside();
        }
    }
}

/// What an interrupted command left, held so that nobody else takes it.
#[derive(Debug)]
pub struct Leftover {
    /// What is known about the command.
    pub note: ExecNote,
    /// What was set aside: a directory, or only the note.
    place: PathBuf,
    /// The directory with the files and what lies beside them.
    dir: PathBuf,
    lock: DirLock,
}

/// In which shape what was written lies beside its note.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftoverShape {
    /// As a difference to the root below, in overlayfs format.
    Difference,
    /// As a plain copy of all of it.
    Tree,
}

impl LeftoverShape {
    /// Where the files are, beside the note.
    pub(super) fn directory(self) -> &'static str {
        match self {
            Self::Difference => "fs",
            Self::Tree => COPY,
        }
    }
}

/// What a command left, as far as it can be seen without making it part of the history.
#[derive(Clone, Debug)]
pub struct Preview {
    /// The state that it would be.
    pub root: RootId,
    /// What differs from the state that the command started from.
    pub changes: Vec<Change>,
    /// What would not be kept.
    pub skipped: Vec<Skipped>,
    /// What the changes are made of. Files that the command closed to itself cannot be read.
    pub objects: Arc<Objects>,
}

impl Leftover {
    /// Where the files are that the command wrote, for who can open what their modes close.
    pub fn files_dir(&self, shape: LeftoverShape) -> PathBuf {
        self.dir.join(shape.directory())
    }

    /// How much it is; nothing where all of a copy would have to be compared to know.
    pub fn size(&self, shape: LeftoverShape) -> Result<Option<LeftoverSize>> {
        if shape == LeftoverShape::Tree {
            return Ok(None);
        }
        let placed = PlacedLinks::read(&self.dir)?;
        Ok(Some(sweep::measure(&self.files_dir(shape), &placed)))
    }

    /// What the command had printed: its output and its errors, as far as they were kept.
    pub fn output(&self) -> Result<(Vec<u8>, Vec<u8>)> {
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let path = self.dir.join(OUTPUT);
        let Some(mut reader) = OutputReader::open(&path).map_err(io_error("open", &path))? else {
            return Ok((stdout, stderr));
        };
        for (stream, bytes) in reader.read().map_err(io_error("read", &path))? {
            match stream {
                STDOUT => stdout.extend(bytes),
                STDERR => stderr.extend(bytes),
                _ => {}
            }
        }
        Ok((stdout, stderr))
    }

    /// What it would change.
    pub fn preview(
        &self,
        vault: &Vault,
        shape: LeftoverShape,
        access: &dyn Access,
    ) -> Result<Preview> {
        if let Some(layer) = &self.note.layer {
            let root = vault.layer_root(layer)?;
            let changes = diff::compare(vault.objects()?, &self.note.root, &root)?;
            let objects = Arc::new(vault.draft(&Batch::default())?);
            return Ok(Preview { root, changes, skipped: Vec::new(), objects });
        }
        preview_unsealed(vault, &self.dir, &self.note, shape, access)
    }

    /// Adopts it. Where that fails it stays what it is: set aside.
    pub fn adopt(
        self,
        vault: &Vault,
        shape: LeftoverShape,
        access: &dyn Access,
    ) -> Result<Adopted> {
        vault.enter()?;
        if let Some(layer) = self.note.layer {
            return self.adopt_sealed(vault, layer);
        }
        let placed = PlacedLinks::read(&self.dir)?;
        let Self { note, place, lock, .. } = self;
        let base = note.root;
        let stage = LayerStage::resume(&vault.layers_dir(), &place, note, lock)?;
        if shape == LeftoverShape::Tree {
            return vault.capture_stage(stage, &base);
        }
        vault.adopt(Upper { stage, base, skipped: Vec::new(), placed }, access)
    }

    /// It came so far that only the history does not know of it.
    fn adopt_sealed(self, vault: &Vault, layer: Id) -> Result<Adopted> {
        let root = vault.layer_root(&layer)?;
        let top = vault.objects()?.root(&root)?;
        let content = top.directory().map(|dir| dir.content);
        let content = content
            .ok_or_else(|| VaultError::Tree(TreeError::MissingObject(format!("root {root}"))))?;
        let stack = vault.recorded_stack(&self.note.root)?.map(|mut below| {
            below.layers.insert(0, layer);
            StackRow { root: root.0, ..below }
        });
        let adopted = Adopted::captured(root, content, Vec::new()).stacked(stack);
        Ok(adopted.held(Pending(Some(Origin::Leftover(self)))))
    }

    /// Throws it away. A layer that objects name stays: what is in it may be in use elsewhere.
    pub fn remove(self) -> Result<()> {
        if self.note.layer.is_none() {
            return disk::remove_tree(&self.place).map_err(io_error("remove", &self.place));
        }
        ExecNote::remove(&self.dir)?;
        fs::remove_file(&self.place).map_err(io_error("remove", &self.place))
    }
}

/// What files would change that lie in a directory beside their note and are not sealed.
pub(super) fn preview_unsealed(
    vault: &Vault,
    dir: &Path,
    note: &ExecNote,
    shape: LeftoverShape,
    access: &dyn Access,
) -> Result<Preview> {
    let (files, whole) = (dir.join(shape.directory()), shape == LeftoverShape::Tree);
    let base = &note.root;
    let reach = Reach::new(&files, access)?;
    let placed = PlacedLinks::read(dir)?;
    let lower = vault.lower(Some(note), base)?;
    let survey = vault.survey(dir, &reach, &placed, *base, &lower, whole)?;
    let skipped = survey.skipped.clone();
    let exec = note.exec;
    let (root, batch) = survey.whole_tree(exec);
    let objects = vault.draft(&batch)?.with_unsealed(exec, files);
    let mut changes = diff::compare(&objects, base, &root)?;
    // A copy belongs to whoever made it, which says nothing about the files.
    changes.retain(|change| !whole || change.kind() != ChangeKind::Metadata);
    Ok(Preview { root, changes, skipped, objects: Arc::new(objects) })
}

impl Vault {
    /// Makes the place where commands that come to grief are set aside: on a full disk it would be too late.
    pub(super) fn make_left_dir(&self) -> Result<()> {
        let dir = left_dir(&self.layers_dir());
        match fs::create_dir(&dir) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            other => other.map_err(io_error("create", &dir)),
        }
    }

    /// The ids of commands that were interrupted and left something, oldest first.
    pub fn left(&self) -> Result<Vec<Id>> {
        let mut found: Vec<Id> = self.left_names()?.into_iter().map(|(exec, _)| exec).collect();
        found.sort_unstable();
        Ok(found)
    }

    /// What was left, as commands and the layers that hold it.
    pub(super) fn left_names(&self) -> Result<Vec<(Id, Option<Id>)>> {
        let dir = left_dir(&self.layers_dir());
        let entries = match fs::read_dir(&dir) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            other => other.map_err(io_error("read", &dir))?,
        };
        let mut found = Vec::new();
        for entry in entries {
            let name = entry.map_err(io_error("read", &dir))?.file_name();
            found.extend(name.to_str().and_then(read_name));
        }
        Ok(found)
    }

    /// The note of what an interrupted command left.
    pub fn left_note(&self, exec: &Id) -> Option<ExecNote> {
        let found = self.left_names().ok()?.into_iter().find(|(own, _)| own == exec)?;
        self.read_left(&found).map(|(note, _, _)| note)
    }

    /// The note, where it lies, and where the files lie that it is about.
    fn read_left(&self, (exec, layer): &(Id, Option<Id>)) -> Option<(ExecNote, PathBuf, PathBuf)> {
        let left = left_dir(&self.layers_dir());
        match layer {
            None => {
                let dir = left.join(exec.to_string());
                Some((ExecNote::read(&dir)?, dir.clone(), dir))
            }
            Some(layer) => {
                let place = left.join(format!("{exec}.{layer}"));
                let note = ExecNote::parse(&place)?;
                let dir = self.layers_dir().join(layer.to_string());
                Some((ExecNote { layer: Some(*layer), ..note }, place, dir))
            }
        }
    }

    /// Takes what an interrupted command left; none where there is nothing, and an error where somebody else has it.
    pub fn take_leftover(&self, exec: &Id) -> Result<Option<Leftover>> {
        let found = self.left_names()?.into_iter().find(|(own, _)| own == exec);
        let Some((_, place, _)) = found.as_ref().and_then(|found| self.read_left(found)) else {
            return Ok(None);
        };
        let lock = match DirLock::take(&place) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            other => other.map_err(io_error("lock", &place))?,
        };
        // It may have been taken away between being found and being locked.
        let read = found.as_ref().and_then(|found| self.read_left(found));
        Ok(read.map(|(note, place, dir)| Leftover { note, place, dir, lock }))
    }

    /// Makes a root of the plain copy that lies beside an upper; see [`capture`](Self::capture). Where it fails, the copy is
    /// set aside if there is a note about it.
    pub fn adopt_copy(&self, upper: Upper) -> Result<Adopted> {
        let base = upper.base;
        self.capture_stage(upper.stage, &base)
    }

    fn capture_stage(&self, mut stage: LayerStage, base: &RootId) -> Result<Adopted> {
        match self.capture(&stage.beside(COPY), base) {
            Ok(adopted) if adopted.root == *base => {
                stage.discard();
                Ok(adopted)
            }
            Ok(adopted) => Ok(adopted.held(Pending::stage(stage))),
            Err(error) => {
                stage.set_aside();
                Err(error)
            }
        }
    }

    /// The root that a recorded layer shows.
    pub(super) fn layer_root(&self, layer: &Id) -> Result<RootId> {
        let layers = self.read(|reader| Ok(reader.layers()?))?;
        let root = layers.into_iter().find(|row| row.id == *layer).and_then(|row| row.root);
        root.map(RootId)
            .ok_or_else(|| VaultError::Tree(TreeError::MissingObject(format!("layer {layer}"))))
    }
}
