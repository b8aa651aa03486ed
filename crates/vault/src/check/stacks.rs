//! Checking that the layers of stacks hold what they are to show, also where that is only a copy.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use offshoot_host::{disk, says_damage};
use offshoot_store::{Id, LayerRow, StackRow};
use offshoot_tree::{
    BlobId, Body, Entry, ObjectLocation, Objects, RootId, TreeError, diff, display_bytes,
};
use rustix::fs::{FileType, OFlags};
use rustix::io::Errno;

use super::{CheckDepth, Checker};
use crate::error::{Result, VaultError, io_error};
use crate::materialize::bytes_elsewhere;
use crate::vault::Vault;

/// Something that a layer holds, and where.
struct Expected {
    path: Vec<u8>,
    entry: Entry,
    /// Without it the layer shows something else. What is only described anew need not be in it.
    needed: bool,
}

/// A layer of a stack, and what it is the difference of.
struct Level {
    layer: Id,
    root: RootId,
    below: Option<RootId>,
}

impl Checker<'_> {
    pub(super) fn stacks(&mut self) -> Result<()> {
        let (stacks, rows) = self.vault.read(|reader| Ok((reader.stacks()?, reader.layers()?)))?;
        let rows: HashMap<Id, LayerRow> = rows.into_iter().map(|row| (row.id, row)).collect();
        let mut seen = HashSet::new();
        for stack in &stacks {
            for level in levels(stack, &rows) {
                let there = self.vault.layers_dir().join(level.layer.to_string()).is_dir();
                if there && seen.insert(level.layer) {
                    let checked = self.stacked(stack, &level);
                    self.note(checked);
                }
            }
        }
        Ok(())
    }

    /// Compares a layer with the difference that it is.
    fn stacked(&mut self, stack: &StackRow, level: &Level) -> Result<()> {
        // Content that is at home in it was looked at as content.
        let wrong = match self.vault.compare_layer(stack, level, self.depth, false) {
            // A state that no history mentions need not be whole.
            Err(VaultError::Tree(TreeError::MissingObject(_))) => return Ok(()),
            wrong => wrong?,
        };
        if let Some(first) = wrong.first() {
            let (count, first, id) = (wrong.len(), display_bytes(first), level.layer);
            let what = if count == 1 { "name is".to_owned() } else { format!("{count} names are") };
            self.problem(format!("layer {id} is damaged: {what} not as recorded, {first} first"));
            self.report.damaged_layers.push(id);
        }
        Ok(())
    }
}

impl Vault {
    /// Fails where a layer that is mounted to show a root does not hold what the tree says, and names the first path. All
    /// bytes are read. Where the root has no layers yet they are made, above those of `near`.
    pub fn verify_stack(&self, root: &RootId, near: &[RootId]) -> Result<()> {
        let _held = self.hold()?;
        self.stack(root, near)?;
        let found = self.read(|reader| Ok((reader.stack(&root.0)?, reader.layers()?)))?;
        let (Some(stack), rows) = found else { return Ok(()) };
        let rows: HashMap<Id, LayerRow> = rows.into_iter().map(|row| (row.id, row)).collect();
        for level in levels(&stack, &rows) {
            let wrong = self.compare_layer(&stack, &level, CheckDepth::Content, true)?;
            if let Some(first) = wrong.first() {
                return Err(VaultError::Tree(TreeError::Damaged {
                    object: format!("/{}", display_bytes(first)),
                    place: format!("layer {}", level.layer),
                    detail: "it is not what the tree says".to_owned(),
                }));
            }
        }
        Ok(())
    }

    /// The paths at which a layer does not hold what it should. Content that is at home in it is looked at where `homes` says so.
    fn compare_layer(
        &self,
        stack: &StackRow,
        level: &Level,
        depth: CheckDepth,
        homes: bool,
    ) -> Result<Vec<Vec<u8>>> {
        let objects = self.objects()?;
        let expected = expected(objects, &level.root, level.below.as_ref())?;
        let dir = self.layers_dir().join(level.layer.to_string()).join("fs");
        let top = disk::open_dir_path(&dir).map_err(io_error("open", &dir))?;
        let look = Look { objects, stack, layer: &level.layer, depth, homes };
        let mut wrong = Vec::new();
        for Expected { path, entry, needed } in expected {
            match look.is_right(top.as_fd(), &path, &entry) {
                // Its owner closed it; without the rights of a namespace it cannot be looked at.
                Ok(true) | Err(Errno::ACCESS) => {}
                Err(Errno::NOENT | Errno::NOTDIR) if !needed => {}
                Ok(false) => wrong.push(path),
                Err(error) => {
                    let error = error.into();
                    if !says_damage(&error) {
                        return Err(io_error("read", &dir.join(disk::bytes_path(&path)))(error));
                    }
                    wrong.push(path);
                }
            }
        }
        Ok(wrong)
    }
}

/// The layers of a stack of which it is known what must be in them.
fn levels(stack: &StackRow, rows: &HashMap<Id, LayerRow>) -> Vec<Level> {
    let root = |id: &Id| rows.get(id).and_then(|row| row.root).map(RootId);
    let mut levels = Vec::new();
    for (at, layer) in stack.layers.iter().enumerate() {
        let below = stack.layers.get(at + 1).map(root);
        // Without knowing what is below nobody knows what must be in it.
        if let (Some(root), Some(Some(_)) | None) = (root(layer), below) {
            levels.push(Level { layer: *layer, root, below: below.flatten() });
        }
    }
    levels
}

/// What a layer holds, but for directories.
fn expected(objects: &Objects, root: &RootId, below: Option<&RootId>) -> Result<Vec<Expected>> {
    let mut found = Vec::new();
    if let Some(below) = below {
        for change in diff::compare(objects, below, root)? {
            let Some(entry) = change.after.filter(|entry| entry.directory().is_none()) else {
                continue;
            };
            let needed = change.before.is_none_or(|before| before.body != entry.body);
            let entry = Arc::unwrap_or_clone(entry);
            found.push(Expected { path: change.path.relative(), entry, needed });
        }
        return Ok(found);
    }
    let top = objects.root(root)?;
    let mut pending: Vec<_> = top.directory().map(|dir| (Vec::new(), *dir)).into_iter().collect();
    while let Some((path, dir)) = pending.pop() {
        for entry in objects.entries(&dir)? {
            let path = disk::join(&path, &entry.name);
            match entry.directory() {
                Some(dir) => pending.push((path, *dir)),
                None => found.push(Expected { path, entry, needed: true }),
            }
        }
    }
    Ok(found)
}

/// Looks at one layer of a stack.
struct Look<'a> {
    objects: &'a Objects,
    stack: &'a StackRow,
    layer: &'a Id,
    depth: CheckDepth,
    /// Also at content that is at home in it.
    homes: bool,
}

impl Look<'_> {
    fn is_right(&self, top: BorrowedFd<'_>, path: &[u8], entry: &Entry) -> Result<bool, Errno> {
        let found = disk::open_below(top, path, OFlags::PATH)?;
        let stat = rustix::fs::fstat(&found)?;
        let kind = FileType::from_raw_mode(stat.st_mode);
        match &entry.body {
            Body::Directory(_) => Ok(kind == FileType::Directory),
            Body::Fifo => Ok(kind == FileType::Fifo),
            Body::Symlink { target } => {
                let found = rustix::fs::readlinkat(&found, "", Vec::new())?;
                Ok(found.as_bytes() == target)
            }
            Body::File { size, blob } => {
                let Ok(place) = self.objects.place(blob) else { return Ok(true) };
                // Where it is the one copy it was looked at as content.
                let home = !self.homes
                    && matches!(&place, ObjectLocation::Layer { layer, path: at } if layer == self.layer && at == path);
                if home || kind != FileType::RegularFile || stat.st_size as u64 != *size {
                    return Ok(home);
                }
                let file = File::from(disk::open_below(top, path, OFlags::RDONLY)?);
                match bytes_elsewhere(&file)? {
                    Some(path) => self.finds(&path, *size, blob, &place),
                    None => self.holds(&file, blob),
                }
            }
        }
    }

    /// Whether the first file of that path in the layers that hold bytes is the one.
    fn finds(
        &self,
        path: &[u8],
        size: u64,
        blob: &BlobId,
        place: &ObjectLocation,
    ) -> Result<bool, Errno> {
        for layer in &self.stack.data {
            let top = disk::open_dir_path(&self.objects.layer_file(layer, b""));
            let top = top.map_err(errno)?;
            let found = match disk::open_below(top.as_fd(), path, OFlags::PATH) {
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => continue,
                found => rustix::fs::fstat(found?)?,
            };
            if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
                continue;
            }
            let home = ObjectLocation::Layer { layer: *layer, path: path.to_vec() };
            let home = !self.homes && *place == home;
            if home || found.st_size as u64 != size {
                return Ok(home);
            }
            let file = File::from(disk::open_below(top.as_fd(), path, OFlags::RDONLY)?);
            return self.holds(&file, blob);
        }
        Ok(false)
    }

    fn holds(&self, file: &File, blob: &BlobId) -> Result<bool, Errno> {
        let is_enough = self.depth == CheckDepth::Structure;
        Ok(is_enough || BlobId::of_file(file).map_err(errno)? == *blob)
    }
}

fn errno(error: io::Error) -> Errno {
    Errno::from_io_error(&error).unwrap_or(Errno::IO)
}
