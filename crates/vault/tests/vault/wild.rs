//! Random trees on the host, and random changes to them.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use offshoot_tests::rng::Rng;
use rustix::fs::{AtFlags, CWD, FileType, Mode, Timespec, Timestamps, XattrFlags};

use crate::support::is_root;

/// Few names, so that changes meet each other.
const NAMES: [&str; 9] = ["a", "b", "c", "d", ".wh.a", "e f", "\u{fc}", "-x", "zz"];
/// Among them what overlayfs reads itself.
const XATTRS: [(&str, &[u8]); 6] = [
    ("user.plain", b"1"),
    ("user.plain", b"2"),
    ("user.overlay.opaque", b"y"),
    ("user.overlay.whiteout", b"y"),
    ("user.overlay.redirect", b"/a"),
    ("user.overlay.overlay.metacopy", b""),
];

/// A tree that changes at random, the same for the same seed.
pub(crate) struct Wild {
    pub(crate) dir: PathBuf,
    rng: Rng,
}

impl Wild {
    /// Starts with an empty directory.
    pub(crate) fn new(dir: &Path, seed: u64) -> Self {
        fs::create_dir(dir).unwrap();
        Self { dir: dir.to_owned(), rng: Rng::new(seed) }
    }

    /// Goes on with a tree that is there.
    pub(crate) fn at(dir: &Path, seed: u64) -> Self {
        Self { dir: dir.to_owned(), rng: Rng::new(seed) }
    }

    /// Makes so many changes; some may turn out to be none.
    pub(crate) fn change(&mut self, times: usize) {
        for _ in 0..times {
            let place = self.some_path();
            match self.rng.below(12) {
                0..=2 => self.file(&place),
                3 | 4 => self.folder(&place),
                5 => self.link(&place),
                6 => remove(&place),
                7 | 8 => self.rename(&place),
                9 => self.hard_link(&place),
                10 => self.fifo(&place),
                _ => self.metadata(),
            }
        }
        self.metadata();
    }

    /// A path in a directory that exists.
    fn some_path(&mut self) -> PathBuf {
        let folders: Vec<PathBuf> =
            all(&self.dir).into_iter().filter(|(_, kind)| kind.is_dir()).map(|(p, _)| p).collect();
        let folder = self.rng.pick(&folders).unwrap_or(&self.dir).clone();
        folder.join(self.rng.pick(&NAMES).unwrap())
    }

    fn file(&mut self, path: &Path) {
        let writable =
            |found: fs::Metadata| found.is_file() && found.permissions().mode() & 0o200 != 0;
        if !fs::symlink_metadata(path).is_ok_and(writable) {
            remove(path);
        }
        let length = [0, 5, 300, 70_000][self.rng.below(4) as usize];
        let bytes = self.rng.bytes(length);
        fs::write(path, bytes).unwrap();
    }

    fn folder(&mut self, path: &Path) {
        if !path.is_dir() || self.rng.one_in(3) {
            remove(path);
            fs::create_dir(path).unwrap();
        }
        for name in ["a", "b", "only"] {
            if self.rng.one_in(2) {
                self.file(&path.join(name));
            }
        }
    }

    fn link(&mut self, path: &Path) {
        remove(path);
        symlink(self.rng.pick(&NAMES).unwrap(), path).unwrap();
    }

    fn fifo(&mut self, path: &Path) {
        remove(path);
        rustix::fs::mknodat(CWD, path, FileType::Fifo, Mode::RUSR, 0).unwrap();
    }

    fn rename(&mut self, to: &Path) {
        let sources: Vec<PathBuf> = all(&self.dir).into_keys().collect();
        let Some(from) = self.rng.pick(&sources) else { return };
        if !to.starts_with(from) && !from.starts_with(to) {
            remove(to);
            match fs::rename(from, to) {
                // What overlayfs answers where a directory has a layer below.
                Err(error) if error.kind() == std::io::ErrorKind::CrossesDevices => {}
                other => other.unwrap(),
            }
        }
    }

    fn hard_link(&mut self, to: &Path) {
        let files: Vec<PathBuf> =
            all(&self.dir).into_iter().filter(|(_, kind)| kind.is_file()).map(|(p, _)| p).collect();
        if let Some(from) = self.rng.pick(&files).filter(|from| !from.starts_with(to)) {
            remove(to);
            fs::hard_link(from, to).unwrap();
        }
    }

    /// Changes something about a file or directory but not its content; the top counts as well.
    fn metadata(&mut self) {
        let mut places: Vec<PathBuf> = all(&self.dir).into_keys().collect();
        places.push(self.dir.clone());
        let path = self.rng.pick(&places).unwrap().clone();
        let kind = fs::symlink_metadata(&path).unwrap().file_type();
        let has_mode = kind.is_dir() || kind.is_file();
        match self.rng.below(3) {
            0 if has_mode => {
                // Root can read what nobody may; others could not import it.
                let modes = if is_root() { [0o000, 0o4711, 0o755] } else { [0o500, 0o4711, 0o755] };
                let mode = if kind.is_dir() { [0o700, 0o1777, 0o755] } else { modes };
                let mode = fs::Permissions::from_mode(mode[self.rng.below(3) as usize]);
                fs::set_permissions(&path, mode).unwrap();
            }
            1 if has_mode => self.xattr(&path),
            _ => {
                let seconds = self.rng.below(2_000_000_000) as i64;
                set_mtime(&path, seconds, self.rng.below(1_000_000_000) as i64);
            }
        }
    }

    fn xattr(&mut self, path: &Path) {
        let (name, value) = *self.rng.pick(&XATTRS).unwrap();
        let writable = fs::metadata(path).unwrap().permissions();
        let removed = rustix::fs::removexattr(path, name);
        if removed.is_err() && writable.mode() & 0o200 != 0 {
            rustix::fs::setxattr(path, name, value, XattrFlags::empty()).unwrap();
        }
    }
}

/// Everything below a directory.
fn all(dir: &Path) -> BTreeMap<PathBuf, fs::FileType> {
    let mut found = BTreeMap::new();
    let mut pending = vec![dir.to_owned()];
    while let Some(folder) = pending.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                pending.push(entry.path());
            }
            found.insert(entry.path(), kind);
        }
    }
    found
}

fn remove(path: &Path) {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path).unwrap(),
        Ok(_) => fs::remove_file(path).unwrap(),
        Err(_) => {}
    }
}

fn set_mtime(path: &Path, tv_sec: i64, tv_nsec: i64) {
    let omitted = Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_OMIT };
    let times =
        Timestamps { last_access: omitted, last_modification: Timespec { tv_sec, tv_nsec } };
    rustix::fs::utimensat(CWD, path, &times, AtFlags::SYMLINK_NOFOLLOW).unwrap();
}
