//! Checking that the layers of stacks hold what they are to show, also where that is only a copy.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};

use offshoot_store::{Id, LayerRow, StackRow};
use rustix::fs::{FileType, OFlags};
use rustix::io::Errno;

use super::{CheckDepth, Checker};
use crate::diff;
use crate::disk;
use crate::entry::{Body, Entry};
use crate::error::{Result, VaultError, io_error};
use crate::hash::{BlobId, RootId};
use crate::materialize::{bytes_elsewhere, hash_file};
use crate::objects::{Objects, Place};
use crate::path::display_bytes;

/// Something that a layer must hold, and where.
type Expected = (Vec<u8>, Entry);

impl Checker<'_> {
    pub(super) fn stacks(&mut self) -> Result<()> {
        let stacks = self.vault.read(|reader| Ok(reader.stacks()?))?;
        let rows = self.vault.read(|reader| Ok(reader.layers()?))?;
        let rows: HashMap<Id, LayerRow> = rows.into_iter().map(|row| (row.id, row)).collect();
        let mut seen = HashSet::new();
        for stack in &stacks {
            for (at, id) in stack.layers.iter().enumerate() {
                let there = self.vault.layers_dir().join(id.to_string()).is_dir();
                let Some(root) = rows.get(id).and_then(|row| row.root).filter(|_| there) else {
                    continue;
                };
                if !seen.insert(*id) {
                    continue;
                }
                let below = stack.layers.get(at + 1);
                let below = below.map(|id| rows.get(id).and_then(|row| row.root));
                // Without knowing what is below nobody knows what must be in it.
                if matches!(below, Some(None)) {
                    continue;
                }
                let checked =
                    self.stacked(stack, id, &RootId(root), below.flatten().map(RootId).as_ref());
                self.note(checked);
            }
        }
        Ok(())
    }

    /// Compares a layer with the difference that it is.
    fn stacked(
        &mut self,
        stack: &StackRow,
        id: &Id,
        root: &RootId,
        below: Option<&RootId>,
    ) -> Result<()> {
        let objects = self.vault.objects()?;
        let expected = match expected(objects, root, below) {
            // A state that no history mentions need not be whole.
            Err(VaultError::MissingObject(_)) => return Ok(()),
            expected => expected?,
        };
        let dir = self.vault.layers_dir().join(id.to_string()).join("fs");
        let top = disk::open_dir_path(&dir).map_err(io_error("open", &dir))?;
        let mut wrong = Vec::new();
        for (path, entry) in &expected {
            let look = Look { objects, stack, layer: id, depth: self.depth };
            match look.is_right(top.as_fd(), path, entry) {
                // Its owner closed it; without the rights of a namespace it cannot be looked at.
                Ok(true) | Err(Errno::ACCESS) => {}
                Ok(false) | Err(_) => wrong.push(path),
            }
        }
        if let Some(first) = wrong.first() {
            let (count, first) = (wrong.len(), display_bytes(first));
            let what = if count == 1 { "name is".to_owned() } else { format!("{count} names are") };
            self.problem(format!("layer {id} is damaged: {what} not as recorded, {first} first"));
            self.report.damaged_layers.push(*id);
        }
        Ok(())
    }
}

/// What a layer must hold, but for directories.
fn expected(objects: &Objects, root: &RootId, below: Option<&RootId>) -> Result<Vec<Expected>> {
    let mut found = Vec::new();
    if let Some(below) = below {
        for change in diff::compare(objects, below, root)? {
            let Some(after) = change.after.filter(|entry| entry.directory().is_none()) else {
                continue;
            };
            if change.before.map(|before| before.body).as_ref() != Some(&after.body) {
                found.push((change.path.names().join(&b'/'), after));
            }
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
                None => found.push((path, entry)),
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
                let home = matches!(&place, Place::Layer { layer, path: at } if layer == self.layer && at == path);
                if home || kind != FileType::RegularFile || stat.st_size as u64 != *size {
                    return Ok(home);
                }
                let file = File::from(disk::open_below(top, path, OFlags::RDONLY)?);
                match bytes_elsewhere(&file)? {
                    Some(path) => self.finds(&path, *size, blob, &place),
                    None => Ok(self.holds(&file, blob)),
                }
            }
        }
    }

    /// Whether the first file of that path in the layers that hold bytes is the one.
    fn finds(&self, path: &[u8], size: u64, blob: &BlobId, place: &Place) -> Result<bool, Errno> {
        for layer in &self.stack.data {
            let top = disk::open_dir_path(&self.objects.layer_file(layer, b""));
            let top = top.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
            let found = match disk::open_below(top.as_fd(), path, OFlags::PATH) {
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => continue,
                found => rustix::fs::fstat(found?)?,
            };
            if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
                continue;
            }
            let home = Place::Layer { layer: *layer, path: path.to_vec() };
            if *place == home || found.st_size as u64 != size {
                return Ok(*place == home);
            }
            let file = File::from(disk::open_below(top.as_fd(), path, OFlags::RDONLY)?);
            return Ok(self.holds(&file, blob));
        }
        Ok(false)
    }

    fn holds(&self, file: &File, blob: &BlobId) -> bool {
        self.depth == CheckDepth::Structure || hash_file(file).is_ok_and(|found| found == *blob)
    }
}
