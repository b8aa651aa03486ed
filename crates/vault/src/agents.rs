//! Homes of coding agents: directories that outlive commands, beside all history.
//!
//! One for each preset. Every command that uses it shares its lock; who has that alone may tidy up. The design is in `docs/design/presets.md`.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use offshoot_store::file_lock::{self, LockKind, LockedFile};

use crate::error::{Result, io_error};
use crate::vault::Vault;

/// In the directory of an agent: what the agent sees as its home.
const HOME: &str = "home";
/// What is known of its credentials.
const SYNCED: &str = "synced.json";
/// What is known of directories of the user's home that it shares.
const SHARED: &str = "shared.json";

/// Where the home of an agent is.
#[derive(Clone, Debug)]
pub struct AgentPlace {
    dir: PathBuf,
}

/// The home of an agent, in use by one command.
#[derive(Debug)]
pub struct AgentHome {
    place: AgentPlace,
    lock: File,
}

impl Vault {
    /// The home of an agent, by the name of its preset. `alone` is called first where no other command uses it.
    pub fn agent_home(&self, preset: &str, alone: impl FnOnce(&AgentPlace)) -> Result<AgentHome> {
        let dir = self.dir().join("agents").join(preset);
        let home = dir.join(HOME);
        let made = fs::DirBuilder::new().mode(0o700).recursive(true).create(&home);
        made.map_err(io_error("make", &home))?;
        let path = dir.join("lock");
        let lock = file_lock::open(&path).map_err(io_error("open", &path))?;
        let place = AgentPlace { dir };
        if file_lock::try_lock(&lock, LockKind::Alone).map_err(io_error("lock", &path))? {
            alone(&place);
        }
        file_lock::lock(&lock, LockKind::Shared).map_err(io_error("lock", &path))?;
        Ok(AgentHome { place, lock })
    }
}

impl Vault {
    /// Calls `alone` for each home with notes of shared directories that no command uses: who noted them did not come to the end.
    pub fn left_sharing(&self, mut alone: impl FnMut(&AgentPlace)) -> Result<()> {
        let all = self.dir().join("agents");
        let entries = match fs::read_dir(&all) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(io_error("list", &all)(error)),
        };
        for entry in entries {
            let place = AgentPlace { dir: entry.map_err(io_error("list", &all))?.path() };
            if !place.shared().exists() {
                continue;
            }
            let path = place.dir.join("lock");
            let lock = file_lock::open(&path).map_err(io_error("open", &path))?;
            if file_lock::try_lock(&lock, LockKind::Alone).map_err(io_error("lock", &path))? {
                alone(&place);
            }
        }
        Ok(())
    }
}

impl AgentPlace {
    /// What the agent sees as its home.
    pub fn path(&self) -> PathBuf {
        self.dir.join(HOME)
    }

    /// What was the same inside and on the host.
    pub fn synced(&self) -> PathBuf {
        self.dir.join(SYNCED)
    }

    /// Which directories of the user's home are shared, as they were before.
    pub fn shared(&self) -> PathBuf {
        self.dir.join(SHARED)
    }

    /// Waits until no other command compares its files with the host's.
    pub fn compare(&self) -> io::Result<LockedFile> {
        let lock = file_lock::open(&self.dir.join("compare"))?;
        file_lock::lock(&lock, LockKind::Alone)?;
        Ok(LockedFile::new(lock))
    }
}

impl AgentHome {
    /// Where it is.
    pub fn place(&self) -> &AgentPlace {
        &self.place
    }

    /// The command is over. `alone` is called where no other one uses the home.
    pub fn leave<T>(self, alone: impl FnOnce(&Path) -> T) -> Option<T> {
        let is_alone = file_lock::try_lock(&self.lock, LockKind::Alone).unwrap_or(false);
        is_alone.then(|| alone(&self.place.path()))
    }
}
