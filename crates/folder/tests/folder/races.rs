//! Somebody who works in the folder while it is changed: nothing of theirs is lost.

use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use offshoot_folder::ApplyError;
use offshoot_tests::rng::{Rng, seed_from_env_or};
use offshoot_tests::scan::CompareOptions;
use offshoot_tests::scratch::{everything_kept, scanned};
use offshoot_tests::tier::cases;

use crate::scene::{Scene, age_to, assert_clean, assert_state, interfered, write};

/// Files that are replaced, some more than anybody changes so that there is time to.
const NAMES: [&str; 16] =
    ["a", "a1", "a2", "a3", "b", "b1", "b2", "b3", "c", "c1", "c2", "c3", "d", "d1", "d2", "d3"];

fn scene() -> Scene {
    Scene::of(old_files, |folder| {
        for name in NAMES {
            write(folder, &format!("dir/{name}"), "new content\n", 0o644, 8);
        }
        write(folder, "dir/comes", "new\n", 0o644, 8);
    })
}

fn old_files(folder: &Path) {
    for name in NAMES.into_iter().chain(["goes"]) {
        write(folder, &format!("dir/{name}"), "old\n", 0o644, 9);
    }
    age_to(&folder.join("dir"), 9);
    age_to(folder, 9);
}

/// Makes a folder what it was at first.
fn reset(folder: &Path) {
    fs::remove_dir_all(folder).unwrap();
    fs::create_dir(folder).unwrap();
    old_files(folder);
}

/// A path and what somebody does to it.
type Change = (&'static str, fn(&Path));

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| format!("{error}"))
}

#[test]
fn an_edit_after_staging_takes_everything_back() {
    let scene = scene();
    let mut apply = scene.staged();
    let edited = scene.folder.join("dir/c");
    fs::write(&edited, "mine\n").unwrap();
    let (paths, kept) = interfered(apply.swap());
    assert_eq!((paths, kept.len()), (vec![edited.clone()], 0));
    apply.finish().unwrap();
    assert_eq!(read(&edited), "mine\n");
    for name in ["a", "b", "d", "goes"] {
        assert_eq!(read(&scene.folder.join("dir").join(name)), "old\n");
    }
    assert!(!scene.folder.join("dir/comes").exists());
    assert_clean(&scene.vault, &scene.folder);
}

#[test]
fn whatever_somebody_does_after_staging_stays() {
    let changes: [Change; 7] = [
        ("dir/a", |path| fs::remove_file(path).unwrap()),
        ("dir/comes", |path| fs::write(path, "mine\n").unwrap()),
        ("dir/goes", |path| fs::write(path, "mine\n").unwrap()),
        ("dir/goes", |path| fs::remove_file(path).unwrap()),
        ("dir/d", |path| {
            fs::remove_file(path).unwrap();
            fs::create_dir(path).unwrap();
            fs::write(path.join("inner"), "mine\n").unwrap();
        }),
        ("dir/b", |path| {
            fs::write(path.with_file_name("other"), "mine\n").unwrap();
            fs::rename(path.with_file_name("other"), path).unwrap();
        }),
        ("dir", |path| {
            fs::rename(path, path.with_file_name("moved")).unwrap();
            symlink("moved", path).unwrap();
        }),
    ];
    for (number, (name, change)) in changes.into_iter().enumerate() {
        let scene = scene();
        let mut apply = scene.staged();
        let path = scene.folder.join(name);
        change(&path);
        let mut expected = scanned(&scene.folder);
        interfered(apply.swap());
        assert_eq!(apply.finish().unwrap(), [], "{number}");
        expected.0.retain(|path, _| !path.starts_with(b".offshoot-apply"));
        let options = CompareOptions { directory_mtimes: false, ..everything_kept() };
        assert_state(&scene.folder, &expected, &options);
        assert_clean(&scene.vault, &scene.folder);
    }
}

#[test]
fn what_somebody_did_since_the_swap_is_not_taken_back() {
    let scene = scene();
    let mut apply = scene.staged();
    apply.swap().unwrap();
    let (edited, made, removed) =
        (scene.folder.join("dir/a"), scene.folder.join("dir/goes"), scene.folder.join("dir/comes"));
    fs::write(&edited, "mine\n").unwrap();
    fs::write(&made, "mine too\n").unwrap();
    fs::remove_file(&removed).unwrap();
    let (mut paths, kept) = interfered(apply.take_back());
    paths.sort();
    assert_eq!((paths, kept.len()), (vec![edited.clone(), removed, made.clone()], 0));
    apply.finish().unwrap();
    assert_eq!((read(&edited), read(&made)), ("mine\n".to_owned(), "mine too\n".to_owned()));
    assert_eq!(read(&scene.folder.join("dir/b")), "old\n");
    assert_clean(&scene.vault, &scene.folder);
}

#[test]
fn what_is_written_through_an_old_descriptor_is_kept() {
    let scene = scene();
    let mut apply = scene.staged();
    let path = scene.folder.join("dir/a");
    // Opened after everybody was asked, and not yet written to.
    let mut writer = fs::File::options().append(true).open(&path).unwrap();
    let (paths, _) = interfered(apply.swap());
    assert_eq!(paths, std::slice::from_ref(&path));
    writer.write_all(b"mine\n").unwrap();
    drop(writer);
    apply.finish().unwrap();
    assert_eq!(read(&path), "old\nmine\n");
    assert_clean(&scene.vault, &scene.folder);
}

/// What somebody wrote last to a path, and nobody may lose.
struct Person {
    rng: Rng,
    folder: PathBuf,
    /// Everything that was written and not overwritten or removed since by the person.
    written: Vec<(PathBuf, String)>,
    count: u64,
}

impl Person {
    fn act(&mut self) {
        let names = ["a", "b", "c", "d", "goes", "comes"];
        let name = names[self.rng.below(names.len() as u64) as usize];
        let path = self.folder.join("dir").join(name);
        self.count += 1;
        let text = format!("line {} of the person\n", self.count);
        match self.rng.below(4) {
            0 => {
                // An editor that saves by renaming.
                let other = self.folder.join(format!("save-{}", self.count));
                fs::write(&other, &text).unwrap();
                if fs::rename(&other, &path).is_ok() {
                    self.written.retain(|(it, _)| *it != path);
                }
            }
            1 => {
                self.written.retain(|(it, _)| *it != path);
                // It may be out of the folder in this moment.
                drop(fs::remove_file(&path));
                return;
            }
            // A program that appends: what was there before stays.
            _ => {
                let file = fs::File::options().append(true).create(true).open(&path);
                file.unwrap().write_all(text.as_bytes()).unwrap();
            }
        }
        self.written.push((path, text));
    }
}

/// Everything in a folder that is a file, in one text.
fn all_text(folder: &Path) -> String {
    let mut text = String::new();
    let mut pending = vec![folder.to_owned()];
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
            match entry.file_type().unwrap().is_dir() {
                true => pending.push(entry.path()),
                false => text.push_str(&read(&entry.path())),
            }
        }
    }
    text
}

#[test]
fn nothing_is_lost_to_a_race() {
    let seed = seed_from_env_or(7);
    let rounds = cases(150, 3000);
    let (mut through, mut back) = (0, 0);
    let scene = scene();
    for round in 0..rounds {
        reset(&scene.folder);
        let mut apply = scene.staged();
        let [ready, go, stop] = [false; 3].map(AtomicBool::new);
        let mut person = Person {
            rng: Rng::new(seed ^ (round << 8)),
            folder: scene.folder.clone(),
            written: Vec::new(),
            count: 0,
        };
        let result = thread::scope(|scope| {
            let acting = scope.spawn(|| {
                ready.store(true, Ordering::Release);
                while !go.load(Ordering::Acquire) {
                    std::hint::spin_loop();
                }
                let pause = person.rng.below(1_000);
                (0..pause).for_each(|_| std::hint::spin_loop());
                while !stop.load(Ordering::Acquire) && person.count < 12 {
                    person.act();
                }
            });
            while !ready.load(Ordering::Acquire) {
                thread::yield_now();
            }
            go.store(true, Ordering::Release);
            let result = apply.swap();
            stop.store(true, Ordering::Release);
            acting.join().unwrap();
            result
        });
        match &result {
            Ok(()) => through += 1,
            Err(ApplyError::Interfered { .. }) => back += 1,
            other => panic!("round {round} of seed {seed}: {other:?}"),
        }
        apply.finish().unwrap();
        let text = all_text(&scene.folder);
        for (path, line) in &person.written {
            assert!(
                text.contains(line),
                "round {round} of seed {seed}: {line} of {path:?} after {result:?}"
            );
        }
        assert_clean(&scene.vault, &scene.folder);
    }
    println!("{rounds} races: {through} went through, {back} were taken back, seed {seed}");
}
