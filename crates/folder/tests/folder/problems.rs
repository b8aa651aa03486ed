//! What is refused before anything is written, and how it is said.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use offshoot_folder::{Apply, ApplyError, ApplyOptions, ApplyPlan, ApplyProblem, ApplyTarget};
use offshoot_needs::needs;
use offshoot_store::Id;
use offshoot_tests::child;
use offshoot_tests::scratch::{Scratch, everything_kept, scanned};
use serde_json::json;

use crate::scene::{Scene, assert_clean, assert_state, target, write};

/// The problems of a scene; nothing can be staged with them, and nothing changed.
#[track_caller]
fn refused(scene: &Scene) -> Vec<ApplyProblem> {
    let before = scanned(&scene.folder);
    let plan = scene.plan();
    let problems = plan.problems().to_vec();
    let lock = scene.lock();
    match Apply::stage(&scene.vault, &lock, plan, Id::random(), json!(null)) {
        Err(ApplyError::Problems(same)) => assert_eq!(same, problems),
        other => panic!("{other:?}"),
    }
    assert_state(&scene.folder, &before, &everything_kept());
    assert_clean(&scene.vault, &scene.folder);
    problems
}

fn one_edit() -> Scene {
    Scene::of(
        |folder| {
            write(folder, "dir/file", "old\n", 0o644, 9);
            write(folder, "dir/goes", "old\n", 0o644, 9);
        },
        |folder| {
            write(folder, "dir/file", "new\n", 0o644, 8);
            write(folder, "dir/comes", "new\n", 0o644, 8);
        },
    )
}

#[test]
fn a_file_that_changed_since_the_capture_is_found() {
    for change in [
        |path: &Path| fs::write(path, "mine\n").unwrap(),
        |path: &Path| fs::remove_file(path).unwrap(),
        |path: &Path| fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap(),
        // The same length and time: only its bytes tell.
        |path: &Path| write(path.parent().unwrap(), "file", "own\n", 0o644, 9),
        |path: &Path| {
            fs::remove_file(path).unwrap();
            symlink("elsewhere", path).unwrap();
        },
    ] {
        let scene = one_edit();
        let path = scene.folder.join("dir/file");
        change(&path);
        assert_eq!(refused(&scene), [ApplyProblem::Changed { path }]);
    }
}

#[test]
fn what_the_vault_does_not_know_is_in_the_way() {
    let scene = Scene::of(
        |folder| {
            write(folder, ".offshootignore", "*.o\n", 0o644, 9);
            write(folder, "dir/built.o", "ignored\n", 0o644, 9);
            write(folder, "turns/built.o", "ignored\n", 0o644, 9);
        },
        |folder| {
            write(folder, ".offshootignore", "*.x\n", 0o644, 9);
            write(folder, "dir/built.o", "recorded now\n", 0o644, 9);
            write(folder, "turns", "a file\n", 0o644, 9);
        },
    );
    let paths = ["dir/built.o", "turns/built.o"].map(|it| scene.folder.join(it));
    assert_eq!(refused(&scene), paths.map(|path| ApplyProblem::InTheWay { path }));
}

#[test]
fn a_writer_is_named() {
    let scene = one_edit();
    let paths = ["dir/file", "dir/goes"].map(|it| scene.folder.join(it));
    let writers = paths.clone().map(|path| fs::File::options().append(true).open(path).unwrap());
    let _reader = fs::File::open(&paths[0]).unwrap();
    let problems = refused(&scene);
    let me = format!("process {} (", std::process::id());
    for (problem, path) in problems.iter().zip(&paths) {
        let text = problem.to_string();
        assert_eq!(problem.path(), path);
        assert!(text.contains("open for writing by") && text.contains(&me), "{text}");
    }
    assert_eq!(problems.len(), 2);
    drop(writers);
    assert_eq!(scene.plan().problems(), []);
}

#[test]
fn links_are_not_followed() {
    let scene = one_edit();
    let elsewhere = scene.scratch.path().join("elsewhere");
    fs::rename(scene.folder.join("dir"), &elsewhere).unwrap();
    symlink(&elsewhere, scene.folder.join("dir")).unwrap();
    let problems = refused(&scene);
    let through = |it: &ApplyProblem| matches!(it, ApplyProblem::ThroughSymlink { .. });
    assert!(problems.iter().any(through), "{problems:?}");
    assert_eq!(fs::read_to_string(elsewhere.join("file")).unwrap(), "old\n");
}

#[test]
fn another_folder_is_refused() {
    use std::os::unix::fs::MetadataExt;
    let scene = one_edit();
    let stat = fs::metadata(&scene.folder).unwrap();
    let bound = ApplyTarget { identity: Some((stat.dev(), stat.ino())), ..target(&scene.folder) };
    let problems = |target: &ApplyTarget| {
        let options = ApplyOptions::default();
        let targets = [target.clone()];
        let plan =
            ApplyPlan::new(&scene.vault, &targets, &scene.before, &scene.after, &options).unwrap();
        plan.problems().to_vec()
    };
    assert_eq!(problems(&bound), []);
    fs::rename(&scene.folder, scene.scratch.path().join("moved")).unwrap();
    let path = scene.folder.clone();
    assert_eq!(problems(&bound), [ApplyProblem::Gone { path: path.clone() }]);
    fs::create_dir(&scene.folder).unwrap();
    assert_eq!(problems(&bound), [ApplyProblem::NotThatFolder { path }]);
}

#[needs(Root, "chattr")]
#[test]
fn an_immutable_file_is_told_beforehand() {
    let scene = one_edit();
    let path = scene.folder.join("dir/file");
    let chattr = |flag: &str| {
        let status = std::process::Command::new("chattr").arg(flag).arg(&path).status();
        status.unwrap().success()
    };
    // Not every file system has such flags.
    if chattr("+i") {
        assert_eq!(refused(&scene), [ApplyProblem::Fixed { path: path.clone() }]);
        assert!(chattr("-i"));
    }
}

#[test]
fn an_ordinary_user_applies_what_is_theirs_and_is_told_what_is_not() {
    let scratch = Scratch::new();
    child::run_as_ordinary_user("apply", scratch.path());
}

/// The part of a test that runs as another user.
pub(crate) fn as_ordinary_user(_place: &Path) {
    let scene = Scene::everything();
    let mut apply = scene.staged();
    apply.swap().unwrap();
    apply.take_back().unwrap();
    apply.swap().unwrap();
    apply.finish().unwrap();
    scene.assert_new();

    let scene = one_edit();
    let dir = scene.folder.join("dir");
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o555)).unwrap();
    let problems = refused(&scene);
    assert!(
        matches!(&problems[..], [ApplyProblem::Denied { path, .. }] if *path == dir),
        "{problems:?}"
    );
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o755)).unwrap();

    // A directory that gets closed is opened for whoever takes it back.
    let scene = Scene::of(
        |folder| write(folder, "dir/file", "old\n", 0o644, 9),
        |folder| {
            write(folder, "dir/file", "new\n", 0o400, 8);
            fs::set_permissions(folder.join("dir"), fs::Permissions::from_mode(0o500)).unwrap();
        },
    );
    let mut apply = scene.staged();
    apply.swap().unwrap();
    apply.take_back().unwrap();
    apply.swap().unwrap();
    apply.finish().unwrap();
    scene.assert_new();
}
