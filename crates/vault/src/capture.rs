//! Making a root of a plain directory that somebody worked in: for commands that ran on a copy.

use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use offshoot_host::disk::join;
use offshoot_host::{Mtime, disk};
use offshoot_tree::{Batch, Entry, Meta, RootId, TreeEditor, VaultPath, diff};
use rustix::fs::{self, AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::error::{Result, io_error};
use crate::import::Imported;
use crate::import::options::ImportOptions;
use crate::layer::{Adopted, LayerKind};
use crate::vault::Vault;

/// A path and the permission bits that it had.
type Closed = (Vec<u8>, u16);

impl Vault {
    /// Reads all of a directory that started as a copy of `base`; nobody may write to it any more.
    pub fn capture(&self, directory: &Path, base: &RootId) -> Result<Adopted> {
        self.enter()?;
        let _held = self.hold()?;
        let closed = open_up(directory).map_err(io_error("open", directory))?;
        let options = ImportOptions { everything: true, ..ImportOptions::default() };
        let imported = self.import_as(LayerKind::Content, directory, &options);
        // It may have to be read again.
        close_again(directory, &closed);
        let imported = imported?;
        let root = self.as_recorded(&imported, base, &closed)?;
        let content = self.objects()?.root(&root)?.directory().map(|dir| dir.content);
        let content = content.unwrap_or(imported.content);
        Ok(Adopted::captured(root, content, imported.report.skipped))
    }

    /// Gives entries back what the copy could not have: owners other than the vault's user, modes that had to be
    /// opened for reading, and conflicts that are still open.
    fn as_recorded(&self, imported: &Imported, base: &RootId, closed: &[Closed]) -> Result<RootId> {
        let objects = self.objects()?;
        let own = Meta::of_new(0);
        let mut editor = TreeEditor::open(objects, &imported.root, Mtime::now())?;
        let mut edits: Vec<(VaultPath, Entry)> = Vec::new();
        for change in diff::compare(objects, base, &imported.root)? {
            let (Some(before), Some(after)) = (change.before, change.after) else { continue };
            let mut after = Entry::clone(&after);
            after.conflict = objects.still_open(&before, &after)?;
            let owned = (after.meta.uid, after.meta.gid) == (own.uid, own.gid);
            if owned {
                (after.meta.uid, after.meta.gid) = (before.meta.uid, before.meta.gid);
            }
            if owned || after.conflict.is_some() {
                edits.push((change.path, after));
            }
        }
        for (path, mode) in closed {
            let path = VaultPath::parse(path)?;
            let edited = edits.iter_mut().find(|(other, _)| *other == path);
            match (edited, editor.get(&path)?) {
                (Some((_, entry)), _) => entry.meta.mode = *mode,
                (None, Some(mut entry)) => {
                    entry.meta.mode = *mode;
                    edits.push((path, entry));
                }
                (None, None) => {}
            }
        }
        // A directory is put before anything in it: putting it takes its entries as they were read.
        edits.sort_by(|(a, _), (b, _)| a.cmp(b));
        for (path, entry) in edits {
            editor.put(&path, entry)?;
        }
        let mut batch = Batch::default();
        let (root, _) = editor.finish(&mut batch)?;
        self.store(&batch)?;
        Ok(root)
    }
}

/// Lets the owner read everything; returns what was closed to them. Root needs no such thing.
fn open_up(directory: &Path) -> Result<Vec<Closed>, Errno> {
    let mut closed = Vec::new();
    if rustix::process::geteuid().is_root() {
        return Ok(closed);
    }
    let mode = mode_of(&fs::stat(directory)?);
    if mode & 0o700 != 0o700 {
        fs::chmod(directory, Mode::from_raw_mode((mode | 0o700).into()))?;
        closed.push((Vec::new(), mode));
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let top = fs::open(directory, flags, Mode::empty())?;
    let mut folders = vec![Vec::new()];
    while let Some(folder) = folders.pop() {
        let dir = disk::open_below(top.as_fd(), &folder, OFlags::RDONLY | OFlags::DIRECTORY)?;
        for name in disk::names(dir.as_fd()).map_err(|_| Errno::IO)? {
            let path = join(&folder, &name);
            let stat = fs::statat(&dir, disk::bytes_path(&name), AtFlags::SYMLINK_NOFOLLOW)?;
            let needed = match FileType::from_raw_mode(stat.st_mode) {
                FileType::Directory => {
                    folders.push(path.clone());
                    0o700
                }
                FileType::RegularFile => 0o400,
                _ => continue,
            };
            open_entry(dir.as_fd(), &name, mode_of(&stat), needed, path, &mut closed)?;
        }
    }
    Ok(closed)
}

/// Gives what was opened its modes back, what is deepest first.
fn close_again(directory: &Path, closed: &[Closed]) {
    for (path, mode) in closed.iter().rev() {
        let path = directory.join(disk::bytes_path(path));
        // One that cannot be closed again is only read with another mode should it be read again.
        let _stays_open = fs::chmod(path, Mode::from_raw_mode((*mode).into())).is_err();
    }
}

fn open_entry(
    dir: BorrowedFd<'_>,
    name: &[u8],
    mode: u16,
    needed: u16,
    path: Vec<u8>,
    closed: &mut Vec<Closed>,
) -> Result<(), Errno> {
    if mode & needed != needed {
        let opened = Mode::from_raw_mode((mode | needed).into());
        fs::chmodat(dir, disk::bytes_path(name), opened, AtFlags::empty())?;
        closed.push((path, mode));
    }
    Ok(())
}

fn mode_of(stat: &fs::Stat) -> u16 {
    (stat.st_mode & 0o7777) as u16
}
