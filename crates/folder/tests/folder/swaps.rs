//! Directories, files, links and pipes that take each other's place, also where links lead out of the folder.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use offshoot_folder::{Apply, ApplyError, ApplyProblem};
use offshoot_store::Id;
use offshoot_tests::rng::{Rng, seed_from_env_or};
use offshoot_tests::scan::Scan;
use offshoot_tests::scratch::{Scratch, everything_kept, scanned};
use offshoot_tests::tier::cases;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::json;

use crate::scene::{Scene, assert_clean, assert_state, fifo, interfered, write};
use crate::support::import;

/// Something at a path; a link says where it leads.
#[derive(Clone, Debug)]
enum Thing {
    File(String),
    Link(PathBuf),
    Fifo,
    Directory(Vec<(&'static str, Thing)>),
}

const NAMES: [&str; 4] = ["a", "b", "c", "d"];

/// A place with a directory outside of the folder that links lead to.
struct Outside {
    path: PathBuf,
    held: Scan,
}

impl Outside {
    fn new(scratch: &Scratch) -> Self {
        let path = scratch.folder("outside");
        for name in NAMES {
            write(&path, &format!("{name}/{name}"), "not of the folder\n", 0o644, 30);
            write(&path, &format!("sub/{name}"), "not of the folder\n", 0o644, 30);
        }
        Self { held: scanned(&path), path }
    }

    #[track_caller]
    fn assert_untouched(&self) {
        assert_state(&self.path, &self.held, &everything_kept());
    }
}

fn directory(rng: &mut Rng, depth: u32, outside: &Path) -> Vec<(&'static str, Thing)> {
    let mut things = Vec::new();
    for name in NAMES {
        let kind = rng.below(if depth == 0 { 5 } else { 7 });
        let thing = match kind {
            0 => continue,
            1 => Thing::File(format!("{}\n", rng.below(3))),
            2 => Thing::Fifo,
            3 | 4 => {
                let targets = ["a", "b/c", "../a", ".", "nowhere", "..", "d"].map(PathBuf::from);
                let outside = [outside.to_owned(), outside.join("a")];
                let all: Vec<PathBuf> = targets.into_iter().chain(outside).collect();
                Thing::Link(rng.pick(&all).unwrap().clone())
            }
            _ => Thing::Directory(directory(rng, depth - 1, outside)),
        };
        things.push((name, thing));
    }
    things
}

fn build(folder: &Path, things: &[(&'static str, Thing)]) {
    for (name, thing) in things {
        let path = folder.join(name);
        match thing {
            Thing::File(text) => write(folder, name, text, 0o644, 20),
            Thing::Fifo => fifo(&path),
            Thing::Link(target) => symlink(target, &path).unwrap(),
            Thing::Directory(things) => {
                fs::create_dir(&path).unwrap();
                build(&path, things);
            }
        }
    }
}

/// Takes the folder of a scene from one state to another, as a commit or its undo does.
fn go(scene: &Scene, (from, from_is): (&offshoot_tree::RootId, &Scan), to: &Scan) {
    let after = if from == &scene.before { &scene.after } else { &scene.before };
    assert_state(&scene.folder, from_is, &everything_kept());
    let plan = scene.plan_of(from, after);
    assert_eq!(plan.problems(), [], "nothing is in the way");
    let lock = scene.lock();
    let mut apply = Apply::stage(&scene.vault, &lock, plan, Id::random(), json!(null)).unwrap();
    apply.swap().unwrap();
    apply.take_back().unwrap();
    assert_state_but_staging(scene, from_is);
    apply.swap().unwrap();
    assert_eq!(apply.finish().unwrap(), []);
    assert_state(&scene.folder, to, &everything_kept());
    assert_eq!(import(&scene.vault, &scene.folder).root, *after);
}

#[track_caller]
fn assert_state_but_staging(scene: &Scene, expected: &Scan) {
    let mut found = scanned(&scene.folder);
    found.0.retain(|path, _| !path.starts_with(b".offshoot-apply-"));
    let differences = offshoot_tests::scan::compare(&found, expected, &everything_kept());
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn everything_becomes_everything_else_and_back() {
    let seed = seed_from_env_or(11);
    for case in 0..cases(12, 3000) {
        let mut rng = Rng::new(seed ^ (case << 16));
        let scratch = Scratch::new();
        let outside = Outside::new(&scratch);
        let (old, new) =
            (directory(&mut rng, 2, &outside.path), directory(&mut rng, 2, &outside.path));
        println!("case {case} of seed {seed}: {old:?} becomes {new:?}");
        let scene =
            Scene::within(scratch, |folder| build(folder, &old), |folder| build(folder, &new));
        if scene.before == scene.after {
            continue;
        }
        go(&scene, (&scene.before, &scene.old), &scene.new);
        go(&scene, (&scene.after, &scene.new), &scene.old);
        go(&scene, (&scene.before, &scene.old), &scene.new);
        assert_clean(&scene.vault, &scene.folder);
        outside.assert_untouched();
    }
}

/// A link that becomes a directory with something in it; where it leads there are things of the same names.
fn opening() -> (Scene, Outside) {
    let scratch = Scratch::new();
    let outside = Outside::new(&scratch);
    let target = outside.path.clone();
    let scene = Scene::within(
        scratch,
        |folder| symlink(target, folder.join("l")).unwrap(),
        |folder| {
            write(folder, "l/new", "new\n", 0o644, 8);
            write(folder, "l/sub/new", "new\n", 0o644, 8);
        },
    );
    (scene, outside)
}

/// Only the very link that was captured makes way.
#[test]
fn another_link_than_was_captured_is_told_before_anything_is_written() {
    let (scene, outside) = opening();
    let link = scene.folder.join("l");
    fs::remove_file(&link).unwrap();
    symlink(outside.path.join("sub"), &link).unwrap();
    let held = scanned(&scene.folder);
    assert_eq!(scene.plan().problems(), [ApplyProblem::Changed { path: link }]);
    assert_state(&scene.folder, &held, &everything_kept());
    outside.assert_untouched();
}

/// A link above what is replaced was never captured.
#[test]
fn a_link_further_up_is_never_followed() {
    let scratch = Scratch::new();
    let outside = Outside::new(&scratch);
    let scene = Scene::within(
        scratch,
        |folder| {
            fs::create_dir(folder.join("sub")).unwrap();
            symlink("nowhere", folder.join("sub/a")).unwrap();
        },
        |folder| write(folder, "sub/a/new", "new\n", 0o644, 8),
    );
    fs::rename(scene.folder.join("sub"), scene.folder.join("moved")).unwrap();
    symlink(&outside.path, scene.folder.join("sub")).unwrap();
    let through = |it: &ApplyProblem| matches!(it, ApplyProblem::ThroughSymlink { .. });
    let plan = scene.plan();
    assert!(plan.problems().iter().any(through), "{:?}", plan.problems());
    outside.assert_untouched();
}

#[test]
fn what_somebody_puts_in_place_of_the_link_stays() {
    type Change = fn(&Path, &Path);
    let changes: [Change; 4] = [
        |link, outside| symlink(outside.join("a"), link).unwrap(),
        |link, _| fs::create_dir(link).unwrap(),
        |link, _| write(link.parent().unwrap(), "l", "mine\n", 0o644, 3),
        |_, _| {},
    ];
    for change in changes {
        let (scene, outside) = opening();
        let mut apply = scene.staged();
        let link = scene.folder.join("l");
        fs::remove_file(&link).unwrap();
        change(&link, &outside.path);
        let held = scanned(&scene.folder);
        let (paths, kept) = interfered(apply.swap());
        assert_eq!((paths, kept.len()), (vec![link], 0));
        assert_eq!(scanned(&scene.folder).0.keys().len(), held.0.keys().len());
        apply.finish().unwrap();
        assert_clean(&scene.vault, &scene.folder);
        outside.assert_untouched();
    }
}

/// Taken back, what is new is looked for below directories only.
#[test]
fn a_directory_that_became_a_link_since_is_not_followed_on_the_way_back() {
    let (scene, outside) = opening();
    let mut apply = scene.staged();
    apply.swap().unwrap();
    let sub = scene.folder.join("l/sub");
    fs::rename(&sub, scene.folder.join("moved")).unwrap();
    symlink(outside.path.join("sub"), &sub).unwrap();
    interfered(apply.take_back());
    apply.finish().unwrap();
    assert!(fs::symlink_metadata(&sub).unwrap().is_symlink(), "it is somebody's");
    assert!(scene.folder.join("moved/new").exists());
    assert_clean(&scene.vault, &scene.folder);
    outside.assert_untouched();
}

/// Somebody exchanges a parent for a link that leads out, again and again while the folder is changed.
#[test]
fn nothing_outside_changes_whoever_exchanges_directories_for_links() {
    let seed = seed_from_env_or(5);
    let rounds = cases(15, 2000);
    let mut through = 0;
    for round in 0..rounds {
        let mut rng = Rng::new(seed ^ (round << 8));
        let scratch = Scratch::new();
        let outside = Outside::new(&scratch);
        let evil = scratch.path().join("evil");
        symlink(&outside.path, &evil).unwrap();
        let sub = |folder: &Path| {
            for name in NAMES {
                write(folder, &format!("p/sub/{name}"), "old\n", 0o644, 9);
                symlink("nowhere", folder.join(format!("p/{name}"))).unwrap();
            }
        };
        let scene = Scene::within(scratch, sub, |folder| {
            for name in NAMES {
                write(folder, &format!("p/{name}/{name}"), "new\n", 0o644, 8);
                write(folder, &format!("p/{name}/more"), "new\n", 0o644, 8);
            }
        });
        let mut apply = scene.staged();
        let parent = scene.folder.join("p");
        let [go, stop] = [false; 2].map(AtomicBool::new);
        let result = thread::scope(|scope| {
            let acting = scope.spawn(|| {
                while !go.load(Ordering::Acquire) {
                    std::hint::spin_loop();
                }
                (0..rng.below(30_000)).for_each(|_| std::hint::spin_loop());
                let mut exchanged = 0;
                while !stop.load(Ordering::Acquire) || exchanged % 2 == 1 {
                    renameat_with(CWD, &parent, CWD, &evil, RenameFlags::EXCHANGE).unwrap();
                    exchanged += 1;
                    (0..rng.below(3_000)).for_each(|_| std::hint::spin_loop());
                }
            });
            go.store(true, Ordering::Release);
            let result = apply.swap();
            stop.store(true, Ordering::Release);
            acting.join().unwrap();
            result
        });
        match &result {
            Ok(()) => through += 1,
            Err(ApplyError::Interfered { .. }) => {}
            other => panic!("round {round} of seed {seed}: {other:?}"),
        }
        apply.finish().unwrap();
        outside.assert_untouched();
    }
    println!("{rounds} races, {through} went through, seed {seed}");
}
