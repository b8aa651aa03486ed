//! Forwards, back and undone: byte for byte, with modes, times, owners, attributes and links.

use std::fs;
use std::os::unix::fs::MetadataExt;

use offshoot_tests::skip::{Feature, need};
use offshoot_vault::{ApplyNote, Id};
use serde_json::json;

use super::scene::{Scene, assert_clean, assert_state, write};
use crate::garbage::NOTHING;
use crate::support::{actor, everything_kept, import};

#[test]
fn a_folder_gets_its_new_state_exactly() {
    if !need(Feature::UserXattr) {
        return;
    }
    let scene = Scene::everything();
    let mut apply = scene.staged();
    assert!(apply.begun());
    assert_eq!(apply.note(), &json!({"for": "a test"}));
    apply.swap().unwrap();
    apply.swap().unwrap();
    assert_eq!(apply.finish().unwrap(), []);
    scene.assert_new();
    assert_eq!(import(&scene.vault, &scene.folder).root, scene.after);
}

#[test]
fn a_folder_gets_its_old_state_back_exactly() {
    if !need(Feature::UserXattr) {
        return;
    }
    let scene = Scene::everything();
    let inode = |name: &str| fs::symlink_metadata(scene.folder.join(name)).unwrap().ino();
    let names = ["src/edited", "gone/deep", "links/two", "becomes-file", "fifo-becomes-file"];
    let inodes = names.map(inode);
    let mut apply = scene.staged();
    apply.swap().unwrap();
    apply.take_back().unwrap();
    apply.take_back().unwrap();
    assert_eq!(apply.finish().unwrap(), []);
    scene.assert_old();
    assert_eq!(names.map(inode), inodes, "they are the very files");
}

#[test]
fn an_apply_in_the_other_direction_undoes_it() {
    if !need(Feature::UserXattr) {
        return;
    }
    let scene = Scene::everything();
    let mut apply = scene.staged();
    apply.swap().unwrap();
    apply.finish().unwrap();
    let plan = scene.plan_of(&scene.after, &scene.before);
    assert_eq!(plan.problems(), []);
    let lock = scene.lock();
    let mut undo = scene.vault.stage_apply(&lock, plan, Id::random(), json!(null)).unwrap();
    undo.swap().unwrap();
    undo.finish().unwrap();
    scene.assert_old();
}

#[test]
fn nothing_to_do_touches_nothing() {
    let scene = Scene::everything();
    let plan = scene.plan_of(&scene.before, &scene.before);
    assert!(plan.is_empty(), "{:?}", plan.steps().collect::<Vec<_>>());
    assert_eq!(plan.problems(), []);
}

#[test]
fn what_is_staged_is_neither_captured_nor_collected() {
    let scene = Scene::everything();
    let apply = scene.staged();
    assert_eq!(import(&scene.vault, &scene.folder).root, scene.before);
    scene.vault.collect(&NOTHING, &actor()).unwrap();
    let (id, after) = (apply.id(), apply.after());
    drop(apply);
    assert_eq!(scene.vault.interrupted_applies().unwrap(), [id]);
    assert!(scene.vault.objects().unwrap().root(&after).is_ok());
    let lock = scene.lock();
    let mut found = scene.vault.unfinished_applies(&lock).unwrap();
    assert_eq!(found.iter().map(|apply| apply.id()).collect::<Vec<_>>(), [id]);
    let mut apply = found.remove(0);
    apply.swap().unwrap();
    apply.finish().unwrap();
    scene.assert_new();
}

#[test]
fn a_directory_with_ignored_files_stays() {
    let scene = Scene::of(
        |folder| {
            write(folder, ".offshootignore", "*.o\n", 0o644, 9);
            write(folder, "gone/source", "recorded\n", 0o644, 9);
            write(folder, "gone/deep/built.o", "ignored\n", 0o644, 9);
            write(folder, "gone/deep/source", "recorded\n", 0o644, 9);
            write(folder, "all-gone/source", "recorded\n", 0o644, 9);
        },
        |folder| write(folder, ".offshootignore", "*.o\n", 0o644, 9),
    );
    let plan = scene.plan();
    let stays = ["gone/deep", "gone"].map(|it| ApplyNote::Stays { path: scene.folder.join(it) });
    assert_eq!(plan.notes(), stays);
    let mut apply = scene.staged();
    apply.swap().unwrap();
    apply.finish().unwrap();
    let left = |name: &str| scene.folder.join(name).exists();
    assert!(left("gone/deep/built.o") && !left("gone/source") && !left("gone/deep/source"));
    assert!(!left("all-gone"));
    assert_clean(&scene.vault, &scene.folder);
}

#[test]
fn attributes_that_the_vault_does_not_record_stay_with_the_file() {
    if !need(Feature::Root) {
        return;
    }
    let scene = Scene::everything();
    let set = |name: &str, value: &[u8]| {
        let path = scene.folder.join("src/edited");
        rustix::fs::setxattr(path, name, value, rustix::fs::XattrFlags::empty()).unwrap();
    };
    set("trusted.mark", b"of an administrator");
    let before = import(&scene.vault, &scene.folder).root;
    assert_eq!(before, scene.before);
    let mut apply = scene.staged();
    apply.swap().unwrap();
    apply.finish().unwrap();
    let mut value = [0; 64];
    let path = scene.folder.join("src/edited");
    let length = rustix::fs::getxattr(path, "trusted.mark", &mut value).unwrap();
    assert_eq!(&value[..length], b"of an administrator");
    assert_state(&scene.folder, &scene.new, &everything_kept());
}

#[test]
fn names_outside_of_the_folder_are_told_and_keep_their_content() {
    let scene = Scene::everything();
    let outside = scene.scratch.path().join("outside");
    fs::hard_link(scene.folder.join("src/edited"), &outside).unwrap();
    let plan = scene.plan();
    let path = scene.folder.join("src/edited");
    assert_eq!(plan.notes(), [ApplyNote::LinkedOutside { path }]);
    let mut apply = scene.staged();
    apply.swap().unwrap();
    apply.finish().unwrap();
    scene.assert_new();
    assert_eq!(fs::read_to_string(outside).unwrap(), "old content\n");
}

#[test]
fn many_files_are_changed_at_once() {
    let scene = Scene::of(
        |folder| {
            (0..300).for_each(|it| write(folder, &format!("d{}/{it}", it % 7), "old\n", 0o644, 9))
        },
        |folder| {
            (0..300).for_each(|it| write(folder, &format!("d{}/{it}", it % 9), "new!\n", 0o644, 8))
        },
    );
    let mut apply = scene.staged();
    apply.swap().unwrap();
    apply.finish().unwrap();
    scene.assert_new();
}
