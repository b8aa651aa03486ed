//! State of an agent that is the user's own: directories of the user's home, as they are.

use std::fs::{self, File, Metadata, Permissions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use offshoot_profile::{HomePath, Preset};
use offshoot_protocol::HomeKeep;
use offshoot_vault::{AgentPlace, Vault};
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};

use crate::error::Result;

/// The directories that an agent shares, and what is told of others. Files are none of them: a file that is replaced by a rename cannot be a mount.
pub(super) fn directories(
    preset: &Preset,
    host: &Path,
    project: &Path,
) -> (Vec<HomePath>, Vec<String>) {
    let (mut found, mut told) = (Vec::new(), Vec::new());
    let rows = preset.home.iter().filter(|row| row.keep == HomeKeep::State);
    for path in rows.flat_map(|row| &row.paths).filter(|path| !path.is_pattern()) {
        let place = host.join(path.to_string());
        let is_whole = || holds_nothing_else(preset, path);
        match place.canonicalize() {
            Ok(real) if !real.is_dir() => {}
            // A link could lead to what nobody meant to share, and settings are never writable.
            Ok(real) if real == place && is_whole() && !apart(&place, project) => {
                told.push(format!(
                    "{} is not shared with the agent, because the project lies there",
                    place.display()
                ))
            }
            Ok(real) if real == place && is_whole() => found.push(path.clone()),
            Ok(_) => told.push(format!(
                "{} is not shared with the agent: it is a link, or has settings or a login in it",
                place.display()
            )),
            // There is nothing to share yet.
            Err(_) => {}
        }
    }
    (found, told)
}

/// A directory that is shared, and the mode that its user gave it: what runs inside can open it to everybody, or close it to its user.
#[derive(Debug)]
pub(super) struct SharedDirectory {
    pub(super) path: PathBuf,
    handle: File,
    mode: u32,
}

/// The same on disk, from before the first command that shares it until the last one has ended: a command that is killed gives nothing back, and
/// one that starts meanwhile sees the mode that the agent gave it.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Noted {
    path: PathBuf,
    device: u64,
    inode: u64,
    mode: u32,
}

impl Noted {
    fn of(directory: &Metadata, path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            device: directory.dev(),
            inode: directory.ino(),
            mode: directory.mode() & MODE,
        }
    }

    /// Whether both are about the same directory, whatever its mode is.
    fn is_same(&self, other: &Self) -> bool {
        (&self.path, self.device, self.inode) == (&other.path, other.device, other.inode)
    }
}

impl SharedDirectory {
    /// Opens it, and notes its mode where no other command did.
    pub(super) fn open(path: PathBuf, home: &AgentPlace) -> io::Result<Self> {
        let handle = handle(&path)?;
        let now = Noted::of(&handle.metadata()?, &path);
        let _one_at_a_time = home.compare()?;
        let mut all = noted(home)?;
        let mode = match all.iter().find(|known| known.is_same(&now)) {
            Some(known) => known.mode,
            None => {
                let mode = now.mode;
                all.push(now);
                note(home, &all)?;
                mode
            }
        };
        Ok(Self { path, handle, mode })
    }

    /// Gives it its mode again; what to tell where that was another one, or cannot be done.
    pub(super) fn settle(self) -> Option<String> {
        told(&self.path, self.mode, give(&self.handle, self.mode))
    }
}

/// Gives all directories that were noted their modes again, and forgets them; what to tell. No command shares them now.
pub(super) fn settle_noted(home: &AgentPlace) -> Vec<String> {
    let all = match noted(home) {
        Ok(all) if all.is_empty() => return Vec::new(),
        Ok(all) => all,
        Err(error) => return vec![unread(home, &error)],
    };
    let mut warnings = Vec::new();
    let mut left = Vec::new();
    for known in all {
        let given = match handle(&known.path) {
            // Somebody replaced it.
            Ok(handle) if !is_known(&handle, &known) => continue,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Ok(handle) => give(&handle, known.mode),
            Err(error) => Err(error),
        };
        let is_left = given.is_err();
        warnings.extend(told(&known.path, known.mode, given));
        left.extend(is_left.then_some(known));
    }
    let kept = match left.is_empty() {
        true => fs::remove_file(home.shared()),
        false => note(home, &left),
    };
    warnings.extend(kept.err().map(|error| unread(home, &error)));
    warnings
}

/// Gives directories that commands shared which were cut short their modes again; what to tell.
pub fn settle_shared(vault: &Vault) -> Result<Vec<String>> {
    let mut warnings = Vec::new();
    if !vault.is_read_only() && vault.require_own().is_ok() {
        vault.left_sharing(|home| warnings.extend(settle_noted(home)))?;
    }
    Ok(warnings)
}

/// What a mode has beside the kind of file.
const MODE: u32 = 0o7777;

/// A directory itself, also where its mode lets nobody read it.
fn handle(path: &Path) -> io::Result<File> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW;
    File::options().read(true).custom_flags(flags.bits().cast_signed()).open(path)
}

fn is_known(handle: &File, known: &Noted) -> bool {
    let now = handle.metadata().map(|now| Noted::of(&now, &known.path));
    now.is_ok_and(|now| now.is_same(known))
}

/// Gives a directory a mode; whether it had another one.
fn give(handle: &File, mode: u32) -> io::Result<bool> {
    if handle.metadata()?.mode() & MODE == mode {
        return Ok(false);
    }
    // The handle is of no use to `fchmod`, and its name is.
    let name = format!("/proc/self/fd/{}", handle.as_raw_fd());
    fs::set_permissions(name, Permissions::from_mode(mode)).map(|()| true)
}

fn told(path: &Path, mode: u32, given: io::Result<bool>) -> Option<String> {
    let path = path.display();
    match given {
        Ok(false) => None,
        Ok(true) => {
            Some(format!("the agent changed the mode of {path}, which has mode {mode:o} again"))
        }
        Err(error) => Some(format!("the mode of {path} may not be as it was: {error}")),
    }
}

fn unread(home: &AgentPlace, error: &io::Error) -> String {
    let path = home.shared();
    format!("which modes shared directories had is not known: {}: {error}", path.display())
}

fn noted(home: &AgentPlace) -> io::Result<Vec<Noted>> {
    match fs::read(home.shared()) {
        Ok(text) => Ok(serde_json::from_slice(&text)?),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

fn note(home: &AgentPlace, all: &[Noted]) -> io::Result<()> {
    let path = home.shared();
    let new = path.with_extension("new");
    fs::write(&new, serde_json::to_vec(all)?)?;
    fs::rename(&new, &path)
}

/// Whether neither of two directories lies in the other.
fn apart(one: &Path, other: &Path) -> bool {
    !one.starts_with(other) && !other.starts_with(one)
}

/// Whether what lies in a directory is state alone.
fn holds_nothing_else(preset: &Preset, directory: &HomePath) -> bool {
    let others = preset.home.iter().filter(|row| row.keep != HomeKeep::State);
    others.flat_map(|row| &row.paths).all(|path| {
        let (above, below) = (directory.names(), path.names());
        !below.starts_with(above) && !above.starts_with(below)
    })
}
