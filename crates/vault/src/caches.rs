//! Package caches: directories that commands fill and that outlive them, beside all history.
//!
//! A cache is a stack of layers that nobody writes to while a command uses it. A command writes to a layer of its own, which
//! becomes the topmost when the command is over. Whoever finds nobody else at it folds the stack into one layer. The design
//! is in `docs/design/caches.md`.

mod fold;
mod measure;

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use offshoot_store::Id;
use offshoot_store::file_lock::{self, LockKind};

use crate::disk::remove_tree;
use crate::error::{Result, VaultError, io_error};
use crate::vault::Vault;

/// A cache that waits to be folded has at most so many layers; what further commands write to it is not kept.
const MOST_LAYERS: usize = 24;
/// What commands that run write to.
const IN_USE: &str = ".use-";
/// What is being removed.
const DOOMED: &str = ".del-";
/// An empty directory, for where there is nothing below what a command writes.
const EMPTY: &str = ".empty";
/// In a cache: how many bytes it takes, at most; changed when something is kept.
const SIZE: &str = "size";

/// The caches of a vault.
#[derive(Clone, Debug)]
pub struct Caches {
    dir: PathBuf,
}

/// A cache that a command may want.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheWish {
    /// Its name: lower-case letters, digits and hyphens.
    pub name: &'static str,
    /// The mode of its top directory.
    pub mode: u32,
    /// It is wanted only where the vault has something in it.
    pub only_if_kept: bool,
}

/// What is known of a cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheInfo {
    /// Its name.
    pub name: String,
    /// The bytes that it takes on disk.
    pub bytes: u64,
    /// When a command last added something.
    pub used: Option<SystemTime>,
}

/// What was removed, and what could not be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tidied {
    /// Caches that were removed because all took more than the limit.
    pub dropped: Vec<CacheInfo>,
}

/// Caches in use by a command, until dropped: nobody folds, clears or drops one meanwhile. What was written is thrown away
/// unless it is [kept](CacheUse::keep).
#[derive(Debug)]
pub struct CacheUse {
    caches: Caches,
    lock: File,
    /// The directory of what this command writes.
    own: PathBuf,
    entries: Vec<CacheEntry>,
}

/// One cache in use. Paths are below [`CacheUse::directory`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheEntry {
    /// The cache.
    pub name: &'static str,
    /// What was kept before, topmost first.
    pub layers: Vec<PathBuf>,
    /// Where changes go, and a fresh directory beside it for the kernel's own use; nothing where they are thrown away.
    pub upper: Option<(PathBuf, PathBuf)>,
}

impl Vault {
    /// The caches of this vault.
    pub fn caches(&self) -> Caches {
        Caches { dir: self.dir().join("caches") }
    }
}

impl Caches {
    /// Takes caches into use, to write to them where `writes` says so; none where no wish is to be fulfilled.
    pub fn begin(&self, wishes: &[CacheWish], writes: bool) -> Result<Option<CacheUse>> {
        if wishes.is_empty() {
            return Ok(None);
        }
        let lock = self.open_lock()?;
        file_lock::lock(&lock, LockKind::Shared).map_err(self.io("lock"))?;
        let name = format!("{IN_USE}{}", Id::random());
        let own = self.dir.join(&name);
        let mut used = CacheUse { caches: self.clone(), lock, own, entries: Vec::new() };
        for wish in wishes {
            let layers = self.layers(wish.name)?;
            if layers.is_empty() && wish.only_if_kept {
                continue;
            }
            let upper = writes.then(|| {
                let below = |part| Path::new(&name).join(wish.name).join(part);
                (below("fs"), below("work"))
            });
            if let Some((upper, work)) = &upper {
                self.make_upper(upper, work, wish.mode).map_err(self.io("write"))?;
            }
            used.entries.push(CacheEntry { name: wish.name, layers, upper });
        }
        Ok(Some(used).filter(|used| !used.entries.is_empty()))
    }

    fn make_upper(&self, upper: &Path, work: &Path, mode: u32) -> io::Result<()> {
        let upper = self.dir.join(upper);
        fs::create_dir_all(&upper)?;
        fs::set_permissions(&upper, fs::Permissions::from_mode(mode))?;
        fs::create_dir(self.dir.join(work))?;
        match fs::create_dir(self.dir.join(EMPTY)) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => Ok(()),
        }
    }

    /// The caches that have something in them.
    pub fn kept(&self) -> Result<Vec<String>> {
        self.names()
    }

    /// All caches that have something in them, by name, as large as they are found to be.
    pub fn list(&self) -> Result<Vec<CacheInfo>> {
        let mut found = Vec::new();
        for name in self.names()? {
            let bytes = measure::bytes_on_disk(&self.dir.join(&name)).map_err(self.io("read"))?;
            found.push(CacheInfo { used: self.used(&name), bytes, name });
        }
        Ok(found)
    }

    /// Removes these caches; says false, and removes none, where a command uses one.
    pub fn clear(&self, names: &[String]) -> Result<bool> {
        if !self.dir.exists() {
            return Ok(true);
        }
        let lock = self.open_lock()?;
        if !file_lock::try_lock(&lock, LockKind::Alone).map_err(self.io("lock"))? {
            return Ok(false);
        }
        self.doom(names)?;
        drop(lock);
        self.sweep(DOOMED)?;
        Ok(true)
    }

    /// Folds every cache into one layer, removes what dead commands left, and drops the least recently used caches while all
    /// take more than `limit` bytes. Does nothing where a command uses one.
    pub fn tidy(&self, limit: u64) -> Result<Tidied> {
        if !self.dir.exists() {
            return Ok(Tidied::default());
        }
        let lock = self.open_lock()?;
        self.tidy_with(&lock, limit)
    }

    fn tidy_with(&self, lock: &File, limit: u64) -> Result<Tidied> {
        if !file_lock::try_lock(lock, LockKind::Alone).map_err(self.io("lock"))? {
            return Ok(Tidied::default());
        }
        self.sweep(IN_USE)?;
        for name in self.names()? {
            if self.fold(&name).is_err() {
                // Nothing in it is worth more than the next download.
                self.doom(&[name])?;
            }
        }
        let dropped = self.shrink(limit)?;
        self.doom(&dropped.iter().map(|info| info.name.clone()).collect::<Vec<_>>())?;
        self.sweep(DOOMED)?;
        Ok(Tidied { dropped })
    }

    /// Which caches have to go so that the others take no more than `limit` bytes.
    fn shrink(&self, limit: u64) -> Result<Vec<CacheInfo>> {
        let noted: u64 = self.names()?.iter().map(|name| self.noted_size(name)).sum();
        if noted <= limit {
            return Ok(Vec::new());
        }
        // What is noted counts replaced files twice.
        let mut found = self.list()?;
        for info in &found {
            self.note_size(&info.name, info.bytes, info.used)?;
        }
        found.sort_by_key(|info| std::cmp::Reverse(info.used));
        let mut left = limit;
        let mut dropped = Vec::new();
        let mut over = false;
        for info in found {
            over |= info.bytes > left;
            match over {
                true => dropped.push(info),
                false => left -= info.bytes,
            }
        }
        Ok(dropped)
    }

    /// Puts every layer of a cache into the lowest.
    fn fold(&self, name: &str) -> io::Result<()> {
        let mut layers = self.layers(name).map_err(io::Error::other)?;
        let Some(lowest) = layers.pop() else { return Ok(()) };
        while let Some(next) = layers.pop() {
            let next = self.dir.join(next);
            fold::fold(&next, &self.dir.join(&lowest))?;
            remove_tree(&next)?;
        }
        Ok(())
    }

    /// Gives caches a name under which nobody finds them.
    fn doom(&self, names: &[String]) -> Result<()> {
        for name in names {
            let doomed = self.dir.join(format!("{DOOMED}{}", Id::random()));
            match fs::rename(self.dir.join(name), doomed) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                other => other.map_err(self.io("remove"))?,
            }
        }
        Ok(())
    }

    /// Removes what is called so.
    fn sweep(&self, prefix: &str) -> Result<()> {
        for name in self.entries(&self.dir)? {
            if name.starts_with(prefix) {
                let path = self.dir.join(name);
                remove_tree(&path).map_err(io_error("remove", &path))?;
            }
        }
        Ok(())
    }

    /// The names of all caches.
    fn names(&self) -> Result<Vec<String>> {
        let mut names = self.entries(&self.dir)?;
        names.retain(|name| !name.starts_with('.') && self.dir.join(name).is_dir());
        names.sort();
        Ok(names)
    }

    /// The layers of a cache below the directory of all, topmost first.
    fn layers(&self, name: &str) -> Result<Vec<PathBuf>> {
        let mut layers = self.entries(&self.dir.join(name))?;
        layers.retain(|layer| layer.parse::<Id>().is_ok());
        layers.sort_by(|a, b| b.cmp(a));
        Ok(layers.into_iter().map(|layer| Path::new(name).join(layer)).collect())
    }

    fn entries(&self, dir: &Path) -> Result<Vec<String>> {
        let entries = match fs::read_dir(dir) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            other => other.map_err(io_error("read", dir))?,
        };
        let names = entries.map(|entry| entry.map(|e| e.file_name().to_string_lossy().into()));
        names.collect::<io::Result<_>>().map_err(io_error("read", dir))
    }

    fn noted_size(&self, name: &str) -> u64 {
        let noted = fs::read_to_string(self.dir.join(name).join(SIZE)).unwrap_or_default();
        noted.trim().parse().unwrap_or(0)
    }

    fn note_size(&self, name: &str, bytes: u64, used: Option<SystemTime>) -> Result<()> {
        let path = self.dir.join(name).join(SIZE);
        let write = || {
            fs::write(&path, bytes.to_string())?;
            used.map_or(Ok(()), |used| File::options().write(true).open(&path)?.set_modified(used))
        };
        write().map_err(io_error("write", &path))
    }

    fn used(&self, name: &str) -> Option<SystemTime> {
        fs::metadata(self.dir.join(name).join(SIZE)).and_then(|found| found.modified()).ok()
    }

    /// The file that is locked by everybody who uses, folds or removes a cache.
    fn open_lock(&self) -> Result<File> {
        let path = self.dir.join("lock");
        let opened = match file_lock::open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let made = fs::DirBuilder::new().mode(0o700).recursive(true).create(&self.dir);
                made.and_then(|()| file_lock::open(&path))
            }
            other => other,
        };
        opened.map_err(io_error("open", &path))
    }

    fn io(&self, action: &'static str) -> impl Fn(io::Error) -> VaultError + use<> {
        let path = self.dir.clone();
        move |source| VaultError::Io { action, path: path.clone(), source }
    }
}

impl CacheUse {
    /// What the paths of all entries are below.
    pub fn directory(&self) -> &Path {
        &self.caches.dir
    }

    /// An empty directory, below the same.
    pub fn empty(&self) -> &'static Path {
        Path::new(EMPTY)
    }

    /// The caches.
    pub fn entries(&self) -> &[CacheEntry] {
        &self.entries
    }

    /// Keeps what the command wrote to these caches, and tidies up where nobody else uses any. Nothing of the command may run
    /// any more.
    pub fn keep(mut self, names: &[&str], limit: u64) -> Result<Tidied> {
        for entry in std::mem::take(&mut self.entries) {
            if let Some((upper, _)) = entry.upper.filter(|_| names.contains(&entry.name)) {
                self.keep_one(entry.name, &upper)?;
            }
        }
        remove_tree(&self.own).map_err(io_error("remove", &self.own))?;
        self.caches.tidy_with(&self.lock, limit)
    }

    fn keep_one(&self, name: &str, upper: &Path) -> Result<()> {
        let caches = &self.caches;
        let upper = caches.dir.join(upper);
        let nothing = fs::read_dir(&upper).map(|mut entries| entries.next().is_none());
        if nothing.map_err(io_error("read", &upper))? || caches.layers(name)?.len() >= MOST_LAYERS {
            return Ok(());
        }
        let bytes = measure::bytes_on_disk(&upper).map_err(io_error("read", &upper))?;
        let cache = caches.dir.join(name);
        fs::create_dir_all(&cache).map_err(io_error("create", &cache))?;
        let layer = cache.join(above(&caches.layers(name)?).to_string());
        fs::rename(&upper, &layer).map_err(io_error("rename", &upper))?;
        caches.note_size(name, caches.noted_size(name).saturating_add(bytes), None)
    }
}

impl Drop for CacheUse {
    fn drop(&mut self) {
        // What stays is removed by the next who tidies up.
        drop(remove_tree(&self.own));
    }
}

/// The id of a layer that lies above these, whatever the clock says.
fn above(layers: &[PathBuf]) -> Id {
    let name = layers.first().and_then(|top| top.file_name()?.to_str());
    let top: Option<Id> = name.and_then(|name| name.parse().ok());
    let now = Id::random();
    match top {
        Some(top) if top >= now => Id::at(top.time_ms() + 1),
        _ => now,
    }
}

#[cfg(test)]
mod tests;
