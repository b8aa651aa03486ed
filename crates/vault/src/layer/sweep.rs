//! Looking through layers after an unclean stop: what commands left is set aside, what nobody can use is cleared.

use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;
use std::time::Duration;

use offshoot_host::disk;
use offshoot_host::disk::join;
use offshoot_host::lock::DirLock;
use offshoot_store::{Id, mark_unclean};
use offshoot_tree::RootId;
use rustix::fs::{AtFlags, FileType, OFlags, Stat};

use super::access::{PlainAccess, Reach};
use super::leftover::{left_dir, move_aside, refer};
use super::note::{ExecNote, NOTE, UpperOwner};
use super::place::PlacedLinks;
use crate::error::{Result, io_error};
use crate::vault::Vault;

/// How long the processes of a command whose caller is dead may take to end: the kernel is killing them.
const DYING: Duration = Duration::from_secs(5);

/// How much a command wrote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftoverSize {
    /// Files, links and deletions.
    pub files: u64,
    /// Directories that were made or changed.
    pub directories: u64,
    /// Bytes of the files.
    pub bytes: u64,
}

/// What became of a directory.
#[derive(PartialEq, Eq)]
enum Swept {
    Done,
    /// It is not settled; the next open tries again.
    Later,
}

impl Vault {
    /// Sets aside what interrupted commands wrote and clears what else was being written, unless somebody still writes it.
    pub(crate) fn sweep_layers(&self) -> Result<()> {
        let layers = self.layers_dir();
        let mut swept = Swept::Done;
        for entry in fs::read_dir(&layers).map_err(io_error("read", &layers))? {
            let path = entry.map_err(io_error("read", &layers))?.path();
            let name = path.file_name().unwrap_or_default().as_encoded_bytes();
            let one = match name.ends_with(b".tmp") {
                true => self.sweep_written(&path),
                false if path.join(NOTE).exists() => self.sweep_sealed(&path),
                false => Ok(Swept::Done),
            };
            match one {
                // A full disk or a name that cannot be made is no reason not to open the vault.
                Ok(Swept::Later) | Err(_) => swept = Swept::Later,
                Ok(Swept::Done) => {}
            }
        }
        if self.sweep_left().is_err() || swept == Swept::Later {
            mark_unclean(self.dir());
        }
        Ok(())
    }

    fn sweep_written(&self, path: &Path) -> Result<Swept> {
        // One that cannot be locked is being written, or was given its name meanwhile.
        let Ok(_held) = DirLock::take(path) else { return Ok(Swept::Done) };
        let note = ExecNote::read(path);
        if let Some(note) = &note {
            if !is_over(note) {
                return Ok(Swept::Later);
            }
            if self.is_worth_keeping(path, note)? {
                self.make_left_dir()?;
                let left = left_dir(&self.layers_dir()).join(note.exec.to_string());
                move_aside(path, &left)?;
                // Where overlayfs worked; nothing in it is anybody's.
                drop(disk::remove_tree(&left.join("work")));
                return Ok(Swept::Done);
            }
        }
        disk::remove_tree(path).map_err(io_error("remove", path))?;
        Ok(Swept::Done)
    }

    /// A sealed layer whose note is still there: whoever sealed it was cut short before or after it became history.
    fn sweep_sealed(&self, path: &Path) -> Result<Swept> {
        let Ok(_held) = DirLock::take(path) else { return Ok(Swept::Done) };
        let id: Option<Id> = path.file_name().and_then(|name| name.to_str()?.parse().ok());
        let (Some(note), Some(id)) = (ExecNote::read(path), id) else {
            ExecNote::remove(path)?;
            return Ok(Swept::Done);
        };
        if !is_over(&note) {
            return Ok(Swept::Later);
        }
        let rows = self.read(|reader| Ok(reader.layers()?))?;
        let root = rows.into_iter().find(|row| row.id == id).and_then(|row| row.root);
        if let Some(root) = root {
            if self.read(|reader| Ok(reader.has_snapshot_of(&root)?))? {
                ExecNote::remove(path)?;
                return Ok(Swept::Done);
            }
            if self.objects()?.root(&RootId(root)).is_ok() {
                self.make_left_dir()?;
                refer(&left_dir(&self.layers_dir()), &note.exec, &id, path)?;
                return Ok(Swept::Done);
            }
        }
        self.make_left_dir()?;
        let left = left_dir(&self.layers_dir()).join(note.exec.to_string());
        move_aside(path, &left)?;
        self.catalog().write(|writer| writer.remove_layer(&id))?;
        Ok(Swept::Done)
    }

    /// Removes the notes of what was set aside in sealed layers and is part of the history by now, and what has no note.
    fn sweep_left(&self) -> Result<()> {
        for (exec, layer) in self.left_names()? {
            let Some(layer) = layer else {
                self.clear_without_note(&exec)?;
                continue;
            };
            let root = self.layer_root(&layer)?;
            if self.read(|reader| Ok(reader.has_snapshot_of(&root.0)?))?
                && let Some(left) = self.take_leftover(&exec)?
            {
                left.remove()?;
            }
        }
        Ok(())
    }

    /// Removes what was set aside if its note cannot be read: nobody is told of it, or could make anything of it.
    fn clear_without_note(&self, exec: &Id) -> Result<()> {
        let dir = left_dir(&self.layers_dir()).join(exec.to_string());
        // One that cannot be locked is being looked at.
        let Ok(_held) = DirLock::take(&dir) else { return Ok(()) };
        match ExecNote::read(&dir) {
            Some(_) => Ok(()),
            None => disk::remove_tree(&dir).map_err(io_error("remove", &dir)),
        }
    }

    /// Whether a command wrote anything.
    pub(super) fn is_worth_keeping(&self, dir: &Path, note: &ExecNote) -> Result<bool> {
        if note.read_only && note.owner == UpperOwner::Exec {
            return Ok(false);
        }
        // What cannot be told by looking may be anything.
        if !note.tells_when_empty() {
            return Ok(true);
        }
        // Where it cannot be known which names were placed, everything there counts as written.
        let placed = PlacedLinks::read(dir).unwrap_or_default();
        let files = dir.join("fs");
        let size = measure(&files, &placed);
        if size.files + size.directories > 0 {
            return Ok(!self.is_only_placed(dir, note, &placed, size));
        }
        let mode = rustix::fs::stat(&files).map_err(io_error("stat", &files))?.st_mode;
        let recorded = self.objects()?.root(&note.root)?.meta.mode;
        Ok(mode & 0o7777 != u32::from(recorded))
    }
}

impl Vault {
    /// Whether all that is there are names that were placed and, though the clock does not tell, turn out to be as they were.
    fn is_only_placed(
        &self,
        dir: &Path,
        note: &ExecNote,
        placed: &PlacedLinks,
        size: LeftoverSize,
    ) -> bool {
        let names = placed.names().len() as u64;
        if names == 0 || size.directories > 0 || size.files > names {
            return false;
        }
        // What cannot be read may be anything.
        let survey = Reach::new(&dir.join("fs"), &PlainAccess).and_then(|reach| {
            let lower = self.lower(Some(note), &note.root)?;
            self.survey(dir, &reach, placed, note.root, &lower, false)
        });
        survey.is_ok_and(|survey| survey.tree().0 == note.root)
    }
}

/// Whether nothing of a command runs any more.
fn is_over(note: &ExecNote) -> bool {
    note.went_through_a_boot() || note.init.is_none_or(|init| init.wait_gone(DYING))
}

/// How much lies in a directory, but for what was placed there and is untouched. What cannot be read counts as one.
pub(super) fn measure(dir: &Path, placed: &PlacedLinks) -> LeftoverSize {
    let mut size = LeftoverSize::default();
    let Ok(top) = disk::open_dir_path(dir) else { return size };
    let ways = ways_to(placed);
    let mut folders = vec![Vec::new()];
    while let Some(folder) = folders.pop() {
        // A directory may have been closed by its own mode.
        drop(measure_folder(top.as_fd(), &folder, placed, &mut size, |path| {
            folders.push(path.to_vec());
            !ways.contains(path)
        }));
    }
    size
}

fn measure_folder(
    top: std::os::fd::BorrowedFd<'_>,
    folder: &[u8],
    placed: &PlacedLinks,
    size: &mut LeftoverSize,
    mut is_new: impl FnMut(&[u8]) -> bool,
) -> io::Result<()> {
    let dir = disk::open_below(top, folder, OFlags::RDONLY | OFlags::DIRECTORY)?;
    for name in disk::names_as_opened(dir.as_fd())? {
        let path = join(folder, &name);
        let stat: Stat =
            rustix::fs::statat(&dir, disk::bytes_path(&name), AtFlags::SYMLINK_NOFOLLOW)?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => size.directories += u64::from(is_new(&path)),
            _ if placed.is_untouched(&path, &stat) => {}
            kind => {
                size.files += 1;
                let regular = kind == FileType::RegularFile;
                size.bytes += if regular { stat.st_size.unsigned_abs() } else { 0 };
            }
        }
    }
    Ok(())
}

/// The directories that lead to placed names.
fn ways_to(placed: &PlacedLinks) -> std::collections::HashSet<Vec<u8>> {
    let mut ways = std::collections::HashSet::new();
    for name in placed.names() {
        let mut folder = disk::split_last(name).0;
        while !folder.is_empty() && ways.insert(folder.to_vec()) {
            folder = disk::split_last(folder).0;
        }
    }
    ways
}
