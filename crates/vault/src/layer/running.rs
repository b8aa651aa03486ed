//! Commands that are running: found by the notes that lie beside what they write.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use offshoot_store::Id;
use offshoot_store::file_lock::{LockKind, try_lock, unlock};

use super::access::Access;
use super::joined::{self, JoinNote};
use super::leftover::{LeftoverShape, Preview, preview_unsealed};
use super::note::{ExecNote, OUTPUT, UpperOwner};
use crate::error::{Result, io_error};
use crate::vault::Vault;

/// A command that is running, or was when it was found.
#[derive(Debug)]
pub struct RunningExec {
    /// What is known about it.
    pub note: ExecNote,
    /// Where it writes, as long as it does.
    pub(super) place: PathBuf,
    /// The directory, locked by whoever runs the command until what it did is recorded.
    held: File,
}

impl RunningExec {
    fn find(place: &Path) -> Option<Self> {
        let note = ExecNote::read(place).filter(|note| note.owner == UpperOwner::Exec)?;
        // Asked first, because trying a lock can get in the way of somebody who clears up after the dead.
        if note.went_through_a_boot() || !note.process.is_alive() {
            return None;
        }
        let held = File::open(place).ok()?;
        let running = Self { note, place: place.to_owned(), held };
        (!running.is_over()).then_some(running)
    }

    /// Those who joined it.
    fn joined(&self) -> Vec<Self> {
        let notes = joined::notes(&self.place).into_iter();
        let notes = notes.filter_map(|note| {
            Some(Self { note, place: self.place.clone(), held: self.held.try_clone().ok()? })
        });
        notes.collect()
    }

    /// Where others can join it, if it was started so that they can.
    pub fn door(&self) -> Option<PathBuf> {
        let door = joined::door(&self.place);
        (self.note.joined.is_none() && door.exists()).then_some(door)
    }

    /// Notes that a command joins this one, as a process of this user does; what else is known is as here.
    pub fn note_joined(&self, note: &ExecNote) -> Result<JoinNote> {
        joined::note(&self.place, note)
    }

    /// Whether it is over, and what it did recorded, or lost with whoever ran it.
    pub fn is_over(&self) -> bool {
        if self.note.joined.is_some() {
            return !self.note.process.is_alive();
        }
        let free = try_lock(&self.held, LockKind::Shared).is_ok_and(|free| free);
        if free {
            let _goes_with_the_file = unlock(&self.held).is_err();
        }
        free
    }

    /// What it has changed so far, as far as it can be seen while it goes on. Nothing is stored.
    pub fn preview(
        &self,
        vault: &Vault,
        shape: LeftoverShape,
        access: &dyn Access,
    ) -> Result<Preview> {
        preview_unsealed(vault, &self.place, &self.note, shape, access)
    }

    /// Where the files are that it writes, for who can open what their modes close.
    pub fn files_dir(&self, shape: LeftoverShape) -> PathBuf {
        self.place.join(shape.directory())
    }

    /// Where what it prints is kept meanwhile; the file is there once it has printed something.
    pub fn output_file(&self) -> PathBuf {
        match self.note.joined {
            Some(_) => joined::output(&self.place, &self.note.exec),
            None => self.place.join(OUTPUT),
        }
    }
}

impl Vault {
    /// The notes about all commands whose work is not part of the history, running or not: what they name is in use.
    pub fn notes(&self) -> Result<Vec<ExecNote>> {
        let layers = self.layers_dir();
        let mut found = Vec::new();
        for entry in fs::read_dir(&layers).map_err(io_error("read", &layers))? {
            let path = entry.map_err(io_error("read", &layers))?.path();
            let sealed = path.file_name().and_then(|name| name.to_str()?.parse().ok());
            found.extend(ExecNote::read(&path).map(|note| ExecNote { layer: sealed, ..note }));
        }
        // Read last: what is set aside meanwhile is found in one place or in both, and never in none.
        for exec in self.left()? {
            found.extend(self.left_note(&exec));
        }
        Ok(found)
    }

    /// Whether there still is a note of a command, wherever it lies: what it wrote is not part of the history, and can be recovered.
    pub fn has_note(&self, exec: &Id) -> bool {
        self.left_note(exec).is_some()
            || self.notes().is_ok_and(|notes| notes.iter().any(|note| note.exec == *exec))
    }

    /// The commands that run now, in the order of their starts.
    pub fn running(&self) -> Result<Vec<RunningExec>> {
        running_below(&self.layers_dir())
    }
}

/// The commands that write a layer in a directory of layers, in the order of their starts.
pub(crate) fn running_below(layers: &Path) -> Result<Vec<RunningExec>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(layers).map_err(io_error("read", layers))? {
        let path = entry.map_err(io_error("read", layers))?.path();
        if path.file_name().unwrap_or_default().as_encoded_bytes().ends_with(b".tmp") {
            let running = RunningExec::find(&path);
            found.extend(running.as_ref().map(RunningExec::joined).unwrap_or_default());
            found.extend(running);
        }
    }
    found.sort_by_key(|running| running.note.exec);
    Ok(found)
}
