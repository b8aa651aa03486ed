//! What a command that runs sees and has changed so far.

use std::path::{Path, PathBuf};

use offshoot_mount::driver_of;
use offshoot_store::Id;
use offshoot_tree::RootId;
use offshoot_tree::diff::ChangeKind;
use offshoot_vault::{Preview, RunningExec, Vault};
use rustix::io::Errno;

use crate::error::{Result, ServiceError};
use crate::exec::access::LeftoverAccess;
use crate::exec::summary::is_directory_time;

use crate::running::command_process;

/// Longer files are not read from inside.
const LONGEST: u64 = 64 << 20;

/// Looks into the workspace of a command that runs, and changes files there, as the command itself could.
#[derive(Clone, Copy, Debug)]
pub struct LiveService<'a> {
    vault: &'a Vault,
}

impl<'a> LiveService<'a> {
    /// Works on a vault.
    pub fn new(vault: &'a Vault) -> Self {
        Self { vault }
    }

    /// The state that a command started from, and what it has changed so far. Nothing is stored; a file that is being written may be
    /// seen half.
    pub fn changes(&self, exec: &Id) -> Result<(RootId, Preview)> {
        let running = self.find(exec)?;
        let (_, shape) = driver_of(&running.note)?;
        let access = LeftoverAccess::new(&running.files_dir(shape));
        let mut preview = running.preview(self.vault, shape, &access)?;
        preview.changes.retain(|change| {
            !is_directory_time(change) && change.kind() != ChangeKind::Metadata
        });
        Ok((running.note.root, preview))
    }

    /// The bytes of a file, by its path as the command sees it.
    pub fn read(&self, exec: &Id, path: &Path) -> Result<Vec<u8>> {
        let (process, folder, below) = self.place(exec, path)?;
        offshoot_sandbox::read_inside(process, &folder, &below, LONGEST).map_err(refused(path))
    }

    /// Writes a file, by its path as the command sees it; directories that are missing are made.
    pub fn write(&self, exec: &Id, path: &Path, bytes: &[u8]) -> Result<()> {
        let (process, folder, below) = self.place(exec, path)?;
        offshoot_sandbox::write_inside(process, &folder, &below, bytes).map_err(refused(path))
    }

    fn find(&self, exec: &Id) -> Result<RunningExec> {
        let mut running = self.vault.running()?.into_iter();
        let found = running.find(|running| running.note.exec == *exec);
        found.ok_or(ServiceError::NotRunning { exec: *exec })
    }

    /// A process of the command, the folder of the project that a path lies in, and the way from there.
    fn place(&self, exec: &Id, path: &Path) -> Result<(u32, PathBuf, PathBuf)> {
        let mut found = None;
        for binding in self.vault.bindings()? {
            if let Ok(below) = path.strip_prefix(binding.host_path()) {
                found = Some((binding.host_path().to_owned(), below.to_owned()));
            }
        }
        let (folder, below) = found.ok_or_else(|| {
            ServiceError::Request(format!("{} is not in the project", path.display()))
        })?;
        let running = self.find(exec)?;
        let process = command_process(&running).ok_or(ServiceError::NotRunning { exec: *exec })?;
        Ok((process, folder, below))
    }
}

/// Why a file could not be reached.
fn refused(path: &Path) -> impl Fn(Errno) -> ServiceError {
    move |errno| {
        let path = path.display();
        ServiceError::Request(match errno {
            Errno::XDEV | Errno::LOOP => format!("{path} leads out of the workspace"),
            Errno::FBIG => format!("{path} has more than {} MiB", LONGEST >> 20),
            Errno::INVAL => format!("{path} is no file"),
            other => format!("{path}: {}", std::io::Error::from(other)),
        })
    }
}
