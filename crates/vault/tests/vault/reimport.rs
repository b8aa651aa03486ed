//! Importing the same directory again: what is unchanged is not read, and what changed is never missed.

use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::Duration;

use offshoot_tree::{BlobId, Body, RootId};
use offshoot_vault::{CheckDepth, ImportOptions, Progress, SkipReason, Vault};
use rustix::fs::inotify;

use crate::support::{
    Scratch, actor, commit, empty_vault, export, head, home, import, path, vault_of,
};

/// Longer than files count as too young to be remembered.
const SETTLED: Duration = Duration::from_millis(60);

fn some_files(dir: &Path) {
    for (name, length) in [("empty", 0), ("small", 10), ("middle", 100_000), ("large", 3 << 20)] {
        fs::write(dir.join(name), vec![length as u8; length]).unwrap();
    }
    sleep(SETTLED);
}

/// The names of files in a directory that are opened while `work` runs, as the kernel saw it.
fn opened<T>(dir: &Path, work: impl FnOnce() -> T) -> (T, Vec<String>) {
    let watch = inotify::init(inotify::CreateFlags::NONBLOCK).unwrap();
    inotify::add_watch(&watch, dir, inotify::WatchFlags::OPEN).unwrap();
    let value = work();
    let mut buffer = [const { std::mem::MaybeUninit::uninit() }; 4096];
    let mut reader = inotify::Reader::new(&watch, &mut buffer);
    let mut names = Vec::new();
    while let Ok(event) = reader.next() {
        names.extend(event.file_name().map(|name| name.to_string_lossy().into_owned()));
    }
    names.sort_unstable();
    names.dedup();
    (value, names)
}

fn bytes_of(vault: &Vault, root: &RootId, name: &str) -> Vec<u8> {
    let entry = vault.tree(root).unwrap().find(&path(name)).unwrap();
    let Body::File { size, blob } = entry.body else { panic!("{name} is not a file") };
    let bytes = vault.objects().unwrap().blob(&blob).unwrap();
    assert_eq!((bytes.len() as u64, BlobId::of(&bytes)), (size, blob));
    bytes
}

#[test]
fn an_unchanged_directory_is_not_read() {
    let scratch = Scratch::new();
    let source = scratch.folder("source");
    some_files(&source);
    let vault = vault_of(&scratch, &source);
    let (imported, names) = opened(&source, || import(&vault, &source));
    assert_eq!(imported.root, head(&vault));
    assert_eq!((imported.report.files, imported.report.unchanged), (4, 4));
    assert_eq!(names, Vec::<String>::new());
}

#[test]
fn only_the_changed_file_is_read() {
    let scratch = Scratch::new();
    let source = scratch.folder("source");
    some_files(&source);
    let vault = vault_of(&scratch, &source);
    fs::write(source.join("small"), "something else").unwrap();
    let (imported, names) = opened(&source, || import(&vault, &source));
    assert_eq!(names, ["small"]);
    assert_eq!((imported.report.files, imported.report.unchanged), (4, 3));
    assert_eq!(bytes_of(&vault, &imported.root, "/small"), b"something else");
    // Content that fits into the catalog makes no layer.
    assert_eq!(fs::read_dir(vault.dir().join("layers")).unwrap().count(), 1);
    commit(&vault, &imported.root);
    let checked = vault.check(CheckDepth::Content).unwrap();
    assert_eq!((checked.problems, checked.stray_layers), (vec![], vec![]));
}

#[test]
fn a_change_in_the_tick_of_the_import_is_noticed() {
    let scratch = Scratch::new();
    let source = scratch.folder("source");
    let name = source.join("file");
    fs::write(&name, "00000").unwrap();
    let vault = vault_of(&scratch, &source);
    for round in 1..20 {
        let times = fs::metadata(&name).unwrap();
        let mut file = fs::OpenOptions::new().write(true).open(&name).unwrap();
        file.seek(SeekFrom::Start(0)).unwrap();
        let text = format!("{round:05}");
        file.write_all(text.as_bytes()).unwrap();
        file.set_modified(times.modified().unwrap()).unwrap();
        drop(file);
        let imported = import(&vault, &source);
        assert_eq!(bytes_of(&vault, &imported.root, "/file"), text.as_bytes());
    }
}

#[test]
fn a_cache_without_its_objects_does_not_count() {
    let scratch = Scratch::new();
    let source = scratch.folder("source");
    some_files(&source);
    let vault = empty_vault(&scratch);
    import(&vault, &source);
    // A power cut can take objects that no transaction mentions yet and leave the cache.
    let catalog = rusqlite::Connection::open(vault.dir().join("catalog.db")).unwrap();
    let kept = head(&vault).0.to_vec();
    catalog.execute("DELETE FROM objects WHERE kind = 1", []).unwrap();
    catalog.execute("DELETE FROM objects WHERE kind = 3 AND id <> ?1", [kept]).unwrap();
    let imported = import(&vault, &source);
    assert_eq!(imported.report.unchanged, 0);
    commit(&vault, &imported.root);
    assert_eq!(vault.check(CheckDepth::Content).unwrap().problems, Vec::<String>::new());
    // And one that was damaged is as good as none.
    let cache = fs::read_dir(vault.dir().join("cache")).unwrap().next().unwrap().unwrap().path();
    let mut bytes = fs::read(&cache).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&cache, bytes).unwrap();
    assert_eq!(import(&vault, &source).report.unchanged, 0);
}

#[test]
fn content_that_was_stored_but_never_mentioned_has_a_recorded_home() {
    let scratch = Scratch::new();
    let source = scratch.folder("source");
    some_files(&source);
    let vault = empty_vault(&scratch);
    // The first import is given up before any transaction; the second finds its objects.
    drop(import(&vault, &source));
    let imported = import(&vault, &source);
    commit(&vault, &imported.root);
    let checked = vault.check(CheckDepth::Content).unwrap();
    assert_eq!((checked.problems, checked.stray_layers), (vec![], vec![]));
}

#[test]
fn files_that_change_all_the_time_come_in_as_something_they_were() {
    let scratch = Scratch::new();
    let source = scratch.folder("source");
    let names = ["small", "large"];
    for (name, length) in names.iter().zip([3_000, 2 << 20]) {
        fs::write(source.join(name), vec![0; length]).unwrap();
    }
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for name in names {
            let (path, stop) = (source.join(name), &stop);
            scope.spawn(move || keep_changing(&path, stop));
        }
        let created =
            home(&scratch).create("v", Some(&source), &ImportOptions::default(), &actor());
        let created = created.unwrap();
        let (vault, mut reports) = (created.vault, vec![created.report]);
        let mut roots = vec![head(&vault)];
        for _ in 0..3 {
            let imported = import(&vault, &source);
            commit(&vault, &imported.root);
            roots.push(imported.root);
            reports.push(imported.report);
        }
        stop.store(true, Ordering::Relaxed);
        for (root, report) in roots.iter().zip(&reports) {
            for name in names {
                let bytes = bytes_of(&vault, root, name);
                let unstable = report.skipped.iter().any(|skipped| {
                    skipped.path == name.as_bytes() && skipped.why == SkipReason::Unstable
                });
                // Every state of the small file has one value all through. It has one page, so that no read falls into
                // the middle of a write; the large one is nearly always between two states.
                let whole = bytes.windows(2).all(|pair| pair[0] == pair[1]);
                assert!(whole || unstable || name == "large", "a mix was not reported");
            }
        }
        assert_eq!(vault.check(CheckDepth::Content).unwrap().problems, Vec::<String>::new());
        export(&vault, &roots[0], &scratch.path().join("out"));
    });
}

/// Overwrites a file in place with one value after the other, and now and then makes it longer or shorter.
fn keep_changing(path: &Path, stop: &AtomicBool) {
    let file = fs::OpenOptions::new().write(true).open(path).unwrap();
    for round in 1u64.. {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        let length = file.metadata().unwrap().len();
        let length = if round % 1000 == 7 { length + 1 } else { length };
        let bytes = vec![round as u8; length as usize];
        file.write_all_at(&bytes, 0).unwrap();
    }
}

/// Writes to both ends of a file a moment after it is being read: first where the reader was, then where it will be.
struct Meddler(PathBuf);

impl Progress for Meddler {
    fn found(&self, _: u64) {}
    fn read(&self, _: u64) {}
    fn reading(&self, _: u64, _: u64) {
        let path = self.0.clone();
        std::thread::spawn(move || {
            sleep(Duration::from_millis(8));
            let file = fs::OpenOptions::new().write(true).open(path).unwrap();
            for at in [0, (LONG - 1) as u64] {
                file.write_all_at(b"n", at).unwrap();
            }
        });
    }
}

/// Takes a while to read.
const LONG: usize = 48 << 20;

#[test]
fn a_file_that_changes_while_it_is_read_is_read_again() {
    let scratch = Scratch::new();
    let source = scratch.folder("source");
    let name = source.join("long");
    let vault = empty_vault(&scratch);
    for _ in 0..3 {
        fs::write(&name, vec![b'o'; LONG]).unwrap();
        sleep(SETTLED);
        let progress: Option<Arc<dyn Progress>> = Some(Arc::new(Meddler(name.clone())));
        let options = ImportOptions { progress, ..ImportOptions::default() };
        let imported = vault.import(&source, &options).unwrap();
        let bytes = bytes_of(&vault, &imported.root, "/long");
        let ends = (bytes[0], bytes[LONG - 1]);
        assert_ne!(ends, (b'o', b'n'), "the file never was like that");
        assert_eq!(imported.report.skipped, []);
        sleep(SETTLED);
    }
}

#[test]
fn the_source_is_only_read() {
    let scratch = Scratch::new();
    let source = scratch.folder("source");
    some_files(&source);
    let state = |name: &str| {
        let found = fs::metadata(source.join(name)).unwrap();
        (found.mtime(), found.mtime_nsec(), found.ctime(), found.ctime_nsec(), found.nlink())
    };
    let before = ["empty", "small", "middle", "large"].map(state);
    let vault = vault_of(&scratch, &source);
    import(&vault, &source);
    assert_eq!(["empty", "small", "middle", "large"].map(state), before);
}
