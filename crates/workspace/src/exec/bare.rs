//! A command where the system refuses namespaces: it sees the host as it is, and rules decide what it may open. What mounts would show it elsewhere is made
//! here as directories, files and links.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use offshoot_sandbox::{Bare, Files, InForce, Spec};
use tempfile::TempDir;

use crate::error::{Result, ServiceError};

/// The directories that one command has of its own. They go with this.
#[derive(Debug)]
pub(super) struct BareRoom {
    top: TempDir,
    /// Where its workspace is, and where in it the command starts.
    pub(super) places: [PathBuf; 2],
}

impl BareRoom {
    /// Makes them, and fits what is to be started to them.
    pub(super) fn new(spec: &mut Spec) -> Result<Self> {
        let made = TempDir::with_prefix("offshoot-").and_then(|top| {
            let room = Self { top, places: Default::default() };
            room.fit(spec)?;
            Ok(room)
        });
        made.map_err(|error| {
            ServiceError::Request(format!(
                "cannot make directories for the command in {}: {error}",
                std::env::temp_dir().display()
            ))
        })
    }

    fn fit(&self, spec: &mut Spec) -> io::Result<()> {
        let [home, temporary] = ["home", "tmp"].map(|name| self.top.path().join(name));
        for directory in [&home, &temporary] {
            fs::create_dir(directory)?;
        }
        // Rules can allow what lies in a directory, and not all but a part of it.
        let hidden = std::mem::take(&mut spec.hidden);
        spec.shown.retain(|shown| !hidden.iter().any(|hidden| hidden.starts_with(shown)));
        let known = spec.home.replace(home.clone());
        // What lies in something that is shown is there, and in the user's own home.
        let below = |path: &Path| {
            let below = home.join(path.strip_prefix(known.as_deref()?).ok()?);
            let is_free = |path: &Path| path == home || !path.is_symlink();
            let ways = below.ancestors().take_while(|path| path.starts_with(&home));
            (below != home && ways.into_iter().all(is_free)).then_some(below)
        };
        for shown in &spec.shown {
            if let Some(link) = below(shown) {
                make_parent(&link)?;
                symlink(shown, link)?;
            }
        }
        for (at, file) in std::mem::take(&mut spec.files).into_iter().enumerate() {
            let path = below(&file.path).unwrap_or_else(|| temporary.join(format!("file-{at}")));
            make_parent(&path)?;
            fs::write(&path, file.content)?;
            for argument in &mut spec.command.arguments {
                if file.path.as_os_str() == argument {
                    *argument = path.clone().into();
                }
            }
        }
        let variables =
            [("HOME", &home), ("TMPDIR", &temporary), ("TMP", &temporary), ("TEMP", &temporary)];
        for (name, path) in variables {
            set(&mut spec.command.environment, name, path);
        }
        spec.caches.clear();
        spec.workspace.folders.clear();
        spec.workspace.covered = None;
        spec.bare = Some(Bare { private: vec![temporary] });
        Ok(())
    }
}

/// Lets a command without mounts work where its files are.
pub(super) fn move_to_files(spec: &mut Spec) {
    let Files::Directory(files) = &spec.workspace.files else { return };
    let before = std::mem::replace(&mut spec.workspace.target, files.clone());
    let command = &mut spec.command;
    let below = command.directory.strip_prefix(&before).unwrap_or(Path::new(""));
    command.directory = if below == Path::new("") { files.clone() } else { files.join(below) };
    if command.environment.iter().any(|(name, _)| name == "PWD") {
        let directory = command.directory.clone();
        set(&mut command.environment, "PWD", &directory);
    }
}

/// What a command is usually kept from and was not, in a container that refuses what would do it.
pub(super) fn unprotected(in_force: &InForce) -> Option<String> {
    let gaps = in_force.gaps();
    (!gaps.is_empty()).then(|| format!("not protected in this container: {}", gaps.join("; ")))
}

fn make_parent(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)
}

fn set(environment: &mut Vec<(OsString, OsString)>, name: &str, value: &PathBuf) {
    environment.retain(|(other, _)| other != OsStr::new(name));
    environment.push((name.into(), value.into()));
}
