//! Two states of a folder that differ in every way, and the short way from one to the other.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use offshoot_folder::{Apply, ApplyError, ApplyOptions, ApplyPlan, ApplyTarget, Kept};
use offshoot_store::Id;
use offshoot_tests::scan::{CompareOptions, Scan, compare};
use offshoot_tests::scratch::{Scratch, everything_kept, is_root, scanned};
use offshoot_tree::{RootId, VaultPath};
use offshoot_vault::{FolderLock, Vault};
use rustix::fs::{CWD, FileType, Mode, XattrFlags, mknodat, setxattr};
use serde_json::json;

use crate::support::{import, vault_of};

/// A folder, a vault of it, and the state that it is to get.
pub(crate) struct Scene {
    pub(crate) scratch: Scratch,
    pub(crate) folder: PathBuf,
    pub(crate) vault: Vault,
    pub(crate) before: RootId,
    pub(crate) after: RootId,
    pub(crate) old: Scan,
    pub(crate) new: Scan,
}

impl Scene {
    /// The two states that [`build_old`] and [`build_new`] make.
    pub(crate) fn everything() -> Self {
        Self::of(build_old, build_new)
    }

    pub(crate) fn of(old: impl FnOnce(&Path), new: impl FnOnce(&Path)) -> Self {
        Self::within(Scratch::new(), old, new)
    }

    /// The same in a place that is there already.
    pub(crate) fn within(
        scratch: Scratch,
        old: impl FnOnce(&Path),
        new: impl FnOnce(&Path),
    ) -> Self {
        let (folder, model) = (scratch.folder("folder"), scratch.folder("model"));
        old(&folder);
        new(&model);
        let vault = vault_of(&scratch, &folder);
        let (before, after) = (import(&vault, &folder).root, import(&vault, &model).root);
        let (old, new) = (scanned(&folder), scanned(&model));
        Self { scratch, folder, vault, before, after, old, new }
    }

    pub(crate) fn lock(&self) -> FolderLock {
        self.vault.lock_folders(Some(Duration::from_secs(10))).unwrap()
    }

    pub(crate) fn plan(&self) -> ApplyPlan {
        self.plan_of(&self.before, &self.after)
    }

    pub(crate) fn plan_of(&self, before: &RootId, after: &RootId) -> ApplyPlan {
        let targets = [target(&self.folder)];
        ApplyPlan::new(&self.vault, &targets, before, after, &ApplyOptions::default()).unwrap()
    }

    pub(crate) fn staged(&self) -> Apply<'_> {
        let plan = self.plan();
        assert_eq!(plan.problems(), [], "nothing is in the way");
        let lock = self.lock();
        Apply::stage(&self.vault, &lock, plan, Id::random(), json!({"for": "a test"})).unwrap()
    }

    #[track_caller]
    pub(crate) fn assert_old(&self) {
        assert_state(&self.folder, &self.old, &everything_kept());
        assert_clean(&self.vault, &self.folder);
    }

    #[track_caller]
    pub(crate) fn assert_new(&self) {
        assert_state(&self.folder, &self.new, &everything_kept());
        assert_clean(&self.vault, &self.folder);
    }
}

pub(crate) fn target(folder: &Path) -> ApplyTarget {
    ApplyTarget { directory: folder.to_owned(), at: VaultPath::top(), identity: None }
}

#[track_caller]
pub(crate) fn assert_state(folder: &Path, expected: &Scan, options: &CompareOptions) {
    let differences = compare(&scanned(folder), expected, options);
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// Nothing is left of any apply.
#[track_caller]
pub(crate) fn assert_clean(vault: &Vault, folder: &Path) {
    let left = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let left: Vec<_> =
        left.filter(|name| name.to_string_lossy().contains("offshoot-apply")).collect();
    assert!(left.is_empty(), "{left:?}");
    let applies = fs::read_dir(vault.dir().join("applies"));
    assert_eq!(applies.map_or(0, Iterator::count), 0, "no journal is left");
}

/// The error of an apply that somebody interfered with.
#[track_caller]
pub(crate) fn interfered(result: Result<(), ApplyError>) -> (Vec<PathBuf>, Vec<Kept>) {
    match result {
        Err(ApplyError::Interfered { paths, kept }) => (paths, kept),
        other => panic!("{other:?}"),
    }
}

pub(crate) fn write(folder: &Path, path: &str, content: &str, mode: u32, age: u64) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, content).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    age_to(&path, age);
}

/// Gives a file or directory a time so many seconds ago, from a day that does not move.
pub(crate) fn age_to(path: &Path, age: u64) {
    let time = SystemTime::UNIX_EPOCH + Duration::new(1_600_000_000 - age, 123_456_789);
    fs::File::open(path).unwrap().set_modified(time).unwrap();
}

pub(crate) fn fifo(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
}

fn age_directories(folder: &Path, age: u64) {
    let mut pending = vec![folder.to_owned()];
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(&directory).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                pending.push(entry.path());
            }
        }
        age_to(&directory, age);
    }
}

pub(crate) fn build_old(folder: &Path) {
    common(folder);
    write(folder, "src/edited", "old content\n", 0o644, 100);
    write(folder, "src/chmodded", "the same\n", 0o644, 100);
    write(folder, "src/touched", "the same\n", 0o644, 100);
    write(folder, "src/removed", "gone soon\n", 0o600, 100);
    write(folder, "gone/deep/er/file", "gone soon\n", 0o644, 100);
    write(folder, "gone/other", "gone soon\n", 0o444, 100);
    fs::create_dir_all(folder.join("gone/empty")).unwrap();
    fs::create_dir_all(folder.join("empty-goes")).unwrap();
    fs::create_dir_all(folder.join("mode-changes")).unwrap();
    write(folder, "becomes-directory", "a file\n", 0o644, 100);
    write(folder, "becomes-file/inner/leaf", "in a directory\n", 0o644, 100);
    write(folder, "becomes-link", "a file\n", 0o644, 100);
    symlink("src/edited", folder.join("link-becomes-file")).unwrap();
    symlink("old/target", folder.join("link-changes")).unwrap();
    fifo(&folder.join("fifo-becomes-file"));
    write(folder, "links/one", "shared by two\n", 0o644, 100);
    fs::hard_link(folder.join("links/one"), folder.join("links/two")).unwrap();
    write(folder, "links/grows", "shared by more\n", 0o644, 100);
    fs::hard_link(folder.join("links/grows"), folder.join("links/grows-2")).unwrap();
    write(folder, "links/splits", "shared no longer\n", 0o644, 100);
    fs::hard_link(folder.join("links/splits"), folder.join("links/splits-2")).unwrap();
    write(folder, "attributes", "with attributes\n", 0o644, 100);
    attribute(&folder.join("attributes"), "user.kept", "old");
    attribute(&folder.join("attributes"), "user.goes", "old");
    age_directories(folder, 500);
}

pub(crate) fn build_new(folder: &Path) {
    common(folder);
    write(folder, "src/edited", "new content, and longer\n", 0o640, 10);
    write(folder, "src/chmodded", "the same\n", 0o755, 100);
    write(folder, "src/touched", "the same\n", 0o644, 5);
    write(folder, "src/added", "new\n", 0o600, 10);
    write(folder, "new/deep/er/file", "new\n", 0o644, 10);
    write(folder, "new/deep/closed", "new\n", 0o400, 10);
    fs::create_dir_all(folder.join("new/empty")).unwrap();
    fs::create_dir_all(folder.join("mode-changes")).unwrap();
    fs::set_permissions(folder.join("mode-changes"), fs::Permissions::from_mode(0o711)).unwrap();
    write(folder, "becomes-directory/with", "a file\n", 0o644, 10);
    write(folder, "becomes-file", "a file now\n", 0o644, 10);
    symlink("src/edited", folder.join("becomes-link")).unwrap();
    write(folder, "link-becomes-file", "a file now\n", 0o644, 10);
    symlink("new/target", folder.join("link-changes")).unwrap();
    write(folder, "fifo-becomes-file", "a file now\n", 0o644, 10);
    fifo(&folder.join("new-fifo"));
    write(folder, "links/one", "edited through both names\n", 0o644, 10);
    fs::hard_link(folder.join("links/one"), folder.join("links/two")).unwrap();
    write(folder, "links/grows", "shared by more\n", 0o644, 100);
    fs::hard_link(folder.join("links/grows"), folder.join("links/grows-2")).unwrap();
    fs::hard_link(folder.join("links/grows"), folder.join("links/grows-3")).unwrap();
    write(folder, "links/splits", "shared no longer\n", 0o644, 100);
    write(folder, "links/splits-2", "shared no longer\n", 0o644, 100);
    write(folder, "attributes", "with attributes\n", 0o644, 100);
    attribute(&folder.join("attributes"), "user.kept", "new");
    attribute(&folder.join("attributes"), "user.comes", "new");
    attribute(&folder.join("mode-changes"), "user.of-directory", "new");
    large_and_sparse(&folder.join("new/sparse"));
    age_directories(folder, 50);
}

fn common(folder: &Path) {
    write(folder, "README", "stays\n", 0o644, 100);
    write(folder, "stays/as/it/is", "stays\n", 0o644, 100);
    write(folder, "odd \n \u{fc} name", "stays\n", 0o644, 100);
    if is_root() {
        let path = folder.join("of-somebody");
        write(folder, "of-somebody", "stays\n", 0o644, 100);
        std::os::unix::fs::chown(path, Some(1234), Some(1235)).unwrap();
    }
}

fn large_and_sparse(path: &Path) {
    use std::os::unix::fs::FileExt;
    let file = fs::File::create(path).unwrap();
    file.set_len(3 << 20).unwrap();
    file.write_all_at(b"in the middle", 2 << 20).unwrap();
    age_to(path, 10);
}

fn attribute(path: &Path, name: &str, value: &str) {
    setxattr(path, name, value.as_bytes(), XattrFlags::empty()).unwrap();
}
