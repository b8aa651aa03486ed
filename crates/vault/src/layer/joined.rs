//! Commands that joined one that runs: noted beside its layer, so that others can see and end them.

use std::fs;
use std::path::{Path, PathBuf};

use offshoot_store::Id;

use super::note::ExecNote;
use crate::error::{Result, io_error};
use crate::refs::to_json;

/// Where others join a command, beside the files of its layer.
const DOOR: &str = "door";
/// Notes about those who did, by the ids of their commands.
const JOINED: &str = "joined";

/// Where others join the command whose layer lies in a directory.
pub(super) fn door(place: &Path) -> PathBuf {
    place.join(DOOR)
}

/// Those who joined the command whose layer lies in a directory, and still run.
pub(super) fn notes(place: &Path) -> Vec<ExecNote> {
    let Ok(entries) = fs::read_dir(place.join(JOINED)) else { return Vec::new() };
    let notes = entries.flatten().filter_map(|entry| ExecNote::parse(&entry.path()));
    notes.filter(|note| note.process.is_alive()).collect()
}

/// The note about a command that joined another; gone when dropped.
#[derive(Debug)]
pub struct JoinNote {
    path: PathBuf,
}

impl Drop for JoinNote {
    fn drop(&mut self) {
        // Gone already with what it lay beside.
        let _gone = fs::remove_file(&self.path).is_err();
    }
}

/// Notes that a command joins the one whose layer lies in a directory.
pub(super) fn note(place: &Path, note: &ExecNote) -> Result<JoinNote> {
    let folder = place.join(JOINED);
    fs::create_dir_all(&folder).map_err(io_error("create", &folder))?;
    let path = folder.join(note.exec.to_string());
    fs::write(&path, to_json(note)).map_err(io_error("write", &path))?;
    Ok(JoinNote { path })
}

/// Where nothing is kept of what one who joined prints.
pub(super) fn output(place: &Path, exec: &Id) -> PathBuf {
    place.join(JOINED).join(format!("{exec}.output"))
}
