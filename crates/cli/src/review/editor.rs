//! Letting somebody edit a text in a program of theirs.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use offshoot_engine::file::VaultPath;
use offshoot_engine::id::Id;
use offshoot_protocol::ExitCode;

use crate::error::{CliError, Result};
use crate::render::host_path;

/// Lets a text be edited, in a file that is named like the one it comes from. `None` where it was left as it is.
pub(crate) fn edit(text: &[u8], like: &VaultPath) -> Result<Option<Vec<u8>>> {
    let place = EditedFile::new(like)?;
    let failed = |error: io::Error| {
        let message = format!("{}: {error}", host_path(&place.file));
        CliError::new(ExitCode::Storage, message)
    };
    let mut options = OpenOptions::new();
    let file: io::Result<File> = options.write(true).create_new(true).mode(0o600).open(&place.file);
    file.and_then(|mut file| file.write_all(text)).map_err(failed)?;
    let editor = editor();
    // The shell splits the editor's own arguments, as with every program that asks for one.
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(format!("{editor} \"$@\"")).arg(&editor).arg(&place.file);
    let status = command.status().map_err(failed)?;
    if !status.success() {
        let message = format!("the editor `{editor}` failed; nothing was taken over");
        return Err(CliError::new(ExitCode::Failure, message).hint("set VISUAL or EDITOR"));
    }
    let edited = fs::read(&place.file).map_err(failed)?;
    Ok(Some(edited).filter(|edited| edited != text))
}

fn editor() -> String {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    set("VISUAL").or_else(|| set("EDITOR")).unwrap_or_else(|| "vi".to_owned())
}

/// A directory that nobody else can look into, removed with what is in it.
struct EditedFile {
    directory: PathBuf,
    file: PathBuf,
}

impl EditedFile {
    fn new(like: &VaultPath) -> Result<Self> {
        let directory = std::env::temp_dir().join(format!("offshoot-edit-{}", Id::random()));
        let made = fs::DirBuilder::new().mode(0o700).create(&directory);
        made.map_err(|error| {
            let message = format!("{}: {error}", host_path(&directory));
            CliError::new(ExitCode::Storage, message).hint("set TMPDIR to a place you can write to")
        })?;
        let name = like.name().unwrap_or(b"text");
        let file = directory.join(Path::new(std::ffi::OsStr::from_bytes(name)));
        Ok(Self { directory, file })
    }
}

impl Drop for EditedFile {
    fn drop(&mut self) {
        // What cannot be removed is in the directory for such things, which is emptied some day.
        drop(fs::remove_dir_all(&self.directory));
    }
}
